/* SPDX-License-Identifier: MIT
 * A file for each process of a profile.
 */
#ifndef API_EXPORT_SPLIT_H
#define API_EXPORT_SPLIT_H

#include "api/handles.h"

/* As tachy_profile_write with split_processes. `options` without it. */
int export_split(const struct tachy_profile *profile, const struct tachy_format *format,
		 const struct tachy_export_options *options, const char *path,
		 struct tachy_error *err);

#endif
