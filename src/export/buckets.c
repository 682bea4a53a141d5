/* SPDX-License-Identifier: MIT
 * Hides that the strip of a profile ends with its last sample, and a run maybe later.
 */
#include "export/buckets.h"

#include <string.h>

#include "base/error.h"

/* A copy of the strip that reaches to the end of the run, which may be long after the last sample. */
static int cover_run(const struct profile *profile, struct time_strip *ret_strip, uint64_t *ret_end)
{
	const struct time_strip *strip = &profile->strip;
	uint64_t start = strip->start_ns, end = strip->end_ns;
	if (profile->start_ns && profile->start_ns + profile->duration_ns > start + end)
		end = profile->start_ns + profile->duration_ns - start;
	int rc = time_strip_copy(strip, NULL, ret_strip);
	if (rc >= 0)
		time_strip_cover(ret_strip, end);
	*ret_end = end;
	return rc;
}

static bool add_row(struct buckets *buckets, const struct profile_count *count, uint32_t bucket,
		    uint64_t n_samples, uint64_t weight_ns)
{
	struct bucket_row row = {bucket,        count->thread, count->stack,
				 count->states, n_samples,     weight_ns};
	return vec_push(&buckets->rows, row);
}

static int add_rows(const struct profile *profile, const struct time_strip *strip,
		    struct buckets *buckets)
{
	for (size_t i = 0; i < strip->rows.n; i++) {
		const struct strip_row *row = &strip->rows.at[i];
		if (!add_row(buckets, &profile->counts.at[row->count], row->bucket, row->n_samples,
			     row->weight_ns))
			return TACHY_ENOMEM;
	}
	for (size_t i = 0; i < profile->counts.n; i++) {
		const struct profile_count *count = &profile->counts.at[i];
		if (i < strip->latest.n && strip->latest.at[i] != STRIP_NONE)
			continue;
		if (!add_row(buckets, count, 0, count->n_samples, count->weight_ns))
			return TACHY_ENOMEM;
	}
	return 0;
}

static void measure(const struct profile *profile, const struct time_strip *strip, uint64_t end_ns,
		    struct buckets *buckets)
{
	buckets->n = 1;
	buckets->width_ns = profile->duration_ns ? profile->duration_ns : 1;
	if (!strip->rows.n)
		return;
	buckets->width_ns = strip->width_ns;
	if (end_ns)
		buckets->n = (uint32_t)((end_ns - 1) / strip->width_ns + 1);
	if (buckets->n > STRIP_BUCKETS_MAX || buckets->n < strip->n_used)
		buckets->n = strip->n_used;
}

int buckets_init(const struct profile *profile, struct buckets *ret_buckets)
{
	struct time_strip strip;
	uint64_t end_ns;
	memset(ret_buckets, 0, sizeof *ret_buckets);
	int rc = cover_run(profile, &strip, &end_ns);
	if (rc < 0)
		return rc;
	measure(profile, &strip, end_ns, ret_buckets);
	rc = add_rows(profile, &strip, ret_buckets);
	time_strip_done(&strip);
	if (rc < 0)
		buckets_done(ret_buckets);
	return rc;
}

void buckets_done(struct buckets *buckets)
{
	vec_done(&buckets->rows);
}
