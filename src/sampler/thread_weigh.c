/* SPDX-License-Identifier: MIT
 * What is asked of whom: the holder's generators are proved by the last words of the reading (joint.h), all else by a
 * witness, which is the last tick or the reading right before (frame_place.h).
 */
#include "sampler/thread_weigh.h"

#include "sampler/target_thread.h"

#define FIRST_INSTRUCTIONS 4 /* bytes: RETURN_GENERATOR, or what stands before it, and RESUME */

/* Whether the thread held the GIL, or did last; without a GIL, it was attached. */
static bool is_holder(const struct target_thread *thread, const struct interp_state *interp)
{
	return (thread->states & TACHY_STATE_GIL) ||
	       (interp->gil.known && interp->gil.holder == thread->addr);
}

bool thread_could_move(const struct target *target, const struct target_thread *thread,
		       const struct interp_state *interp)
{
	return is_holder(thread, interp) ||
	       (target->passed_gil && interp->gil.addr == target->passed_gil);
}

/* How many frames from the root on the reading before, or the last tick, saw as they are now. Is kept for the
 * next. */
static size_t count_witnessed(struct target *target, struct target_thread *thread)
{
	size_t proved = frame_look_proves(&thread->look, target->view.reading, &thread->fresh,
					  thread->base, thread->frames.at);
	/* without memory there is no witness the next time either */
	(void)frame_look_take(&thread->look, target->view.reading, &thread->fresh, thread->base);
	return proved > thread->common ? proved : thread->common;
}

/* How many frames of the leaf's side of a stack of heap frames nobody witnessed, see frame_place.h. */
static size_t weigh_places(struct target *target, struct target_thread *thread)
{
	const struct raw_stack *fresh = &thread->fresh;
	size_t depth = target_thread_depth(thread);
	if (thread->common == depth ||
	    !frame_places_shared(&target->places, fresh->frames.at, fresh->frames.n))
		return 0;
	return depth - count_witnessed(target, thread);
}

/* A frame that has not gone beyond its first instructions may just be about to: where it lies, its caller is
 * entered before its code is (Include/internal/pycore_frame.h, _PyFrame_Initialize), so that it may be seen as one
 * of the code before. One that stays for two readings is what it seems. */
static bool begins(const struct raw_stack *stack)
{
	return stack->frames.n && stack->frames.at[0].flags.kind == RAW_PYTHON &&
	       stack->frames.at[0].at <= FIRST_INSTRUCTIONS;
}

/* A leaf that has saved its stack pointer at its return is over, and lies there until its place becomes another
 * frame's: with a caller from after it and a leaf's address from later still it makes a stack that never was. Only
 * what is called from a return, such as a trace function in C, lets it stand there for two readings. */
static bool is_over(const struct raw_stack *stack)
{
	return stack->frames.n && stack->frames.at[0].leaving;
}

static bool doubts_leaf(const struct raw_stack *stack)
{
	return begins(stack) || is_over(stack);
}

/* Of the `n` frames on the leaf's side, how many nobody witnessed. */
static size_t count_new(struct target *target, struct target_thread *thread, size_t n)
{
	size_t depth = target_thread_depth(thread);
	if (!n || depth == thread->common)
		return 0;
	size_t n_new = depth - count_witnessed(target, thread);
	return n_new < n ? n_new : n;
}

size_t thread_count_apart(struct target *target, struct target_thread *thread,
			  const struct thread_state *state, const struct interp_state *interp)
{
	const struct raw_stack *stack = &thread->fresh;
	if (target->layout->frames == FRAMES_OBJECTS)
		return weigh_places(target, thread);
	if (!is_holder(thread, interp)) {
		size_t n = joint_count_apart(target->layout, stack);
		return count_new(target, thread, n ? n : doubts_leaf(stack));
	}
	size_t n = joint_weigh(&target->joint, target->layout, &target->view, state, stack);
	return n ? n : count_new(target, thread, doubts_leaf(stack));
}

bool thread_is_own(const struct target_thread *thread)
{
	const struct raw_stack *stack = &thread->fresh;
	raddr leaf = stack->frames.n ? stack->frames.at[0].addr : 0;
	return !leaf || !stack->chunk || (leaf >= stack->chunk && leaf < stack->chunk_end);
}
