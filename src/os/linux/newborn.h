/* SPDX-License-Identifier: MIT
 * Pids that were given out lately. The kernel gives them out in rising order and says which was the last.
 */
#ifndef OS_LINUX_NEWBORN_H
#define OS_LINUX_NEWBORN_H

#include <stdbool.h>
#include <sys/types.h>

struct newborn {
	int fd;             /* /proc/loadavg; -1 there is none */
	pid_t last, before; /* the last pid, as of the last look and of the one before */
};

void newborn_init(struct newborn *newborn);
void newborn_done(struct newborn *newborn);
/* Calls `take` for every pid (of processes and threads) given out since the last call, and again for those
 * of the call before: a process can be seen a moment after its pid was given out. False: too many, or it
 * cannot be known; then look at all. */
bool newborn_each(struct newborn *newborn, void (*take)(void *arg, pid_t pid), void *arg);

#endif
