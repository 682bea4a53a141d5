/* SPDX-License-Identifier: MIT
 * Whether the frames of a thread that may have moved while it was copied belong together: each may be right, and yet
 * they were read at moments of their own.
 */
#ifndef SAMPLER_THREAD_WEIGH_H
#define SAMPLER_THREAD_WEIGH_H

#include "sampler/target.h"

/* Whether its frames can have changed while they were copied: of the holder, and of all when there was more than one. */
bool thread_could_move(const struct target *target, const struct target_thread *thread,
		       const struct interp_state *interp);
/* How many frames of the leaf's side were read apart from what they stand on, and are not known to belong there. */
size_t thread_count_apart(struct target *target, struct target_thread *thread,
			  const struct thread_state *state, const struct interp_state *interp);
/* Whether the leaf of what is left of a stack is in the thread's own data stack. Where a generator's memory has become
 * another thread's, what lies below it is that one's. */
bool thread_is_own(const struct target_thread *thread);

#endif
