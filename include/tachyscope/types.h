/* SPDX-License-Identifier: MIT
 * Plain shapes shared by the library and its users. Every string is UTF-8, NUL-terminated, and
 * holds whatever the target chose to call its things: escape it where it meets a terminal or HTML.
 */
#ifndef TACHYSCOPE_TYPES_H
#define TACHYSCOPE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a thread was doing: bits of tachy_thread.states. A bit that is off says nothing unless its
 * KNOWN partner is on. */
enum tachy_state {
	TACHY_STATE_GIL = 1 << 0,          /* holds the GIL (free-threaded: attached) */
	TACHY_STATE_GIL_WAITING = 1 << 1,  /* wants the GIL */
	TACHY_STATE_ON_CPU = 1 << 2,       /* running or runnable, by the kernel's word */
	TACHY_STATE_EXCEPTION = 1 << 3,    /* an exception is being raised or handled */
	TACHY_STATE_GC = 1 << 4,           /* runs a garbage collection */
	TACHY_STATE_MAIN = 1 << 5,         /* the main thread of its interpreter */
	TACHY_STATE_GIL_KNOWN = 1 << 6,
	TACHY_STATE_CPU_KNOWN = 1 << 7
};

enum tachy_frame_kind {
	TACHY_FRAME_PYTHON,
	TACHY_FRAME_NATIVE, /* marker: C code called from Python, "<native>" */
	TACHY_FRAME_GC,     /* marker: a garbage collection, "<GC>" */
	TACHY_FRAME_CUT,    /* marker: older frames are missing here, "<cut>" */
	TACHY_FRAME_TASK    /* an asyncio task, by its name: what lies above it runs in it */
};

struct tachy_frame {
	const char *function; /* qualified name from 3.11 on, plain name before */
	const char *file;     /* as the code object has it; "" for markers */
	int32_t first_line;   /* where the function begins; 0 unknown */
	int32_t line;         /* executing; 0 unknown; never outside the function's table */
	int32_t end_line;     /* 0 unknown (before 3.11) */
	int32_t column;       /* 0-based, in UTF-8 bytes; -1 unknown */
	int32_t end_column;   /* -1 unknown */
	const char *opcode;      /* the executing instruction as specialised; "" not taken */
	const char *base_opcode; /* what it was specialised from; the same when it was not */
	enum tachy_frame_kind kind;
};

struct tachy_thread {
	uint64_t tid;      /* the kernel's thread id; 0 when it could not be found out */
	const char *name;  /* Python's name, else the kernel's, else "" */
	uint32_t states;   /* bits of enum tachy_state */
	int status;        /* 0, or a TACHY_E*: this thread could not be read */
	bool cut;          /* the stack was deeper than the bound, or broke off */
	size_t n_frames;
	const struct tachy_frame *frames; /* leaf first */
};

/* One asyncio task. */
struct tachy_task {
	uint64_t id;      /* tells it from others as long as it lives */
	const char *name;
	uint64_t tid;     /* of the thread whose event loop has it; 0 when none runs it */
	bool running;     /* `frames` are those that its thread executes */
	bool python;      /* of a class written in Python, not asyncio's own in C */
	size_t n_frames;
	const struct tachy_frame *frames; /* leaf first: what it awaits, down from its coroutine */
	size_t n_waiters;
	const size_t *waiters; /* the tasks that await it: indices into tachy_interpreter.tasks */
};

struct tachy_interpreter {
	int64_t id; /* 0 is the main one */
	size_t n_threads;
	const struct tachy_thread *threads; /* oldest first */
	bool async;       /* its tasks were asked for */
	int tasks_status; /* why there are no tasks: 0, or TACHY_ENOENT: asyncio is not imported; other TACHY_E* */
	bool tasks_cut;   /* there were more than the bound */
	size_t n_tasks;
	const struct tachy_task *tasks; /* by thread, then by name */
	size_t n_strange_tasks; /* more that asyncio knows of, of types that cannot be followed */
};

