/* SPDX-License-Identifier: MIT
 * Whether a function, a file, a module or a thread is meant by a pattern of a user. See struct tachy_filter.
 */
#ifndef MODEL_PATTERN_H
#define MODEL_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#define PATTERN_MODULE_MAX 512

/* "json.decoder" of /usr/lib/python3.11/json/decoder.py; "" when the path tells nothing. Longer ones are cut. */
void pattern_module(const char *file, char module[PATTERN_MODULE_MAX]);

/* `module` as of pattern_module(file). */
bool pattern_matches(const char *pattern, const char *function, const char *file,
		     const char *module);

#endif
