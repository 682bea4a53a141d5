/* SPDX-License-Identifier: MIT
 * The threads: what each does now, and how much of the last seconds it held, or waited for, the GIL.
 */
#include <inttypes.h>
#include <stdio.h>

#include "tui/rows.h"
#include "tui/views.h"

#define STATE_WIDTH 9u

static const char *state_word(const struct state *state, uint32_t id, enum style *ret_style)
{
	uint32_t states = state->tally.threads.at[id].states;
	*ret_style = STYLE_PLAIN;
	if (rows_thread_ended(state, id)) {
		*ret_style = STYLE_DIM;
		return "ended";
	}
	if (states & TACHY_STATE_GC) {
		*ret_style = STYLE_MARKER;
		return "GC";
	}
	if (states & TACHY_STATE_GIL) {
		*ret_style = STYLE_GOOD;
		return states & TACHY_STATE_GIL_KNOWN ? "GIL" : "attached";
	}
	if (states & TACHY_STATE_GIL_WAITING) {
		*ret_style = STYLE_WARM;
		return "wants GIL";
	}
	if (states & TACHY_STATE_ON_CPU)
		return "on CPU";
	*ret_style = STYLE_DIM;
	return states & TACHY_STATE_CPU_KNOWN ? "sleeps" : "waits";
}

static void draw_share(const struct state *state, struct grid *grid, unsigned row, unsigned col,
		       uint32_t id, enum thread_series which)
{
	const struct thread_tally *tally = &state->tally.threads.at[id];
	uint64_t all = rows_recent(state, &tally->time[TIME_ALL]);
	view_percent(grid, row, col, rows_recent(state, &tally->time[which]), all);
}

/* Where the columns stand at this width. */
struct places {
	unsigned cpu, waiting, n, name, name_width, function;
};

static struct places places_of(const struct state *state, const struct grid *grid)
{
	struct places places = {.name = STATE_WIDTH + 10};
	places.waiting = places.name;
	places.name += 7;
	if (state->selection.mode == TACHY_MODE_CPU) {
		places.cpu = places.name;
		places.name += 7;
	}
	if (grid->cols >= 100) {
		places.n = places.name;
		places.name += 9;
	}
	unsigned left = grid->cols > places.name ? grid->cols - places.name : 0;
	places.name += 1;
	places.name_width = left / 3;
	places.function = places.name + places.name_width + 1;
	return places;
}

static void draw_thread(const struct state *state, struct grid *grid, unsigned row,
			const struct places *places, uint32_t id)
{
	const struct thread_tally *tally = &state->tally.threads.at[id];
	const struct catalog *catalog = &state->tally.catalog;
	char name[256];
	enum style style;
	const char *word = state_word(state, id, &style);
	grid_fill(grid, row, 0, 1, STYLE_KEY, id == state->selection.thread ? '>' : ' ');
	(void)grid_text(grid, row, 1, STATE_WIDTH, (style_t)style, word);
	draw_share(state, grid, row, STATE_WIDTH + 3, id, TIME_GIL);
	draw_share(state, grid, row, places->waiting + 1, id, TIME_WAITING);
	if (places->cpu)
		draw_share(state, grid, row, places->cpu + 1, id, TIME_CPU);
	if (places->n)
		view_count(grid, row, places->n, 9, tally->n);
	view_thread_name(state, id, name, sizeof name);
	(void)grid_text(grid, row, places->name, places->name_width,
			catalog->threads.at[id].main ? STYLE_BOLD : STYLE_PLAIN, name);
	if (!tally->stack || places->function >= grid->cols)
		return;
	uint32_t line = catalog->frames.at[catalog->stacks.at[tally->stack].frame].line;
	(void)view_function_name(state, grid, row, places->function, grid->cols,
				 catalog->lines.at[line].function);
}

void view_threads(const struct state *state, const struct screen_parts *parts, struct grid *grid)
{
	const struct list *list = &state->lists[VIEW_THREADS];
	struct places places = places_of(state, grid);
	grid_fill(grid, parts->head, 0, grid->cols, STYLE_HEAD, ' ');
	(void)grid_text(grid, parts->head, 1, STATE_WIDTH, STYLE_HEAD, "state");
	grid_right(grid, parts->head, STATE_WIDTH + 3, 6, STYLE_HEAD, "GIL");
	grid_right(grid, parts->head, places.waiting + 1, 6, STYLE_HEAD, "waits");
	if (places.cpu)
		grid_right(grid, parts->head, places.cpu + 1, 6, STYLE_HEAD, "CPU");
	if (places.n)
		grid_right(grid, parts->head, places.n, 9, STYLE_HEAD, "samples");
	(void)grid_format(grid, parts->head, places.name, places.name_width, STYLE_HEAD, "%sthread",
			  list->sort == SORT_NAME ? "\xe2\x96\xbc" : "");
	(void)grid_text(grid, parts->head, places.function, grid->cols, STYLE_HEAD, "runs");
	for (unsigned i = 0; i < parts->n_rows && list->top + i < list->rows.n; i++)
		draw_thread(state, grid, parts->first + i, &places,
			    list->rows.at[list->top + i].id);
	if (!list->rows.n)
		view_nothing(parts, grid,
			     state->filter[0] ? "no thread has this in its name (c: no filter)"
					      : "no thread was seen yet");
}
