/* SPDX-License-Identifier: MIT
 * What the program has written, and the words about the keys.
 */
#include <stdio.h>

#include "tui/views.h"

void view_output(const struct state *state, const struct screen_parts *parts, struct grid *grid)
{
	const struct list *list = &state->lists[VIEW_OUTPUT];
	grid_fill(grid, parts->head, 0, grid->cols, STYLE_HEAD, ' ');
	(void)grid_text(grid, parts->head, 1, grid->cols, STYLE_HEAD,
			state->facts.can_type
				? "output of the program (i: type to it); shown again at the end"
				: "output of the program; shown again at the end");
	if (!state->spool || !list->rows.n)
		view_nothing(parts, grid,
			     state->facts.has_program
				     ? "nothing was written to the terminal so far"
				     : "of a process that runs already the output is its own");
	for (unsigned i = 0; i < parts->n_rows && list->top + i < list->rows.n; i++)
		(void)grid_text(grid, parts->first + i, 0, grid->cols, STYLE_PLAIN,
				spool_line(state->spool, list->rows.at[list->top + i].id));
}

static const struct {
	const char *keys, *what;
} help[] = {
	{"1 - 8, Tab", "views: functions, tree, flame, threads, tasks, lines, opcodes, output"},
	{"j k \xe2\x86\x91 \xe2\x86\x93 PgUp PgDn g G",
	 "choose a row; the wheel scrolls, a click chooses"},
	{"Enter", "functions: its lines; threads: this one only; tree: open, close; flame: zoom"},
	{"u Backspace Esc", "back: all threads, no zoom, no filter"},
	{"s S", "next and previous order"},
	{"t, \xe2\x86\x90 \xe2\x86\x92", "all threads or one; the thread before, the next one"},
	{"[ ]", "tree: close, open; flame: neighbour"},
	{"e E H", "tree: open all below, close all below, follow the hottest path"},
	{"/ c", "filter while you type (function, file, thread); no filter"},
	{"p", "freeze the screen; sampling goes on"},
	{"r", "forget what was counted so far (the profile keeps it)"},
	{"m", "which moments count: wall, cpu, gil, exception"},
	{"+ -", "refresh faster, slower: 1 to 20 a second"},
	{"< >", "sample at half, at twice the rate"},
	{"x", "trends: arrows for what grew or shrank in the last 5 s"},
	{"w W", "save this screen; save the profile, in any format"},
	{"i", "output: type to the program"},
	{"q, Ctrl-C, Ctrl-Z", "leave; leave and interrupt a program that was started; suspend"},
	{"", ""},
	{"own, total", "time with the function on top; anywhere in the stack"},
	{"now%", "the same, of the last 5 seconds"},
	{"bars", "of the last second, all threads together: 100% is one thread all the time"},
};

const unsigned view_help_rows = sizeof help / sizeof help[0];

void view_help(const struct state *state, const struct screen_parts *parts, struct grid *grid)
{
	size_t n = view_help_rows, top = state->lists[VIEW_HELP].top;
	grid_fill(grid, parts->head, 0, grid->cols, STYLE_HEAD, ' ');
	(void)grid_format(grid, parts->head, 1, grid->cols, STYLE_HEAD,
			  "keys (h or Esc: back)   tachyscope %s", tachy_version());
	for (unsigned i = 0; i < parts->n_rows && top + i < n; i++) {
		unsigned col = grid->cols >= 76 ? 23 : 16;
		(void)grid_text(grid, parts->first + i, 1, col - 2, STYLE_KEY, help[top + i].keys);
		(void)grid_text(grid, parts->first + i, col, grid->cols, STYLE_PLAIN,
				help[top + i].what);
	}
}
