/* SPDX-License-Identifier: MIT
 * A sink that lets only some samples through to another one: by time, thread, functions, and mode. What the
 * patterns mean is said at struct tachy_filter.
 */
#ifndef MODEL_FILTER_H
#define MODEL_FILTER_H

#include "model/sink.h"

#define FILTER_YOUNG_NS \
	UINT64_C(1000000000) /* how long a thread may be waited for to get its name */

struct filter_thread {
	str_id name;       /* when it was last looked at */
	uint64_t begin_ns; /* time of its first sample */
	bool seen, takes;
	bool grown; /* a sample came when it was no longer young */
};

struct filter {
	struct sink sink;            /* first */
	struct sink *next;           /* borrowed */
	struct tachy_filter wanted;  /* its strings are borrowed */
	enum tachy_mode mode;        /* the states that a sample must have */
	const struct profile *names; /* borrowed; from begin on */
	VEC(uint8_t) frames;         /* what a frame matches, by id */
	VEC(uint8_t) stacks;         /* what any of its frames matches, by id */
	VEC(struct filter_thread) threads;
	VEC(struct sample) held; /* of young threads that are not taken, or not yet */
	uint64_t n_cpu_known;    /* samples that came with their state on the CPU */
	uint64_t n_seen;         /* samples that came */
};

/* `wanted` NULL: no filter but the mode. */
void filter_init(struct filter *filter, struct sink *next, const struct tachy_filter *wanted,
		 enum tachy_mode mode);
void filter_done(struct filter *filter);
/* How much of a run of `duration_ns` its time range has. */
uint64_t filter_duration(const struct filter *filter, uint64_t duration_ns);

#endif
