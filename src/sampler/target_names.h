/* SPDX-License-Identifier: MIT
 * What the threads of a target are called.
 */
#ifndef SAMPLER_TARGET_NAMES_H
#define SAMPLER_TARGET_NAMES_H

#include "sampler/target.h"

/* Looks Python's own names up anew and gives them to the profile's threads; the kernel's name stays for a
 * thread that Python knows no name for. What cannot be read just now stays as it was. */
void target_refresh_names(struct target *target);
/* The same, when it is time: soon after a new thread was met, and now and then, since names change. */
void target_keep_names(struct target *target, uint64_t now_ns);

#endif
