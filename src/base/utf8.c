/* SPDX-License-Identifier: MIT
 * Hides the decoder and the measure of escaped text. Invariant: what comes out of utf8_escape and
 * utf8_fit is valid UTF-8 without a single byte that a terminal would obey.
 */
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

#define ELLIPSIS 0x2026u

/* Bytes of the sequence that `lead` begins; 0: none does. */
static size_t sequence_len(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xc2 && lead < 0xe0)
		return 2;
	if (lead >= 0xe0 && lead < 0xf0)
		return 3;
	return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

/* The second byte tells overlong forms and numbers above U+10FFFF. */
static bool second_fits(unsigned char lead, unsigned char second)
{
	if (lead == 0xe0)
		return second >= 0xa0;
	if (lead == 0xf0)
		return second >= 0x90;
	return lead != 0xf4 || second < 0x90;
}

uint32_t utf8_next(const char *text, size_t len, size_t *pos)
{
	const unsigned char *at = (const unsigned char *)text + *pos;
	size_t n = sequence_len(at[0]), room = len - *pos, i = 1;
	if (n == 1 || n == 0) {
		*pos += 1;
		return n ? at[0] : UTF8_REPLACEMENT;
	}
	uint32_t c = at[0] & (0x7fu >> n);
	for (; i < n && i < room && (at[i] & 0xc0) == 0x80; i++) {
		if (i == 1 && !second_fits(at[0], at[1]))
			break;
		c = c << 6 | (at[i] & 0x3fu);
	}
	*pos += i;
	return i < n || (c >= 0xd800 && c < 0xe000) ? UTF8_REPLACEMENT : c;
}

size_t utf8_encode(uint32_t c, char dest[4])
{
	if (c < 0x80) {
		dest[0] = (char)c;
		return 1;
	}
	size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	for (size_t i = n - 1; i > 0; i--, c >>= 6)
		dest[i] = (char)(0x80 | (c & 0x3f));
	dest[0] = (char)((0xf00u >> n & 0xf0) | c);
	return n;
}

bool utf8_valid(const char *text, size_t len)
{
	for (size_t pos = 0; pos < len;) {
		size_t start = pos;
		if (utf8_next(text, len, &pos) == UTF8_REPLACEMENT &&
		    (pos - start != 3 || memcmp(text + start, "\xef\xbf\xbd", 3) != 0))
			return false;
	}
	return true;
}

bool utf8_unsafe(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c || c == 0x180e ||
	       (c >= 0x200b && c <= 0x200f && c != 0x200c && c != 0x200d) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
	       (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c < 0xe0080);
}

size_t utf8_escape_unit(uint32_t c, char dest[UTF8_UNIT_MAX])
{
	if (utf8_unsafe(c))
		return (size_t)snprintf(dest, UTF8_UNIT_MAX, c > 0xffff ? "\\U%08x" : "\\u%04x",
					(unsigned)c);
	size_t n = utf8_encode(c, dest);
	dest[n] = '\0';
	return n;
}

static size_t unit_columns(uint32_t c)
{
	if (!utf8_unsafe(c))
		return utf8_width(c);
	return c > 0xffff ? 10 : 6;
}

size_t utf8_escape(char *dest, size_t size, const char *text, size_t len)
{
	size_t used = 0, need = 0;
	bool full = size == 0;
	for (size_t pos = 0; pos < len;) {
		char unit[UTF8_UNIT_MAX];
		size_t n = utf8_escape_unit(utf8_next(text, len, &pos), unit);
		need += n;
		full = full || n >= size - used;
		if (full)
			continue;
		memcpy(dest + used, unit, n);
		used += n;
	}
	if (size > 0)
		dest[used] = '\0';
	return need;
}

size_t utf8_columns(const char *text, size_t len)
{
	size_t columns = 0;
	for (size_t pos = 0; pos < len;)
		columns += unit_columns(utf8_next(text, len, &pos));
	return columns;
}

struct writer {
	char *dest;
	size_t size, used, columns;
};

static void put(struct writer *w, uint32_t c)
{
	char unit[UTF8_UNIT_MAX];
	size_t n = utf8_escape_unit(c, unit);
	if (n >= w->size - w->used)
		return;
	memcpy(w->dest + w->used, unit, n);
	w->used += n;
	w->columns += unit_columns(c);
}

size_t utf8_fit(char *dest, size_t size, const char *text, size_t columns, enum utf8_cut cut)
{
	size_t len = strlen(text), total = utf8_columns(text, len);
	bool whole = total <= columns;
	size_t keep = whole         ? total
		      : columns > 0 ? columns - 1
				    : 0; /* columns of text, "…" aside */
	size_t head = whole || cut == UTF8_CUT_END ? keep : keep / 3; /* ends tell more */
	size_t tail_from = total - (keep - head);
	struct writer w = {dest, size, 0, 0};
	bool gap = whole || columns == 0;
	if (size == 0)
		return 0;
	for (size_t pos = 0, at = 0; pos < len;) {
		uint32_t c = utf8_next(text, len, &pos);
		size_t after = at + unit_columns(c);
		if (after <= head || (at >= tail_from && !whole)) {
			put(&w, c);
		} else if (!gap) {
			put(&w, ELLIPSIS);
			gap = true;
		}
		at = after;
	}
	dest[w.used] = '\0';
	return w.columns;
}
