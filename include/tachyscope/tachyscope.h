/* SPDX-License-Identifier: MIT
 * libtachyscope: a sampling profiler for CPython 3.8 to 3.15 that works from outside.
 * Every object is opaque; every fallible call returns 0 or a negative TACHY_E* code; the library
 * never prints, never exits, and installs no signal handler.
 */
#ifndef TACHYSCOPE_H
#define TACHYSCOPE_H

#include "error.h"
#include "live.h"
#include "process.h"
#include "profile.h"
#include "recording.h"
#include "session.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

const char *tachy_version(void);             /* "0.1.0" */
const char *tachy_error_name(int code);      /* "TACHY_EPERM" */
const char *tachy_error_text(int code);      /* "not permitted" */
enum tachy_error_class tachy_error_class_of(int code);

#ifdef __cplusplus
}
#endif
#endif
