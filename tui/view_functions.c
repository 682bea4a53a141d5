/* SPDX-License-Identifier: MIT
 * The table of functions, and that of tasks, which are functions of a kind of their own. The wider the
 * screen the more columns; function and file take what is left.
 */
#include <stdio.h>

#include "tui/rows.h"
#include "tui/views.h"

enum column_kind {
	OWN_N,
	OWN_PERCENT,
	OWN_RECENT,
	TOTAL_N,
	TOTAL_PERCENT,
	TOTAL_RECENT,
	OWN_S,
	TOTAL_S,
	COLUMN_N
};

static const struct {
	const char *name;
	unsigned width, from_cols; /* of the screen */
	enum sort sort;
} columns[COLUMN_N] = {
	[OWN_N] = {"own", 7, 80, SORT_N},
	[OWN_PERCENT] = {"own%", 7, 0, SORT_OWN},
	[OWN_RECENT] = {"now%", 7, 0, SORT_OWN_RECENT},
	[TOTAL_N] = {"total", 7, 140, SORT_N},
	[TOTAL_PERCENT] = {"total%", 7, 0, SORT_TOTAL},
	[TOTAL_RECENT] = {"tot.now%", 9, 110, SORT_TOTAL_RECENT},
	[OWN_S] = {"own s", 9, 100, SORT_N},
	[TOTAL_S] = {"total s", 9, 120, SORT_N},
};

static bool has_column(const struct grid *grid, unsigned i)
{
	return grid->cols >= columns[i].from_cols;
}

static unsigned draw_head(const struct state *state, const struct screen_parts *parts,
			  struct grid *grid, const char *what)
{
	enum sort sort = state->lists[state->view].sort;
	unsigned col = 0;
	grid_fill(grid, parts->head, 0, grid->cols, STYLE_HEAD, ' ');
	for (unsigned i = 0; i < COLUMN_N; i++) {
		char name[24];
		if (!has_column(grid, i))
			continue;
		(void)snprintf(name, sizeof name, "%s%s",
			       columns[i].sort == sort ? "\xe2\x96\xbc" : "", columns[i].name);
		grid_right(grid, parts->head, col, columns[i].width, STYLE_HEAD, name);
		col += columns[i].width;
	}
	(void)grid_format(grid, parts->head, col + 2, grid->cols, STYLE_HEAD, "%s%s",
			  sort == SORT_NAME ? "\xe2\x96\xbc" : "", what);
	return col;
}

static void draw_seconds(struct grid *grid, unsigned row, unsigned col, unsigned width, uint64_t ns)
{
	char text[24];
	(void)snprintf(text, sizeof text, ns < 100000000000 ? "%.2f" : "%.0f", (double)ns / 1e9);
	grid_right(grid, row, col, width, STYLE_PLAIN, text);
}

/* Shares of the last seconds and of those before them: the difference is the trend. */
static void draw_trend(const struct state *state, struct grid *grid, unsigned row, unsigned col,
		       const struct function_tally *tally)
{
	int64_t now = state->tally.second;
	uint64_t all = series_sum(&state->tally.all, now, RECENT_SECONDS);
	uint64_t all_before = series_sum(&state->tally.all, now - RECENT_SECONDS, RECENT_SECONDS);
	uint64_t own = series_sum(&tally->own, now, RECENT_SECONDS);
	uint64_t before = series_sum(&tally->own, now - RECENT_SECONDS, RECENT_SECONDS);
	if (!state->trends || !all || !all_before)
		return;
	double change = (double)own / (double)all - (double)before / (double)all_before;
	if (change > 0.02)
		grid_fill(grid, row, col, 1, STYLE_UP, 0x2191);
	else if (change < -0.02)
		grid_fill(grid, row, col, 1, STYLE_DOWN, 0x2193);
}

