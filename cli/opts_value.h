/* SPDX-License-Identifier: MIT
 * The arguments of options: numbers with their ranges, and choices.
 */
#ifndef CLI_OPTS_VALUE_H
#define CLI_OPTS_VALUE_H

#include "tachyscope/tachyscope.h"

/* Each: 0 and *ret, or TACHY_EINVAL and a sentence that names the range. */

/* "100", "10k", "10khz", "2.5KHz", "max" (which is 0). */
int value_rate(const char *text, double *ret_hz, struct tachy_error *err);
/* Seconds, with a fraction or without. */
int value_duration(const char *text, double *ret_s, struct tachy_error *err);
/* "90", "2.5", "1m30s", "1h", "250ms". */
int value_moment(const char *what, const char *text, double *ret_s, struct tachy_error *err);
int value_count(const char *what, const char *text, uint32_t *ret, struct tachy_error *err);
int value_pid(const char *text, int64_t *ret_pid, struct tachy_error *err);

struct value_choice {
	const char *name;
	int value;
};

/* `choices` ends with a NULL name. */
int value_choose(const char *what, const char *text, const struct value_choice *choices, int *ret,
		 struct tachy_error *err);

/* How many letters must change to make `b` out of `a` (neighbours swapped count once); at most `max`,
 * beyond which max + 1 is given. */
unsigned value_distance(const char *a, const char *b, unsigned max);

#endif
