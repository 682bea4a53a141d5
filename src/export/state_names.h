/* SPDX-License-Identifier: MIT
 * The states of a thread and the kinds of frames, in the words of our JSON.
 */
#ifndef EXPORT_STATE_NAMES_H
#define EXPORT_STATE_NAMES_H

#include "export/json_out.h"
#include "tachyscope/types.h"

struct state_name {
	uint32_t bit;
	const char *name;
};

/* Ended by a NULL name. */
const struct state_name *state_names(void);
/* An array of the names; with "idle" for what is off the CPU and does not wait for the GIL. */
void state_names_json(struct json_out *json, const char *key, uint32_t states);
const char *frame_kind_name(enum tachy_frame_kind kind); /* "python"; "" unknown */

#endif
