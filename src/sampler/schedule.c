/* SPDX-License-Identifier: MIT
 * The grid is start + n * period. A tick's deadline lies in the first half of its grid cell, at random:
 * the mean distance of ticks is exactly the period, and no two ticks share a cell.
 */
#include "sampler/schedule.h"

#include <time.h>

#define NS_PER_S 1000000000u

uint64_t clock_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

void clock_sleep_until(uint64_t deadline_ns)
{
	struct timespec at = {(time_t)(deadline_ns / NS_PER_S), (long)(deadline_ns % NS_PER_S)};
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static uint64_t period_of(double rate_hz)
{
	return rate_hz > 0 ? (uint64_t)(NS_PER_S / rate_hz + 0.5) : 0;
}

void schedule_init(struct schedule *schedule, double rate_hz, bool jitter, uint64_t seed)
{
	*schedule = (struct schedule){
		.period_ns = period_of(rate_hz),
		.start_ns = clock_now_ns(),
		.random = jitter ? seed | 1 : 0,
	};
}

void schedule_retime(struct schedule *schedule, double rate_hz, uint64_t now_ns)
{
	schedule->period_ns = period_of(rate_hz);
	schedule->start_ns = now_ns;
	schedule->n = 0;
}

/* xorshift64: plenty for spreading ticks. */
static uint64_t next_random(struct schedule *schedule)
{
	uint64_t x = schedule->random;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	schedule->random = x;
	return x;
}

uint64_t schedule_next(struct schedule *schedule, uint64_t now_ns)
{
	if (!schedule->period_ns)
		return now_ns;
	uint64_t n_due = (now_ns - schedule->start_ns) / schedule->period_ns;
	if (n_due > schedule->n) { /* the cell of tick n is over: take the one we are in */
		schedule->n_missed += n_due - schedule->n;
		schedule->n = n_due;
	}
	uint64_t deadline = schedule->start_ns + schedule->n * schedule->period_ns;
	if (schedule->random)
		deadline += next_random(schedule) % (schedule->period_ns / 2 + 1);
	schedule->n++;
	return deadline;
}
