/* SPDX-License-Identifier: MIT
 * A stack is merged once for each root that it hangs on: it is walked up to the first node whose place
 * in the tree is known, then down again. Invariant: a parent's number is smaller than its children's, so
 * that sums go up in one pass.
 */
#include "export/call_tree.h"

#include <string.h>

#include "base/error.h"

#define ID_BITS 30 /* above them: the kind */

struct merge {
	const struct profile *profile;
	const struct export_options *options;
	struct call_tree *tree;
	struct map node_by_stack; /* root, stack -> node */
	VEC(stack_id) way;        /* scratch: from the top down to what is known */
};

static int child(struct call_tree *tree, uint32_t parent, enum call_kind kind, uint32_t id,
		 uint32_t *ret_node)
{
	uint64_t node, key = (uint64_t)parent << 32 | (uint64_t)kind << ID_BITS | id;
	if (!map_get(&tree->node_by_key, key, &node)) {
		struct call_node fresh = {.parent = parent,
					  .depth = tree->nodes.at[parent].depth + 1,
					  .kind = kind,
					  .id = id};
		node = tree->nodes.n;
		if (id >> ID_BITS || node >= UINT32_MAX || !vec_push(&tree->nodes, fresh) ||
		    !map_put(&tree->node_by_key, key, node))
			return TACHY_ENOMEM;
	}
	*ret_node = (uint32_t)node;
	return 0;
}

/* What the stacks of a thread hang on. */
static int root_of(struct merge *merge, uint32_t thread, uint32_t *ret_node)
{
	uint32_t node = 0;
	int rc = 0;
	if (merge->profile->processes.n > 1)
		rc = child(merge->tree, node, CALL_PROCESS,
			   merge->profile->threads.at[thread].process, &node);
	if (rc >= 0 && merge->options->by_thread)
		rc = child(merge->tree, node, CALL_THREAD, thread, &node);
	*ret_node = node;
	return rc;
}

static int place_stack(struct merge *merge, uint32_t root, stack_id stack, uint32_t *ret_node)
{
	const struct stacks *stacks = &merge->profile->stacks;
	uint64_t known = root;
	uint32_t node;
	if (stacks_node(stacks, stack)->depth == 0)
		return child(merge->tree, root, CALL_PLACE, PLACE_NO_FRAME, ret_node);
	merge->way.n = 0;
	while (stacks_node(stacks, stack)->depth > 0 &&
	       !map_get(&merge->node_by_stack, (uint64_t)root << 32 | stack, &known)) {
		if (!vec_push(&merge->way, stack))
			return TACHY_ENOMEM;
		stack = stacks_node(stacks, stack)->parent;
		known = root;
	}
	node = (uint32_t)known;
	while (merge->way.n > 0) {
		stack = merge->way.at[--merge->way.n];
		int rc = child(merge->tree, node, CALL_PLACE,
			       places_of_stack(&merge->tree->places, stack), &node);
		if (rc < 0)
			return rc;
		if (!map_put(&merge->node_by_stack, (uint64_t)root << 32 | stack, node))
			return TACHY_ENOMEM;
	}
	*ret_node = node;
	return 0;
}

static int add_counts(struct merge *merge)
{
	const struct profile *profile = merge->profile;
	int rc = 0;
	for (size_t i = 0; i < profile->counts.n && rc >= 0; i++) {
		const struct profile_count *count = &profile->counts.at[i];
		uint32_t node = 0;
		if (count->thread >= profile->threads.n)
			continue;
		rc = root_of(merge, count->thread, &node);
		if (rc >= 0)
			rc = place_stack(merge, node, count->stack, &node);
		if (rc >= 0) {
			merge->tree->nodes.at[node].own += count->n_samples;
			merge->tree->nodes.at[node].own_ns += count->weight_ns;
		}
	}
	return rc;
}

static void sum_up(struct call_tree *tree)
{
	struct call_node *nodes = tree->nodes.at;
	for (size_t i = tree->nodes.n; i-- > 0;) {
		nodes[i].total += nodes[i].own;
		nodes[i].total_ns += nodes[i].own_ns;
		if (i == 0)
			continue;
		struct call_node *parent = &nodes[nodes[i].parent];
		parent->total += nodes[i].total;
		parent->total_ns += nodes[i].total_ns;
		nodes[i].sibling = parent->child;
		parent->child = (uint32_t)i;
	}
}

int call_tree_init(const struct profile *profile, const struct export_options *options,
		   struct call_tree *ret_tree)
{
	struct call_tree tree = {.nodes = {NULL, 0, 0}};
	struct merge merge = {.profile = profile, .options = options, .tree = &tree};
	struct call_node root = {.kind = CALL_ALL};
	map_init(&tree.node_by_key);
	map_init(&merge.node_by_stack);
	int rc = places_init(profile, options->lines, &tree.places);
	if (rc < 0)
		return rc;
	rc = vec_push(&tree.nodes, root) ? add_counts(&merge) : TACHY_ENOMEM;
	map_done(&merge.node_by_stack);
	vec_done(&merge.way);
	if (rc < 0) {
		call_tree_done(&tree);
		return rc;
	}
	sum_up(&tree);
	*ret_tree = tree;
	return 0;
}

void call_tree_done(struct call_tree *tree)
{
	places_done(&tree->places);
	vec_done(&tree->nodes);
	map_done(&tree->node_by_key);
}
