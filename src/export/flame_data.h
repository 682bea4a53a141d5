/* SPDX-License-Identifier: MIT
 * What a flame graph page needs of a profile and nothing more: nodes, frames and functions that samples
 * use, under new and dense numbers; frames without their columns.
 */
#ifndef EXPORT_FLAME_DATA_H
#define EXPORT_FLAME_DATA_H

#include "export/buckets.h"
#include "model/profile.h"

struct flame_frame {
	uint32_t function; /* new number */
	int32_t line;
	str_id opcode, base_opcode;
};

struct flame_node {
	uint32_t parent, frame; /* new numbers; of node 0, the empty stack: 0, 0 */
};

struct flame_data {
	struct buckets buckets;       /* `stack` of its rows: new numbers */
	VEC(struct flame_node) nodes; /* parents before children */
	VEC(struct flame_frame) frames;
	VEC(function_id) functions;   /* new -> old */
	bool opcodes;                 /* some frame tells one */
};

/* 0 or TACHY_ENOMEM. */
int flame_data_init(const struct profile *profile, struct flame_data *ret_data);
void flame_data_done(struct flame_data *data);

#endif
