/* SPDX-License-Identifier: MIT
 * The descendants of a process: who was born, who executes another program, who ended. However they were
 * started, and whatever became of their parents.
 *
 * Two ways, of which the better that is let is taken: the kernel tells (Linux: the process events connector,
 * which needs CAP_NET_ADMIN in the first namespaces), or we look about a thousand times a second. Who
 * looks can miss a process whose parent, too, lived for less than a look; who is told misses nobody.
 *
 * All calls for one struct kin come from one thread at a time.
 */
#ifndef OS_KIN_H
#define OS_KIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

enum kin_change {
	KIN_BORN,  /* or was there already when kin_follow was called */
	KIN_EXEC,  /* runs another program now */
	KIN_ENDED  /* or is a zombie */
};

struct kin_event {
	enum kin_change change;
	pid_t pid;
	pid_t parent; /* KIN_BORN: who started it; 0: nobody of the kin */
};

struct kin;

/* From now on nothing is missed, but nobody is followed yet. `look`: look even where the kernel would tell. */
int kin_open(bool look, struct kin **ret_kin);
void kin_close(struct kin *kin); /* NULL is fine */
bool kin_is_told(const struct kin *kin);
/* `pid` and all its descendants are kin: those that are alive are told by the next kin_wait as born. */
int kin_follow(struct kin *kin, pid_t pid);
/* Waits for up to `timeout_ms` until something happens. How many events there are in *ret_events; TACHY_ENOMEM. */
int kin_wait(struct kin *kin, unsigned timeout_ms, struct kin_event *ret_events, size_t max);

#endif
