/* SPDX-License-Identifier: MIT
 * Who is looked at, how well it can be seen, and what it does.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tui/rows.h"
#include "tui/views.h"

static const char *const mode_names[] = {
	[TACHY_MODE_WALL] = "wall",
	[TACHY_MODE_CPU] = "cpu",
	[TACHY_MODE_GIL] = "gil",
	[TACHY_MODE_EXCEPTION] = "exception",
};

/* What the session told of the process is newer than what was known when the screen was opened: a program
 * becomes a Python by an exec. */
static struct told_process subject(const struct state *state)
{
	const struct facts *facts = &state->facts;
	struct told_process process = {facts->pid, facts->command, facts->version};
	for (size_t i = 0; i < state->tally.catalog.processes.n; i++)
		if (state->tally.catalog.processes.at[i].pid == facts->pid)
			process = state->tally.catalog.processes.at[i];
	return process;
}

static void draw_title(const struct state *state, struct grid *grid, unsigned row)
{
	const struct told_process process = subject(state);
	size_t n = state->tally.catalog.processes.n;
	char left[160], more[48] = "", right[32];
	int64_t seconds = (state->now_ns - state->start_ns) / 1000000000;
	grid_fill(grid, row, 0, grid->cols, STYLE_TITLE, ' ');
	(void)snprintf(right, sizeof right, "%" PRId64 ":%02d:%02d ", seconds / 3600,
		       (int)(seconds / 60 % 60), (int)(seconds % 60));
	if (n > 1)
		(void)snprintf(more, sizeof more, " and %zu more", n - 1);
	(void)snprintf(left, sizeof left, " tachyscope  pid %" PRId64 "%s  Python %s  ",
		       process.pid, more, process.version);
	unsigned end = grid->cols > 11 ? grid->cols - 11 : grid->cols;
	unsigned col = grid_text(grid, row, 0, end, STYLE_TITLE, left);
	(void)grid_text(grid, row, col, end > col ? end - col : 0, STYLE_TITLE, process.command);
	grid_right(grid, row, end, grid->cols - end, STYLE_TITLE, right);
}

static unsigned draw_pair(struct grid *grid, unsigned row, unsigned col, const char *word,
			  enum style style, const char *value)
{
	/* whole or not at all: half a number is a wrong one */
	size_t width = strlen(word) + strlen(value) + 3;
	if (col + width > grid->cols + 2)
		return grid->cols;
	col += grid_text(grid, row, col, grid->cols, STYLE_DIM, word) + (word[0] != '\0');
	return col + grid_text(grid, row, col, grid->cols, (style_t)style, value) + 2;
}

/* Processes that a thread of was seen in the last seconds: each has its ticks. */
static size_t count_alive(const struct state *state)
{
	const struct catalog *catalog = &state->tally.catalog;
	size_t n = 0;
	for (uint32_t process = 0; process < catalog->processes.n; process++) {
		uint32_t id = 0;
		while (id < state->tally.threads.n &&
		       (catalog->threads.at[id].process != process || rows_thread_ended(state, id)))
			id++;
		n += id < state->tally.threads.n;
	}
	return n;
}

static void rate_words(const struct state *state, char *dest, size_t size)
{
	char wanted[48] = "max";
	size_t n = count_alive(state);
	if (state->facts.rate_hz > 0 && n > 1)
		(void)snprintf(wanted, sizeof wanted, "%zu x %.10g", n, state->facts.rate_hz);
	else if (state->facts.rate_hz > 0)
		(void)snprintf(wanted, sizeof wanted, "%.10g", state->facts.rate_hz);
	if (state->banner[0])
		(void)snprintf(dest, size, "%s/s", wanted);
	else
		(void)snprintf(dest, size, "%.0f of %s/s", state->rate_got, wanted);
}

static unsigned draw_number(struct grid *grid, unsigned row, unsigned col, const char *word,
			    uint64_t n, enum style style)
{
	char text[32];
	(void)snprintf(text, sizeof text, "%" PRIu64, n);
	return draw_pair(grid, row, col, word, n ? style : STYLE_PLAIN, text);
}

static void draw_rates(const struct state *state, struct grid *grid, unsigned row)
{
	char text[64];
	rate_words(state, text, sizeof text);
	unsigned col = draw_pair(grid, row, 1, "rate", STYLE_BOLD, text);
	if (state->frozen)
		col = draw_pair(grid, row, col, "", STYLE_BANNER, " FROZEN ");
	col = draw_number(grid, row, col, "lost", state->stats.samples_lost, STYLE_WARM);
	col = draw_number(grid, row, col, "late", state->stats.samples_late, STYLE_WARM);
	(void)snprintf(text, sizeof text, "%.1f%%", 100 * state->self_share);
	col = draw_pair(grid, row, col, "our CPU", STYLE_PLAIN, text);
	col = draw_pair(grid, row, col, "mode", STYLE_BOLD, mode_names[state->selection.mode]);
	if (state->dropped)
		col = draw_number(grid, row, col, "not shown", state->dropped, STYLE_HOT);
	if (state->status < 0)
		col = draw_pair(grid, row, col, "", STYLE_HOT, "out of memory");
	col = draw_number(grid, row, col, "samples", state->tally.count.n_total, STYLE_PLAIN);
	(void)snprintf(text, sizeof text, "%u/s", state_refresh_hz[state->refresh]);
	(void)draw_pair(grid, row, col, "refresh", STYLE_PLAIN, text);
}

