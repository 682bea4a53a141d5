/* SPDX-License-Identifier: MIT
 * json_out.c and out.c: commas, escapes, numbers, and an error that sticks.
 */
#include "cases.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <unistd.h>

#include "base/utf8.h"
#include "captured.h"
#include "export/json_out.h"
#include "tachyscope/error.h"

static void puts_commas_where_they_belong(void **state)
{
	struct out out;
	struct json_out json;
	(void)state;
	captured_begin(&out);
	json_init(&json, &out);
	json_open(&json, '{');
	json_key_open(&json, "empty", '[');
	json_close(&json, ']');
	json_key_open(&json, "list", '[');
	json_i64(&json, -1);
	json_open(&json, '{');
	json_close(&json, '}');
	json_string(&json, "x");
	json_close(&json, ']');
	json_key_bool(&json, "yes", true);
	json_key_u64(&json, "n", UINT64_MAX);
	json_key(&json, "f");
	json_fixed(&json, 2.5, 3);
	json_close(&json, '}');
	char *text = captured_end(&out);
	assert_string_equal(text, "{\"empty\":[],\"list\":[-1,{},\"x\"],\"yes\":true,"
				  "\"n\":18446744073709551615,\"f\":2.500}");
	free(text);
}

static void escapes(void **state)
{
	static const struct {
		const char *text, *json;
	} cases[] = {
		{"", "\"\""},
		{"a b", "\"a b\""},
		{"\"\\/", "\"\\\"\\\\/\""},
		{"\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\""},
		{"\x01\x1b\x1f\x7f", "\"\\u0001\\u001b\\u001f\\u007f\""},
		{"é日🐍", "\"é日🐍\""},
		{"\xe2\x80\xa8\xe2\x80\xa9", "\"\\u2028\\u2029\""},
		{"\xe2\x80\xae"
		 "txt.\xc2\x85",
		 "\"\\u202etxt.\\u0085\""}, /* right to left, and C1 */
		{"\xf3\xa0\x81\x81", "\"\\udb40\\udc41\""},
		{"a\xff"
		 "b",
		 "\"a\xef\xbf\xbd"
		 "b\""},
		{"\xc3", "\"\xef\xbf\xbd\""},
		{"\xed\xb3\xbf.py", "\"\xef\xbf\xbd.py\""}, /* a surrogate, as from os.fsdecode */
		{"<string>", "\"<string>\""},
	};
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct out out;
		struct json_out json;
		captured_begin(&out);
		json_init(&json, &out);
		json_string(&json, cases[i].text);
		char *text = captured_end(&out);
		assert_string_equal(text, cases[i].json);
		free(text);
	}
}

/* Every byte but 0, in a row and alone: the output is always valid UTF-8 within two quotes. */
static void any_bytes(void **state)
{
	uint64_t seed = 3;
	(void)state;
	for (int round = 0; round < 500; round++) {
		char bytes[64];
		struct out out;
		struct json_out json;
		size_t len = dice(&seed) % 63;
		for (size_t i = 0; i < len; i++)
			bytes[i] = (char)(dice(&seed) % 255 + 1);
		bytes[len] = '\0';
		captured_begin(&out);
		json_init(&json, &out);
		json_string(&json, bytes);
		char *text = captured_end(&out);
		size_t n = strlen(text);
		assert_true(utf8_valid(text, n));
		for (size_t i = 1; i + 1 < n; i++) {
			assert_true((unsigned char)text[i] >= 0x20);
			assert_int_not_equal(text[i], '"');
			i += text[i] == '\\'; /* what follows is part of the escape */
		}
		free(text);
	}
}

static void numbers(void **state)
{
	static const struct {
		double value;
		unsigned decimals;
		const char *text;
	} cases[] = {
		{0, 0, "0"},
		{0, 3, "0.000"},
		{1.5, 0, "2"},
		{0.0004, 3, "0.000"},
		{0.0005, 3, "0.001"},
		{-1.25, 2, "-1.25"},
		{-0.0001, 2, "0.00"},
		{123456789.5, 1, "123456789.5"},
		{0.999999, 3, "1.000"},
		{NAN, 1, "0.0"},
		{INFINITY, 1, "0.0"},
		{DBL_MAX, 0, "0"},
	};
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		char text[OUT_FIXED_MAX];
		assert_int_equal(out_format_fixed(text, cases[i].value, cases[i].decimals),
				 strlen(cases[i].text));
		assert_string_equal(text, cases[i].text);
	}
	struct out out;
	captured_begin(&out);
	out_i64(&out, INT64_MIN);
	out_char(&out, ' ');
	out_i64(&out, INT64_MAX);
	char *text = captured_end(&out);
	assert_string_equal(text, "-9223372036854775808 9223372036854775807");
	free(text);
}

static void more_than_the_buffer(void **state)
{
	struct out out;
	size_t n = 3 * OUT_ROOM + 7;
	(void)state;
	captured_begin(&out);
	for (size_t i = 0; i < n; i++)
		out_char(&out, (char)('a' + i % 26));
	char *text = captured_end(&out);
	assert_int_equal(strlen(text), n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(text[i], 'a' + (int)(i % 26));
	free(text);
}

static void the_first_error_sticks(void **state)
{
	struct out out;
	int fd = open("/dev/full", O_WRONLY);
	(void)state;
	if (fd < 0)
		skip();
	out_init(&out, fd);
	out_text(&out, "x");
	assert_int_equal(out_flush(&out), TACHY_EIO);
	assert_int_equal(out.errno_value, ENOSPC);
	(void)close(fd);
	out_repeat(&out, 'y', 2 * OUT_ROOM); /* to a descriptor that is closed: not even tried */
	assert_int_equal(out_flush(&out), TACHY_EIO);
	assert_int_equal(out.errno_value, ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(puts_commas_where_they_belong),
		cmocka_unit_test(escapes),
		cmocka_unit_test(any_bytes),
		cmocka_unit_test(numbers),
		cmocka_unit_test(more_than_the_buffer),
		cmocka_unit_test(the_first_error_sticks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
