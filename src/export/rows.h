/* SPDX-License-Identifier: MIT
 * A profile summed up by function (or by function and line): own and total, a recursive function
 * counted once per stack.
 */
#ifndef EXPORT_ROWS_H
#define EXPORT_ROWS_H

#include "model/profile.h"

#define ROWS_ALL_THREADS UINT32_MAX

struct row {
	struct tachy_frame
		frame;       /* one that stands for all of the row; borrowed from the profile */
	uint64_t own, total; /* thread samples */
	uint64_t own_ns, total_ns;
};

struct rows {
	VEC(struct row) rows; /* in no order; the first stands for stacks without any frame */
	uint64_t n_samples, weight_ns;
};

/* Sums up one thread (index into profile->threads) or all. 0 or TACHY_ENOMEM. */
int rows_init(const struct profile *profile, uint32_t thread, bool lines, struct rows *ret_rows);
void rows_done(struct rows *rows);

#endif
