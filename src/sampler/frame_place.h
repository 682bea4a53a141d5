/* SPDX-License-Identifier: MIT
 * Heap frames (3.8 - 3.10) and the places where they lie. A code object mostly runs in the same place again
 * (Objects/codeobject.h, co_zombieframe), and what is copied of such frames fits together whenever they
 * live. But where code is entered while it runs already, in recursion or in several threads, frames are
 * taken from a list of free ones (Objects/frameobject.c, free_list), and one place is this function's and then
 * that one's: two frames of one copy, read a little apart, may each be right and yet never have been one stack.
 *
 * So a stack with such places needs a witness: the reading right before. A frame that was in both the same
 * frame of the same code was there in between as well, and with it all below it that were.
 */
#ifndef SAMPLER_FRAME_PLACE_H
#define SAMPLER_FRAME_PLACE_H

#include "base/map.h"
#include "cpython/frame.h"

struct frame_places {
	struct map
		codes; /* address of a frame -> code that was met there; its low bit: others were, too */
};

/* A stack as one reading showed it, standing on `base` frames that were not read. */
struct frame_look {
	VEC(struct raw_frame) frames; /* leaf first */
	size_t base;
	uint64_t reading; /* its number; 0: there is none */
};

void frame_places_init(struct frame_places *places);
void frame_places_done(struct frame_places *places);

/* Whether one of frames[0..n) lies where other code had its frames. Remembers the places. Without memory
 * for that: true, for all that is known. */
bool frame_places_shared(struct frame_places *places, const struct raw_frame *frames, size_t n);

/* How many frames from the root on `look`, taken in the reading before number `reading`, proves to have stood
 * under one another. `below`: the frames that both stand on, root first. 0: it was taken at another time. */
size_t frame_look_proves(const struct frame_look *look, uint64_t reading,
			 const struct raw_stack *stack, size_t base, const struct raw_frame *below);
/* Keeps the stack for the next reading. TACHY_ENOMEM. */
int frame_look_take(struct frame_look *look, uint64_t reading, const struct raw_stack *stack,
		    size_t base);
void frame_look_done(struct frame_look *look);

#endif
