/* SPDX-License-Identifier: MIT
 * The kernel's process events: of all processes of the machine, births, execs and ends.
 */
#ifndef OS_LINUX_PROC_EVENTS_H
#define OS_LINUX_PROC_EVENTS_H

#include <stdbool.h>

#include "os/kin.h"

/* A descriptor to poll and to close, or TACHY_EPERM, TACHY_EPLATFORM: the kernel does not tell us. */
int proc_events_open(void);
/* One message of `size` bytes. False when it is none of a process's birth, exec or end. */
bool proc_events_parse(const void *message, size_t size, struct kin_event *ret_event);
/* Reads one message without waiting: 1 and *ret_event; 0 there is none; TACHY_EAGAIN one that is none of
 * ours; TACHY_ELIMIT some were lost; other codes: the socket is dead. */
int proc_events_next(int fd, struct kin_event *ret_event);

#endif
