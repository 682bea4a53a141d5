/* SPDX-License-Identifier: MIT
 * Hides how runs of ticks become intervals. A sample tells the time of its first tick and the weight
 * of all its ticks, each weighing the time since the tick before it; so its interval begins one tick
 * before its first. How long that one tick was is known for runs of one tick only, and estimated by the
 * mean for others. Where a run begins within half a tick of the end of the one before, it is
 * taken to follow it at once: the true intervals do, and an estimate off by a little shows no gap.
 * Invariant: end - begin is the weight of the sample, and begin is not before the previous end.
 */
#include "export/spans.h"

#include <stdlib.h>

#include "base/error.h"

static int by_thread_and_time(const void *left, const void *right)
{
	const struct span *a = left, *b = right;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

static uint64_t mean_tick(const struct span *span)
{
	return (span->end_ns - span->begin_ns) / (span->n_ticks ? span->n_ticks : 1);
}

/* In: begin is the time of the first tick. Out: of the tick before. */
static void place_after(struct span *span, uint64_t previous_end)
{
	uint64_t weight = span->end_ns - span->begin_ns, tick = mean_tick(span);
	uint64_t begin = span->begin_ns > tick ? span->begin_ns - tick : 0;
	if (begin <= previous_end + tick / 2)
		begin = previous_end;
	span->begin_ns = begin;
	span->end_ns = begin + weight;
}

static struct span from_sample(const struct sample *sample, uint64_t start_ns)
{
	uint64_t time = sample->time_ns > start_ns ? sample->time_ns - start_ns : 0;
	return (struct span){.begin_ns = time,
			     .end_ns = time + sample->weight_ns,
			     .n_ticks = sample->n_ticks,
			     .thread = sample->thread,
			     .stack = sample->stack,
			     .states = sample->states};
}

int spans_init(const struct profile *profile, struct spans *ret_spans)
{
	struct spans spans = {{NULL, 0, 0}};
	if (!vec_reserve(&spans.spans, profile->timeline.n))
		return TACHY_ENOMEM;
	for (size_t i = 0; i < profile->timeline.n; i++) {
		const struct sample *sample = &profile->timeline.at[i];
		if (sample->thread < profile->threads.n &&
		    !vec_push(&spans.spans, from_sample(sample, profile->start_ns))) {
			spans_done(&spans);
			return TACHY_ENOMEM;
		}
	}
	struct span *at = spans.spans.at;
	size_t n = spans.spans.n;
	if (n > 1)
		qsort(at, n, sizeof *at, by_thread_and_time);
	for (size_t i = 0; at && i < n; i++)
		place_after(&at[i],
			    i > 0 && at[i - 1].thread == at[i].thread ? at[i - 1].end_ns : 0);
	*ret_spans = spans;
	return 0;
}

void spans_done(struct spans *spans)
{
	vec_done(&spans->spans);
}

/* The first span of a thread with an index not below `thread`. */
static size_t lower_bound(const struct spans *spans, uint64_t thread)
{
	size_t low = 0, high = spans->spans.n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (spans->spans.at[middle].thread < thread)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct span *spans_of_thread(const struct spans *spans, uint32_t thread, size_t *ret_n)
{
	size_t first = lower_bound(spans, thread), end = lower_bound(spans, (uint64_t)thread + 1);
	*ret_n = end - first;
	return end > first ? &spans->spans.at[first] : NULL;
}
