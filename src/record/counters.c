/* SPDX-License-Identifier: MIT
 * Their order is that of struct tachy_stats, and part of the format (FORMAT.md): a new counter goes to the
 * end of both.
 */
#include "record/counters.h"

#include <string.h>

#include "base/error.h"

_Static_assert(sizeof(struct tachy_stats) % sizeof(uint64_t) == 0,
	       "all counters are uint64_t or double");

/* Which of them are seconds. */
static bool is_seconds(size_t i)
{
	size_t offset = i * sizeof(uint64_t);
	return offset == offsetof(struct tachy_stats, duration_s) ||
	       offset == offsetof(struct tachy_stats, cpu_user_s) ||
	       offset == offsetof(struct tachy_stats, cpu_system_s);
}

static uint64_t count_of(const struct tachy_stats *stats, size_t i)
{
	uint64_t value;
	double seconds;
	const char *at = (const char *)stats + i * sizeof value;
	memcpy(&value, at, sizeof value);
	if (!is_seconds(i))
		return value;
	memcpy(&seconds, at, sizeof seconds);
	return seconds > 0 && seconds < 1e9 ? (uint64_t)(seconds * 1e9 + 0.5) : 0;
}

static void set_count(struct tachy_stats *stats, size_t i, uint64_t value)
{
	double seconds = (double)value / 1e9;
	char *at = (char *)stats + i * sizeof value;
	if (is_seconds(i))
		memcpy(at, &seconds, sizeof seconds);
	else
		memcpy(at, &value, sizeof value);
}

void counters_put(struct counters *counters, const struct tachy_stats *stats, struct bytes *bytes)
{
	bytes_put_varint(bytes, COUNTERS_N);
	for (size_t i = 0; i < COUNTERS_N; i++) {
		uint64_t value = count_of(stats, i);
		bytes_put_zigzag(bytes, (int64_t)(value - counters->at[i]));
		counters->at[i] = value;
	}
}

int counters_take(struct counters *counters, struct byte_reader *bytes,
		  struct tachy_stats *ret_stats)
{
	uint64_t n = bytes_take_varint(bytes);
	struct tachy_stats stats = *ret_stats;
	for (size_t i = 0; i < n && i < COUNTERS_N; i++) {
		counters->at[i] += (uint64_t)bytes_take_zigzag(bytes);
		set_count(&stats, i, counters->at[i]);
	}
	if (bytes->bad || n > (1u << 20))
		return TACHY_ECORRUPT;
	*ret_stats = stats;
	return 0;
}
