/* SPDX-License-Identifier: MIT
 * What each thread did in each of so many equal stretches of time: a profile's time strip, with what its counts
 * stand for. Counts that are not in the strip lie in stretch 0.
 */
#ifndef EXPORT_BUCKETS_H
#define EXPORT_BUCKETS_H

#include "model/profile.h"

struct bucket_row {
	uint32_t bucket, thread;
	stack_id stack;
	uint32_t states;
	uint64_t n_samples, weight_ns;
};

struct buckets {
	VEC(struct bucket_row)
	rows; /* no two with the same first four; sums are those of the counts */
	uint64_t width_ns;
	uint32_t n; /* STRIP_BUCKETS_MAX at most; 1 for a profile without a strip */
};

/* 0 or TACHY_ENOMEM. */
int buckets_init(const struct profile *profile, struct buckets *ret_buckets);
void buckets_done(struct buckets *buckets);

#endif
