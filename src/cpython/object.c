/* SPDX-License-Identifier: MIT
 * Every size that comes from the target is bounded before it is used; an object that does not look like
 * its kind is TACHY_ECORRUPT.
 */
#include "cpython/object.h"

#include <stdio.h>
#include <string.h>

#define TYPE_NAME_MAX 32u

int object_pointer(struct mem_view *view, raddr addr, raddr *ret_value)
{
	struct span bytes;
	int rc = mem_view_cold(view, addr, 8, &bytes);
	if (rc >= 0)
		*ret_value = load_u64(bytes, 0);
	return rc;
}

static bool append(struct text *text, const void *bytes, size_t n)
{
	if (!vec_reserve(&text->chars, text->chars.n + n))
		return false;
	memcpy(text->chars.at + text->chars.n, bytes, n);
	text->chars.n += n;
	return true;
}

static bool append_escaped(struct text *text, const char *format, uint32_t c)
{
	char escaped[12];
	int n = snprintf(escaped, sizeof escaped, format, (unsigned)c);
	return append(text, escaped, (size_t)n);
}

/* One code point as UTF-8; what UTF-8 cannot hold, or a C string cannot, as an escape. */
static bool append_char(struct text *text, uint32_t c)
{
	unsigned char u[4];
	size_t n;
	if (c == 0)
		return append_escaped(text, "\\x%02x", c);
	if ((c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
		return append_escaped(text, "\\u%04x", c);
	if (c < 0x80) {
		u[0] = (unsigned char)c;
		n = 1;
	} else if (c < 0x800) {
		u[0] = (unsigned char)(0xc0 | c >> 6);
		n = 2;
	} else if (c < 0x10000) {
		u[0] = (unsigned char)(0xe0 | c >> 12);
		n = 3;
	} else {
		u[0] = (unsigned char)(0xf0 | c >> 18);
		n = 4;
	}
	for (size_t i = 1; i < n; i++)
		u[i] = (unsigned char)(0x80 | (c >> (6 * (n - 1 - i)) & 0x3f));
	return append(text, u, n);
}

static int append_units(struct text *text, struct span chars, uint32_t kind)
{
	for (size_t off = 0; off < chars.size; off += kind) {
		uint32_t c = kind == 1   ? load_u8(chars, off)
			     : kind == 2 ? load_u16(chars, off)
					 : load_u32(chars, off);
		if (!append_char(text, c))
			return TACHY_ENOMEM;
	}
	return 0;
}

/* Where the characters start and how wide they are. */
static int locate_chars(const struct layout *layout, struct span head, raddr addr, raddr *ret_data,
			uint32_t *ret_kind)
{
	uint32_t state = load_u32(head, layout->unicode.state);
	uint32_t kind = state >> layout->unicode.kind_shift & 7;
	bool compact = state >> layout->unicode.compact_shift & 1;
	bool ascii = state >> layout->unicode.ascii_shift & 1;
	if (kind != 1 && kind != 2 && kind != 4)
		return TACHY_ECORRUPT;
	if (compact)
		*ret_data = addr +
			    (ascii ? layout->unicode.ascii_size : layout->unicode.compact_size);
	else /* a subclass of str, or a string made the old way (<= 3.11) */
		*ret_data = load_u64(head, layout->unicode.data);
	*ret_kind = kind;
	return *ret_data ? 0 : TACHY_ECORRUPT;
}

int object_str_extent(const struct layout *layout, struct span head, raddr addr, raddr *ret_data,
		      uint32_t *ret_size)
{
	uint32_t kind;
	uint64_t length = load_u64(head, layout->unicode.length);
	int rc = locate_chars(layout, head, addr, ret_data, &kind);
	if (rc < 0)
		return rc;
	if (length > INT32_MAX / 4)
		return TACHY_ECORRUPT;
	*ret_size = (uint32_t)length * kind;
	return 0;
}

int object_str(struct mem_view *view, const struct layout *layout, raddr addr, struct text *text)
{
	struct span head, chars;
	uint32_t kind;
	raddr data;
	if (!addr)
		return TACHY_ECORRUPT;
	int rc = mem_view_cold(view, addr, layout->unicode.data + 8, &head);
	if (rc < 0)
		return rc;
	uint64_t length = load_u64(head, layout->unicode.length);
	rc = locate_chars(layout, head, addr, &data, &kind);
	if (rc < 0 || length == 0)
		return rc;
	if (length > INT32_MAX)
		return TACHY_ECORRUPT;
	bool cut = length > STR_CHARS_MAX;
	rc = mem_view_cold(view, data, (uint32_t)(cut ? STR_CHARS_MAX : length) * kind, &chars);
	if (rc >= 0)
		rc = append_units(text, chars, kind);
	if (rc >= 0 && cut && !append(text, "...", 3))
		rc = TACHY_ENOMEM;
	return rc;
}

int object_bytes(struct mem_view *view, const struct layout *layout, raddr addr,
		 struct span *ret_span)
{
	struct span head;
	if (!addr)
		return TACHY_ECORRUPT;
	int rc = mem_view_cold(view, addr, layout->bytes.sval, &head);
	if (rc < 0)
		return rc;
	uint64_t size = load_u64(head, layout->bytes.ob_size);
	if (size > BYTES_SIZE_MAX)
		return TACHY_ELIMIT;
	if (size == 0) {
		*ret_span = (struct span){NULL, 0};
		return 0;
	}
	return mem_view_cold(view, addr + layout->bytes.sval, (uint32_t)size, ret_span);
}

bool object_is(struct mem_view *view, const struct layout *layout, raddr addr, const char *name)
{
	size_t len = strlen(name) + 1;
	raddr type, type_name;
	struct span bytes;
	return addr && len <= TYPE_NAME_MAX &&
	       object_pointer(view, addr + layout->object.ob_type, &type) >= 0 && type &&
	       object_pointer(view, type + layout->object.tp_name, &type_name) >= 0 && type_name &&
	       mem_view_cold(view, type_name, (uint32_t)len, &bytes) >= 0 &&
	       memcmp(bytes.data, name, len) == 0;
}
