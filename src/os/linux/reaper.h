/* SPDX-License-Identifier: MIT
 * Frees us and the target from a deadlock of the kernel's; for pause.c alone. PTRACE_SEIZE waits while
 * the target executes another program; that waits for its other threads to be gone; and those that we
 * have seized already are not gone before we have waited for them - which we cannot, being in
 * PTRACE_SEIZE. A thread of its own waits for them then. [seen on Linux 6.18]
 */
#ifndef OS_LINUX_REAPER_H
#define OS_LINUX_REAPER_H

#include <stddef.h>

#include "os/linux/tracee.h"

struct reaper;

int reaper_create(struct reaper **ret_reaper);
void reaper_destroy(struct reaper *reaper); /* NULL is fine, here and below */

/* From now on until reaper_rest the caller is seizing; should that take long, those of `tracees` that
 * have ended are waited for. The array and its ids stay as they are until then. */
void reaper_watch(struct reaper *reaper, const struct tracee *tracees, size_t n);
void reaper_rest(struct reaper *reaper);

#endif
