/* SPDX-License-Identifier: MIT
 * utf8.c: decoding, what is unsafe, escapes, widths and cuts.
 */
#include "cases.h"

#include "base/utf8.h"

static void decodes(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		uint32_t c;
		size_t used;
	} cases[] = {
		{"a", 1, 'a', 1},
		{"\0", 1, 0, 1},
		{"\xc3\xa9", 2, 0xe9, 2},
		{"\xe2\x82\xac", 3, 0x20ac, 3},
		{"\xf0\x9f\x90\x8d", 4, 0x1f40d, 4},
		{"\xf4\x8f\xbf\xbf", 4, 0x10ffff, 4},
		/* no UTF-8: one replacement for what belongs together */
		{"\x80", 1, UTF8_REPLACEMENT, 1},
		{"\xff", 1, UTF8_REPLACEMENT, 1},
		{"\xc3", 1, UTF8_REPLACEMENT, 1},
		{"\xc3(", 2, UTF8_REPLACEMENT, 1},
		{"\xe2\x82", 2, UTF8_REPLACEMENT, 2},
		{"\xe2\x82"
		 "a",
		 3, UTF8_REPLACEMENT, 2},
		{"\xf0\x9f\x90", 3, UTF8_REPLACEMENT, 3},
		{"\xc0\xaf", 2, UTF8_REPLACEMENT, 1},         /* overlong */
		{"\xe0\x80\xaf", 3, UTF8_REPLACEMENT, 1},     /* overlong */
		{"\xf0\x80\x80\xaf", 4, UTF8_REPLACEMENT, 1}, /* overlong */
		{"\xf4\x90\x80\x80", 4, UTF8_REPLACEMENT, 1}, /* above U+10FFFF */
		{"\xf8\x88\x80\x80\x80", 5, UTF8_REPLACEMENT, 1},
		{"\xed\xa0\x80", 3, UTF8_REPLACEMENT, 3}, /* lone surrogates */
		{"\xed\xbf\xbf", 3, UTF8_REPLACEMENT, 3},
	};
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		size_t pos = 0;
		assert_int_equal(utf8_next(cases[i].bytes, cases[i].len, &pos), cases[i].c);
		assert_int_equal(pos, cases[i].used);
	}
}

static void every_character_survives(void **state)
{
	(void)state;
	for (uint32_t c = 0; c < 0x110000; c++) {
		char bytes[4];
		size_t pos = 0, n = utf8_encode(c, bytes);
		uint32_t back = utf8_next(bytes, n, &pos);
		assert_int_equal(back, c >= 0xd800 && c < 0xe000 ? UTF8_REPLACEMENT : c);
		assert_int_equal(pos, n);
	}
}

static void tells_valid_text(void **state)
{
	(void)state;
	assert_true(utf8_valid("", 0));
	assert_true(utf8_valid("a\xc3\xa9\xef\xbf\xbd", 6)); /* U+FFFD itself is text */
	assert_false(utf8_valid("a\xc3", 2));
	assert_false(utf8_valid("\xed\xa0\x80", 3));
}

static void escapes(void **state)
{
	static const struct {
		const char *text, *shown;
	} cases[] = {
		{"", ""},
		{"plain (é) 🐍", "plain (é) 🐍"},
		{"a\nb\tc\rd", "a\\u000ab\\u0009c\\u000dd"},
		{"\x1b[31mred\x1b[0m", "\\u001b[31mred\\u001b[0m"},
		{"\x1b]0;title\x07", "\\u001b]0;title\\u0007"},
		{"\x7f", "\\u007f"},
		{"\xc2\x9b"
		 "31m",
		 "\\u009b31m"}, /* C1 CSI */
		{"\xe2\x80\xae"
		 "abc",
		 "\\u202eabc"},                                   /* RLO */
		{"\xe2\x81\xa6x\xe2\x81\xa9", "\\u2066x\\u2069"}, /* isolates */
		{"\xe2\x80\xa8", "\\u2028"},
		{"\xef\xbb\xbf", "\\ufeff"},
		{"\xf3\xa0\x80\xa0", "\\U000e0020"}, /* tags */
		{"\xff", "\xef\xbf\xbd"},
		{"\\u0041", "\\u0041"}, /* nothing is unescaped */
	};
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		char text[128];
		size_t n = utf8_escape(text, sizeof text, cases[i].text, strlen(cases[i].text));
		assert_string_equal(text, cases[i].shown);
		assert_int_equal(n, strlen(cases[i].shown));
	}
}

