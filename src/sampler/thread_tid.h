/* SPDX-License-Identifier: MIT
 * The kernel's id of a thread, as this process sees it.
 */
#ifndef SAMPLER_THREAD_TID_H
#define SAMPLER_THREAD_TID_H

#include "sampler/target.h"

/* 0: it cannot be told (yet). */
pid_t thread_tid_find(struct target *target, const struct thread_state *state);

#endif
