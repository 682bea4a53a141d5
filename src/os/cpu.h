/* SPDX-License-Identifier: MIT
 * Where the calling thread runs, and how promptly. Everything here is about the calling thread alone;
 * what has to be remembered is remembered per thread.
 */
#ifndef OS_CPU_H
#define OS_CPU_H

#include <stdbool.h>

#include "base/error.h"

/* Moves the calling thread to `cpu` and keeps it there. TACHY_EINVAL: no such CPU, or not one that we
 * may run on; TACHY_EPERM, TACHY_EPLATFORM. On failure the thread stays where it was. */
int cpu_pin_self(int cpu);
/* Moves the calling thread off `cpu`, to any other that it may run on. Counts as being pinned. TACHY_EINVAL: there
 * is no other. */
int cpu_leave_self(int cpu);
/* Back to the CPUs that were allowed before the first cpu_pin_self. 0 when it was never pinned. */
int cpu_unpin_self(void);
/* Whether the calling thread may run there, being pinned now left aside. */
bool cpu_allowed(int cpu);
/* Where it runs; -1 unknown. */
int cpu_current(void);
/* CPU numbers are below this; at least 1. Cheap after the first call of a thread. */
int cpu_count(void);

/* Has the calling thread wake up on time and get a CPU at once, as far as can be had: exact timers; the
 * lowest real-time priority, for a thread that mostly `rests` and where we have the right; else a short
 * slice, by which the scheduler lets us preempt what runs (Linux 6.12+). What cannot be had is left out
 * in silence. On a machine with every core busy the real-time priority is the difference between half of
 * the ticks being late and none. */
void cpu_prompt_self(bool rests);

#endif
