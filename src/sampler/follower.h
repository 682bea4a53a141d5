/* SPDX-License-Identifier: MIT
 * Has a sampler sample a program with all that it starts: every Python among the descendants of some
 * processes, from soon after its birth on, on a thread of its own beside the sampling.
 */
#ifndef SAMPLER_FOLLOWER_H
#define SAMPLER_FOLLOWER_H

#include "sampler/sampler.h"

struct follower;

/* Who gets what is found. All borrowed. */
struct follower_aims {
	struct sampler *sampler;
	struct profile *profile;
	struct sink *sink;
	struct target_options
		options; /* of every target; what its Python does not have is left out */
	bool (*has_other_root)(void *arg,
			       pid_t pid); /* gives options.other_root; on the follower's thread */
	void *arg;
};

/* Before sampler_run. From the first follower_follow on the sampler goes on while one of the processes to be
 * followed is there, even when none is a Python. TACHY_ENOMEM, TACHY_EPLATFORM. */
int follower_create(const struct follower_aims *aims, struct follower **ret_follower);
/* Follows `pid`: samples it as soon as it is a Python, and all its descendants. `known`: its attachment, when
 * the caller has made it a target already (`visit` 0); borrowed until follower_destroy; else NULL. Any
 * thread, but the first call has returned before the second. After the first call nothing that happens is
 * missed; a later one takes effect within some 20 ms. */
int follower_follow(struct follower *follower, pid_t pid, const struct attachment *known);
/* Ends its thread. What it found stays with the sampler. NULL is fine. */
void follower_destroy(struct follower *follower);

#endif
