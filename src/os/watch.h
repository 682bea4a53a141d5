/* SPDX-License-Identifier: MIT
 * Tells whether a thread of another process has written a word of its memory since we last asked, without
 * reading, writing or stopping it: a hardware watchpoint, set through the kernel's performance events. It
 * goes off once and is then quiet until armed again, so that it costs the target one trap at most.
 */
#ifndef OS_WATCH_H
#define OS_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/load.h"

struct watch;

/* Nothing is watched yet. TACHY_EPERM: not let (perf_event_paranoid, seccomp); TACHY_EPLATFORM: no such
 * thing here; TACHY_EAGAIN: the debug registers are taken; TACHY_EGONE. */
int watch_open(pid_t tid, struct watch **ret_watch);
/* Watches `size` bytes (1, 2, 4 or 8, aligned) at `addr` from now on, in place of what was watched. */
int watch_arm(struct watch *watch, raddr addr, uint32_t size);
/* Whether they were written since. No system call. */
bool watch_was_hit(const struct watch *watch);
void watch_close(struct watch *watch); /* NULL is fine */

#endif
