/* SPDX-License-Identifier: MIT
 * Nodes are only ever added; a parent has a smaller number than its children.
 */
#include "tui/tree.h"

#include <string.h>

int tree_init(struct tree *tree)
{
	struct tree_node root = {
		.label = NO_ID, .parent = NO_ID, .child = NO_ID, .next = NO_ID, .open = true};
	*tree = (struct tree){.by_process = false};
	map_init(&tree->node_by_call);
	map_init(&tree->node_by_stack);
	return vec_push(&tree->nodes, root) ? 0 : TACHY_ENOMEM;
}

void tree_done(struct tree *tree)
{
	vec_done(&tree->nodes);
	vec_done(&tree->path);
	map_done(&tree->node_by_call);
	map_done(&tree->node_by_stack);
}

static int call(struct tree *tree, uint32_t parent, uint32_t label, uint32_t *ret_node)
{
	uint64_t id, key = (uint64_t)parent << 32 | label;
	if (map_get(&tree->node_by_call, key, &id)) {
		*ret_node = (uint32_t)id;
		return 0;
	}
	struct tree_node node = {.label = label,
				 .parent = parent,
				 .child = NO_ID,
				 .next = tree->nodes.at[parent].child,
				 .depth = tree->nodes.at[parent].depth + 1};
	if (!vec_push(&tree->nodes, node))
		return TACHY_ENOMEM;
	id = tree->nodes.n - 1;
	if (!map_put(&tree->node_by_call, key, id)) {
		tree->nodes.n--;
		return TACHY_ENOMEM;
	}
	tree->nodes.at[parent].child = *ret_node = (uint32_t)id;
	return 0;
}

static int root_of(struct tree *tree, uint32_t process, uint32_t *ret_node)
{
	*ret_node = TREE_ROOT;
	if (!tree->by_process)
		return 0;
	int rc = call(tree, TREE_ROOT, TREE_PROCESS | process, ret_node);
	if (rc >= 0)
		tree->nodes.at[*ret_node].open = true;
	return rc;
}

int tree_find(struct tree *tree, const struct catalog *catalog, uint32_t process, uint32_t stack,
	      uint32_t *ret_node)
{
	uint64_t known, top = (uint64_t)(tree->by_process ? process : 0) << 32;
	uint32_t node;
	tree->path.n = 0;
	for (; stack && !map_get(&tree->node_by_stack, top | stack, &known);
	     stack = catalog->stacks.at[stack].parent)
		if (!vec_push(&tree->path, stack))
			return TACHY_ENOMEM;
	int rc = 0;
	if (stack)
		node = (uint32_t)known;
	else
		rc = root_of(tree, process, &node);
	for (size_t i = tree->path.n; rc >= 0 && i > 0; i--) {
		uint32_t frame = catalog->stacks.at[tree->path.at[i - 1]].frame;
		uint32_t line = catalog->frames.at[frame].line;
		rc = call(tree, node, catalog->lines.at[line].function, &node);
		if (rc >= 0 && !map_put(&tree->node_by_stack, top | tree->path.at[i - 1], node))
			rc = TACHY_ENOMEM;
	}
	if (rc >= 0)
		*ret_node = node;
	return rc;
}

void tree_add(struct tree *tree, uint32_t node, uint64_t n, uint64_t ns)
{
	tree->nodes.at[node].count.n_own += n;
	tree->nodes.at[node].count.ns_own += ns;
	for (; node != NO_ID; node = tree->nodes.at[node].parent) {
		tree->nodes.at[node].count.n_total += n;
		tree->nodes.at[node].count.ns_total += ns;
	}
}

void tree_clear_counts(struct tree *tree)
{
	for (size_t i = 0; i < tree->nodes.n; i++)
		tree->nodes.at[i].count = (struct count){0};
}

uint32_t tree_hottest(const struct tree *tree, uint32_t node)
{
	uint32_t best = NO_ID;
	uint64_t most = 0;
	for (uint32_t child = tree->nodes.at[node].child; child != NO_ID;
	     child = tree->nodes.at[child].next) {
		uint64_t ns = tree->nodes.at[child].count.ns_total;
		if (ns > most) {
			most = ns;
			best = child;
		}
	}
	return best;
}
