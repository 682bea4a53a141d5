/* SPDX-License-Identifier: MIT
 * What a thread is doing, by the kernel's word. Its files are kept open, since opening costs several times
 * what reading does; where descriptors run short they are opened for each look.
 *
 * Codes: TACHY_EGONE the thread has ended, TACHY_EPERM not let, TACHY_ECORRUPT, TACHY_EPLATFORM.
 */
#ifndef OS_ACTIVITY_H
#define OS_ACTIVITY_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/load.h"

struct activity {
	pid_t pid, tid;
	int call_fd, clock_fd; /* -1: not kept open */
};

/* Never fails: what cannot be opened tells so when it is asked. */
void activity_open(struct activity *activity, pid_t pid, pid_t tid);
void activity_close(struct activity *activity);

/* Whether it is running or could run at once. *ret_futex: the address that it waits at; 0: it does not, or
 * that is not known. A thread that is stopped does not run. */
int activity_look(struct activity *activity, bool *ret_running, raddr *ret_futex);
/* A number that is another one whenever the thread has run since: cheaper to ask for. */
int activity_clock(struct activity *activity, uint64_t *ret_clock);

#endif
