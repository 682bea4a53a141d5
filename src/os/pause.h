/* SPDX-License-Identifier: MIT
 * Holds every thread of another process still, by ptrace. This is the only thing in the product that
 * ever stops a target.
 *
 * Between two stops nothing is seized: the target's signals, its job control and its own debugger are
 * then as if we were not there. A thread is held where it stands: memory may be read in peace between
 * pause_stop and pause_resume. Whatever becomes of us, SIGKILL included, the kernel lets the target go.
 *
 * Rules for callers:
 * - All calls for one struct pause come from one and the same thread: ptrace belongs to threads. When
 *   that thread ends, everything it still held is let go by the kernel.
 * - The target may be our own child. Then a waitpid for it elsewhere in our process can be told of
 *   our stops (WIFSTOPPED, CLD_TRAPPED): ask again in that case. Its end is never taken from whoever waits for it.
 * - Each stop sends us a SIGCHLD: a handler for it needs SA_NOCLDSTOP.
 *
 * What the target may notice: the time that it stood still, and, in the few system calls that the
 * kernel cannot resume (epoll_wait, semop, sigtimedwait, ... see signal(7)), an EINTR, which Python
 * itself retries (PEP 475). A set-user-id program that it executes at that very moment gets no rights.
 */
#ifndef OS_PAUSE_H
#define OS_PAUSE_H

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

struct pause;

/* Seizes nothing yet. TACHY_EGONE, TACHY_EPERM, TACHY_ENOMEM, TACHY_EPLATFORM. */
int pause_open(pid_t pid, struct pause **ret_pause);

/* Holds all threads, for one second at most until the last of them is still. On failure nothing is held (but
 * see pause_resume, which has been called then):
 *     TACHY_EPERM   not let, or it has a tracer already
 *     TACHY_EGONE   it ended, or is a zombie
 *     TACHY_EAGAIN  could not be held in time: a starved machine, an exec in the middle
 *     TACHY_ELIMIT  new threads appeared faster than they could be held
 * Stopping what is stopped is TACHY_EINVAL. */
int pause_stop(struct pause *pause);

/* Lets all threads go, with the signals that met them on the way. 0 when all are gone their ways;
 * TACHY_EAGAIN when a thread sits so deep in the kernel (a vfork, a dead disk) that it cannot be let
 * go yet: it does not notice as long as it sits there; call again in about a millisecond. */
int pause_resume(struct pause *pause);

/* Number of threads held by the last pause_stop. */
size_t pause_n_threads(const struct pause *pause);

/* Lets go of everything first. NULL is fine. */
void pause_close(struct pause *pause);

#endif
