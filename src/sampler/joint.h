/* SPDX-License-Identifier: MIT
 * Where generators join a stack. Frames of calls lie one after the other and are copied at once, but a
 * generator's frame lies in the heap and is copied at a moment of its own: in a target that runs on, its
 * caller may be another one by then. So the generators, and after them what is called from and stands on
 * them, are looked at again as the last words of the same reading. The caller is then known from before
 * and from after the second look at the generators, and that the leaf is still the leaf: when all is what it was, they
 * belong together.
 * Only for stacks that are checked; before 3.11 every frame lies apart, see frame_place.h.
 */
#ifndef SAMPLER_JOINT_H
#define SAMPLER_JOINT_H

#include "cpython/frame.h"

#define JOINT_GENERATORS_MAX 32u /* nearest the leaf; those below them are not looked at again */
#define JOINT_WORDS_MAX      (4u + 2u * JOINT_GENERATORS_MAX)

struct joint_word {
	raddr addr;
	uint64_t value, mask;
};

struct joint {
	bool doubted; /* the last reading holds frames that were not proved to belong where they are */
	bool solid; /* to be set by whoever reads: what cannot be proved is to be left out */
	size_t n_words;
	struct joint_word words[JOINT_WORDS_MAX]; /* that prove it, in the order to be read in */
};

/* Looks at one stack. 0: it holds no generators, or they were proved to belong. Else how many frames from
 * the leaf on are in doubt; `doubted` and `words` are set. */
size_t joint_weigh(struct joint *joint, const struct layout *layout, const struct mem_view *view,
		   const struct thread_state *thread, const struct raw_stack *stack);
/* How many frames from the leaf on are generators, or called from one. */
size_t joint_count_apart(const struct layout *layout, const struct raw_stack *stack);
/* Has the next readings end with `words`, and after them with the word at `last`, where that is not 0. */
void joint_watch(const struct joint *joint, raddr last, struct mem_view *view);

#endif
