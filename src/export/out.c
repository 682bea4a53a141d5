/* SPDX-License-Identifier: MIT
 * Hides the buffer. Invariant: n < OUT_ROOM between calls, and 0 once `status` is set.
 */
#include "export/out.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/io.h"
#include "base/utf8.h"

#define DIGITS_MAX 20
#define SCALED_MAX 1e18 /* fits uint64_t */

void out_init(struct out *out, int fd)
{
	out->fd = fd;
	out->write = NULL;
	out->ctx = NULL;
	out->status = 0;
	out->errno_value = 0;
	out->n = 0;
}

void out_init_to(struct out *out, int (*write)(void *ctx, const char *data, size_t len), void *ctx)
{
	out_init(out, -1);
	out->write = write;
	out->ctx = ctx;
}

int out_flush(struct out *out)
{
	if (out->status == 0 && out->n > 0 && out->write) {
		out->status = out->write(out->ctx, out->buf, out->n);
	} else if (out->status == 0 && out->n > 0) {
		out->status = io_write_all(out->fd, out->buf, out->n);
		out->errno_value = out->status < 0 ? errno : 0;
	}
	out->n = 0;
	return out->status;
}

void out_bytes(struct out *out, const char *data, size_t len)
{
	if (len < OUT_ROOM - out->n && out->status == 0) { /* nearly always */
		memcpy(out->buf + out->n, data, len);
		out->n += len;
		return;
	}
	while (len > 0 && out->status == 0) {
		size_t room = OUT_ROOM - out->n, part = len < room ? len : room;
		memcpy(out->buf + out->n, data, part);
		out->n += part;
		data += part;
		len -= part;
		if (out->n == OUT_ROOM)
			(void)out_flush(out);
	}
}

void out_text(struct out *out, const char *text)
{
	out_bytes(out, text, strlen(text));
}

void out_char(struct out *out, char c)
{
	if (out->n + 1 < OUT_ROOM && out->status == 0)
		out->buf[out->n++] = c;
	else
		out_bytes(out, &c, 1);
}

void out_repeat(struct out *out, char c, size_t n)
{
	while (n-- > 0)
		out_char(out, c);
}

/* At least `width` digits, zeros in front. Gives their number. */
static size_t digits(char dest[DIGITS_MAX], uint64_t value, size_t width)
{
	char text[DIGITS_MAX];
	size_t at = sizeof text;
	do
		text[--at] = (char)('0' + value % 10);
	while ((value /= 10) > 0);
	while (sizeof text - at < width)
		text[--at] = '0';
	memcpy(dest, text + at, sizeof text - at);
	return sizeof text - at;
}

void out_u64(struct out *out, uint64_t value)
{
	char text[DIGITS_MAX];
	out_bytes(out, text, digits(text, value, 1));
}

void out_i64(struct out *out, int64_t value)
{
	if (value < 0)
		out_char(out, '-');
	out_u64(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

size_t out_format_fixed(char dest[OUT_FIXED_MAX], double value, unsigned decimals)
{
	uint64_t scale = 1;
	size_t n = 0;
	for (unsigned i = 0; i < decimals; i++)
		scale *= 10;
	if (!isfinite(value) || fabs(value) * (double)scale > SCALED_MAX)
		value = 0;
	uint64_t scaled = (uint64_t)(fabs(value) * (double)scale + 0.5);
	if (value < 0 && scaled > 0)
		dest[n++] = '-';
	n += digits(dest + n, scaled / scale, 1);
	if (decimals > 0) {
		dest[n++] = '.';
		n += digits(dest + n, scaled % scale, decimals);
	}
	dest[n] = '\0';
	return n;
}

void out_fixed(struct out *out, double value, unsigned decimals)
{
	char text[OUT_FIXED_MAX];
	out_bytes(out, text, out_format_fixed(text, value, decimals));
}

void out_escaped(struct out *out, const char *text)
{
	size_t len = strlen(text);
	for (size_t pos = 0; pos < len;) {
		char unit[UTF8_UNIT_MAX];
		size_t n = utf8_escape_unit(utf8_next(text, len, &pos), unit);
		out_bytes(out, unit, n);
	}
}
