/* SPDX-License-Identifier: MIT
 * One small profile with all that formats must show: two processes, threads that share a number or
 * have no name, markers, tasks, opcodes, states, gaps, recursion, and names that break whatever does
 * not escape them.
 */
#ifndef GALLERY_H
#define GALLERY_H

#include "model/profile.h"

#define GALLERY_SAMPLES   36u        /* thread samples */
#define GALLERY_WEIGHT_NS 36500000u
#define GALLERY_STATS                                                                     \
	((struct tachy_stats){.samples_attempted = 20,                                    \
			      .samples_captured = 17,                                     \
			      .samples_lost = 3,                                          \
			      .samples_late = 2,                                          \
			      .samples_retried = 1,                                       \
			      .thread_samples = GALLERY_SAMPLES,                          \
			      .duration_s = 0.02})

/* With its timeline. profile_destroy it. */
struct profile *gallery_create(void);

/* A profile of one thread with stacks `depth` frames deep, seen ten times. */
struct profile *gallery_create_deep(uint32_t depth);

#endif
