/* SPDX-License-Identifier: MIT
 * The calls of one thread as they seem from its stacks: what was left and what was entered between one
 * span and the next. What stays on the stack stays open, whatever line it is on.
 */
#ifndef EXPORT_CALLS_H
#define EXPORT_CALLS_H

#include "export/places.h"
#include "export/spans.h"

/* Each `open` is followed by a `close` of the same place, last opened first closed, times never
 * falling. */
struct calls_ops {
	/* `opcode` is not 0: the instruction on top of the topmost frame, `place` means nothing. */
	void (*open)(void *ctx, uint32_t place, str_id opcode, uint64_t time_ns);
	void (*close)(void *ctx, uint32_t place, str_id opcode, uint64_t time_ns);
};

struct call {
	stack_id node; /* where it is in the tree of stacks now */
	uint32_t place;
};

struct calls {
	const struct places *places;
	const struct calls_ops *ops;
	void *ctx;
	bool opcodes;           /* the executing instruction is a call too */
	VEC(struct call) path;  /* open, root first */
	VEC(stack_id) entered;  /* scratch */
	str_id opcode;          /* open on top; 0: none */
	uint64_t end_ns;        /* of the last span */
};

void calls_init(struct calls *calls, const struct places *places, const struct calls_ops *ops,
		void *ctx);
void calls_done(struct calls *calls);
/* The next span of the thread. 0 or TACHY_ENOMEM. */
int calls_add(struct calls *calls, const struct span *span);
/* Closes what is open; ready for another thread. */
void calls_end(struct calls *calls);

#endif