struct tachy_dump {
	int64_t pid;
	const char *version; /* "3.13.0" */
	bool free_threaded;
	size_t n_interpreters;
	const struct tachy_interpreter *interpreters; /* main first */
};

/* How a moving target is read. */
enum tachy_snapshot {
	TACHY_SNAPSHOT_AUTO,     /* ride; where that cannot be had, parallel */
	TACHY_SNAPSHOT_RIDE,     /* sit on the target's CPU: it stands still while it is read */
	TACHY_SNAPSHOT_PARALLEL, /* copy from another CPU, check, retry, salvage */
	TACHY_SNAPSHOT_STOP      /* ptrace; the only mode that stops the target */
};

/* Whether stacks are those of asyncio's tasks. */
enum tachy_async {
	TACHY_ASYNC_OFF,
	TACHY_ASYNC_RUNNING, /* of each thread, the task that it runs, below it those that await it */
	TACHY_ASYNC_ALL      /* every task that awaits no other one, waiting ones as well */
};

/* Whose samples count. */
enum tachy_mode { TACHY_MODE_WALL, TACHY_MODE_CPU, TACHY_MODE_GIL, TACHY_MODE_EXCEPTION };

/* What a profile keeps of the times of its samples, each more than the one before. */
enum tachy_timeline {
	TACHY_TIMELINE_NONE,
	TACHY_TIMELINE_STRIP,  /* a summary in bounded memory, for pages where a range of time can be chosen */
	TACHY_TIMELINE_SAMPLES /* every sample, for the formats that show each */
};

/* Which samples are looked at. A stack counts when one of its frames matches one of `include` (or there are
 * none) and none matches one of `exclude`.
 *
 * A pattern is a glob as of fnmatch(3), whose * takes / and . too, optionally after "function:", "file:" or
 * "module:"; without one of these it may match any of the three. A function matches by its name, or by the
 * last part of its qualified name; a file by its path, or by what follows any / in it; a module by its dotted
 * name as far as the path tells it, or by a package that it is in ("json" takes json.decoder).
 *
 * A thread is chosen by its kernel's id or by a glob for its name. One that gets its name while it is young
 * (a second) counts from its beginning. */
struct tachy_filter {
	size_t size;               /* sizeof(struct tachy_filter) */
	double from_s, to_s;       /* seconds from the start of the run; to_s 0: to the end */
	size_t n_threads, n_include, n_exclude;
	const char *const *threads; /* these and all strings: borrowed; see who takes the filter */
	const char *const *include;
	const char *const *exclude;
};

/* Counters of a run. Ticks: all threads of one process at one moment. */
struct tachy_stats {
	uint64_t samples_attempted, samples_captured, samples_retried, samples_lost, samples_late;
	uint64_t thread_samples; /* stacks */
	uint64_t lost_torn, lost_fault, lost_gone, lost_other; /* samples_lost by reason */
	uint64_t threads_seen;
	uint64_t salvaged;       /* thread samples whose topmost frames were dropped as not live */
	uint64_t snapshots_ride, snapshots_parallel, snapshots_stop;
	uint64_t syscalls_vm_readv, syscalls_other, bytes_read;
	uint64_t anchor_writes;  /* into the target, with the anchor option only */
	double duration_s, cpu_user_s, cpu_system_s;
	uint64_t max_rss_kb;
	/* CPython's own names (Modules/_remote_debugging, 3.15), counted from what really happened */
	uint64_t total_samples, frame_cache_hits, frame_cache_misses, frame_cache_partial_hits;
	uint64_t frames_read_from_cache, frames_read_from_memory, memory_reads, memory_bytes_read;
	uint64_t code_object_cache_hits, code_object_cache_misses, stale_cache_invalidations;
	uint64_t batched_read_attempts, batched_read_successes, batched_read_misses;
	uint64_t batched_read_segments_requested, batched_read_segments_completed;
	/* with async_mode: interpreters in which asyncio was found; in which it is in use, but could not be
	 * read; tasks of the last tick that were of types that cannot be followed */
	uint64_t asyncio_found, asyncio_unreadable, asyncio_not_followed;
};

#ifdef __cplusplus
}
#endif
#endif
