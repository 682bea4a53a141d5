/* SPDX-License-Identifier: MIT
 * Two walks over the nodes: from the children to their parents, to know which are used, and from the
 * parents to their children, to number them. Relies on model/stack.c: a parent's id is smaller than its
 * children's.
 */
#include "export/flame_data.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define UNUSED UINT32_MAX

/* Old number -> new one, UNUSED where there is none; frames by what is left of them. */
struct renumber {
	const struct stacks *stacks;
	struct flame_data *data;
	uint32_t *node, *frame, *function;
	struct map place_by_key, opcodes_by_key, frame_by_key;
	uint32_t n_places, n_opcodes;
};

static uint32_t *unused(size_t n)
{
	uint32_t *numbers = malloc((n + 1) * sizeof *numbers);
	if (numbers)
		memset(numbers, 0xff, (n + 1) * sizeof *numbers);
	return numbers;
}

static int renumber_init(struct renumber *renumber, const struct stacks *stacks,
			 struct flame_data *data)
{
	memset(renumber, 0, sizeof *renumber);
	renumber->stacks = stacks;
	renumber->data = data;
	renumber->node = unused(stacks->nodes.n);
	renumber->frame = unused(stacks->frames.n);
	renumber->function = unused(stacks->functions.n);
	map_init(&renumber->place_by_key);
	map_init(&renumber->opcodes_by_key);
	map_init(&renumber->frame_by_key);
	return renumber->node && renumber->frame && renumber->function ? 0 : TACHY_ENOMEM;
}

static void renumber_done(struct renumber *renumber)
{
	free(renumber->node);
	free(renumber->frame);
	free(renumber->function);
	map_done(&renumber->place_by_key);
	map_done(&renumber->opcodes_by_key);
	map_done(&renumber->frame_by_key);
}

static int function_number(struct renumber *renumber, function_id old, uint32_t *ret_number)
{
	uint32_t *number = &renumber->function[old];
	if (*number == UNUSED) {
		*number = (uint32_t)renumber->data->functions.n;
		if (!vec_push(&renumber->data->functions, old))
			return TACHY_ENOMEM;
	}
	*ret_number = *number;
	return 0;
}

static bool number_of(struct map *map, uint64_t key, uint32_t *n, uint32_t *ret_number)
{
	uint64_t value = *n;
	if (!map_get(map, key, &value) && !map_put(map, key, (*n)++))
		return false;
	*ret_number = (uint32_t)value;
	return true;
}

static int make_frame(struct renumber *renumber, const struct frame *old, uint32_t *ret_number)
{
	struct flame_data *data = renumber->data;
	struct flame_frame fresh = {0, old->at.line, old->opcode, old->base_opcode};
	uint32_t place, opcodes;
	uint64_t number;
	int rc = function_number(renumber, old->function, &fresh.function);
	if (rc < 0)
		return rc;
	uint64_t place_key = (uint64_t)fresh.function << 32 | (uint32_t)fresh.line;
	uint64_t opcodes_key = (uint64_t)fresh.opcode << 32 | fresh.base_opcode;
	if (!number_of(&renumber->place_by_key, place_key, &renumber->n_places, &place) ||
	    !number_of(&renumber->opcodes_by_key, opcodes_key, &renumber->n_opcodes, &opcodes))
		return TACHY_ENOMEM;
	uint64_t key = (uint64_t)place << 32 | opcodes;
	if (!map_get(&renumber->frame_by_key, key, &number)) {
		number = data->frames.n;
		if (!vec_push(&data->frames, fresh) ||
		    !map_put(&renumber->frame_by_key, key, number))
			return TACHY_ENOMEM;
		data->opcodes = data->opcodes || fresh.opcode;
	}
	*ret_number = (uint32_t)number;
	return 0;
}

static int frame_number(struct renumber *renumber, frame_id old, uint32_t *ret_number)
{
	uint32_t *number = &renumber->frame[old];
	int rc = 0;
	if (*number == UNUSED)
		rc = make_frame(renumber, &renumber->stacks->frames.at[old], number);
	*ret_number = *number;
	return rc;
}

static int number_nodes(struct renumber *renumber)
{
	const struct stacks *stacks = renumber->stacks;
	struct flame_data *data = renumber->data;
	for (size_t i = 0; i < data->buckets.rows.n; i++)
		renumber->node[data->buckets.rows.at[i].stack] = 0;
	for (size_t i = stacks->nodes.n; i-- > 1;)
		if (renumber->node[i] != UNUSED)
			renumber->node[stacks->nodes.at[i].parent] = 0;
	renumber->node[STACK_EMPTY] = 0;
	for (size_t i = 0; i < stacks->nodes.n; i++) {
		struct flame_node node = {0, 0};
		int rc = 0;
		if (renumber->node[i] == UNUSED)
			continue;
		if (i != STACK_EMPTY) {
			node.parent = renumber->node[stacks->nodes.at[i].parent];
			rc = frame_number(renumber, stacks->nodes.at[i].frame, &node.frame);
		}
		renumber->node[i] = (uint32_t)data->nodes.n;
		if (rc < 0 || !vec_push(&data->nodes, node))
			return TACHY_ENOMEM;
	}
	for (size_t i = 0; i < data->buckets.rows.n; i++) {
		struct bucket_row *row = &data->buckets.rows.at[i];
		row->stack = renumber->node[row->stack];
	}
	return 0;
}

int flame_data_init(const struct profile *profile, struct flame_data *ret_data)
{
	struct renumber renumber;
	memset(ret_data, 0, sizeof *ret_data);
	int rc = buckets_init(profile, &ret_data->buckets);
	if (rc < 0)
		return rc;
	rc = renumber_init(&renumber, &profile->stacks, ret_data);
	if (rc >= 0)
		rc = number_nodes(&renumber);
	renumber_done(&renumber);
	if (rc < 0)
		flame_data_done(ret_data);
	return rc;
}

void flame_data_done(struct flame_data *data)
{
	buckets_done(&data->buckets);
	vec_done(&data->nodes);
	vec_done(&data->frames);
	vec_done(&data->functions);
}
