/* SPDX-License-Identifier: MIT
 * Keeps from reading the lower part of a deep stack that does not change. What lies below a frame can
 * change only after that frame was left, whether it returned or raised, and in every version the interpreter
 * writes a certain word of a frame before that: from 3.11 on where its stack pointer is saved (Python/
 * bytecodes.c, RETURN_VALUE, and ceval.c, exception_unwind: _PyFrame_SetStackPointer; 3.11 - 3.13 write it
 * when a callee comes back as well), before that f_executing or f_state (Python/ceval.c, exit_eval_frame). A
 * hardware watchpoint on that word of one frame therefore vouches for all below it, for as long as it has
 * not gone off. The frame itself is read.
 *
 * The wire is believed only from the first reading after it was laid: what was read while it was whole.
 */
#ifndef SAMPLER_TRIPWIRE_H
#define SAMPLER_TRIPWIRE_H

#include "cpython/frame.h"
#include "os/watch.h"

struct tripwire {
	struct watch *watch;   /* owned; NULL: none yet, or not to be had */
	bool impossible;       /* the kernel does not let us, or the thread is unknown */
	bool laid, believed;
	size_t depth;          /* 1 + index of the wired frame, from the root */
	size_t stable;         /* frames from the root that stayed as they were, lately */
	uint32_t calm_ticks;   /* for how many ticks */
	uint32_t patience;     /* how many it takes until a wire is worth laying */
};

/* How many frames from the root on need not be read in this tick; 0: all must. */
size_t tripwire_trusted(const struct tripwire *wire);
/* After reading and before committing: whether what was trusted still holds. */
bool tripwire_whole(const struct tripwire *wire);
/* After a commit in which `common` of the `n` frames were as before: lays, believes or lifts the wire. */
void tripwire_update(struct tripwire *wire, const struct layout *layout, pid_t tid,
		     const struct raw_frame *frames, size_t n, size_t common);
void tripwire_done(struct tripwire *wire);

#endif
