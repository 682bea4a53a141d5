/* SPDX-License-Identifier: MIT
 * Buffered text on a descriptor, or on whoever wants it. The first error sticks and later calls do nothing, so that an
 * exporter checks once, at the end.
 */
#ifndef EXPORT_OUT_H
#define EXPORT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OUT_ROOM 32768

struct out {
	int fd;     /* borrowed; -1: `write` takes all */
	int (*write)(void *ctx, const char *data, size_t len); /* 0 or a TACHY_E*; NULL: to fd */
	void *ctx;
	int status; /* 0, or the TACHY_E* of the first write that failed */
	int errno_value; /* of that write */
	size_t n;
	char buf[OUT_ROOM];
};

void out_init(struct out *out, int fd);
/* What is flushed goes to write(ctx), whose first error sticks. */
void out_init_to(struct out *out, int (*write)(void *ctx, const char *data, size_t len), void *ctx);
/* Writes what is buffered; 0 or the sticky error. */
int out_flush(struct out *out);

void out_bytes(struct out *out, const char *data, size_t len);
void out_text(struct out *out, const char *text);
void out_char(struct out *out, char c);
void out_repeat(struct out *out, char c, size_t n);
void out_u64(struct out *out, uint64_t value);
void out_i64(struct out *out, int64_t value);
/* Decimal point and `decimals` digits (at most 9), whatever the locale. What is no number, and what
 * has more than 18 digits, is written as 0. */
#define OUT_FIXED_MAX 40
size_t out_format_fixed(char dest[OUT_FIXED_MAX], double value, unsigned decimals); /* its length */
void out_fixed(struct out *out, double value, unsigned decimals);
/* As valid UTF-8 that no terminal obeys (base/utf8.h). */
void out_escaped(struct out *out, const char *text);

#endif
