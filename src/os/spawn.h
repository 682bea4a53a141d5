/* SPDX-License-Identifier: MIT
 * Starting a program that waits, before its first instruction, for our word. It gets our stdin,
 * terminal, process group, environment and signal settings as we got them: nothing is added.
 */
#ifndef OS_SPAWN_H
#define OS_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct spawned {
	pid_t pid;    /* 0: reaped */
	int hold_fd;  /* a byte written here lets it go; -1 done */
	int error_fd; /* the errno of a failed exec comes from here */
};

/* Finds argv[0] as a shell would and forks. TACHY_ENOENT: there is no such program; TACHY_EPERM: it is
 * not executable. */
int spawn_held(char *const argv[], struct spawned *ret_spawned, struct tachy_error *err);
/* Lets it go, and returns once it runs its own program. What keeps it from running is a negative code
 * (the child then ends with 127 or 126, as a shell's would). */
int spawn_release(struct spawned *spawned);
/* 1 and the status of waitpid once it ended (it is reaped then), 0 while it runs; `block`: waits. Not
 * confused by a tracer of ours. */
int spawn_wait(struct spawned *spawned, bool block, int *ret_status);
/* Closes; a program that still waits ends without having run. Others go on. */
void spawn_done(struct spawned *spawned);

#endif
