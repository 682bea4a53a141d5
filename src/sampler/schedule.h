/* SPDX-License-Identifier: MIT
 * When the ticks are: absolute deadlines, so that late ones do not shift those that follow; no burst
 * after a stall but a fresh start on the grid, with what was missed counted; a jitter, so that a
 * program with a period of its own is not always met at the same point of it.
 */
#ifndef SAMPLER_SCHEDULE_H
#define SAMPLER_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

struct schedule {
	uint64_t period_ns;  /* 0: no waiting */
	uint64_t start_ns;
	uint64_t n;          /* number of the next tick on the grid */
	uint64_t random;     /* state of the jitter; 0: no jitter */
	uint64_t n_missed;   /* grid points that passed without a tick */
};

uint64_t clock_now_ns(void); /* CLOCK_MONOTONIC */

/* What samples tell of a moment: it, rounded down to whole microseconds, so that what is seen live, what is in
 * files and what is replayed are the same to the digit. The schedule itself knows nothing of it. */
#define SAMPLE_UNIT_NS 1000u
static inline uint64_t clock_sample_ns(uint64_t now_ns)
{
	return now_ns - now_ns % SAMPLE_UNIT_NS;
}

void schedule_init(struct schedule *schedule, double rate_hz, bool jitter, uint64_t seed);
/* The deadline of the tick after the last one; as of `now_ns`, missed ones are counted and skipped. */
uint64_t schedule_next(struct schedule *schedule, uint64_t now_ns);
/* Another rate from now on; what was missed so far stays counted. */
void schedule_retime(struct schedule *schedule, double rate_hz, uint64_t now_ns);
/* Sleeps until `deadline_ns`, or until a signal comes. */
void clock_sleep_until(uint64_t deadline_ns);

#endif
