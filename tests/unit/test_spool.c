/* SPDX-License-Identifier: MIT
 * tui/spool.c: what a program writes, as lines and as it came.
 */
#include "cases.h"

#include "tachyscope/error.h"
#include "tui/spool.h"

static void lines_of_text(void **state)
{
	const struct {
		const char *bytes;
		const char *lines[4]; /* NULL ends */
	} cases[] = {
		{"one\ntwo\n", {"one", "two"}},
		{"one\r\ntwo", {"one", "two"}},
		{"no end", {"no end"}},
		{"10%\r100%\n", {"100%"}},
		{"ab\bc\n", {"ac"}},
		{"\xe5\xa5\xbd\bx\n", {"x"}},
		{"\b\b\n", {""}},
		{"a\tb\n", {"a       b"}},
		{"\x1b[1;31mred\x1b[0m\n", {"red"}},
		{"\x1b]0;title\x07text\n", {"text"}},
		{"\x1b]0;title\x1b\\text\n", {"text"}},
		{"\x1bPq...\x1b\\x\n", {"x"}},
		{"\x1b(Bx\n", {"x"}},
		{"\x1b[2", {NULL}},
		{"\x1b[2\nnext\n", {"", "next"}}, /* broken off: the line is not lost */
		{"\x1b]never\nnext\n", {"", "next"}},
		{"\x1b\nx\n", {"", "x"}},
		{"\x1b[31\x1b[1mx\n", {"x"}},
		{"\n\n", {"", ""}},
		{"bell\x07\n", {"bell\x07"}}, /* escaped where it is shown */
	};
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++)
		for (size_t step = 1; step < 4; step++) {
			struct spool spool = {0};
			size_t n = 0;
			for (size_t at = 0; at < strlen(cases[i].bytes); at += step) {
				size_t more = strlen(cases[i].bytes + at);
				assert_int_equal(spool_take(&spool, cases[i].bytes + at,
							    more < step ? more : step),
						 0);
			}
			for (; n < 4 && cases[i].lines[n]; n++)
				assert_string_equal(spool_line(&spool, n), cases[i].lines[n]);
			if (spool_n_lines(&spool) != n)
				fail_msg("case %zu has %zu lines", i, spool_n_lines(&spool));
			spool_done(&spool);
		}
}

static void bounds(void **state)
{
	struct spool spool = {0};
	const char *parts[2];
	size_t sizes[2];
	char line[64];
	uint64_t n = 0;
	(void)state;
	for (unsigned i = 0; i < 500000; i++) {
		int more = snprintf(line, sizeof line, "line %u\n", i);
		n += (uint64_t)more;
		assert_int_equal(spool_take(&spool, line, (size_t)more), 0);
	}
	assert_int_equal(spool_n_lines(&spool), SPOOL_LINES_MAX);
	assert_string_equal(spool_line(&spool, SPOOL_LINES_MAX - 1), "line 499999");
	assert_string_equal(spool_line(&spool, 0), "line 480000");
	assert_int_equal(spool_n_cut(&spool), n - SPOOL_BYTES_MAX);
	spool_parts(&spool, parts, sizes);
	assert_int_equal(sizes[0] + sizes[1], SPOOL_BYTES_MAX);
	assert_memory_equal(parts[1] + sizes[1] - 12, "line 499999\n", 12);
	/* more than there is room for at once */
	char *much = malloc(SPOOL_BYTES_MAX + 100);
	memset(much, 'x', SPOOL_BYTES_MAX + 100);
	assert_int_equal(spool_take(&spool, much, SPOOL_BYTES_MAX + 100), 0);
	spool_parts(&spool, parts, sizes);
	assert_int_equal(sizes[0] + sizes[1], SPOOL_BYTES_MAX);
	assert_int_equal(parts[0][0], 'x');
	assert_int_equal(strlen(spool_line(&spool, SPOOL_LINES_MAX)), SPOOL_LINE_MAX);
	free(much);
	spool_done(&spool);
}

static void nothing(void **state)
{
	struct spool spool = {0};
	const char *parts[2];
	size_t sizes[2];
	(void)state;
	assert_int_equal(spool_n_lines(&spool), 0);
	assert_string_equal(spool_line(&spool, 0), "");
	spool_parts(&spool, parts, sizes);
	assert_int_equal(sizes[0] + sizes[1], 0);
	spool_done(&spool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_text),
		cmocka_unit_test(bounds),
		cmocka_unit_test(nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
