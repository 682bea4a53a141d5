/* SPDX-License-Identifier: MIT
 * A sampling run over one or more processes.
 */
#ifndef TACHYSCOPE_SESSION_H
#define TACHYSCOPE_SESSION_H

#include "process.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tachy_session;
struct tachy_profile;

#define TACHY_RATE_MAX_HZ 1000000.0

struct tachy_session_options {
	size_t size;       /* sizeof(struct tachy_session_options) */
	double rate_hz;    /* ticks a second; 0: as fast as it goes */
	double duration_s; /* 0: until the target ends or tachy_session_stop */
	bool main_thread_only;
	bool no_jitter;     /* keep ticks exactly periodic */
	bool no_gc, native; /* marker frames */
	bool anchor;        /* write last_profiled_frame into the target (3.15+) */
	bool opcodes; /* frames tell their instruction (3.11+; tachy_session_add refuses others) */
	bool subprocesses; /* of every process added, the Pythons among its descendants as well */
	enum tachy_timeline timeline; /* what is kept of times, for the formats that show them */
	enum tachy_snapshot snapshot;
	enum tachy_mode mode;
	enum tachy_async async_mode;
	uint64_t
		timeline_max; /* TACHY_TIMELINE_SAMPLES keeps so many at most: the first ones; 0: all */
};

/* Fills *ret with the defaults (1 kHz, all threads, wall, auto). */
void tachy_session_options_init(struct tachy_session_options *ret);

int tachy_session_create(const struct tachy_session_options *options,
			 struct tachy_session **ret_session, struct tachy_error *err);
/* Looks at some samples only. Before the first tachy_session_add; what the filter points to is borrowed until
 * tachy_session_free. Counters count all samples. */
int tachy_session_filter(struct tachy_session *session, const struct tachy_filter *filter,
			 struct tachy_error *err);

/* Records every sample into a file, in the form that tachyscope/recording.h reads. Before the first
 * tachy_session_add. The file is emptied now and grows while the session runs, so that when we are killed all
 * but the last half second can be read; "-" is stdout. A full disk is tried again until the end, and what a slow
 * one does not take in time is dropped and counted; where nobody reads a pipe any more the session stops.
 * tachy_session_run (or tachy_session_join) gives the first error of the sampling and the recording. */
int tachy_session_record(struct tachy_session *session, const char *path, struct tachy_error *err);
struct tachy_recorded {
	uint64_t thread_samples, dropped; /* stacks, as in struct tachy_stats */
	uint64_t bytes;
	int error; /* 0, or a TACHY_E*: the file does not take it at the moment, or did not at the end */
};
/* Any thread, any time; zeros when nothing is recorded. */
void tachy_session_recorded(const struct tachy_session *session,
			    struct tachy_recorded *ret_recorded);

/* Before tachy_session_run or, from any thread, while it runs: the process comes in between two ticks, which
 * are not held up by it. The session borrows the process until tachy_session_free, also when the process has
 * ended or the call has failed; a process must not be in two sessions, or be dumped while it is in one. */
int tachy_session_add(struct tachy_session *session, struct tachy_process *process,
		      struct tachy_error *err);
/* Samples every Python that the process `pid` is, or becomes, and every Python among its descendants, however
 * they were started: they are found and attached to by the session, which owns them and lets go of them
 * when they end. Before tachy_session_run; then also from any thread while it runs. What happens after
 * the first call, a birth, an exec, is not missed. The session goes on as long as `pid` or a Python is
 * there. */
int tachy_session_follow(struct tachy_session *session, int64_t pid, struct tachy_error *err);
/* Samples until the duration is over, the target is gone, or tachy_session_stop. 0 for each of these;
 * `err` then says, with code 0, nothing. Blocks; the sampling itself is on a thread of the library.
 * `tick`, if not NULL, is called about ten times a second on the calling thread. */
int tachy_session_run(struct tachy_session *session, void (*tick)(void *), void *tick_arg,
		      struct tachy_error *err);
void tachy_session_stop(struct tachy_session *session); /* async-signal-safe */
/* Whether the target ended by itself during the run. */
bool tachy_session_target_gone(const struct tachy_session *session);
/* The counters so far; any thread, any time. */
void tachy_session_stats(const struct tachy_session *session, struct tachy_stats *ret_stats);
/* The profile so far. Borrowed from the session; steady between ticks and after the run. */
const struct tachy_profile *tachy_session_profile(const struct tachy_session *session);
void tachy_session_free(struct tachy_session *session); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
