/* SPDX-License-Identifier: MIT
 * tui/key.c: bytes of a terminal, whole and in pieces.
 */
#include "cases.h"

#include "tui/key.h"

static void sequences(void **state)
{
	const struct {
		const char *bytes;
		int32_t codes[4]; /* 0 ends */
	} cases[] = {
		{"a", {'a'}},
		{"aZ", {'a', 'Z'}},
		{"\r", {KEY_ENTER}},
		{"\n", {KEY_ENTER}},
		{"\b\x7f", {KEY_BACKSPACE, KEY_BACKSPACE}},
		{"\x03", {KEY_INTERRUPT}},
		{"\t", {KEY_TAB}},
		{"\x1b[A", {KEY_UP}},
		{"\x1bOB", {KEY_DOWN}},
		{"\x1b[1;5C", {KEY_RIGHT}},
		{"\x1b[D\x1b[Dx", {KEY_LEFT, KEY_LEFT, 'x'}},
		{"\x1b[5~\x1b[6~", {KEY_PAGE_UP, KEY_PAGE_DOWN}},
		{"\x1b[H\x1b[4~", {KEY_HOME, KEY_END}},
		{"\x1b[1~\x1b[3~", {KEY_HOME, KEY_DELETE}},
		{"\x1b[Z", {KEY_BACK_TAB}},
		{"\x1b[15~", {KEY_OTHER}},
		{"\x1b", {KEY_ESCAPE}},
		{"\x1b\x1b", {KEY_ESCAPE, KEY_ESCAPE}},
		{"\x1bx", {KEY_ESCAPE, 'x'}},
		{"\x1b[", {KEY_ESCAPE, '['}},
		{"\xc3\xa9", {0xe9}},
		{"\xe5\xa5\xbd", {0x597d}},
		{"\xe5\xa5", {0xfffd}},
		{"\xff", {0xfffd}},
		{"\x1b[<0;3;7M", {KEY_CLICK}},
		{"\x1b[<0;3;7m", {KEY_OTHER}},
		{"\x1b[<64;1;1M\x1b[<65;1;1M", {KEY_WHEEL_UP, KEY_WHEEL_DOWN}},
		{"\x1b[<0;0;7M", {KEY_OTHER}},
		{"\x1b[<0;99999;7M", {KEY_OTHER}},
		{"\x1b[<M", {KEY_OTHER}},
		{"\x1b[<1;M", {KEY_OTHER}},
	};
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		/* at once, and byte by byte: only what is left at the end is judged as it stands */
		for (size_t step = 1; step <= strlen(cases[i].bytes); step++) {
			struct key_reader reader = {.n = 0};
			struct key key;
			size_t n = 0;
			for (size_t at = 0; at < strlen(cases[i].bytes); at += step) {
				size_t more = strlen(cases[i].bytes + at);
				more = more < step ? more : step;
				assert_int_equal(key_feed(&reader, cases[i].bytes + at, more),
						 more);
				while (key_next(&reader, false, &key)) {
					assert_true(n < 4);
					assert_int_equal(key.code, cases[i].codes[n++]);
				}
			}
			while (key_next(&reader, true, &key)) {
				assert_true(n < 4);
				assert_int_equal(key.code, cases[i].codes[n++]);
			}
			assert_true(n == 4 || cases[i].codes[n] == 0);
			assert_int_equal(reader.n, 0);
		}
	}
}

static void place_of_the_mouse(void **state)
{
	struct key_reader reader = {.n = 0};
	struct key key;
	(void)state;
	(void)key_feed(&reader, "\x1b[<0;3;7M", 9);
	assert_true(key_next(&reader, false, &key));
	assert_int_equal(key.col, 2);
	assert_int_equal(key.row, 6);
}

/* A sequence without end is thrown away, whatever its length. */
static void endless(void **state)
{
	struct key_reader reader = {.n = 0};
	struct key key;
	size_t n = 0;
	(void)state;
	(void)key_feed(&reader, "\x1b[", 2);
	for (unsigned i = 0; i < 1000; i++) {
		(void)key_feed(&reader, "1", 1);
		while (key_next(&reader, false, &key))
			n++;
	}
	while (key_next(&reader, true, &key))
		n++;
	assert_true(n > 0);
	assert_int_equal(reader.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sequences),
		cmocka_unit_test(place_of_the_mouse),
		cmocka_unit_test(endless),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
