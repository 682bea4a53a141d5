/* SPDX-License-Identifier: MIT
 * source_excerpt.c and source_origin.c: what of a file is shown, and whose it is.
 */
#include "cases.h"

#include "captured.h"
#include "export/source_excerpt.h"
#include "export/source_origin.h"

struct cut {
	const char *bytes;
	size_t size;
	int32_t wanted[4];
	size_t n_wanted;
	int32_t context;
	const char *json;
	int32_t n_lines;
	size_t n_beyond;
	uint64_t n_shown;
};

#define TEXT(text) text, sizeof(text) - 1

static void check(const struct cut *cut)
{
	struct excerpt excerpt = {cut->bytes, cut->size, cut->wanted, cut->n_wanted, cut->context};
	struct excerpt_told told;
	struct json_out json;
	struct out out;
	captured_begin(&out);
	json_init(&json, &out);
	source_excerpt_write(&excerpt, &json, &told);
	char *text = captured_end(&out);
	assert_string_equal(text, cut->json);
	assert_int_equal(told.n_lines, cut->n_lines);
	assert_int_equal(told.n_beyond, cut->n_beyond);
	assert_int_equal(told.n_shown, cut->n_shown);
	free(text);
}

static void cuts(void **state)
{
	static const struct cut table[] = {
		{TEXT(""), {1}, 1, -1, "[]", 0, 1, 0},
		{TEXT("a\nb\nc"), {2}, 1, -1, "[[1,\"a\\nb\\nc\\n\"]]", 3, 0, 3},
		{TEXT("a\r\nb\rc\n\n"), {0}, 0, -1, "[[1,\"a\\nb\\nc\\n\\n\"]]", 4, 0, 4},
		{TEXT("\xef\xbb\xbf# x\n"), {1}, 1, -1, "[[1,\"# x\\n\"]]", 1, 0, 1},
		{TEXT("\xff\xfe</script>\n"),
		 {1},
		 1,
		 0,
		 "[[1,\"\xef\xbf\xbd\xef\xbf\xbd</script>\\n\"]]",
		 1,
		 0,
		 1},
		{TEXT("1\n2\n3\n4\n5\n6\n7\n8\n9\n"),
		 {2, 8},
		 2,
		 1,
		 "[[1,\"1\\n2\\n3\\n\"],[7,\"7\\n8\\n9\\n\"]]",
		 9,
		 0,
		 6},
		{TEXT("1\n2\n3\n4\n5\n6\n"),
		 {2, 4},
		 2,
		 1,
		 "[[1,\"1\\n2\\n3\\n4\\n5\\n\"]]",
		 6,
		 0,
		 5},
		{TEXT("1\n2\n"), {2, 3, INT32_MAX}, 3, 0, "[[2,\"2\\n\"]]", 2, 2, 1},
		{TEXT("1\n2\n"), {7}, 1, INT32_MAX, "[[1,\"1\\n2\\n\"]]", 2, 1, 2},
	};
	(void)state;
	for (size_t i = 0; i < N_OF(table); i++)
		check(&table[i]);
}

/* A line of megabytes is cut, and not within a character. */
static void long_lines(void **state)
{
	static char bytes[20000];
	struct excerpt excerpt = {bytes, sizeof bytes, NULL, 0, -1};
	struct excerpt_told told;
	struct json_out json;
	struct out out;
	(void)state;
	memset(bytes, 'x', sizeof bytes);
	for (size_t i = 1; i + 1 < sizeof bytes; i += 2)
		memcpy(bytes + i, "\xc3\xa9", 2);
	captured_begin(&out);
	json_init(&json, &out);
	source_excerpt_write(&excerpt, &json, &told);
	char *text = captured_end(&out);
	assert_true(strlen(text) < EXCERPT_LINE_MAX + 32);
	assert_null(strstr(text, "\xef\xbf\xbd"));
	assert_non_null(strstr(text, "\xe2\x80\xa6\\n\"]]"));
	free(text);
}

static void only_python_is_shown(void **state)
{
	static const struct {
		const char *path, *bytes;
		size_t size;
		bool python;
	} table[] = {
		{"/a/b.py", TEXT("x = 1\n"), true},
		{"/a/B.PYX", TEXT(""), true},
		{".py", TEXT("x"), false},
		{"/usr/bin/pip", TEXT("#!/usr/bin/python3\nimport x\n"), true},
		{"/usr/bin/pip", TEXT("#!/usr/bin/env python"), true},
		{"/usr/bin/sh.sh", TEXT("#!/bin/sh\npython3 -c 1\n"), false},
		{"/etc/shadow", TEXT("root:x:\n"), false},
		{"/a/b.py", TEXT("x\0y"), false},
		{"", TEXT(""), false},
		{"a", TEXT("#"), false},
	};
	(void)state;
	for (size_t i = 0; i < N_OF(table); i++)
		assert_int_equal(source_is_python(table[i].path, table[i].bytes, table[i].size),
				 table[i].python);
}

static void whose_a_file_is(void **state)
{
	static const struct {
		const char *path;
		enum source_origin origin;
	} table[] = {
		{"/home/a/app/main.py", SOURCE_PROJECT},
		{"main.py", SOURCE_PROJECT},
		{"/srv/lib/python/app.py", SOURCE_PROJECT},
		{"/srv/pythons/x.zip/a.py", SOURCE_PROJECT},
		{"</script>.py", SOURCE_PROJECT},
		{"/usr/lib/python3.11/json/decoder.py", SOURCE_STDLIB},
		{"/root/.pyenv/versions/3.13.1/lib/python3.13t/os.py", SOURCE_STDLIB},
		{"/usr/lib/python311.zip/os.py", SOURCE_STDLIB},
		{"/usr/lib64/python3.12/os.py", SOURCE_STDLIB},
		{"/v/lib/python3.11/site-packages/a/b.py", SOURCE_SITE},
		{"/usr/lib/python3/dist-packages/a.py", SOURCE_SITE},
		{"<frozen importlib._bootstrap>", SOURCE_FROZEN},
		{"<string>", SOURCE_GENERATED},
		{"<ipython-input-1>", SOURCE_GENERATED},
		{"", SOURCE_GENERATED},
	};
	(void)state;
	for (size_t i = 0; i < N_OF(table); i++)
		if (source_origin_of(table[i].path) != table[i].origin)
			fail_msg("%s is %s", table[i].path,
				 source_origin_name(source_origin_of(table[i].path)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuts),
		cmocka_unit_test(long_lines),
		cmocka_unit_test(only_python_is_shown),
		cmocka_unit_test(whose_a_file_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
