/* SPDX-License-Identifier: MIT
 * One pass over functions, frames and nodes each. Relies on model/stack.c: a parent's id is smaller
 * than its children's, so that a pass by rising id meets callers before what they call, however deep
 * the stacks are.
 */
#include "export/heat_index.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "export/export.h"

/* Names that are looked up while the index is made, and no longer. */
struct lookup {
	struct map file_by_name, line_by_key, call_by_key, caller_by_key;
	uint32_t *
		python; /* by stack_id: the nearest frame at or below that lies on a line; 0: none */
};

static int lookup_init(const struct stacks *stacks, struct lookup *lookup)
{
	map_init(&lookup->file_by_name);
	map_init(&lookup->line_by_key);
	map_init(&lookup->call_by_key);
	map_init(&lookup->caller_by_key);
	lookup->python = calloc(stacks->nodes.n, sizeof *lookup->python);
	return lookup->python ? 0 : TACHY_ENOMEM;
}

static void lookup_done(struct lookup *lookup)
{
	map_done(&lookup->file_by_name);
	map_done(&lookup->line_by_key);
	map_done(&lookup->call_by_key);
	map_done(&lookup->caller_by_key);
	free(lookup->python);
}

static int alloc(const struct stacks *stacks, struct heat_index *index)
{
	size_t n = stacks->nodes.n;
	index->file_of_function = calloc(stacks->functions.n + 1, sizeof(uint32_t));
	index->line_of_frame = calloc(stacks->frames.n + 1, sizeof(uint32_t));
	index->call_of_node = calloc(n, sizeof(uint32_t));
	index->caller_of_node = calloc(n, sizeof(uint32_t));
	index->child = calloc(n, sizeof(stack_id));
	index->sibling = calloc(n, sizeof(stack_id));
	bool good = index->file_of_function && index->line_of_frame && index->call_of_node &&
		    index->caller_of_node && index->child && index->sibling;
	return good ? 0 : TACHY_ENOMEM;
}

static bool is_marker(const struct stacks *stacks, function_id id)
{
	return stacks->functions.at[id].kind != TACHY_FRAME_PYTHON;
}

static int add_file(struct lookup *lookup, struct heat_index *index, str_id name, bool marker,
		    uint32_t *ret_file)
{
	uint64_t key = (uint64_t)marker << 32 | name, found;
	if (!map_get(&lookup->file_by_name, key, &found)) {
		struct heat_file fresh = {name, marker, HEAT_NONE};
		found = index->files.n;
		if (!vec_push(&index->files, fresh) || !map_put(&lookup->file_by_name, key, found))
			return TACHY_ENOMEM;
	}
	*ret_file = (uint32_t)found;
	return 0;
}

static int find_files(struct lookup *lookup, struct heat_index *index)
{
	const struct stacks *stacks = &index->profile->stacks;
	struct heat_file no_frame = {0, true, HEAT_NONE};
	int rc = 0;
	for (size_t i = 0; i < stacks->functions.n && rc >= 0; i++) {
		const struct function *function = &stacks->functions.at[i];
		bool marker = is_marker(stacks, (function_id)i);
		rc = add_file(lookup, index, marker ? function->name : function->file, marker,
			      &index->file_of_function[i]);
	}
	if (rc >= 0 && !vec_push(&index->files, no_frame))
		rc = TACHY_ENOMEM;
	return rc;
}

static int find_lines(struct lookup *lookup, struct heat_index *index)
{
	const struct stacks *stacks = &index->profile->stacks;
	for (size_t i = 0; i < stacks->frames.n; i++) {
		const struct frame *frame = &stacks->frames.at[i];
		struct heat_line line = {index->file_of_function[frame->function],
					 frame->at.line > 0 ? frame->at.line : 0};
		uint64_t key = (uint64_t)line.file << 32 | (uint32_t)line.line, found = HEAT_NONE;
		if (!is_marker(stacks, frame->function) &&
		    !map_get(&lookup->line_by_key, key, &found)) {
			found = index->lines.n;
			if (!vec_push(&index->lines, line) ||
			    !map_put(&lookup->line_by_key, key, found))
				return TACHY_ENOMEM;
		}
		index->line_of_frame[i] = (uint32_t)found;
	}
	return 0;
}

/* Equal pairs get equal numbers. */
static bool number_pair(struct map *map, uint32_t from, uint32_t to, uint32_t next, uint32_t *ret)
{
	uint64_t key = (uint64_t)from << 32 | to, found;
	if (map_get(map, key, &found)) {
		*ret = (uint32_t)found;
		return true;
	}
	*ret = next;
	return map_put(map, key, next);
}

