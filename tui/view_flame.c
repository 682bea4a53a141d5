/* SPDX-License-Identifier: MIT
 * The call tree as boxes as wide as their time, callers above. Laid out level by level; what is narrower
 * than a cell is left out, so that the work is bounded by the size of the screen.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tui/rows.h"
#include "tui/views.h"

#define FINE 4096u /* parts of a cell that places are counted in */

struct box {
	uint32_t node;
	uint64_t from, to; /* in parts of a cell */
};

struct boxes { /* as VEC(struct box) */
	struct box *at;
	size_t n, cap;
};

struct flame {
	struct boxes here, below; /* this level, and the one below it */
	VEC(struct row) children; /* scratch */
};

static void flame_done(struct flame *flame)
{
	vec_done(&flame->here);
	vec_done(&flame->below);
	vec_done(&flame->children);
}

static int by_key(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	if (a->key != b->key)
		return a->key < b->key ? 1 : -1;
	return (a->id > b->id) - (a->id < b->id);
}

static void sort_children(const struct tree *tree, uint32_t node, uint64_t least_ns,
			  struct flame *flame)
{
	flame->children.n = 0;
	for (uint32_t id = tree->nodes.at[node].child; id != NO_ID; id = tree->nodes.at[id].next) {
		struct row row = {id, tree->nodes.at[id].count.ns_total};
		if (row.key && row.key >= least_ns && !vec_push(&flame->children, row))
			break;
	}
	if (flame->children.n)
		qsort(flame->children.at, flame->children.n, sizeof *flame->children.at, by_key);
}

static void add_children(const struct tree *tree, const struct box *box, struct flame *flame)
{
	uint64_t width = box->to - box->from, at = box->from;
	uint64_t whole = tree->nodes.at[box->node].count.ns_total;
	if (!whole || !width)
		return;
	sort_children(tree, box->node, (uint64_t)((double)whole / (double)width * FINE), flame);
	for (size_t i = 0; i < flame->children.n; i++) {
		double part = (double)flame->children.at[i].key / (double)whole;
		struct box child = {flame->children.at[i].id, at,
				    at + (uint64_t)(part * (double)width)};
		if (child.to > box->to)
			child.to = box->to;
		at = child.to;
		if (child.to / FINE > child.from / FINE && !vec_push(&flame->below, child))
			return;
	}
}

/* The boxes of the level below. */
static void descend(const struct state *state, struct flame *flame)
{
	struct boxes here = flame->here;
	flame->below.n = 0;
	for (size_t i = 0; i < here.n; i++)
		add_children(&state->tally.tree, &here.at[i], flame);
	flame->here = flame->below;
	flame->below = here;
}

static void begin(const struct state *state, struct flame *flame)
{
	struct box all = {state->zoom, 0, (uint64_t)state->cols * FINE};
	*flame = (struct flame){0};
	if (state->zoom < state->tally.tree.nodes.n &&
	    state->tally.tree.nodes.at[state->zoom].count.n_total)
		(void)vec_push(&flame->here, all);
}

/* Levels that have gone out of the screen at the top, so that the chosen node is on it. */
static unsigned levels_above(const struct state *state, unsigned n_rows)
{
	const struct tree *tree = &state->tally.tree;
	uint32_t depth = tree->nodes.at[flame_chosen(state)].depth;
	uint32_t base = tree->nodes.at[state->zoom].depth;
	uint32_t level = depth > base ? depth - base : 0;
	return level + 2 > n_rows ? level + 2 - n_rows : 0;
}

uint32_t flame_chosen(const struct state *state)
{
	return state->flame != NO_ID && state->flame < state->tally.tree.nodes.n ? state->flame
										 : state->zoom;
}

uint32_t flame_at(const struct state *state, unsigned row, unsigned col)
{
	struct screen_parts parts = screen_parts(state);
	struct flame flame;
	uint32_t found = NO_ID;
	if (row < parts.first || row >= parts.first + parts.n_rows)
		return NO_ID;
	begin(state, &flame);
	unsigned level = row - parts.first + levels_above(state, parts.n_rows);
	for (unsigned i = 0; i < level; i++)
		descend(state, &flame);
	for (size_t i = 0; i < flame.here.n; i++)
		if (col >= flame.here.at[i].from / FINE && col < flame.here.at[i].to / FINE)
			found = flame.here.at[i].node;
	flame_done(&flame);
	return found;
}

