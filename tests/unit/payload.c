/* SPDX-License-Identifier: MIT
 * Base64 by its rules and zlib's inflate: nothing of ours.
 */
#include "payload.h"

#include "cases.h"

#include <zlib.h>

static const char *const open_tag = "<script id=\"payload\" type=\"text/plain\">";

static int digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* The bytes of base64 up to '<'. */
static size_t unbase(const char *text, unsigned char *dest)
{
	size_t n = 0;
	for (; *text != '<'; text += 4) {
		int a = digit(text[0]), b = digit(text[1]), c = digit(text[2]), d = digit(text[3]);
		assert_true(a >= 0 && b >= 0);
		assert_true((c >= 0 || text[2] == '=') && (d >= 0 || text[3] == '='));
		dest[n++] = (unsigned char)(a << 2 | b >> 4);
		if (c >= 0)
			dest[n++] = (unsigned char)(b << 4 | c >> 2);
		if (d >= 0)
			dest[n++] = (unsigned char)(c << 6 | d);
	}
	return n;
}

char *payload_of(const char *page, size_t max, size_t *ret_size)
{
	assert_memory_equal(page, "<!doctype html>", 15);
	assert_string_equal(page + strlen(page) - 8, "</html>\n");
	assert_null(strstr(page, "@PAYLOAD@<"));
	const char *payload = strstr(page, open_tag);
	assert_non_null(payload);
	payload += strlen(open_tag);
	unsigned char *packed = malloc(strlen(payload)), *back = malloc(max + 1);
	assert_true(packed && back);
	z_stream z = {.next_in = packed, .next_out = back, .avail_out = (uInt)max};
	z.avail_in = (uInt)unbase(payload, packed);
	assert_int_equal(inflateInit2(&z, -15), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	back[z.total_out] = '\0';
	*ret_size = z.total_out;
	(void)inflateEnd(&z);
	free(packed);
	return (char *)back;
}
