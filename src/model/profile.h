/* SPDX-License-Identifier: MIT
 * Everything a run collected: the names behind the ids, and how often each thread was seen with each
 * stack. One writer; readers only while the writer rests.
 */
#ifndef MODEL_PROFILE_H
#define MODEL_PROFILE_H

#include "model/sample.h"
#include "model/stack.h"
#include "model/time_strip.h"

struct profile_process {
	int64_t pid;
	str_id command; /* what it was started as */
	str_id version; /* "3.13.0" */
	bool other_root; /* its files are not those of the first process; see export/source_lines.h */
};

struct profile_thread {
	uint32_t process; /* index into processes */
	int64_t interpreter;
	uint64_t tid; /* the kernel's */
	str_id name;  /* "" unknown */
	bool main;
};

/* One line of the aggregate: (thread, stack, states) and what was counted for it. */
struct profile_count {
	uint32_t thread;
	stack_id stack;
	uint32_t states;
	uint64_t n_samples;
	uint64_t weight_ns;
};

struct profile {
	struct stacks stacks;
	VEC(struct profile_process) processes;
	VEC(struct profile_thread) threads;
	VEC(struct profile_count) counts;
	struct map count_by_key;
	bool keeps_strip; /* set before the first sample: `strip` is filled as well */
	struct time_strip strip; /* how the counts lie in time */
	bool keeps_timeline; /* set before the first sample: `timeline` is filled as well */
	uint64_t timeline_max; /* samples that it keeps; 0: all */
	bool timeline_cut;     /* later ones were not kept */
	VEC(struct sample) timeline; /* every sample, by the end of its run; see sample.h */
	double rate_hz; /* wanted; 0: max */
	enum tachy_mode mode;
	bool opcodes;     /* frames tell their instruction */
	bool async_aware; /* stacks are those of tasks */
	uint64_t start_unix_ns; /* wall-clock time of the first tick */
	uint64_t start_ns;      /* the same on the clock of sample.time_ns */
	uint64_t duration_ns;
	uint64_t n_samples; /* thread samples in `counts` */
	uint64_t weight_ns;
};

int profile_create(struct profile **ret_profile);
void profile_destroy(struct profile *profile); /* NULL is fine */
int profile_add_process(struct profile *profile, int64_t pid, const char *command,
			const char *version, uint32_t *ret_index);
int profile_add_thread(struct profile *profile, const struct profile_thread *thread,
		       uint32_t *ret_index);
int profile_set_thread_name(struct profile *profile, uint32_t thread, const char *name);
/* What of the times of samples is kept. Before the first one. */
void profile_keep(struct profile *profile, enum tachy_timeline timeline);
bool profile_keeps(const struct profile *profile, enum tachy_timeline timeline);
/* Counts one sample, and keeps it where a timeline is kept. TACHY_ENOMEM leaves the profile as it was. */
int profile_count_sample(struct profile *profile, const struct sample *sample);

/* Index into `counts` of what such a sample is counted at. False: none was. */
bool profile_find_count(const struct profile *profile, const struct sample *sample,
			uint32_t *ret_count);

#endif
