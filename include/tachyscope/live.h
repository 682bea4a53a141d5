/* SPDX-License-Identifier: MIT
 * A session looked at while it runs: every sample, and the names behind the numbers, told one by one
 * through a ring that the sampling thread never waits for. What the reader is too slow for is left out
 * of the ring and counted (the profile has it all the same).
 *
 * One thread reads; it may be any but the one that samples. No call here takes a lock that the sampling
 * thread needs, but for tachy_session_save, which takes it for some microseconds at a time.
 */
#ifndef TACHYSCOPE_LIVE_H
#define TACHYSCOPE_LIVE_H

#include "profile.h"
#include "session.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tachy_live;

enum tachy_live_kind {
	TACHY_LIVE_PROCESS,
	TACHY_LIVE_THREAD, /* told again when its name, tid or role became known or changed */
	TACHY_LIVE_FUNCTION,
	TACHY_LIVE_FRAME,
	TACHY_LIVE_STACK, /* stack 0 is the empty one and never told */
	TACHY_LIVE_SAMPLE
};

/* One thing that is new. `id` counts up from 0 in each kind, without gaps (stacks: from 1); what an id
 * refers to was told before it. Strings are borrowed until the session is freed. */
struct tachy_live_event {
	enum tachy_live_kind kind;
	uint32_t id; /* TACHY_LIVE_SAMPLE: the thread */
	union {
		struct {
			const char *command, *version;
			int64_t pid;
		} process;
		struct {
			const char *name; /* "" unknown */
			uint64_t tid;     /* 0 unknown */
			int64_t interpreter;
			uint32_t process;
			bool main;
		} thread;
		struct {
			const char *name, *file;
			int32_t first_line;
			enum tachy_frame_kind kind;
		} function;
		struct {
			const char *opcode, *base_opcode; /* "" not taken */
			uint32_t function;
			int32_t line; /* 0 unknown */
		} frame;
		struct {
			uint32_t parent; /* the caller's stack */
			uint32_t frame;  /* on top of it */
		} stack;
		struct {
			uint64_t time_ns;   /* CLOCK_MONOTONIC, of the first tick */
			uint64_t weight_ns; /* real time that the ticks stand for */
			uint64_t n_ticks;   /* in a row, with this stack and these states */
			uint32_t stack;
			uint32_t states;    /* bits of enum tachy_state */
		} sample;
	};
};

/* Makes the session tell its samples. Before tachy_session_add. `n_events`: room in the ring, rounded up
 * to a power of two; 0: the default. The session then keeps samples of all modes, and its own mode says
 * only which of them tachy_session_save writes; the kernel is asked who runs. *ret_live belongs to the session. */
int tachy_session_live(struct tachy_session *session, size_t n_events, struct tachy_live **ret_live,
		       struct tachy_error *err);

/* Takes up to `n` events out of the ring; how many. Never waits. */
size_t tachy_live_read(struct tachy_live *live, struct tachy_live_event *events, size_t n);
/* Samples (ticks of a thread) that the ring had no room for. */
uint64_t tachy_live_dropped(const struct tachy_live *live);
/* The counters, at most about 100 ms old. */
void tachy_live_stats(struct tachy_live *live, struct tachy_stats *ret_stats);

/* As tachy_session_run, without waiting: sampling goes on until tachy_session_join has returned. */
int tachy_session_start(struct tachy_session *session, struct tachy_error *err);
bool tachy_session_finished(const struct tachy_session *session);
/* To be called about ten times a second after tachy_session_start: keeps a recording's counters fresh, ends
 * the sampling when it cannot be written. */
void tachy_session_tend(struct tachy_session *session);
/* Waits for the end of what tachy_session_start began, and gives its result. Once. */
int tachy_session_join(struct tachy_session *session, struct tachy_error *err);

/* Changes of a running session, taken up at the next tick. 0: as fast as it goes. */
int tachy_session_set_rate(struct tachy_session *session, double rate_hz);
/* With tachy_session_live only: which samples tachy_session_save writes. */
int tachy_session_set_mode(struct tachy_session *session, enum tachy_mode mode);
/* Writes what has been collected so far, as tachy_profile_write does, while sampling goes on. For formats
 * that show times, tachy_session_options.timeline must have been as much as they need. 1: written, but a format
 * that shows every sample shows the beginning only, up to tachy_session_options.timeline_max. */
int tachy_session_save(struct tachy_session *session, const struct tachy_format *format,
		       const struct tachy_export_options *options, const char *path,
		       struct tachy_error *err);

/* What the kernel says about a process or one of its threads. */
struct tachy_usage {
	double cpu_s; /* user and system, since it began */
	char state;   /* R S D T t Z X I, as proc(5); 0 unknown */
	uint32_t n_threads;
};
/* `tid` 0: the whole process. TACHY_EGONE, TACHY_EPERM, TACHY_EPLATFORM. */
int tachy_usage_read(int64_t pid, uint64_t tid, struct tachy_usage *ret_usage);
/* A file as the (first) process sees it, also after its end. Regular files only, of at most 64 MB.
 * *ret_bytes is owned by the caller: free() it. No NUL follows. */
int tachy_session_source(const struct tachy_session *session, const char *path, char **ret_bytes,
			 size_t *ret_size);

#ifdef __cplusplus
}
#endif
#endif
