/* SPDX-License-Identifier: MIT
 * Invariant: `usual` falls quickly and rises slowly, so that it follows the quickest of the last hundreds of
 * batches, and interruptions do not make themselves usual.
 */
#include "sampler/read_cost.h"

/* Units of work: the kernel's way in and out, and what each segment and each KB costs. */
#define CALL_UNITS    4u
#define SEGMENT_UNITS 1u
#define KB_SHIFT      10

#define FALL_SHIFT     2u
#define RISE_SHIFT     8u
#define TIMES          3u     /* the usual time is not yet an interruption */
#define SLACK_NS       6000u  /* nor is what a timer's tick takes on top of it */
#define NS_MAX         20000u /* what always is, until more is known; longer by so much */
#define SEGMENT_NS_MAX 4000u  /* for each segment */

static uint64_t never_more(size_t n_segments, size_t n_bytes)
{
	return NS_MAX + n_segments * SEGMENT_NS_MAX + n_bytes;
}

static void learn(struct read_cost *cost, uint64_t now)
{
	if (!cost->usual)
		cost->usual = now;
	else if (now < cost->usual)
		cost->usual -= (cost->usual - now) >> FALL_SHIFT;
	else
		cost->usual += (cost->usual >> RISE_SHIFT) + 1;
}

bool read_cost_judge(struct read_cost *cost, size_t n_segments, size_t n_bytes, size_t n_copies,
		     uint64_t ns)
{
	uint64_t units = n_copies *
			 (CALL_UNITS + n_segments * SEGMENT_UNITS + (n_bytes >> KB_SHIFT));
	learn(cost, ns * 1000 / units);
	uint64_t limit = SLACK_NS + TIMES * cost->usual * units / 1000;
	uint64_t most = never_more(n_segments, n_bytes) * n_copies;
	return ns > (limit < most ? limit : most);
}
