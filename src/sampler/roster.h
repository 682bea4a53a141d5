/* SPDX-License-Identifier: MIT
 * Who is being sampled. Targets come and go while the ticks go on: whoever wants one in or out leaves a
 * note at the door, from any thread; the sampling thread looks there between two ticks and never waits.
 */
#ifndef SAMPLER_ROSTER_H
#define SAMPLER_ROSTER_H

#include <pthread.h>

#include "sampler/snapshot.h"

struct member {
	struct target *target; /* owned */
	struct snapshot snapshot;
	uint64_t last_tick_ns; /* clock_sample_ns of the last captured tick, or of when it came */
	bool gone;             /* ended, or another program: to be taken out */
};

struct roster_note {
	struct target *target; /* who comes; NULL: the target of `pid` goes */
	pid_t pid;
};

struct roster_leaver {
	pid_t pid;
	uint32_t visit; /* target.visit */
};

struct roster {
	/* the sampling thread's */
	VEC(struct member *) members; /* owned; by the CPU that each was last met on */
	struct seat seat;
	/* everybody's, under `door` */
	pthread_mutex_t door;
	VEC(struct roster_note) notes; /* in the order in which they came */
	VEC(struct roster_leaver) leavers; /* who has gone, for roster_take_leavers */
	bool keeps_leavers;
	/* the sampling thread's again: what was `notes`, being worked off */
	VEC(struct roster_note) taken;
	size_t n_done;
};

int roster_init(struct roster *roster);
/* Destroys all members, and the targets that never got in. */
void roster_done(struct roster *roster);

/* Any thread. 0, and the target belongs to the roster; or TACHY_ENOMEM, and it does not. */
int roster_join(struct roster *roster, struct target *target);
int roster_leave(struct roster *roster, pid_t pid);
/* Takes up to `max` of those who have gone, whether told to or by themselves; how many. With keeps_leavers,
 * which is set before the start. */
size_t roster_take_leavers(struct roster *roster, struct roster_leaver *ret_leavers, size_t max);

/* The sampling thread. The next target that waits at the door, or NULL; a `pid` that is to go instead. At
 * a door that somebody else stands at nobody is seen. */
struct target *roster_next(struct roster *roster, pid_t *ret_leaver);
/* Makes it a member: `last_tick_ns` is when its first tick's time begins. The target is destroyed when that
 * fails. */
int roster_admit(struct roster *roster, struct target *target, enum tachy_snapshot wanted,
		 bool no_pause, uint64_t last_tick_ns, struct tachy_error *err);
/* Takes member `i` out; the member is the caller's: member_destroy. */
struct member *roster_remove(struct roster *roster, size_t i);
void member_destroy(struct member *member);
/* Brings the members into the order of their CPUs. The index to begin a tick with: the first of those on
 * our own CPU; from there around. */
size_t roster_order(struct roster *roster);
/* Nobody there, nobody at the door. */
bool roster_is_empty(struct roster *roster);

#endif