static void never_cuts_a_unit(void **state)
{
	static const char text[] = "a\x1b\xe2\x82\xac"
				   "b";
	(void)state;
	for (size_t room = 0; room < 16; room++) {
		char buf[16];
		memset(buf, 'X', sizeof buf);
		assert_int_equal(utf8_escape(buf, room, text, strlen(text)), 11);
		if (room == 0) {
			assert_int_equal(buf[0], 'X');
			continue;
		}
		assert_true(strlen(buf) < room);
		assert_int_equal(strncmp("a\\u001b\xe2\x82\xac"
					 "b",
					 buf, strlen(buf)),
				 0);
		assert_true(utf8_valid(buf, strlen(buf)));
	}
}

static void measures(void **state)
{
	static const struct {
		const char *text;
		size_t columns;
	} cases[] = {
		{"", 0},     {"abc", 3}, {"é", 1},  {"e\xcc\x81", 1},         {"日本", 4}, {"🐍", 2},
		{"\x1b", 6}, {"ﾊ", 1},   {"한", 2}, {"\xf3\xa0\x80\xa0", 10}, {"कि", 2},
	};
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++)
		assert_int_equal(utf8_columns(cases[i].text, strlen(cases[i].text)),
				 cases[i].columns);
}

static void fits(void **state)
{
	static const struct {
		const char *text;
		size_t columns;
		enum utf8_cut cut;
		const char *shown;
	} cases[] = {
		{"abcdef", 6, UTF8_CUT_END, "abcdef"},
		{"abcdef", 5, UTF8_CUT_END, "abcd…"},
		{"abcdef", 1, UTF8_CUT_END, "…"},
		{"abcdef", 0, UTF8_CUT_END, ""},
		{"", 0, UTF8_CUT_END, ""},
		{"/usr/lib/python3/json/decoder.py", 19, UTF8_CUT_MIDDLE, "/usr/l…n/decoder.py"},
		{"abcdef", 2, UTF8_CUT_MIDDLE, "…f"},
		{"日本語", 5, UTF8_CUT_END, "日本…"},
		{"日本語", 4, UTF8_CUT_END, "日…"}, /* half a letter is none */
		{"a\nb", 8, UTF8_CUT_END, "a\\u000ab"},
		{"a\nb", 7, UTF8_CUT_END, "a…"},
	};
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		char buf[128];
		size_t used = utf8_fit(buf, sizeof buf, cases[i].text, cases[i].columns,
				       cases[i].cut);
		assert_string_equal(buf, cases[i].shown);
		assert_true(used <= cases[i].columns);
		assert_int_equal(used, utf8_columns(buf, strlen(buf)));
	}
}

/* Whatever bytes come in, what goes out is valid, harmless, and as wide as promised. */
static void random_bytes(void **state)
{
	uint64_t seed = 7;
	(void)state;
	for (int round = 0; round < 20000; round++) {
		char bytes[33], shown[512];
		size_t len = dice(&seed) % 32, columns = dice(&seed) % 40;
		for (size_t i = 0; i < len; i++)
			bytes[i] = (char)(dice(&seed) % 255 + 1);
		bytes[len] = '\0';
		size_t used = utf8_fit(shown, sizeof shown, bytes, columns,
				       (enum utf8_cut)(round & 1));
		assert_true(used <= columns);
		assert_true(utf8_valid(shown, strlen(shown)));
		for (size_t pos = 0, n = strlen(shown); pos < n;)
			assert_false(utf8_unsafe(utf8_next(shown, n, &pos)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decodes),
		cmocka_unit_test(every_character_survives),
		cmocka_unit_test(tells_valid_text),
		cmocka_unit_test(escapes),
		cmocka_unit_test(never_cuts_a_unit),
		cmocka_unit_test(measures),
		cmocka_unit_test(fits),
		cmocka_unit_test(random_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
