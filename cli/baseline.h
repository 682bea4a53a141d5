/* SPDX-License-Identifier: MIT
 * The recording that a profile is compared with, read before anything is sampled.
 */
#ifndef CLI_BASELINE_H
#define CLI_BASELINE_H

#include "opts.h"

/* *ret_base: the recording of opts->base, read, which the caller closes; NULL for a format that compares
 * nothing. TACHY_EINVAL: a usage error. */
int baseline_open(const struct opts *opts, const struct tachy_format *format,
		  struct tachy_recording **ret_base, struct tachy_error *err);

#endif
