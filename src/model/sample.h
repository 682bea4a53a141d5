/* SPDX-License-Identifier: MIT
 * One thread's stack at one moment, or at several ticks in a row while it stayed the same: what flows
 * from sources through filters to sinks.
 */
#ifndef MODEL_SAMPLE_H
#define MODEL_SAMPLE_H

#include <stdint.h>

#include "model/stack.h"

struct sample {
	uint64_t time_ns;   /* CLOCK_MONOTONIC, of the first tick */
	uint64_t weight_ns; /* real time that the ticks stand for, each since the tick before it */
	uint64_t n_ticks;   /* >= 1 */
	uint32_t thread;    /* index into profile.threads */
	stack_id stack;
	uint32_t states;    /* enum tachy_state */
};

#endif
