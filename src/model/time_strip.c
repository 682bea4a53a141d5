/* SPDX-License-Identifier: MIT
 * The rows of a count are a chain from the latest bucket back, as samples of a thread come nearly in the order of
 * their times: adding to one is a look at the head of its chain, without any search.
 *
 * Times are relative to the start and kept within +-FAR_NS, so that sums of three of them cannot overflow
 * whatever a file says.
 */
#include "model/time_strip.h"

#include <string.h>

#include "base/error.h"

#define NS_PER_S      1e9
#define FAR_NS        (INT64_C(1) << 60)
#define WIDTH_MIN_NS  1000u /* to begin with, where there is no rate */
#define WIDTH_RATE_HZ 1e-6 /* a lower one is none */

void time_strip_begin(struct time_strip *strip, uint64_t start_ns, double rate_hz)
{
	strip->start_ns = start_ns;
	strip->width_ns = rate_hz >= WIDTH_RATE_HZ ? (uint64_t)(NS_PER_S / rate_hz) : WIDTH_MIN_NS;
	if (!strip->width_ns)
		strip->width_ns = 1;
}

void time_strip_done(struct time_strip *strip)
{
	vec_done(&strip->rows);
	vec_done(&strip->latest);
}

/* Room for `n` more rows, and for those of `count`. */
static bool reserve(struct time_strip *strip, size_t n, uint32_t count)
{
	if (!vec_reserve(&strip->rows, strip->rows.n + n) ||
	    !vec_reserve(&strip->latest, (size_t)count + 1))
		return false;
	while (strip->latest.n <= count)
		strip->latest.at[strip->latest.n++] = STRIP_NONE;
	return true;
}

/* For which there is room. */
static void put(struct time_strip *strip, uint32_t bucket, uint32_t count, uint64_t n,
		uint64_t weight_ns)
{
	struct strip_row *rows = strip->rows.at;
	uint32_t *link = &strip->latest.at[count];
	while (*link != STRIP_NONE && rows[*link].bucket > bucket)
		link = &rows[*link].before;
	if (*link != STRIP_NONE && rows[*link].bucket == bucket) {
		rows[*link].n_samples += n;
		rows[*link].weight_ns += weight_ns;
		return;
	}
	rows[strip->rows.n] = (struct strip_row){bucket, count, *link, n, weight_ns};
	*link = (uint32_t)strip->rows.n++;
	if (bucket >= strip->n_used)
		strip->n_used = bucket + 1;
}

/* Halves the number of buckets. */
static void widen(struct time_strip *strip)
{
	size_t n = strip->rows.n;
	strip->width_ns *= 2;
	strip->rows.n = 0;
	strip->n_used = 0;
	memset(strip->latest.at, 0xff, strip->latest.n * sizeof *strip->latest.at);
	for (size_t i = 0; i < n; i++) { /* what is written lies before what is read */
		const struct strip_row row = strip->rows.at[i];
		put(strip, row.bucket / 2, row.count, row.n_samples, row.weight_ns);
	}
}

void time_strip_cover(struct time_strip *strip, uint64_t end_ns)
{
	end_ns = end_ns < (uint64_t)FAR_NS * 2 ? end_ns : (uint64_t)FAR_NS * 2;
	while (strip->width_ns && end_ns && (end_ns - 1) / strip->width_ns >= STRIP_BUCKETS_MAX) {
		if (strip->rows.n)
			widen(strip);
		else
			strip->width_ns *= 2;
	}
}

static int64_t near_enough(uint64_t distance_ns)
{
	return distance_ns < (uint64_t)FAR_NS ? (int64_t)distance_ns : FAR_NS;
}

static int64_t since_start(const struct time_strip *strip, uint64_t time_ns)
{
	if (time_ns < strip->start_ns)
		return -near_enough(strip->start_ns - time_ns);
	return near_enough(time_ns - strip->start_ns);
}

static uint32_t bucket_at(const struct time_strip *strip, int64_t time_ns)
{
	uint64_t bucket = time_ns > 0 ? (uint64_t)time_ns / strip->width_ns : 0;
	return bucket < STRIP_BUCKETS_MAX ? (uint32_t)bucket : STRIP_BUCKETS_MAX - 1;
}

/* Ticks of a run lie evenly from its first time on; those before `edge_ns`. */
static uint64_t ticks_before(const struct sample *sample, int64_t first_ns, int64_t edge_ns)
{
	uint64_t step_ns = sample->weight_ns / sample->n_ticks;
	if (edge_ns <= first_ns)
		return 0;
	if (step_ns == 0)
		return sample->n_ticks;
	uint64_t n = (uint64_t)(edge_ns - first_ns - 1) / step_ns + 1;
	return n < sample->n_ticks ? n : sample->n_ticks;
}

static void spread(struct time_strip *strip, const struct sample *sample, int64_t first_ns,
		   uint32_t count)
{
	uint64_t step = sample->weight_ns / sample->n_ticks, done = 0, done_ns = 0;
	while (done < sample->n_ticks) {
		uint32_t bucket = bucket_at(strip, first_ns + near_enough(done * step));
		int64_t edge = (int64_t)((bucket + 1) * strip->width_ns);
		uint64_t n = bucket + 1 == STRIP_BUCKETS_MAX ? sample->n_ticks
							     : ticks_before(sample, first_ns, edge);
		if (n <= done)
			n = sample->n_ticks;
		uint64_t upto_ns = n == sample->n_ticks ? sample->weight_ns : n * step;
		put(strip, bucket, count, n - done, upto_ns - done_ns);
		done = n;
		done_ns = upto_ns;
	}
}

int time_strip_add(struct time_strip *strip, const struct sample *sample, uint32_t count)
{
	int64_t first = since_start(strip, sample->time_ns);
	int64_t end = first + near_enough(sample->weight_ns);
	if (!sample->n_ticks)
		return 0;
	if (!reserve(strip, 1, count))
		return TACHY_ENOMEM;
	if (end > 0 && (uint64_t)end > strip->end_ns) {
		strip->end_ns = (uint64_t)end;
		time_strip_cover(strip, strip->end_ns);
	}
	uint32_t bucket = bucket_at(strip, first), last = bucket_at(strip, end > 0 ? end - 1 : 0);
	if (!reserve(strip, last - bucket + 1, count))
		return TACHY_ENOMEM;
	if (bucket == last)
		put(strip, bucket, count, sample->n_ticks, sample->weight_ns);
	else
		spread(strip, sample, first, count);
	while (strip->rows.n > STRIP_ROWS_MAX && strip->n_used > 1)
		widen(strip);
	return 0;
}

int time_strip_copy(const struct time_strip *from, const uint32_t *numbers, struct time_strip *ret)
{
	struct time_strip copy = {.start_ns = from->start_ns,
				  .width_ns = from->width_ns,
				  .end_ns = from->end_ns};
	for (size_t i = 0; i < from->rows.n; i++) {
		const struct strip_row *row = &from->rows.at[i];
		uint32_t count = numbers ? numbers[row->count] : row->count;
		if (count == STRIP_NONE)
			continue;
		if (!reserve(&copy, 1, count)) {
			time_strip_done(&copy);
			return TACHY_ENOMEM;
		}
		put(&copy, row->bucket, count, row->n_samples, row->weight_ns);
	}
	*ret = copy;
	return 0;
}
