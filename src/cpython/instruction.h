/* SPDX-License-Identifier: MIT
 * Reads which instruction a frame executes. Bytecode is rewritten while it runs: what is told is what
 * stood there in this reading.
 */
#ifndef CPYTHON_INSTRUCTION_H
#define CPYTHON_INSTRUCTION_H

#include "cpython/code.h"

struct instruction_reader {
	const struct layout *layout; /* borrowed */
	struct map
		start_by_place; /* 3.11, 3.12: (code index, code unit) -> unit that its instruction begins at */
	struct map leaves_by_place; /* (code index, code unit) -> whether it ends its frame */
};

void instruction_reader_init(struct instruction_reader *reader, const struct layout *layout);
void instruction_reader_done(struct instruction_reader *reader);

/* Whether the version has its opcodes in our tables. */
bool instruction_possible(const struct layout *layout);

/* The instruction at byte offset `at` from `bytecode`, in a frame of the code object `entry`, whose index
 * in the code cache is `index`. Both parts are 0 where there is none (not yet begun) or it cannot be
 * read. TACHY_EGONE, TACHY_ENOMEM. */
int instruction_read(struct instruction_reader *reader, struct mem_view *view,
		     const struct code_entry *entry, uint32_t index, raddr bytecode, int64_t at,
		     struct opcode *ret_opcode);

/* Whether the instruction at `at` ends or suspends its frame, whatever it was specialised to or is instrumented
 * by: a frame that stands there has no callee that it called itself. Known of a place from when two readings
 * agreed. False where that cannot be known. */
bool instruction_leaves(struct instruction_reader *reader, struct mem_view *view,
			const struct code_entry *entry, uint32_t index, raddr bytecode, int64_t at);

/* Whether a leaf that executes it is in a C function that it called: specialised forms tell what they
 * call. What is not specialised (yet) may call anything: false. */
bool instruction_calls_c(const struct layout *layout, struct opcode opcode);

#endif
