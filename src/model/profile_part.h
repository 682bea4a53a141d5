/* SPDX-License-Identifier: MIT
 * One process of a profile, as a profile.
 */
#ifndef MODEL_PROFILE_PART_H
#define MODEL_PROFILE_PART_H

#include "model/profile.h"

/* Takes process `process` of `profile` (an index, below processes.n) with its threads, counts and samples. The
 * part borrows all else from `profile`, which must outlive it and not change, and cannot be added to.
 * TACHY_ENOMEM. */
int profile_part_init(const struct profile *profile, uint32_t process, struct profile *ret_part);
void profile_part_done(struct profile *part);

#endif
