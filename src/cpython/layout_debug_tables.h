/* SPDX-License-Identifier: MIT
 * The generated shapes of _Py_DebugOffsets; only layout_debug.c and its test use them.
 */
#ifndef CPYTHON_LAYOUT_DEBUG_TABLES_H
#define CPYTHON_LAYOUT_DEBUG_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "cpython/layout.h"

enum debug_meaning {
	DEBUG_PLAIN, /* what struct layout wants */
	DEBUG_FT,    /* meaningful in free-threaded builds only; elsewhere written as 0 */
	DEBUG_GIL    /* a field of the embedded GIL, counted from the interpreter's start */
};

struct debug_field {
	uint16_t from; /* offset in _Py_DebugOffsets; the member is a uint64_t */
	uint16_t to;   /* offset in struct layout; the field is a uint32_t */
	enum debug_meaning meaning;
};

struct debug_shape {
	uint8_t minor;
	uint16_t size; /* sizeof(_Py_DebugOffsets) */
	const struct debug_field *fields;
	size_t n_fields;
};

extern const struct debug_shape debug_shapes[]; /* oldest minor first */
extern const size_t n_debug_shapes;

#endif