uint32_t flame_sibling(const struct state *state, int step)
{
	struct flame flame = {0};
	uint32_t chosen = flame_chosen(state), found = chosen;
	if (chosen == state->zoom)
		return chosen;
	sort_children(&state->tally.tree, state->tally.tree.nodes.at[chosen].parent, 0, &flame);
	for (size_t i = 0; i < flame.children.n; i++)
		if (flame.children.at[i].id == chosen && (step > 0 || i > 0) &&
		    (step < 0 || i + 1 < flame.children.n))
			found = flame.children.at[step > 0 ? i + 1 : i - 1].id;
	flame_done(&flame);
	return found;
}

static enum style style_of(const struct state *state, uint32_t label)
{
	static const enum style warm[] = {STYLE_FLAME_A, STYLE_FLAME_B, STYLE_FLAME_C};
	if (label == NO_ID || label & TREE_PROCESS)
		return STYLE_FLAME_C;
	const struct told_function *told = &state->tally.catalog.functions.at[label];
	if (told->kind != TACHY_FRAME_PYTHON)
		return STYLE_FLAME_MARKER;
	if (view_short_path(told->file) != told->file || told->file[0] == '<')
		return STYLE_FLAME_LIB;
	return warm[label % 3];
}

static const char *label_text(const struct state *state, uint32_t node)
{
	uint32_t label = state->tally.tree.nodes.at[node].label;
	if (label == NO_ID)
		return "all";
	if (label & TREE_PROCESS)
		return state->tally.catalog.processes.at[label & ~TREE_PROCESS].command;
	return state->tally.catalog.functions.at[label].name;
}

static void draw_box(const struct state *state, struct grid *grid, unsigned row,
		     const struct box *box)
{
	unsigned from = (unsigned)(box->from / FINE), width = (unsigned)(box->to / FINE) - from;
	style_t style = (style_t)style_of(state, state->tally.tree.nodes.at[box->node].label);
	const char *name = label_text(state, box->node);
	if (state->filter[0] && rows_match(name, state->filter))
		style = STYLE_BANNER;
	if (box->node == flame_chosen(state))
		style = STYLE_TITLE;
	grid_fill(grid, row, from, width, style, ' ');
	if (width > 1)
		(void)grid_text(grid, row, from, width - 1, style, name);
	/* without colours neighbours need a line between them */
	grid_fill(grid, row, from + width - 1, 1, style, 0x2502);
}

static void draw_head(const struct state *state, const struct screen_parts *parts,
		      struct grid *grid)
{
	uint32_t chosen = flame_chosen(state);
	const struct tree_node *node = &state->tally.tree.nodes.at[chosen];
	grid_fill(grid, parts->head, 0, grid->cols, STYLE_HEAD, ' ');
	if (!state->tally.count.ns_total)
		return;
	double whole = (double)state->tally.count.ns_total;
	unsigned col = grid_format(grid, parts->head, 0, grid->cols, STYLE_HEAD,
				   "%5.1f%% total %5.1f%% own  ",
				   100 * (double)node->count.ns_total / whole,
				   100 * (double)node->count.ns_own / whole);
	if (node->label == NO_ID || node->label & TREE_PROCESS)
		(void)grid_text(grid, parts->head, col, grid->cols, STYLE_HEAD,
				label_text(state, chosen));
	else
		(void)view_function_name(state, grid, parts->head, col, grid->cols, node->label);
	for (unsigned i = 0; i < grid->cols; i++)
		grid->cells[parts->head * grid->cols + i].style = STYLE_HEAD;
}

void view_flame(const struct state *state, const struct screen_parts *parts, struct grid *grid)
{
	struct flame flame;
	unsigned above = levels_above(state, parts->n_rows);
	draw_head(state, parts, grid);
	begin(state, &flame);
	if (!flame.here.n)
		view_nothing(parts, grid,
			     state->zoom ? "nothing here in this selection (u: back)"
					 : "no samples yet");
	for (unsigned level = 0; level < above + parts->n_rows && flame.here.n; level++) {
		for (size_t i = 0; level >= above && i < flame.here.n; i++)
			draw_box(state, grid, parts->first + level - above, &flame.here.at[i]);
		descend(state, &flame);
	}
	flame_done(&flame);
}
