/* SPDX-License-Identifier: MIT
 * Bounded reads of foreign bytes. A remote address is a type of its own and never a C pointer;
 * foreign bytes are never cast to structs. A load past the end of its span gives 0: layouts are
 * checked once, at attach, so that this never happens on real data, and garbage stays harmless.
 */
#ifndef BASE_LOAD_H
#define BASE_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t raddr; /* an address in the target; 0 is its NULL */

struct span {
	const uint8_t *data; /* borrowed */
	size_t size;         /* bytes */
};

static inline bool span_has(struct span s, size_t off, size_t len)
{
	return off <= s.size && len <= s.size - off;
}

static inline struct span span_sub(struct span s, size_t off, size_t len)
{
	if (!span_has(s, off, len)) {
		struct span none = {NULL, 0};
		return none;
	}
	struct span sub = {s.data + off, len};
	return sub;
}

#define SPAN_LOADER(name, type)                              \
	static inline type name(struct span s, size_t off)   \
	{                                                    \
		type value = 0;                              \
		if (s.data && span_has(s, off, sizeof value)) \
			memcpy(&value, s.data + off, sizeof value); \
		return value;                                \
	}
SPAN_LOADER(load_u8, uint8_t)
SPAN_LOADER(load_u16, uint16_t)
SPAN_LOADER(load_u32, uint32_t)
SPAN_LOADER(load_u64, uint64_t)
SPAN_LOADER(load_i8, int8_t)
SPAN_LOADER(load_i32, int32_t)
SPAN_LOADER(load_i64, int64_t)
#undef SPAN_LOADER

#endif
