/* SPDX-License-Identifier: MIT
 * The sampling loop over one or more targets: waits for the tick, takes the snapshot, commits it, counts
 * what was late or lost. Runs on whatever thread calls it; that thread may get pinned to CPUs meanwhile.
 */
#ifndef SAMPLER_SAMPLER_H
#define SAMPLER_SAMPLER_H

#include <pthread.h>
#include <stdatomic.h>

#include "sampler/roster.h"
#include "sampler/schedule.h"

struct sampler_options {
	double rate_hz;     /* 0: max */
	double duration_s;  /* 0: no end */
	bool jitter;
	enum tachy_snapshot snapshot;
};

/* What may be asked of a running sampler, by any thread: taken up before the next tick. */
struct sampler_wishes {
	_Atomic double rate_hz;
	atomic_bool new; /* it has changed */
};

struct sampler {
	struct sampler_options options;
	struct schedule schedule;
	struct roster roster;
	atomic_bool stop;
	struct sampler_wishes wishes;
	/* If not NULL: told the counters about ten times a second, on the sampling thread, without those
	 * that only the system knows (CPU, memory). Must not wait. */
	void (*watcher)(void *arg, const struct tachy_stats *stats);
	void *watcher_arg;
	atomic_bool expecting;   /* targets may come when there is none: no reason to end */
	pthread_mutex_t lock;    /* held while a tick changes targets, profile or stats */
	struct tachy_stats stats; /* by name what the loop itself counts */
	uint64_t start_ns, end_ns;
	uint64_t busy_ns;        /* when a target was last looked at */
	uint64_t tick_ns;        /* how long the last tick took */
	uint64_t counted_missed; /* of schedule.n_missed, those that are in stats.samples_late */
	bool target_gone;        /* all targets ended by themselves */
};

int sampler_init(struct sampler *sampler, const struct sampler_options *options);
void sampler_done(struct sampler *sampler);
/* Any thread, before and while it runs: the target comes in between two ticks. 0: it belongs to the sampler;
 * TACHY_ENOMEM. */
int sampler_add(struct sampler *sampler, struct target *target);
/* Until the duration is over, every target is gone and none is expected, or `stop`. */
int sampler_run(struct sampler *sampler, struct tachy_error *err);
/* Changes the rate, 0: max. Any thread. */
void sampler_set_rate(struct sampler *sampler, double rate_hz);
/* All counters so far, those of targets that have gone included. Takes the lock. */
void sampler_stats(struct sampler *sampler, struct tachy_stats *ret_stats);
/* Adds what sampler_stats has beyond what a watcher is told. No lock. */
void sampler_add_usage(struct tachy_stats *stats);

#endif
