/* SPDX-License-Identifier: MIT
 * A growing array of plain values: VEC(type) makes the struct, the macros below work on any such
 * struct. Zero-initialised is empty. Growth is by doubling, so a steady size allocates nothing.
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define VEC(type) \
	struct { \
		type *at; \
		size_t n; \
		size_t cap; \
	}

/* Room for at least `need` elements of `size` bytes; false when memory is out (nothing changed). */
static inline bool vec_grow(void **at, size_t *cap, size_t need, size_t size)
{
	if (need <= *cap)
		return true;
	size_t room = *cap ? *cap : 8;
	while (room < need) {
		if (room > SIZE_MAX / 2 / size)
			return false;
		room *= 2;
	}
	void *bigger = realloc(*at, room * size);
	if (!bigger)
		return false;
	*at = bigger;
	*cap = room;
	return true;
}

#define vec_reserve(v, need) vec_grow((void **)&(v)->at, &(v)->cap, (need), sizeof *(v)->at)
#define vec_push(v, value) \
	(vec_reserve((v), (v)->n + 1) ? ((v)->at[(v)->n++] = (value), true) : false)
#define vec_done(v) (free((v)->at), (v)->at = NULL, (v)->n = (v)->cap = 0)

#endif
