/* SPDX-License-Identifier: MIT
 * Foreign text on its way to people: decoding that never fails, escapes for what would steer a
 * terminal, and widths in columns. Knows no locale: output is UTF-8.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_REPLACEMENT 0xfffdu
#define UTF8_UNIT_MAX 12 /* bytes of one character or one escape, its NUL included */

/* The character at text[*pos] (*pos < len); moves *pos behind it. What is no UTF-8, and a lone
 * surrogate as a whole, gives UTF8_REPLACEMENT. */
uint32_t utf8_next(const char *text, size_t len, size_t *pos);
/* Number of bytes, 1 to 4. */
size_t utf8_encode(uint32_t c, char dest[4]);
bool utf8_valid(const char *text, size_t len);

/* Would move the cursor, start an escape sequence, hide itself, or reorder its neighbours: C0, DEL,
 * C1, bidi controls, line separators, invisible format characters. */
bool utf8_unsafe(uint32_t c);
/* Columns on a terminal: 0, 1 or 2. */
unsigned utf8_width(uint32_t c);

/* One character as it may be shown: itself, or \uXXXX. Ends with a NUL; the number of bytes. */
size_t utf8_escape_unit(uint32_t c, char dest[UTF8_UNIT_MAX]);
/* As snprintf: all that fits in `size` with its NUL, never half a unit; gives the bytes that all of
 * it would take. */
size_t utf8_escape(char *dest, size_t size, const char *text, size_t len);
/* Columns that the escaped text takes. */
size_t utf8_columns(const char *text, size_t len);

enum utf8_cut { UTF8_CUT_END, UTF8_CUT_MIDDLE };
/* Escaped text in at most `columns`, "…" where something was taken out. Gives the columns used. */
size_t utf8_fit(char *dest, size_t size, const char *text, size_t columns, enum utf8_cut cut);

#endif
