/* SPDX-License-Identifier: MIT
 * The timeline as formats draw it: for each thread a row of intervals, one after the other, each with
 * one stack and one set of states. A span is as long as its sample weighs, so that the spans of a
 * profile last as long as its weight says.
 */
#ifndef EXPORT_SPANS_H
#define EXPORT_SPANS_H

#include "model/profile.h"

struct span {
	uint64_t begin_ns, end_ns; /* since profile->start_ns */
	uint64_t n_ticks;
	uint32_t thread; /* index into profile->threads */
	stack_id stack;
	uint32_t states;
};

struct spans {
	VEC(struct span) spans; /* by thread, then by time; those of a thread never overlap */
};

/* 0 or TACHY_ENOMEM. Samples of threads that the profile has not are left out. */
int spans_init(const struct profile *profile, struct spans *ret_spans);
void spans_done(struct spans *spans);
/* The spans of one thread. NULL and 0: none. */
const struct span *spans_of_thread(const struct spans *spans, uint32_t thread, size_t *ret_n);

#endif
