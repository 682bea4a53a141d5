/* SPDX-License-Identifier: MIT
 * Two profiles as one, so that equal functions have equal ids: that of this run, and behind it that of a
 * base to compare with.
 */
#ifndef EXPORT_DIFF_PROFILE_H
#define EXPORT_DIFF_PROFILE_H

#include "model/profile.h"

struct diff_profile {
	struct profile *both; /* owned; facts about the run are those of `now` */
	size_t n_processes, n_threads, n_counts; /* of `now`; the base's are those behind them */
	size_t n_files_moved; /* files of the base that were found under another path */
};

/* 0 or TACHY_ENOMEM. Functions are the same when name and file are, wherever in it they begin; a base of
 * NULL has no samples. */
int diff_profile_init(const struct profile *now, const struct profile *base,
		      struct diff_profile *ret_diff);
void diff_profile_done(struct diff_profile *diff);

#endif
