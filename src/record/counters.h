/* SPDX-License-Identifier: MIT
 * The statistics of a run, as the recording keeps them: a row of numbers, told as differences.
 */
#ifndef RECORD_COUNTERS_H
#define RECORD_COUNTERS_H

#include "base/bytes.h"
#include "tachyscope/types.h"

#define COUNTERS_N (sizeof(struct tachy_stats) / sizeof(uint64_t))

struct counters {
	uint64_t at[COUNTERS_N]; /* as last told; seconds as nanoseconds */
};

void counters_put(struct counters *counters, const struct tachy_stats *stats, struct bytes *bytes);
/* More of them than are known are passed over, fewer leave the others as they were. TACHY_ECORRUPT. */
int counters_take(struct counters *counters, struct byte_reader *bytes,
		  struct tachy_stats *ret_stats);

#endif
