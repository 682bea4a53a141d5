/* SPDX-License-Identifier: MIT
 * Invariant: anchor_depth != 0 only when frames[anchor_depth - 1] bore the marker, at anchor_seq, in the
 * very copy that `frames` came from.
 */
#include "sampler/anchor.h"

#include "os/mem_poke.h"

#define FAR_BELOW 64u /* frames above the marker that are read anew before it is moved up */

bool anchor_possible(const struct layout *layout)
{
	return layout->tstate.last_profiled_frame != LAYOUT_NONE &&
	       layout->tstate.last_profiled_frame_seq != LAYOUT_NONE;
}

raddr anchor_trust(const struct target_thread *thread, const struct thread_state *state,
		   size_t *ret_base)
{
	*ret_base = 0;
	uint64_t popped = state->marker_seq - thread->anchor_seq;
	if (!thread->anchor_depth || !state->marker || thread->cut ||
	    popped >= thread->anchor_depth)
		return 0;
	size_t k = thread->anchor_depth - 1 - (size_t)popped;
	const struct raw_frame *frame = &thread->frames.at[k];
	if (k >= thread->frames.n || frame->addr != state->marker ||
	    frame->flags.kind != RAW_PYTHON)
		return 0;
	*ret_base = k;
	return frame->addr;
}

/* 1 + the index of the marked frame; 0 when it is not among the frames that were read. */
static size_t find_marker(const struct target_thread *thread)
{
	for (size_t k = thread->frames.n; thread->marker && k > thread->base; k--)
		if (thread->frames.at[k - 1].addr == thread->marker)
			return thread->frames.at[k - 1].flags.kind == RAW_PYTHON ? k : 0;
	return 0;
}

static void write_marker(struct target *target, const struct target_thread *thread, raddr frame)
{
	(void)mem_poke_u64(target->process->pid,
			   thread->addr + target->layout->tstate.last_profiled_frame, frame);
	target->counts.anchor_writes++;
}

void anchor_update(struct target *target, struct target_thread *thread)
{
	size_t n = thread->frames.n;
	thread->anchor_depth = thread->cut ? 0 : find_marker(thread);
	thread->anchor_seq = thread->marker_seq;
	if (!n || thread->frames.at[n - 1].flags.kind != RAW_PYTHON)
		return;
	if (thread->anchor_depth && n - thread->anchor_depth <= FAR_BELOW)
		return;
	write_marker(target, thread, thread->frames.at[n - 1].addr);
	thread->marked = true;
	thread->anchor_depth = 0;
}

void anchor_clear(struct target *target)
{
	if (mem_view_begin(&target->view) < 0 || target_read(target, false, true) < 0)
		return; /* gone, and its markers with it */
	for (size_t i = 0; i < target->threads.n; i++) {
		struct target_thread *thread = &target->threads.at[i];
		struct thread_state state;
		if (thread->marked && thread->addr &&
		    thread_read(&target->view, target->layout, thread->addr, NULL, &state) >= 0 &&
		    state.thread_id == thread->thread_id && state.marker)
			write_marker(target, thread, 0);
		thread->anchor_depth = 0;
		thread->marked = false;
	}
}
