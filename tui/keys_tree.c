/* SPDX-License-Identifier: MIT
 * Keys of the call tree and the flame graph.
 */
#include "tui/keys.h"
#include "tui/rows.h"
#include "tui/views.h"

/* Opens or closes `node` and all below it: children have larger numbers than their parents. */
static void open_all(struct tree *tree, uint32_t node, bool open)
{
	tree->nodes.at[node].open = open;
	for (uint32_t id = node + 1; id < tree->nodes.n; id++) {
		uint32_t above = tree->nodes.at[id].parent;
		while (above > node && above != NO_ID)
			above = tree->nodes.at[above].parent;
		if (above == node)
			tree->nodes.at[id].open = open;
	}
}

static void close_or_up(struct state *state, uint32_t id)
{
	struct tree_node *node = &state->tally.tree.nodes.at[id];
	if (node->open && node->child != NO_ID)
		node->open = false;
	else if (node->parent != TREE_ROOT)
		state->lists[VIEW_TREE].chosen = node->parent;
}

static void open_or_down(struct state *state, uint32_t id)
{
	struct tree_node *node = &state->tally.tree.nodes.at[id];
	uint32_t hottest = tree_hottest(&state->tally.tree, id);
	if (!node->open)
		node->open = true;
	else if (hottest != NO_ID)
		state->lists[VIEW_TREE].chosen = hottest;
}

bool tree_key(struct state *state, struct key key)
{
	struct tree *tree = &state->tally.tree;
	uint32_t id = rows_chosen(state);
	bool all = state->selection.thread == NO_ID; /* else the arrows are for the threads */
	if (key.code == 'H') {
		state->hot_path = !state->hot_path;
		return true;
	}
	if (id == NO_ID)
		return false;
	if (key.code == '[' || (all && key.code == KEY_LEFT))
		close_or_up(state, id);
	else if (key.code == ']' || (all && key.code == KEY_RIGHT))
		open_or_down(state, id);
	else if (key.code == KEY_ENTER || key.code == ' ')
		tree->nodes.at[id].open = !tree->nodes.at[id].open;
	else if (key.code == 'e' || key.code == 'E')
		open_all(tree, id, key.code == 'e');
	else
		return false;
	state->hot_path = false; /* a person has chosen another way */
	return true;
}

static void choose(struct state *state, uint32_t node)
{
	if (node != NO_ID)
		state->flame = node;
}

static void zoom_out(struct state *state)
{
	uint32_t parent = state->tally.tree.nodes.at[state->zoom].parent;
	if (parent != NO_ID) {
		state->flame = state->zoom;
		state->zoom = parent;
	}
}

bool flame_key(struct state *state, struct key key)
{
	const struct tree *tree = &state->tally.tree;
	uint32_t chosen = flame_chosen(state);
	bool all = state->selection.thread == NO_ID;
	if (key.code == KEY_DOWN || key.code == 'j')
		choose(state, tree_hottest(tree, chosen));
	else if (key.code == KEY_UP || key.code == 'k')
		choose(state, chosen == state->zoom ? NO_ID : tree->nodes.at[chosen].parent);
	else if (key.code == '[' || (all && key.code == KEY_LEFT))
		choose(state, flame_sibling(state, -1));
	else if (key.code == ']' || (all && key.code == KEY_RIGHT))
		choose(state, flame_sibling(state, 1));
	else if (key.code == KEY_ENTER || key.code == 'z')
		state->zoom = chosen;
	else if (key.code == 'u' || key.code == KEY_BACKSPACE)
		zoom_out(state);
	else if (key.code == KEY_CLICK)
		choose(state, flame_at(state, key.row, key.col));
	else
		return false;
	return true;
}
