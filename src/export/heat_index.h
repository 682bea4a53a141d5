/* SPDX-License-Identifier: MIT
 * What a profile can be summed up by, as small numbers: source files, source lines, and who called whom,
 * made once from the prefix tree. line_heat.h does the sums.
 *
 * Marker frames (<native>, <GC>, tasks) lie on no line: each kind is a file of its own here, so that
 * nothing is left out of a sum, and calls go through them as if they were not there.
 */
#ifndef EXPORT_HEAT_INDEX_H
#define EXPORT_HEAT_INDEX_H

#include "model/profile.h"

#define HEAT_NONE UINT32_MAX

struct heat_file {
	str_id path;      /* as the code objects have it; a marker's name for markers */
	bool marker;
	uint32_t process; /* the first process of the profile that was seen in it */
};

struct heat_line {
	uint32_t file;
	int32_t line; /* 0 unknown */
};

/* A call: from the line that executed, to the function and the line that executed in it. */
struct heat_edge {
	uint32_t from; /* line */
	uint32_t to;   /* call: function_id; caller: line */
};

struct heat_index {
	const struct profile *profile; /* borrowed */
	VEC(struct heat_file) files;   /* the last one stands for stacks without any frame */
	VEC(struct heat_line) lines;
	VEC(struct heat_edge) calls;   /* line -> function */
	VEC(struct heat_edge) callers; /* line -> line */
	/* HEAT_NONE where there is none */
	uint32_t *file_of_function; /* by function_id */
	uint32_t *line_of_frame;    /* by frame_id */
	uint32_t *call_of_node, *caller_of_node; /* by stack_id: how this frame was called */
	stack_id *child, *sibling; /* by stack_id; 0: none */
};

/* 0 or TACHY_ENOMEM. The profile must rest, and outlive the index. */
int heat_index_init(const struct profile *profile, struct heat_index *ret_index);
void heat_index_done(struct heat_index *index);

#endif