static int add_call(struct lookup *lookup, struct heat_index *index, stack_id node, uint32_t from)
{
	const struct stacks *stacks = &index->profile->stacks;
	frame_id frame = stacks->nodes.at[node].frame;
	struct heat_edge call = {from, stacks->frames.at[frame].function};
	struct heat_edge caller = {index->line_of_frame[frame], from};
	uint32_t *number = &index->call_of_node[node];
	if (!number_pair(&lookup->call_by_key, call.from, call.to, (uint32_t)index->calls.n,
			 number) ||
	    (*number == index->calls.n && !vec_push(&index->calls, call)))
		return TACHY_ENOMEM;
	if (caller.from == HEAT_NONE)
		return 0;
	number = &index->caller_of_node[node];
	if (!number_pair(&lookup->caller_by_key, caller.from, caller.to, (uint32_t)index->callers.n,
			 number) ||
	    (*number == index->callers.n && !vec_push(&index->callers, caller)))
		return TACHY_ENOMEM;
	return 0;
}

static int find_calls(struct lookup *lookup, struct heat_index *index)
{
	const struct stacks *stacks = &index->profile->stacks;
	index->call_of_node[STACK_EMPTY] = index->caller_of_node[STACK_EMPTY] = HEAT_NONE;
	for (size_t id = 1; id < stacks->nodes.n; id++) {
		const struct stack_node *node = &stacks->nodes.at[id];
		const struct frame *frame = &stacks->frames.at[node->frame];
		uint32_t caller = lookup->python[node->parent];
		index->call_of_node[id] = index->caller_of_node[id] = HEAT_NONE;
		if (!is_marker(stacks, frame->function))
			lookup->python[id] = (uint32_t)id;
		else if (stacks->functions.at[frame->function].kind != TACHY_FRAME_CUT)
			lookup->python[id] = caller;
		if (caller == 0)
			continue;
		uint32_t from = index->line_of_frame[stacks->nodes.at[caller].frame];
		int rc = add_call(lookup, index, (stack_id)id, from);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static void link_nodes(struct heat_index *index)
{
	const struct stacks *stacks = &index->profile->stacks;
	for (size_t id = stacks->nodes.n; id-- > 1;) {
		stack_id parent = stacks->nodes.at[id].parent;
		index->sibling[id] = index->child[parent];
		index->child[parent] = (stack_id)id;
	}
}

/* From each sampled stack down to the part that another one has shown already. */
static int find_processes(struct heat_index *index)
{
	const struct profile *profile = index->profile;
	const struct stacks *stacks = &profile->stacks;
	bool *seen = calloc(stacks->nodes.n, sizeof *seen);
	if (!seen)
		return TACHY_ENOMEM;
	for (size_t i = 0; i < profile->counts.n; i++) {
		const struct profile_count *count = &profile->counts.at[i];
		if (count->thread >= profile->threads.n)
			continue;
		uint32_t process = profile->threads.at[count->thread].process;
		stack_id node = count->stack < stacks->nodes.n ? count->stack : STACK_EMPTY;
		for (; node != STACK_EMPTY && !seen[node]; node = stacks->nodes.at[node].parent) {
			function_id function =
				stacks->frames.at[stacks->nodes.at[node].frame].function;
			struct heat_file *file =
				&index->files.at[index->file_of_function[function]];
			seen[node] = true;
			if (file->process == HEAT_NONE)
				file->process = process;
		}
	}
	free(seen);
	return 0;
}

int heat_index_init(const struct profile *profile, struct heat_index *ret_index)
{
	struct heat_index index = {.profile = profile};
	struct lookup lookup;
	int rc = lookup_init(&profile->stacks, &lookup);
	if (rc >= 0)
		rc = alloc(&profile->stacks, &index);
	if (rc >= 0)
		rc = find_files(&lookup, &index);
	if (rc >= 0)
		rc = find_lines(&lookup, &index);
	if (rc >= 0)
		rc = find_calls(&lookup, &index);
	if (rc >= 0)
		rc = find_processes(&index);
	lookup_done(&lookup);
	if (rc < 0) {
		heat_index_done(&index);
		return rc;
	}
	link_nodes(&index);
	*ret_index = index;
	return 0;
}

void heat_index_done(struct heat_index *index)
{
	vec_done(&index->files);
	vec_done(&index->lines);
	vec_done(&index->calls);
	vec_done(&index->callers);
	free(index->file_of_function);
	free(index->line_of_frame);
	free(index->call_of_node);
	free(index->caller_of_node);
	free(index->child);
	free(index->sibling);
}
