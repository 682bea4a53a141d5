/* SPDX-License-Identifier: MIT
 * Parts of a profile for the Firefox Profiler: what one thread refers to, with numbers of its own.
 */
#ifndef EXPORT_GECKO_H
#define EXPORT_GECKO_H

#include "export/json_out.h"
#include "export/spans.h"

#define GECKO_NONE UINT32_MAX

enum gecko_category {
	GECKO_OTHER,
	GECKO_PYTHON,
	GECKO_NATIVE,
	GECKO_GC,
	GECKO_TASK,
	GECKO_GIL,
	GECKO_CPU,
	GECKO_EXCEPTION,
	GECKO_OPCODE,
	GECKO_CATEGORIES
};

/* Indices into the shared string array beyond those of the profile's own strings. */
enum gecko_string { GECKO_STRING_NO_FRAME, GECKO_STRING_OPCODE, GECKO_STRING_STATES };

/* A thread's stacks, frames and functions, each in the order of its number. The stack of a thread that
 * runs no Python code is one frame, beyond the profile's: frame id n_frames, function id n_functions. */
struct gecko_tables {
	const struct stacks *stacks; /* borrowed */
	VEC(stack_id) nodes;
	VEC(frame_id) frames;
	VEC(function_id) functions;
	uint32_t *node_index, *frame_index, *function_index; /* profile's -> here; GECKO_NONE */
	VEC(stack_id) way; /* scratch */
};

int gecko_tables_init(const struct stacks *stacks, struct gecko_tables *ret_tables);
void gecko_tables_done(struct gecko_tables *tables);
/* Empty again, for the next thread. Costs what was in them. */
void gecko_tables_clear(struct gecko_tables *tables);
/* The number of a stack; a new one the first time. 0 or TACHY_ENOMEM. */
int gecko_tables_add(struct gecko_tables *tables, stack_id stack, uint32_t *ret_index);
/* stackTable, frameTable, funcTable, resourceTable, nativeSymbols: members of an open object. */
void gecko_tables_write(const struct gecko_tables *tables, struct json_out *json);

/* The markers of a thread: its states, and its instructions where they were taken. */
int gecko_markers_write(const struct stacks *stacks, bool opcodes, const struct span *spans,
			size_t n, struct json_out *json); /* 0 or TACHY_ENOMEM */
/* meta.markerSchema: a member of an open object. */
void gecko_marker_schemas_write(bool opcodes, struct json_out *json);

/* Milliseconds, to the nanosecond. */
void gecko_time(struct json_out *json, uint64_t time_ns);

#endif
