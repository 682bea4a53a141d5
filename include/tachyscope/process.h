/* SPDX-License-Identifier: MIT
 * A Python process seen from outside: find it, say what it is, take its stacks once.
 * Reads only. Nothing here stops or changes the target, unless TACHY_SNAPSHOT_STOP is asked for.
 */
#ifndef TACHYSCOPE_PROCESS_H
#define TACHYSCOPE_PROCESS_H

#include <sys/types.h>

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tachy_process;

/* What sits behind a pid, without attaching to it for longer than the question takes. */
struct tachy_probe {
	int64_t pid;
	int status;          /* 0: could attach; else why not (`reason` says it in words) */
	bool python;         /* it is, or looks like, a Python */
	char version[24];    /* "3.12.1"; "" unknown */
	uint32_t n_threads;  /* thread states of all interpreters; 0 unknown */
	char command[512];   /* command line, arguments separated by blanks */
	char reason[TACHY_ERROR_TEXT_MAX];
};

/* Fills *ret_probe for one pid. TACHY_EGONE when there is no such process; processes that are not
 * Python are a success with `python` false. */
int tachy_probe_pid(int64_t pid, struct tachy_probe *ret_probe);

/* Every process of the machine that this caller can see, for tachy_probe_pid. *ret_pids is owned by
 * the caller: free() it. */
int tachy_list_pids(int64_t **ret_pids, size_t *ret_n);

/* Attaches. A Python that is still starting is retried for up to `wait_ms`. On failure *ret_process
 * is untouched and `err` (may be NULL) holds the sentence to show. */
int tachy_process_open(int64_t pid, uint32_t wait_ms, struct tachy_process **ret_process,
		       struct tachy_error *err);
void tachy_process_close(struct tachy_process *process); /* NULL is fine */

int64_t tachy_process_pid(const struct tachy_process *process);
const char *tachy_process_version(const struct tachy_process *process); /* borrowed */
const char *tachy_process_command(const struct tachy_process *process); /* borrowed */
/* A remark worth showing once, such as "3.16 is newer than this tachyscope knows"; "" if none. */
const char *tachy_process_remark(const struct tachy_process *process);

enum tachy_dump_form { TACHY_DUMP_TEXT, TACHY_DUMP_JSON };

struct tachy_dump_options {
	size_t size;          /* sizeof(struct tachy_dump_options), first, for later growth */
	bool main_thread_only;
	bool stop;            /* hold the target still by ptrace while reading (--blocking) */
	bool no_gc, native;   /* marker frames: leave out <GC>; put in <native> */
	bool opcodes;         /* frames tell their instruction; TACHY_EVERSION below 3.11 */
	enum tachy_async async_mode; /* fills in the tasks of each interpreter */
};

/* Reads all stacks once. The dump belongs to the caller: tachy_dump_free. */
int tachy_process_dump(struct tachy_process *process, const struct tachy_dump_options *options,
		       struct tachy_dump **ret_dump, struct tachy_error *err);
/* Writes it to `fd`. TEXT shows source lines, read through the target's own root. */
int tachy_dump_write(const struct tachy_dump *dump, enum tachy_dump_form form, bool color, int fd,
		     struct tachy_error *err);
void tachy_dump_free(struct tachy_dump *dump);

/* Starts a program, held until tachy_child_release, so that sampling can begin before its first
 * instruction. The program gets our stdin, terminal and environment unchanged. */
struct tachy_child;
int tachy_child_spawn(char *const argv[], struct tachy_child **ret_child, struct tachy_error *err);
pid_t tachy_child_pid(const struct tachy_child *child);
int tachy_child_release(struct tachy_child *child);
/* 0 while it runs; 1 once it ended, with the status of waitpid in *ret_status. Does not block. */
int tachy_child_poll(struct tachy_child *child, int *ret_status);
/* Whether it has executed a program since this was last asked, its own at first not counted. Some 10 us. */
bool tachy_child_execed(struct tachy_child *child);
/* As tachy_child_poll, but waits for the end. */
int tachy_child_wait(struct tachy_child *child, int *ret_status);
void tachy_child_free(struct tachy_child *child); /* does not end the program */

#ifdef __cplusplus
}
#endif
#endif
