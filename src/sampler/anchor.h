/* SPDX-License-Identifier: MIT
 * --anchor (3.15+): uses the interpreter's own marker, last_profiled_frame, so that the frames below it
 * need not be read. Popping the marked frame moves the marker to its caller and adds one to
 * last_profiled_frame_seq (Include/internal/pycore_interpframe.h): so, where the marker was found on a
 * frame of a stack we know, and stands now as many callers further down as the number says, that frame
 * and all below it have not been popped since.
 *
 * A marker is believed only once it was found in a stack that was read with it: that it was written on the
 * leaf of an older stack proves nothing, since the leaf may have been another frame by then.
 */
#ifndef SAMPLER_ANCHOR_H
#define SAMPLER_ANCHOR_H

#include "sampler/target.h"

/* Whether this Python has the marker. */
bool anchor_possible(const struct layout *layout);
/* The frame to stop reading at, and how many frames lie below it in thread->frames; 0: read all. */
raddr anchor_trust(const struct target_thread *thread, const struct thread_state *state,
		   size_t *ret_base);
/* After a commit: looks where the marker stands in the stack now known, and puts it on the leaf when it
 * stands nowhere, or far below. */
void anchor_update(struct target *target, struct target_thread *thread);
/* Takes every marker of ours away. */
void anchor_clear(struct target *target);

#endif
