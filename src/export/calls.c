/* SPDX-License-Identifier: MIT
 * Hides the comparison of two stacks. It costs what differs, not the depth: from the new top down to
 * the first node of the tree that the open path has at the same depth, then up again as long as the
 * places are equal although the nodes are not (the caller went on to another line).
 */
#include "export/calls.h"

#include "base/error.h"

void calls_init(struct calls *calls, const struct places *places, const struct calls_ops *ops,
		void *ctx)
{
	*calls = (struct calls){.places = places, .ops = ops, .ctx = ctx};
}

void calls_done(struct calls *calls)
{
	vec_done(&calls->path);
	vec_done(&calls->entered);
}

static void close_opcode(struct calls *calls, uint64_t time_ns)
{
	if (calls->opcode)
		calls->ops->close(calls->ctx, 0, calls->opcode, time_ns);
	calls->opcode = 0;
}

static void close_down_to(struct calls *calls, size_t n, uint64_t time_ns)
{
	if (calls->path.n > n)
		close_opcode(calls, time_ns);
	while (calls->path.n > n)
		calls->ops->close(calls->ctx, calls->path.at[--calls->path.n].place, 0, time_ns);
}

/* Fills `entered` with the nodes of the new stack, top first, down to where it meets the open path. */
static int meet(struct calls *calls, stack_id stack, size_t *ret_common)
{
	const struct stacks *stacks = calls->places->stacks;
	calls->entered.n = 0;
	if (stacks_node(stacks, stack)->depth == 0) { /* no frame at all is one call of its own */
		*ret_common = calls->path.n > 0 && calls->path.at[0].place == PLACE_NO_FRAME;
		return *ret_common || vec_push(&calls->entered, STACK_EMPTY) ? 0 : TACHY_ENOMEM;
	}
	for (;;) {
		const struct stack_node *node = stacks_node(stacks, stack);
		if (node->depth == 0 || (node->depth <= calls->path.n &&
					 calls->path.at[node->depth - 1].node == stack)) {
			*ret_common = node->depth;
			return 0;
		}
		if (!vec_push(&calls->entered, stack))
			return TACHY_ENOMEM;
		stack = node->parent;
	}
}

/* What was entered may be what is open, on another line. */
static void go_on(struct calls *calls, size_t *common)
{
	while (calls->entered.n > 0 && *common < calls->path.n) {
		stack_id node = calls->entered.at[calls->entered.n - 1];
		struct call *open = &calls->path.at[*common];
		if (open->place != places_of_stack(calls->places, node))
			break;
		open->node = node;
		calls->entered.n--;
		++*common;
	}
}

static str_id opcode_of(const struct calls *calls, stack_id stack)
{
	const struct stacks *stacks = calls->places->stacks;
	const struct stack_node *node = stacks_node(stacks, stack);
	return calls->opcodes && node->depth > 0 ? stacks->frames.at[node->frame].opcode : 0;
}

int calls_add(struct calls *calls, const struct span *span)
{
	size_t common = 0;
	str_id opcode = opcode_of(calls, span->stack);
	if (span->begin_ns > calls->end_ns)
		close_down_to(calls, 0, calls->end_ns);
	int rc = meet(calls, span->stack, &common);
	if (rc < 0)
		return rc;
	go_on(calls, &common);
	if (!vec_reserve(&calls->path, common + calls->entered.n))
		return TACHY_ENOMEM;
	if (opcode != calls->opcode || calls->entered.n > 0)
		close_opcode(calls, span->begin_ns);
	close_down_to(calls, common, span->begin_ns);
	while (calls->entered.n > 0) {
		stack_id node = calls->entered.at[--calls->entered.n];
		struct call call = {node, places_of_stack(calls->places, node)};
		calls->path.at[calls->path.n++] = call;
		calls->ops->open(calls->ctx, call.place, 0, span->begin_ns);
	}
	if (opcode && !calls->opcode) {
		calls->ops->open(calls->ctx, 0, opcode, span->begin_ns);
		calls->opcode = opcode;
	}
	calls->end_ns = span->end_ns;
	return 0;
}

void calls_end(struct calls *calls)
{
	close_down_to(calls, 0, calls->end_ns);
	calls->end_ns = 0;
}
