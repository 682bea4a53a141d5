/* SPDX-License-Identifier: MIT
 * A profile as it is now, while somebody goes on filling it.
 */
#ifndef MODEL_PROFILE_COPY_H
#define MODEL_PROFILE_COPY_H

#include <pthread.h>

#include "model/profile.h"

/* Copies what counts in `mode`. Takes `lock`, which guards `profile`, many times for some microseconds.
 * The copy borrows the texts of `profile`, which must outlive it, and cannot be added to.
 * 0 or TACHY_ENOMEM. */
int profile_copy(const struct profile *profile, pthread_mutex_t *lock, enum tachy_mode mode,
		 struct profile **ret_copy);

#endif
