/* SPDX-License-Identifier: MIT
 * docs/formats.md and the man page tell of every format and of every suffix that there is.
 */
#include "cases.h"

#include "base/io.h"
#include "export/export.h"

static char *read_document(const char *path)
{
	char *text;
	size_t size;
	assert_int_equal(io_read_file(path, 1u << 20, &text, &size), 0);
	return text;
}

static void has(const char *text, const char *before, const char *name, const char *behind)
{
	char wanted[128];
	(void)snprintf(wanted, sizeof wanted, "%s%s%s", before, name, behind);
	if (!strstr(text, wanted))
		fail_msg("not told: %s", wanted);
}

static void has_suffixes(const char *text, const char *list, const char *before, const char *behind)
{
	char words[256], *rest = words, *word;
	(void)snprintf(words, sizeof words, "%s", list);
	while ((word = strsep(&rest, " ")))
		if (*word)
			has(text, before, word, behind);
}

static void formats(void **state)
{
	char *guide = read_document(TEST_SOURCE_ROOT "/docs/formats.md");
	char *page = read_document(TEST_SOURCE_ROOT "/man/tachyscope.1");
	(void)state;
	for (int i = 0; i < EXPORT_N; i++) {
		const struct export_ops *ops = &export_table()[i];
		has(guide, "\n| ", ops->name, " | "); /* a row of the table */
		has(guide, "**", ops->name, "**");    /* and a paragraph */
		has_suffixes(guide, ops->suffix, "`", "`");
		has_suffixes(guide, ops->aliases, "`", "`");
		has(page, "Cm ", ops->name, "");
		has_suffixes(page, ops->suffix, "", "");
		has_suffixes(page, ops->aliases, "", "");
	}
	free(guide);
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
