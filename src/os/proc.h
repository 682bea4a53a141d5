/* SPDX-License-Identifier: MIT
 * What the operating system says about another process: its maps, threads, names and states.
 * The face is the same on every platform; linux/ reads it from /proc, none/ answers
 * TACHY_EPLATFORM to every call.
 *
 * Codes of every function here: TACHY_EGONE no such process or thread (any more), TACHY_EPERM not
 * let, TACHY_ENOMEM, TACHY_ECORRUPT what the kernel wrote made no sense, TACHY_EIO.
 */
#ifndef OS_PROC_H
#define OS_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/load.h"

/* ---- maps ---------------------------------------------------------------------------------- */

#define PROC_MAPS_MAX      (1u << 20) /* mappings looked at; the kernel's default limit is 65530 */
#define PROC_MAPS_TEXT_MAX (256u << 20) /* bytes of text */

struct proc_map {
	raddr start, end;
	uint64_t offset; /* in the file */
	uint64_t dev,
		inode; /* of the file, as the kernel shows them: major << 32 | minor; inode 0: none */
	bool read, write, exec, shared;
	bool deleted; /* the path no longer leads to it: " (deleted)" was cut off */
	const char *
		path; /* borrowed from the proc_maps, escapes undone; "" none; "[heap]", "[stack]" */
};

struct proc_maps {
	struct proc_map *at; /* by rising address */
	size_t n;
	bool cut;   /* there were more than PROC_MAPS_MAX */
	char *text; /* owned: what the paths point into */
};

int proc_maps_read(pid_t pid, struct proc_maps *ret_maps);
/* Parses `size` bytes in the form of /proc/PID/maps. Lines that make no sense are left out. */
int proc_maps_parse(const char *text, size_t size, struct proc_maps *ret_maps);
void proc_maps_done(struct proc_maps *maps);
/* The mapping that `addr` lies in, or NULL. */
const struct proc_map *proc_maps_at(const struct proc_maps *maps, raddr addr);

/* Opens the very file that is mapped, read-only: through map_files, exe or the target's own root,
 * whichever is let, and never a file that took its place. A descriptor the caller closes, or
 * TACHY_ENOENT when the file is out of reach (deleted or replaced, and we lack the right to
 * map_files). */
int proc_map_open(pid_t pid, const struct proc_map *map);
/* Opens `path` as the target sees it (its root, its mounts), read-only, O_NONBLOCK. */
int proc_open_path(pid_t pid, const char *path);

/* The same, and still after the target's end: its root and working directory, held open. */
struct proc_place {
	int root, cwd; /* -1: our own */
};

/* 0, or a TACHY_E* and our own place. */
int proc_place_open(pid_t pid, struct proc_place *ret_place);
void proc_place_close(struct proc_place *place); /* leaves our own */
int proc_place_open_path(const struct proc_place *place, const char *path);
/* Equal for processes that see the same files under the same absolute names. */
struct proc_root_id {
	uint64_t root_dev, root_inode, mounts_dev, mounts_inode;
};
int proc_root_id_read(pid_t pid, struct proc_root_id *ret_id);

/* ---- process and threads -------------------------------------------------------------------- */

#define PROC_COMM_MAX 64

/* /proc/PID/stat or /proc/PID/task/TID/stat */
struct proc_stat {
	char state; /* R S D Z T t X I, as proc(5) */
	bool kernel_thread;
	pid_t ppid, pgrp, session;
	int cpu;             /* where it runs, or ran last; -1 unknown */
	uint64_t start_time; /* clock ticks since boot */
	uint64_t cpu_ticks;  /* user + system, in clock ticks */
	uint64_t
		start_stack; /* where the stack began, another address after each exec; 0 when not let to see */
	uint32_t n_threads;
	char comm[PROC_COMM_MAX];
};

/* Whether the whole process has ended: its first thread alone may end while others run on. */
bool proc_stat_is_over(const struct proc_stat *stat);

int proc_stat_read(pid_t pid, struct proc_stat *ret_stat);
int proc_thread_stat_read(pid_t pid, pid_t tid, struct proc_stat *ret_stat);
int proc_stat_parse(const char *text, size_t size, struct proc_stat *ret_stat);

/* /proc/PID/status */
struct proc_status {
	uid_t uid, euid;
	gid_t gid, egid;
	pid_t tgid;
	pid_t tracer_pid; /* 0: nobody traces it */
	pid_t ns_pid;     /* its id as it sees itself, in the innermost pid namespace */
	uint32_t n_ns;    /* pid namespaces from ours down to its own; 1: the same as ours */
};

int proc_status_read(pid_t pid, struct proc_status *ret_status);
int proc_thread_status_read(pid_t pid, pid_t tid, struct proc_status *ret_status);
int proc_status_parse(const char *text, size_t size, struct proc_status *ret_status);

/* Which program a pid stands for: differs after the pid was reused, and after an exec. */
struct proc_identity {
	uint64_t start_time;
	uint64_t exe_dev, exe_inode; /* 0 when not let to see */
	uint64_t start_stack;        /* tells an exec of the same file; 0 when not let to see */
};

int proc_identity_read(pid_t pid, struct proc_identity *ret_identity);
/* 0 the same, TACHY_EGONE another process or none, TACHY_EEXEC the same with another program. */
int proc_identity_check(pid_t pid, const struct proc_identity *before);

/* The command line, arguments joined by blanks, cut to fit; "[comm]" for those without one. */
int proc_command(pid_t pid, char *buf, size_t size);
/* The kernel's name of a thread (tid == pid: of the process). */
int proc_comm(pid_t pid, pid_t tid, char *buf, size_t size);
/* What /proc/PID/exe leads to, " (deleted)" included when the kernel says so. */
int proc_exe_path(pid_t pid, char *buf, size_t size);

/* The threads, with both names of each. CPython's native_thread_id is `ns_tid`. */
struct proc_tid {
	pid_t tid;    /* as we see it */
	pid_t ns_tid; /* as the target sees it; equal when it lives in our pid namespace */
};

struct proc_tids {
	struct proc_tid *at; /* owned; in the kernel's order: oldest first, mostly */
	size_t n, cap;
};

/* A descriptor of the directory of its threads, which stays with this process whatever becomes of its id. The
 * caller closes it. */
int proc_tasks_open(pid_t pid);
/* How many threads the process of such a directory has; 0: it is gone. True when the list itself, read while a
 * thread executes a program, is empty for a moment. */
size_t proc_tasks_count(int tasks);

/* The id under which the kernel shows the process's memory, files and directories: its own, or that of another of
 * its threads when the first one has ended and others run on (or one of them executes a program). */
pid_t proc_living_id(pid_t pid);

/* Refills *tids, which starts zeroed and keeps its memory from call to call. */
int proc_tids_read(pid_t pid, struct proc_tids *tids);
void proc_tids_done(struct proc_tids *tids);
/* Our id of the thread that the target calls `ns_tid`; TACHY_ENOENT. */
int proc_tid_from_ns(pid_t pid, pid_t ns_tid, pid_t *ret_tid);

/* Whether two processes have one and the same memory: a child by vfork that has not executed its program
 * yet. False also when it cannot be known. */
bool proc_shares_memory(pid_t a, pid_t b);

/* Every pid that we can see. *ret_pids belongs to the caller: free(). */
int proc_list(pid_t **ret_pids, size_t *ret_n);

#endif
