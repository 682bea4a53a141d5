/* SPDX-License-Identifier: MIT
 * Interning by 64-bit hash: on a hash that is taken by something else the next one is tried, so two
 * unequal things never share an id.
 */
#include "model/stack.h"

#include <string.h>

#include "base/error.h"
#include "base/hash.h"

int stacks_marker(struct stacks *stacks, uint32_t kind, const char *name, size_t len,
		  frame_id *ret_id)
{
	struct function function = {0, 0, 0, kind};
	struct frame frame = {0, {0, 0, -1, -1}};
	int rc = strtab_add(stacks->strings, name, len, &function.name);
	if (rc >= 0)
		rc = stacks_function(stacks, &function, &frame.function);
	return rc < 0 ? rc : stacks_frame(stacks, &frame, ret_id);
}

static int add_marker(struct stacks *stacks, const char *name, uint32_t kind, frame_id *ret_id)
{
	return stacks_marker(stacks, kind, name, strlen(name), ret_id);
}

int stacks_init(struct stacks *stacks)
{
	memset(stacks, 0, sizeof *stacks);
	map_init(&stacks->function_by_hash);
	map_init(&stacks->frame_by_hash);
	map_init(&stacks->node_by_key);
	struct stack_node empty = {STACK_EMPTY, 0, 0};
	int rc = strtab_create(&stacks->strings);
	if (rc >= 0)
		rc = add_marker(stacks, "<native>", TACHY_FRAME_NATIVE, &stacks->native);
	if (rc >= 0)
		rc = add_marker(stacks, "<GC>", TACHY_FRAME_GC, &stacks->gc);
	if (rc >= 0)
		rc = add_marker(stacks, "<cut>", TACHY_FRAME_CUT, &stacks->cut);
	if (rc >= 0 && !vec_push(&stacks->nodes, empty))
		rc = TACHY_ENOMEM;
	if (rc < 0)
		stacks_done(stacks);
	return rc;
}

void stacks_done(struct stacks *stacks)
{
	strtab_destroy(stacks->strings);
	vec_done(&stacks->functions);
	vec_done(&stacks->frames);
	vec_done(&stacks->nodes);
	map_done(&stacks->function_by_hash);
	map_done(&stacks->frame_by_hash);
	map_done(&stacks->node_by_key);
	stacks->strings = NULL;
}

int stacks_function(struct stacks *stacks, const struct function *function, function_id *ret_id)
{
	uint64_t id, hash = hash_bytes(function, sizeof *function);
	for (; map_get(&stacks->function_by_hash, hash, &id); hash++) {
		if (memcmp(&stacks->functions.at[id], function, sizeof *function) == 0) {
			*ret_id = (function_id)id;
			return 0;
		}
	}
	if (!vec_push(&stacks->functions, *function))
		return TACHY_ENOMEM;
	id = stacks->functions.n - 1;
	if (!map_put(&stacks->function_by_hash, hash, id)) {
		stacks->functions.n--;
		return TACHY_ENOMEM;
	}
	*ret_id = (function_id)id;
	return 0;
}

int stacks_frame(struct stacks *stacks, const struct frame *frame, frame_id *ret_id)
{
	uint64_t id, hash = hash_bytes(frame, sizeof *frame);
	for (; map_get(&stacks->frame_by_hash, hash, &id); hash++) {
		if (memcmp(&stacks->frames.at[id], frame, sizeof *frame) == 0) {
			*ret_id = (frame_id)id;
			return 0;
		}
	}
	if (!vec_push(&stacks->frames, *frame))
		return TACHY_ENOMEM;
	id = stacks->frames.n - 1;
	if (!map_put(&stacks->frame_by_hash, hash, id)) {
		stacks->frames.n--;
		return TACHY_ENOMEM;
	}
	*ret_id = (frame_id)id;
	return 0;
}

int stacks_push(struct stacks *stacks, stack_id parent, frame_id frame, stack_id *ret_id)
{
	uint64_t id, key = (uint64_t)parent << 32 | frame;
	if (map_get(&stacks->node_by_key, key, &id)) {
		*ret_id = (stack_id)id;
		return 0;
	}
	struct stack_node node = {parent, frame, stacks_node(stacks, parent)->depth + 1};
	if (stacks->nodes.n >= UINT32_MAX || !vec_push(&stacks->nodes, node))
		return TACHY_ENOMEM;
	id = stacks->nodes.n - 1;
	if (!map_put(&stacks->node_by_key, key, id)) {
		stacks->nodes.n--;
		return TACHY_ENOMEM;
	}
	*ret_id = (stack_id)id;
	return 0;
}

void stacks_describe(const struct stacks *stacks, frame_id id, struct tachy_frame *ret_frame)
{
	const struct frame *frame = &stacks->frames.at[id < stacks->frames.n ? id : stacks->cut];
	const struct function *function = &stacks->functions.at[frame->function];
	*ret_frame = (struct tachy_frame){
		.function = strtab_get(stacks->strings, function->name),
		.file = strtab_get(stacks->strings, function->file),
		.first_line = function->first_line,
		.line = frame->at.line,
		.end_line = frame->at.end_line,
		.column = frame->at.column,
		.end_column = frame->at.end_column,
		.opcode = strtab_get(stacks->strings, frame->opcode),
		.base_opcode = strtab_get(stacks->strings, frame->base_opcode),
		.kind = (enum tachy_frame_kind)function->kind,
	};
}
