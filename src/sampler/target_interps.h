/* SPDX-License-Identifier: MIT
 * The interpreters of a target: which there are, under which GIL each runs, and whose threads can have
 * moved since they were last read.
 */
#ifndef SAMPLER_TARGET_INTERPS_H
#define SAMPLER_TARGET_INTERPS_H

#include "sampler/target.h"

/* Reads those that are known, or follows the list of all where that can have changed. Sets walk_due when
 * one is gone or another one came in its place. TACHY_EFINALIZING: there is none (any more). */
int target_interps_read(struct target *target);
/* What was read became the state of a tick. */
void target_interps_settle(struct target *target);
/* Whether nobody but the holder of its GIL can have changed frames since its threads were last read. */
bool target_interp_only_holder(const struct target_interp *interp);
/* Whether this thread is one that the present reading keeps still. */
bool target_keeps_still(const struct target *target, const struct interp_state *interp,
			raddr thread);
/* Whether, besides the threads that are kept still, others may be running Python right now. */
bool target_runs_beside(const struct target *target);

#endif
