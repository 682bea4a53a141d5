/* SPDX-License-Identifier: MIT
 * Reads CPython's plain objects - str, bytes, types, int - as values of ours.
 * Sources: Include/cpython/unicodeobject.h, bytesobject.h, longintrepr.h, object.h of each version.
 */
#ifndef CPYTHON_OBJECT_H
#define CPYTHON_OBJECT_H

#include "base/vec.h"
#include "cpython/layout.h"
#include "os/mem_view.h"

#define STR_CHARS_MAX  (1u << 20)   /* of a name or path; longer ones are cut */
#define BYTES_SIZE_MAX (256u << 20) /* of a line table; bigger ones are TACHY_ELIMIT */

struct text {
	VEC(char) chars; /* UTF-8, not terminated; lone surrogates and NULs as \udcxx, \x00 */
};

/* Appends the str at `addr` to `text`. TACHY_ECORRUPT when it is no string. */
int object_str(struct mem_view *view, const struct layout *layout, raddr addr, struct text *text);
/* Where the characters of the str at `addr` lie and how many bytes they take; `head` holds its first
 * unicode.data + 8 bytes. TACHY_ECORRUPT when it is no string. */
int object_str_extent(const struct layout *layout, struct span head, raddr addr, raddr *ret_data,
		      uint32_t *ret_size);
/* The contents of the bytes object at `addr`; the span lives as long as mem_view_cold's. */
int object_bytes(struct mem_view *view, const struct layout *layout, raddr addr,
		 struct span *ret_span);
/* The pointer stored at `addr`. */
int object_pointer(struct mem_view *view, raddr addr, raddr *ret_value);
/* Whether the object's type is named `name` ("code"). */
bool object_is(struct mem_view *view, const struct layout *layout, raddr addr, const char *name);

#endif
