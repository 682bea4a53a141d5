/* SPDX-License-Identifier: MIT
 * How much of something there was in each of the last seconds.
 */
#ifndef TUI_SERIES_H
#define TUI_SERIES_H

#include <stdint.h>
#include <string.h>

#define SERIES_SECONDS 16u /* power of two */

struct series {
	uint32_t slot[SERIES_SECONDS]; /* microseconds, of second % SERIES_SECONDS */
	int64_t second;                /* the newest that was added to */
};

/* Brings the series to `second`; those between were empty. */
static inline void series_turn(struct series *series, int64_t second)
{
	if (second - series->second >= (int64_t)SERIES_SECONDS)
		memset(series->slot, 0, sizeof series->slot);
	else
		for (int64_t s = series->second + 1; s <= second; s++)
			series->slot[(uint64_t)s % SERIES_SECONDS] = 0;
	if (second > series->second)
		series->second = second;
}

static inline void series_add(struct series *series, int64_t second, uint64_t weight_ns)
{
	series_turn(series, second);
	series->slot[(uint64_t)second % SERIES_SECONDS] += (uint32_t)(weight_ns / 1000);
}

/* Microseconds in the `n` seconds that end with `second`; n < SERIES_SECONDS. */
static inline uint64_t series_sum(const struct series *series, int64_t second, unsigned n)
{
	uint64_t sum = 0;
	for (int64_t s = second; s > second - (int64_t)n; s--)
		if (s <= series->second && s > series->second - (int64_t)SERIES_SECONDS)
			sum += series->slot[(uint64_t)s % SERIES_SECONDS];
	return sum;
}

#endif
