/* SPDX-License-Identifier: MIT
 * Functions, frames and stacks as small numbers. Equal things have equal ids, so that an unchanged
 * stack costs one comparison, no text and no memory. Ids only ever grow.
 *
 * A stack is a node of a prefix tree: its leaf frame on top of the caller's stack. Stack 0 is empty.
 */
#ifndef MODEL_STACK_H
#define MODEL_STACK_H

#include <stdbool.h>

#include "base/map.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "tachyscope/types.h"

typedef uint32_t function_id;
typedef uint32_t frame_id;
typedef uint32_t stack_id;

#define STACK_EMPTY 0u

struct function {
	str_id name, file;
	int32_t first_line;
	uint32_t kind; /* enum tachy_frame_kind */
};

struct location {
	int32_t line, end_line, column, end_column; /* as in struct tachy_frame */
};

/* Without padding: its bytes are its identity. */
struct frame {
	function_id function;
	struct location at;
	str_id opcode, base_opcode; /* as in struct tachy_frame; 0, which is "": not taken */
};

struct stack_node {
	stack_id parent;
	frame_id frame;
	uint32_t depth; /* frames, this one included; 0 for STACK_EMPTY */
};

struct stacks {
	struct strtab *strings; /* owned */
	VEC(struct function) functions;
	VEC(struct frame) frames;
	VEC(struct stack_node) nodes;
	struct map function_by_hash, frame_by_hash, node_by_key;
	/* marker frames, made at creation */
	frame_id native, gc, cut;
};

int stacks_init(struct stacks *stacks);
void stacks_done(struct stacks *stacks);

/* Each returns 0 and the id of the equal one or of a new one, or TACHY_ENOMEM. */
int stacks_function(struct stacks *stacks, const struct function *function, function_id *ret_id);
int stacks_frame(struct stacks *stacks, const struct frame *frame, frame_id *ret_id);
/* The frame of a marker: one that is no place in a program. */
int stacks_marker(struct stacks *stacks, uint32_t kind, const char *name, size_t len,
		  frame_id *ret_id);
int stacks_push(struct stacks *stacks, stack_id parent, frame_id frame, stack_id *ret_id);

static inline const struct stack_node *stacks_node(const struct stacks *stacks, stack_id id)
{
	return &stacks->nodes.at[id < stacks->nodes.n ? id : STACK_EMPTY];
}

/* Fills *ret_frame for people; its strings are borrowed from `stacks`. */
void stacks_describe(const struct stacks *stacks, frame_id id, struct tachy_frame *ret_frame);

#endif
