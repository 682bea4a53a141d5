/* SPDX-License-Identifier: MIT
 * What frames are shown as: a function, or a function and the line that was executing. Frames that
 * differ in nothing else are one place. Place 0 stands for the stack of a thread without any frame.
 */
#ifndef EXPORT_PLACES_H
#define EXPORT_PLACES_H

#include "model/profile.h"

#define PLACE_NO_FRAME 0u

struct places {
	const struct stacks *stacks; /* borrowed */
	bool lines;
	VEC(frame_id) frames; /* of each place, one that stands for all; the first has none */
	uint32_t *of_frame;   /* frame id -> place */
};

/* 0 or TACHY_ENOMEM. The profile must outlive *ret_places and not change. */
int places_init(const struct profile *profile, bool lines, struct places *ret_places);
void places_done(struct places *places);

/* The place of the topmost frame of a stack. */
static inline uint32_t places_of_stack(const struct places *places, stack_id stack)
{
	return stack == STACK_EMPTY || stack >= places->stacks->nodes.n
		       ? PLACE_NO_FRAME
		       : places->of_frame[places->stacks->nodes.at[stack].frame];
}

/* As stacks_describe, but .line is the line to show: the executing one, or where the function begins;
 * 0: none. */
void places_describe(const struct places *places, uint32_t place, struct tachy_frame *ret_frame);

#endif