/* ---- bars --------------------------------------------------------------------------------------- */

/* Time in the last second that is over, of the thread that is looked at or of all together. */
static double share_of(const struct state *state, enum thread_series which)
{
	uint64_t us = 0;
	for (uint32_t id = 0; id < state->tally.threads.n; id++)
		if (state->selection.thread == NO_ID || state->selection.thread == id)
			us += series_sum(&state->tally.threads.at[id].time[which],
					 state->tally.second - 1, 1);
	return (double)us / 1e6;
}

static void draw_bars(const struct state *state, struct grid *grid, unsigned row)
{
	const struct {
		const char *word;
		enum style style;
		double share;
	} bars[] = {
		{"CPU", STYLE_BAR,
		 state->selection.thread == NO_ID && state->cpu_share >= 0
			 ? state->cpu_share
			 : share_of(state, TIME_CPU)},
		{"GIL", STYLE_BAR, share_of(state, TIME_GIL)},
		{"wait", STYLE_BAR_WAIT, share_of(state, TIME_WAITING)},
		{"GC", STYLE_BAR_GC, share_of(state, TIME_GC)},
		{"exc", STYLE_BAR_ERROR, share_of(state, TIME_EXCEPTION)},
	};
	const unsigned n = sizeof bars / sizeof bars[0];
	unsigned each = grid->cols > 2 ? (grid->cols - 2) / n : 0;
	each = each > 30 ? 30 : each;
	for (unsigned i = 0; i < n; i++) {
		unsigned col = 1 + i * each, words = (unsigned)strlen(bars[i].word) + 1;
		char value[16];
		(void)snprintf(value, sizeof value, "%.0f%%", 100 * bars[i].share);
		(void)grid_text(grid, row, col, each, STYLE_DIM, bars[i].word);
		if (each > words + 8)
			view_bar(grid, row, col + words, each - words - 6, bars[i].style,
				 bars[i].share);
		grid_right(grid, row, col + each - 6, 5, STYLE_PLAIN, value);
	}
}

static void draw_selection(const struct state *state, struct grid *grid, unsigned row, unsigned col)
{
	char thread[96] = "all threads";
	bool all = state->selection.thread == NO_ID;
	if (!all)
		view_thread_name(state, state->selection.thread, thread, sizeof thread);
	if (grid->cols > col + 1)
		grid_right(grid, row, col, grid->cols - col - 1, all ? STYLE_DIM : STYLE_BOLD,
			   thread);
}

static void draw_minute(const struct state *state, struct grid *grid, unsigned row)
{
	const unsigned left = 13, each = grid->cols < 100 ? 2 : 1, width = MINUTE / each;
	uint16_t most = 1000;
	(void)grid_text(grid, row, 1, left, STYLE_DIM, "CPU, 1 min");
	for (unsigned i = 0; i < state->minute_n; i++)
		most = state->minute[i] > most ? state->minute[i] : most;
	for (unsigned i = 0; i + each <= state->minute_n; i += each) {
		unsigned sum = 0;
		for (unsigned k = 0; k < each; k++)
			sum += state->minute[(state->minute_at + MINUTE - i - k) % MINUTE];
		grid_fill(grid, row, left + width - 1 - i / each, 1, STYLE_BAR,
			  0x2581 + 7u * (sum / each) / most);
	}
	draw_selection(state, grid, row, left + width + 1);
}

static void draw_tabs(const struct state *state, struct grid *grid, unsigned row)
{
	unsigned col = 1;
	bool wide = grid->cols >= 100;
	for (unsigned i = 0; i < VIEW_N; i++) {
		const struct view_info *info = view_info((enum view)i);
		style_t style = i == (unsigned)state->view ? STYLE_TAB_HERE : STYLE_TAB;
		if (i == VIEW_OUTPUT && !state->facts.has_program)
			continue;
		col += grid_format(grid, row, col, grid->cols - col, style,
				   wide ? " %c %s " : "%c %s", info->key,
				   grid->cols < 80 ? info->brief : info->name);
		col += 1;
		if (col >= grid->cols)
			break;
	}
	if (!state->filter[0])
		return;
	char text[64];
	(void)snprintf(text, sizeof text, " /%.40s ", state->filter);
	grid_right(grid, row, grid->cols / 2, grid->cols - grid->cols / 2, STYLE_BANNER, text);
}

void header_draw(const struct state *state, const struct screen_parts *parts, struct grid *grid)
{
	if (parts->title != SCREEN_NOWHERE)
		draw_title(state, grid, parts->title);
	if (parts->rates != SCREEN_NOWHERE)
		draw_rates(state, grid, parts->rates);
	if (parts->bars != SCREEN_NOWHERE)
		draw_bars(state, grid, parts->bars);
	if (parts->minute != SCREEN_NOWHERE)
		draw_minute(state, grid, parts->minute);
	if (parts->tabs != SCREEN_NOWHERE)
		draw_tabs(state, grid, parts->tabs);
}
