/* SPDX-License-Identifier: MIT
 * The call tree: a node a row, children below and to the right of their caller.
 */
#include <stdio.h>

#include "tui/rows.h"
#include "tui/views.h"

#define NUMBERS 15u /* columns before the names */
#define INDENT  2u

static bool has_children(const struct tree *tree, uint32_t node)
{
	for (uint32_t id = tree->nodes.at[node].child; id != NO_ID; id = tree->nodes.at[id].next)
		if (tree->nodes.at[id].count.n_total)
			return true;
	return false;
}

static void draw_node(const struct state *state, struct grid *grid, unsigned row, uint32_t id,
		      unsigned shift)
{
	const struct tree *tree = &state->tally.tree;
	const struct tree_node *node = &tree->nodes.at[id];
	unsigned depth = (node->depth - 1) * INDENT;
	unsigned col = NUMBERS + (depth > shift ? depth - shift : 0);
	view_percent(grid, row, 0, node->count.ns_total, state->tally.count.ns_total);
	view_percent(grid, row, 7, node->count.ns_own, state->tally.count.ns_total);
	if (has_children(tree, id))
		grid_fill(grid, row, col, 1, STYLE_KEY, node->open ? 0x25be : 0x25b8);
	col += 2;
	if (!(node->label & TREE_PROCESS)) {
		(void)view_function_name(state, grid, row, col, grid->cols, node->label);
		return;
	}
	const struct told_process *process =
		&state->tally.catalog.processes.at[node->label & ~TREE_PROCESS];
	(void)grid_format(grid, row, col, grid->cols, STYLE_BOLD, "process %lld  %s",
			  (long long)process->pid, process->command);
}

/* How far deep nodes are moved left, so that the chosen one has room for its name. */
static unsigned shift_of(const struct state *state, const struct grid *grid)
{
	uint32_t chosen = rows_chosen(state);
	if (chosen == NO_ID)
		return 0;
	unsigned depth = (state->tally.tree.nodes.at[chosen].depth - 1) * INDENT;
	unsigned room = grid->cols > NUMBERS ? (grid->cols - NUMBERS) / 2 : 0;
	return depth > room ? depth - room : 0;
}

void view_tree(const struct state *state, const struct screen_parts *parts, struct grid *grid)
{
	const struct list *list = &state->lists[VIEW_TREE];
	unsigned shift = shift_of(state, grid);
	grid_fill(grid, parts->head, 0, grid->cols, STYLE_HEAD, ' ');
	grid_right(grid, parts->head, 0, 6, STYLE_HEAD, "total%");
	grid_right(grid, parts->head, 7, 6, STYLE_HEAD, "own%");
	(void)grid_format(grid, parts->head, NUMBERS, grid->cols, STYLE_HEAD, "calls, by %s%s%s",
			  rows_sort_name(list->sort),
			  state->hot_path ? ", following the hottest (H)" : "",
			  shift ? "  \xe2\x80\xa6" : "");
	for (unsigned i = 0; i < parts->n_rows && list->top + i < list->rows.n; i++)
		draw_node(state, grid, parts->first + i, list->rows.at[list->top + i].id, shift);
	if (!list->rows.n)
		view_nothing(parts, grid,
			     state->filter[0] ? "no call has this in its name (c: no filter)"
					      : "no samples yet");
}
