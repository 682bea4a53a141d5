/* SPDX-License-Identifier: MIT
 * Works on the prefix tree: the sums of all stacks that stand on a node are made once, then one walk
 * adds a node's sum to all that it is part of, unless that is on the path already. Nodes that no
 * counted sample stands on are not walked into, so a filter that few samples pass is cheap. The walk
 * has no recursion: a stack of a hundred thousand frames is a path like any other.
 */
#include "export/line_heat.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

struct sum {
	uint64_t n, ns;
};

struct walk {
	const struct heat_index *index;
	struct line_heat *heat;
	struct sum *below; /* by stack_id: the stack itself and all that stand on it */
	uint32_t *on_path[HEAT_N_BY]; /* how often between the root and here */
};

static void walk_done(struct walk *walk)
{
	free(walk->below);
	for (int by = 0; by < HEAT_N_BY; by++)
		free(walk->on_path[by]);
}

static int walk_init(const struct heat_index *index, struct line_heat *heat, struct walk *ret_walk)
{
	const struct stacks *stacks = &index->profile->stacks;
	struct walk walk = {.index = index, .heat = heat};
	const size_t n[HEAT_N_BY] = {
		[HEAT_FILES] = index->files.n, [HEAT_FUNCTIONS] = stacks->functions.n,
		[HEAT_LINES] = index->lines.n, [HEAT_SPOTS] = stacks->frames.n,
		[HEAT_CALLS] = index->calls.n, [HEAT_CALLERS] = index->callers.n,
	};
	walk.below = calloc(stacks->nodes.n, sizeof *walk.below);
	bool good = walk.below;
	for (int by = 0; by < HEAT_N_BY; by++) {
		heat->n[by] = n[by];
		heat->by[by] = calloc(n[by] + 1, sizeof(struct heat));
		walk.on_path[by] = calloc(n[by] + 1, sizeof(uint32_t));
		good = good && heat->by[by] && walk.on_path[by];
	}
	*ret_walk = walk;
	return good ? 0 : TACHY_ENOMEM;
}

/* All that a node's frame is part of. */
static void keys_of(const struct heat_index *index, stack_id node, uint32_t keys[HEAT_N_BY])
{
	const struct stacks *stacks = &index->profile->stacks;
	frame_id frame = stacks->nodes.at[node].frame;
	function_id function = stacks->frames.at[frame].function;
	keys[HEAT_FILES] = index->file_of_function[function];
	keys[HEAT_FUNCTIONS] = function;
	keys[HEAT_LINES] = index->line_of_frame[frame];
	keys[HEAT_SPOTS] = frame;
	keys[HEAT_CALLS] = index->call_of_node[node];
	keys[HEAT_CALLERS] = index->caller_of_node[node];
}

static bool passes(const struct profile *profile, const struct profile_count *count,
		   const struct heat_filter *filter)
{
	bool known = count->thread < profile->threads.n;
	if (count->stack >= profile->stacks.nodes.n)
		return false;
	if (filter->thread != HEAT_NONE && filter->thread != count->thread)
		return false;
	if (filter->process != HEAT_NONE &&
	    (!known || profile->threads.at[count->thread].process != filter->process))
		return false;
	return (count->states & filter->states_mask) == filter->states_wanted;
}

static void add_own(struct walk *walk, const struct profile_count *count)
{
	uint32_t keys[HEAT_N_BY];
	struct line_heat *heat = walk->heat;
	walk->below[count->stack].n += count->n_samples;
	walk->below[count->stack].ns += count->weight_ns;
	heat->n_samples += count->n_samples;
	heat->weight_ns += count->weight_ns;
	if (count->stack == STACK_EMPTY) {
		struct heat *none = &heat->by[HEAT_FILES][heat->n[HEAT_FILES] - 1];
		none->own += count->n_samples;
		none->own_ns += count->weight_ns;
		none->total = none->own;
		none->total_ns = none->own_ns;
		return;
	}
	keys_of(walk->index, count->stack, keys);
	for (int by = 0; by < HEAT_N_BY; by++) {
		if (keys[by] == HEAT_NONE)
			continue;
		heat->by[by][keys[by]].own += count->n_samples;
		heat->by[by][keys[by]].own_ns += count->weight_ns;
	}
}

static void sum_up(struct walk *walk, const struct heat_filter *filter)
{
	const struct profile *profile = walk->index->profile;
	for (size_t i = 0; i < profile->counts.n; i++)
		if (passes(profile, &profile->counts.at[i], filter))
			add_own(walk, &profile->counts.at[i]);
	for (size_t id = profile->stacks.nodes.n; id-- > 1;) {
		struct sum *parent = &walk->below[profile->stacks.nodes.at[id].parent];
		parent->n += walk->below[id].n;
		parent->ns += walk->below[id].ns;
	}
}

static void enter(struct walk *walk, stack_id node)
{
	uint32_t keys[HEAT_N_BY];
	keys_of(walk->index, node, keys);
	for (int by = 0; by < HEAT_N_BY; by++) {
		if (keys[by] == HEAT_NONE || walk->on_path[by][keys[by]]++ > 0)
			continue;
		walk->heat->by[by][keys[by]].total += walk->below[node].n;
		walk->heat->by[by][keys[by]].total_ns += walk->below[node].ns;
	}
}

static void leave(struct walk *walk, stack_id node)
{
	uint32_t keys[HEAT_N_BY];
	keys_of(walk->index, node, keys);
	for (int by = 0; by < HEAT_N_BY; by++)
		if (keys[by] != HEAT_NONE)
			walk->on_path[by][keys[by]]--;
}

/* `node` or the next of its siblings that a counted sample stands on; 0: none. */
static stack_id next_sampled(const struct walk *walk, stack_id node)
{
	while (node && walk->below[node].n == 0)
		node = walk->index->sibling[node];
	return node;
}

static void add_totals(struct walk *walk)
{
	const struct stack_node *nodes = walk->index->profile->stacks.nodes.at;
	stack_id node = next_sampled(walk, walk->index->child[STACK_EMPTY]);
	while (node) {
		enter(walk, node);
		stack_id next = next_sampled(walk, walk->index->child[node]);
		while (!next && node) { /* up, until there is a way to the side */
			leave(walk, node);
			next = next_sampled(walk, walk->index->sibling[node]);
			node = nodes[node].parent;
		}
		node = next;
	}
}

int line_heat_init(const struct heat_index *index, const struct heat_filter *filter,
		   struct line_heat *ret_heat)
{
	struct line_heat heat = {.n_samples = 0};
	struct walk walk;
	int rc = walk_init(index, &heat, &walk);
	if (rc >= 0) {
		sum_up(&walk, filter);
		add_totals(&walk);
		*ret_heat = heat;
	} else {
		line_heat_done(&heat);
	}
	walk_done(&walk);
	return rc;
}

void line_heat_done(struct line_heat *heat)
{
	for (int by = 0; by < HEAT_N_BY; by++)
		free(heat->by[by]);
}
