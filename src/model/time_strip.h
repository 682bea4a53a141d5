/* SPDX-License-Identifier: MIT
 * Counts over time in a bounded number of rows, filled as samples come: how much of each count of a profile
 * lies in each of so many equal stretches of time, "buckets". When time goes on beyond the last bucket, or rows
 * become too many, buckets get twice as long and neighbours one: never fewer samples.
 */
#ifndef MODEL_TIME_STRIP_H
#define MODEL_TIME_STRIP_H

#include "base/vec.h"
#include "model/sample.h"

#define STRIP_BUCKETS_MAX 1024u
#define STRIP_ROWS_MAX    250000u /* more only when there are more counts than that */
#define STRIP_NONE        UINT32_MAX

struct strip_row {
	uint32_t bucket;
	uint32_t count;  /* index into profile.counts */
	uint32_t before; /* the row of the same count in the latest bucket before; STRIP_NONE */
	uint64_t n_samples, weight_ns;
};

/* Zero-initialised it has not begun. */
struct time_strip {
	VEC(struct strip_row) rows; /* no two with the same bucket and count */
	VEC(uint32_t) latest; /* the row of each count in the latest bucket; STRIP_NONE */
	uint64_t start_ns; /* on the clock of sample.time_ns; what was before lies in bucket 0 */
	uint64_t width_ns; /* of a bucket; 0: not begun */
	uint64_t end_ns;   /* of the latest sample, from the start on */
	uint32_t n_used;   /* no row's bucket is as large */
};

/* Buckets are never finer than the ticks of `rate_hz` (0: as fast as it goes). */
void time_strip_begin(struct time_strip *strip, uint64_t start_ns, double rate_hz);
void time_strip_done(struct time_strip *strip);
/* A run of ticks is spread over the time that it took. `count`: where it was counted. TACHY_ENOMEM leaves the
 * strip as it was. */
int time_strip_add(struct time_strip *strip, const struct sample *sample, uint32_t count);
/* Makes buckets as long as it takes for STRIP_BUCKETS_MAX of them to reach `end_ns` from the start on. */
void time_strip_cover(struct time_strip *strip, uint64_t end_ns);
/* Rows of other counts and at other places: what was at `from->rows.at[i].count` is at `numbers` of it, and left out
 * where that is STRIP_NONE. `numbers` NULL: as they are. *ret is new. TACHY_ENOMEM. */
int time_strip_copy(const struct time_strip *from, const uint32_t *numbers, struct time_strip *ret);

#endif
