/* SPDX-License-Identifier: MIT
 * The layout that a target of 3.13 or newer tells about itself: _Py_DebugOffsets, which is what
 * _PyRuntime begins with.
 */
#ifndef CPYTHON_LAYOUT_DEBUG_H
#define CPYTHON_LAYOUT_DEBUG_H

#include "base/load.h"
#include "cpython/layout.h"

#define LAYOUT_DEBUG_COOKIE      "xdebugpy"
#define LAYOUT_DEBUG_COOKIE_SIZE 8

/* Read this much of the runtime's start. The largest shape we know takes 888 bytes (3.15); less
 * than this is enough as long as it holds the shape of the target's version. */
#define LAYOUT_DEBUG_BYTES 1024

/* Fills the layout from the bytes at the runtime's start, gaps from the tables of the same minor
 * version. from_target is set; `guessed` is set for a minor version newer than our tables and for
 * alphas and betas (their shape was still free to change; release candidates are frozen).
 *
 * Returns 0, or (untouched: ret_layout; *ret_what then names the culprit, static storage):
 *   TACHY_ENOPYTHON  the cookie is not there
 *   TACHY_EVERSION   before 3.13, not 3.x, or newer than our tables and not like them
 *   TACHY_ECORRUPT   too few bytes, or the offsets cannot be true
 */
int layout_from_debug_offsets(struct span bytes, struct layout *ret_layout, const char **ret_what);

#endif
