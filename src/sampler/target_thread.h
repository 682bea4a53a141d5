/* SPDX-License-Identifier: MIT
 * One thread of a target: from raw frames to a stack id, reusing what did not change since last time.
 */
#ifndef SAMPLER_TARGET_THREAD_H
#define SAMPLER_TARGET_THREAD_H

#include "sampler/target.h"

void target_thread_done(struct target_thread *thread);
/* Frames of the stack that is being read. */
static inline size_t target_thread_depth(const struct target_thread *thread)
{
	return thread->base + thread->fresh.frames.n;
}
/* Reads and walks the thread state `state` into `fresh`, resolves every code object. */
int target_thread_read(struct target *target, struct target_thread *thread,
		       const struct thread_state *state, const struct interp_state *interp,
		       bool check, bool salvage);
/* Gives the thread the stack that `fresh` stands for. */
int target_thread_resolve(struct target *target, struct target_thread *thread,
			  const struct interp_state *interp);
/* Puts a frame whose code_index is filled in on top of *stack; above it <GC> when it is `gc_frame`. */
int target_thread_push(struct target *target, const struct raw_frame *frame, raddr gc_frame,
		       stack_id *stack);

#endif