static void draw_column(const struct state *state, struct grid *grid, unsigned row, unsigned col,
			unsigned i, uint32_t id)
{
	const struct function_tally *tally = &state->tally.functions.at[id];
	const struct count *all = &state->tally.count;
	uint64_t lately = rows_recent(state, &state->tally.all);
	switch (i) {
	case OWN_N:
		view_count(grid, row, col, columns[i].width, tally->count.n_own);
		break;
	case OWN_PERCENT:
		view_percent(grid, row, col + 1, tally->count.ns_own, all->ns_total);
		break;
	case OWN_RECENT:
		view_percent(grid, row, col + 1, rows_recent(state, &tally->own), lately);
		break;
	case TOTAL_N:
		view_count(grid, row, col, columns[i].width, tally->count.n_total);
		break;
	case TOTAL_PERCENT:
		view_percent(grid, row, col + 1, tally->count.ns_total, all->ns_total);
		break;
	case TOTAL_RECENT:
		view_percent(grid, row, col + 3, rows_recent(state, &tally->total), lately);
		break;
	case OWN_S:
		draw_seconds(grid, row, col, columns[i].width, tally->count.ns_own);
		break;
	case TOTAL_S:
		draw_seconds(grid, row, col, columns[i].width, tally->count.ns_total);
		break;
	default:
		break;
	}
}

static void draw_row(const struct state *state, struct grid *grid, unsigned row, unsigned start,
		     uint32_t id)
{
	unsigned col = 0;
	for (unsigned i = 0; i < COLUMN_N; i++) {
		if (!has_column(grid, i))
			continue;
		draw_column(state, grid, row, col, i, id);
		col += columns[i].width;
	}
	draw_trend(state, grid, row, start, &state->tally.functions.at[id]);
	(void)view_function_name(state, grid, row, start + 2, grid->cols, id);
}

static unsigned draw_table(const struct state *state, const struct screen_parts *parts,
			   struct grid *grid, const char *what)
{
	const struct list *list = &state->lists[state->view];
	unsigned start = draw_head(state, parts, grid, what);
	for (unsigned i = 0; i < parts->n_rows && list->top + i < list->rows.n; i++)
		draw_row(state, grid, parts->first + i, start, list->rows.at[list->top + i].id);
	return start;
}

void view_functions(const struct state *state, const struct screen_parts *parts, struct grid *grid)
{
	(void)draw_table(state, parts, grid, "function file:line");
	if (state->lists[VIEW_FUNCTIONS].rows.n)
		return;
	if (state->filter[0])
		view_nothing(parts, grid,
			     "no function or file has this in its name (c: no filter)");
	else if (state->selection.mode != TACHY_MODE_WALL)
		view_nothing(parts, grid, "no samples of this mode yet (m: another mode)");
	else
		view_nothing(parts, grid, "no samples yet");
}

void view_tasks(const struct state *state, const struct screen_parts *parts, struct grid *grid)
{
	const struct list *list = &state->lists[VIEW_TASKS];
	unsigned start = draw_table(state, parts, grid, "task");
	unsigned half = grid->cols > start ? start + 2 + (grid->cols - start) / 3 : grid->cols;
	if (!list->rows.n)
		view_nothing(parts, grid,
			     "no asyncio tasks seen; stacks have them with --async-aware");
	else
		(void)grid_text(grid, parts->head, half, grid->cols, STYLE_HEAD, "runs");
	/* what it was last seen in stands on the right */
	for (unsigned i = 0; i < parts->n_rows && list->top + i < list->rows.n; i++) {
		uint32_t stack = state->tally.functions.at[list->rows.at[list->top + i].id].stack;
		if (!stack || half >= grid->cols)
			continue;
		uint32_t line = state->tally.catalog.frames
					.at[state->tally.catalog.stacks.at[stack].frame]
					.line;
		grid_fill(grid, parts->first + i, half - 1, grid->cols, STYLE_PLAIN, ' ');
		(void)view_function_name(state, grid, parts->first + i, half, grid->cols,
					 state->tally.catalog.lines.at[line].function);
	}
}
