/* SPDX-License-Identifier: MIT
 * One dump of all stacks, as JSON or as text like a traceback. Knows no process: source lines come
 * through a callback.
 */
#ifndef EXPORT_DUMP_H
#define EXPORT_DUMP_H

#include "export/out.h"
#include "export/source_lines.h"
#include "tachyscope/types.h"

/* Off the CPU, by the kernel's word, and not because of the GIL. */
static inline bool dump_thread_idle(uint32_t states)
{
	return (states & TACHY_STATE_CPU_KNOWN) &&
	       !(states & (TACHY_STATE_ON_CPU | TACHY_STATE_GIL_WAITING));
}

/* Compact, one line; schema "tachyscope-dump/1". 0 or the error of `out`. */
int dump_json_write(const struct tachy_dump *dump, struct out *out);

struct dump_text_options {
	bool color;
	struct source_reader reader; /* read == NULL: no source lines */
};

int dump_text_write(const struct tachy_dump *dump, const struct dump_text_options *options,
		    struct out *out);

/* "" where the instruction was not taken, or by someone who knows nothing of instructions. */
static inline const char *dump_opcode(const struct tachy_frame *frame)
{
	return frame->opcode ? frame->opcode : "";
}

#endif
