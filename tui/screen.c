/* SPDX-License-Identifier: MIT
 * Joins header, view and bottom line. On small screens the header gives way first.
 */
#include "tui/screen.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "tui/rows.h"
#include "tui/views.h"

#define ROWS_FOR_MINUTE 16u /* from which on the last minute has a line */
#define ROWS_FOR_HEADER 9u
#define ROWS_FOR_TITLE  5u

static const struct view_info infos[VIEW_N] = {
	[VIEW_FUNCTIONS] = {"Functions", "Fn", '1', view_functions},
	[VIEW_TREE] = {"Tree", "Tree", '2', view_tree},
	[VIEW_FLAME] = {"Flame", "Flm", '3', view_flame},
	[VIEW_THREADS] = {"Threads", "Thr", '4', view_threads},
	[VIEW_TASKS] = {"Tasks", "Task", '5', view_tasks},
	[VIEW_LINES] = {"Lines", "Line", '6', view_lines},
	[VIEW_OPCODES] = {"Opcodes", "Op", '7', view_opcodes},
	[VIEW_OUTPUT] = {"Output", "Out", '8', view_output},
	[VIEW_HELP] = {"Help", "Help", 'h', view_help},
};

const struct view_info *view_info(enum view view)
{
	return &infos[view];
}

struct screen_parts screen_parts(const struct state *state)
{
	struct screen_parts parts = {SCREEN_NOWHERE,
				     SCREEN_NOWHERE,
				     SCREEN_NOWHERE,
				     SCREEN_NOWHERE,
				     SCREEN_NOWHERE,
				     0,
				     0,
				     0,
				     0};
	unsigned at = 0;
	if (state->rows >= ROWS_FOR_TITLE)
		parts.title = at++;
	if (state->rows >= ROWS_FOR_HEADER) {
		parts.rates = at++;
		parts.bars = at++;
	}
	if (state->rows >= ROWS_FOR_MINUTE)
		parts.minute = at++;
	if (state->rows >= ROWS_FOR_HEADER)
		parts.tabs = at++;
	parts.head = at++;
	parts.first = at;
	parts.bottom = state->rows > 0 ? state->rows - 1 : 0;
	parts.n_rows = parts.bottom > at ? parts.bottom - at : 1;
	return parts;
}

/* ---- the bottom line ------------------------------------------------------------------------- */

static void draw_prompt(const struct state *state, struct grid *grid, unsigned row)
{
	static const char *const words[] = {
		[PROMPT_NONE] = "",
		[PROMPT_FILTER] = "filter: ",
		[PROMPT_SAVE_SCREEN] = "save this screen as: ",
		[PROMPT_SAVE_PROFILE] = "save the profile as (Tab: another format): ",
		[PROMPT_TYPE] = "to the program (Esc ends): ",
	};
	grid_fill(grid, row, 0, grid->cols, STYLE_PROMPT, ' ');
	unsigned col = grid_text(grid, row, 0, grid->cols, STYLE_KEY, words[state->prompt]);
	/* of a long line the end, where it is being typed */
	const char *line = state->line;
	size_t room = grid->cols > col + 1 ? grid->cols - col - 1 : 0;
	while (*line && utf8_columns(line, strlen(line)) > room) {
		size_t pos = 0;
		(void)utf8_next(line, strlen(line), &pos);
		line += pos;
	}
	col += grid_text(grid, row, col, grid->cols, STYLE_PROMPT, line);
	grid_fill(grid, row, col, 1, STYLE_PROMPT, '_');
}

static void draw_hints(const struct state *state, struct grid *grid, unsigned row)
{
	static const struct {
		const char *key, *what;
	} hints[] = {
		{"q", "quit"},     {"h", "help"},   {"s", "sort"},  {"/", "filter"},
		{"t", "thread"},   {"p", "freeze"}, {"r", "reset"}, {"m", "mode"},
		{"+-", "refresh"}, {"<>", "rate"},  {"w", "save"},  {"W", "export"},
		{"x", "trends"},
	};
	unsigned col = 0;
	const struct list *list = &state->lists[state->view];
	char place[64] = "";
	if (list->rows.n)
		(void)snprintf(place, sizeof place, "%zu/%zu", list->cursor + 1, list->rows.n);
	unsigned end = grid->cols > 12 ? grid->cols - 12 : grid->cols;
	for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
		size_t width = strlen(hints[i].key) + strlen(hints[i].what) + 3;
		if (col + width > end)
			break;
		col += grid_text(grid, row, col, end, STYLE_KEY, hints[i].key) + 1;
		col += grid_text(grid, row, col, end, STYLE_DIM, hints[i].what) + 2;
	}
	grid_right(grid, row, end, grid->cols - end, STYLE_DIM, place);
}

static void draw_bottom(const struct state *state, const struct screen_parts *parts,
			struct grid *grid)
{
	if (state->prompt != PROMPT_NONE)
		draw_prompt(state, grid, parts->bottom);
	else if (state->message[0] && state->now_ns < state->message_until_ns)
		(void)grid_path(grid, parts->bottom, 0, grid->cols, STYLE_BOLD, state->message);
	else if (state->banner[0]) {
		grid_fill(grid, parts->bottom, 0, grid->cols, STYLE_BANNER, ' ');
		(void)grid_format(grid, parts->bottom, 1, grid->cols - 1, STYLE_BANNER,
				  "%s: q leaves", state->banner);
	} else
		draw_hints(state, grid, parts->bottom);
}

static void mark_chosen(const struct state *state, const struct screen_parts *parts,
			struct grid *grid)
{
	const struct list *list = &state->lists[state->view];
	if (list->rows.n && list->cursor >= list->top && list->cursor - list->top < parts->n_rows)
		grid_choose_row(grid, parts->first + (unsigned)(list->cursor - list->top));
}

int screen_draw(const struct state *state, struct grid *grid)
{
	if (grid->rows != state->rows || grid->cols != state->cols || !grid->cells) {
		int rc = grid_resize(grid, state->rows, state->cols);
		if (rc < 0)
			return rc;
	} else {
		grid_clear(grid);
	}
	struct screen_parts parts = screen_parts(state);
	header_draw(state, &parts, grid);
	infos[state->view].draw(state, &parts, grid);
	mark_chosen(state, &parts, grid);
	draw_bottom(state, &parts, grid);
	return 0;
}

void screen_text(const struct grid *grid, void (*write)(void *arg, const char *text, size_t n),
		 void *arg)
{
	for (unsigned row = 0; row < grid->rows; row++) {
		unsigned end = grid->cols;
		while (end > 0 && grid_at(grid, row, end - 1)->c == ' ' &&
		       grid_at(grid, row, end - 1)->width == 1)
			end--;
		for (unsigned col = 0; col < end; col++) {
			const struct cell *cell = grid_at(grid, row, col);
			char bytes[4];
			if (cell->width == 0)
				continue;
			write(arg, bytes, utf8_encode(cell->c, bytes));
			for (size_t i = 0; i < CELL_MARKS_MAX && cell->marks[i]; i++)
				write(arg, bytes, utf8_encode(cell->marks[i], bytes));
		}
		write(arg, "\n", 1);
	}
}
