/* SPDX-License-Identifier: MIT
 * What the numbers in a recording's samples stand for: the reader's side of definitions.h. The recording's
 * numbers are its own; here each is kept with the id that the profile has for it.
 */
#ifndef RECORD_GLOSSARY_H
#define RECORD_GLOSSARY_H

#include "base/bytes.h"
#include "model/profile.h"
#include "record/section.h"

#define GLOSSARY_MAX (1u << 26) /* of each kind: a file that has more is not one of ours */

struct glossary {
	struct profile *profile; /* borrowed */
	VEC(str_id) strings;
	VEC(function_id) functions;
	VEC(frame_id) frames;
	VEC(stack_id) stacks;
	VEC(uint32_t) processes;
	VEC(uint32_t) threads;
};

/* TACHY_ENOMEM. */
int glossary_init(struct glossary *glossary, struct profile *profile);
void glossary_done(struct glossary *glossary);

/* One section of definitions, into the profile. TACHY_ECORRUPT, TACHY_ELIMIT or TACHY_ENOMEM; 0 for
 * sections that hold no definitions. */
int glossary_take(struct glossary *glossary, enum section section, struct byte_reader *bytes);

#endif
