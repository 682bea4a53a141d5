/* SPDX-License-Identifier: MIT
 * What run and attach have in common: sample processes, write what was got.
 */
#ifndef CLI_SAMPLE_RUN_H
#define CLI_SAMPLE_RUN_H

#include "output.h"

struct stage;

/* Exit statuses, beside a program's own. */
enum {
	STATUS_GOOD = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
	STATUS_NOT_RUN = 126,
	STATUS_NOT_FOUND = 127
};

/* What is sampled. */
struct subject {
	struct tachy_process **processes; /* borrowed */
	size_t n;
	struct tachy_child *child; /* what we started ourselves, else NULL; borrowed */
	int64_t pid;               /* that names the output */
	struct stage *stage;       /* the child's terminal under --live; NULL none */
	bool held;                 /* the child is to be followed from its first step on, and let go then */
	int release_code;          /* out, when `held` is false again: what letting it go gave */
};

/* Samples until the end of all processes, of the child or of the duration, or a signal; then writes the
 * profile and what else was asked for; of a held child in which no Python was seen, nothing. Tells what went wrong; STATUS_GOOD or STATUS_FAILED. *ret_gone: the
 * sampling ended because the Pythons did. */
int sample_run(struct output *output, struct subject *subject, bool *ret_gone);

#endif
