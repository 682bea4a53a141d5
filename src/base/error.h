/* SPDX-License-Identifier: MIT
 * Sets and classifies errors. Codes and their meaning: include/tachyscope/error.h.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "tachyscope/error.h"

/* Fills `err` (NULL is allowed) and returns `code`, so that `return error_set(...)` reads well. */
int error_set(struct tachy_error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* As error_set, with ": <what was there before>" appended, to add context on the way up. */
int error_wrap(struct tachy_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* errno value -> TACHY_E*. */
int error_from_errno(int errno_value);

const char *error_name(int code); /* "TACHY_EPERM"; static storage */
const char *error_text(int code); /* "not permitted"; static storage */
enum tachy_error_class error_class(int code);

#endif
