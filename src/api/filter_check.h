/* SPDX-License-Identifier: MIT
 * Filters that come from outside.
 */
#ifndef API_FILTER_CHECK_H
#define API_FILTER_CHECK_H

#include "tachyscope/types.h"

/* 0, or TACHY_EINVAL and why it makes no sense. */
int filter_check(const struct tachy_filter *filter, struct tachy_error *err);

#endif
