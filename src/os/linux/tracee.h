/* SPDX-License-Identifier: MIT
 * One thread of the target under ptrace; for pause.c alone. Everything must be called from the thread
 * that seized it.
 */
#ifndef OS_LINUX_TRACEE_H
#define OS_LINUX_TRACEE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

enum tracee_state {
	TRACEE_FREE,    /* not seized */
	TRACEE_ASKED,   /* seized, asked to stop */
	TRACEE_STOPPED, /* stands still */
	TRACEE_DEEP,    /* seized, asleep in the kernel where nothing wakes it; will stop on its way out */
	TRACEE_DEAD,    /* a leader that ended before its process; an exec can bring the id to life again */
	TRACEE_LOST,    /* was seized, is nobody now: ended, or has the leader's id since an exec */
	TRACEE_GONE     /* not there any more */
};

struct tracee {
	pid_t tid;
	enum tracee_state state;
	int signal;    /* to be passed on when it is let go; 0 none */
	bool traced;   /* by us, as far as we know */
	bool listed;   /* for the owner: a thread of the target, by the last list */
};

/* Seizes it and asks it to stop. 0 with the new state (FREE does not occur), or TACHY_EPERM. */
int tracee_seize(pid_t pid, struct tracee *tracee);
/* Looks whether an ASKED one has stopped; cheap. */
void tracee_look(struct tracee *tracee);
/* Looks for what else can have become of it: it ended, or sits deep in the kernel. Not cheap. */
void tracee_examine(pid_t pid, struct tracee *tracee);
/* The id may stand for another thread since an exec. Finds out whether we trace that, and asks it. */
void tracee_recheck(pid_t pid, struct tracee *tracee);
/* Tries once to let it go: true when it is not traced any more. */
bool tracee_release(pid_t pid, struct tracee *tracee);

#endif
