/* SPDX-License-Identifier: MIT
 * rows.c and table.c: what is summed up, and what is shown of it.
 */
#include "cases.h"

#include "base/utf8.h"
#include "captured.h"
#include "export/rows.h"
#include "fake_alloc.h"
#include "tachyscope/error.h"

static const struct row *find_row(const struct rows *rows, const char *function, int32_t line)
{
	for (size_t i = 0; i < rows->rows.n; i++) {
		const struct row *row = &rows->rows.at[i];
		if (strcmp(row->frame.function, function) == 0 &&
		    (line == 0 || row->frame.line == line))
			return row;
	}
	return NULL;
}

static void expect(const struct rows *rows, const char *function, int32_t line, uint64_t own,
		   uint64_t total)
{
	const struct row *row = find_row(rows, function, line);
	assert_non_null(row);
	assert_int_equal(row->own, own);
	assert_int_equal(row->total, total);
	assert_int_equal(row->own_ns, own * 1000000);
	assert_int_equal(row->total_ns, total * 1000000);
}

static struct profile *recursive_profile(void)
{
	struct profile *profile = sample_profile();
	uint32_t one = sample_thread(profile, 0, 100, "MainThread"),
		 two = sample_thread(profile, 0, 101, "w");
	sample_add(profile, one, "main:2|f:5|f:5|f:6", 3);
	sample_add(profile, one, "main:2|f:5|g:1|f:5", 2);
	sample_add(profile, one, "main:2|f:5", 1);
	sample_add(profile, two, "g:1|main:3", 4);
	sample_add(profile, two, "", 5);
	return profile;
}

static void recursion_counts_once(void **state)
{
	struct profile *profile = recursive_profile();
	struct rows rows;
	(void)state;
	assert_int_equal(rows_init(profile, ROWS_ALL_THREADS, false, &rows), 0);
	assert_int_equal(rows.n_samples, 15);
	expect(&rows, "f", 0, 6, 6);
	expect(&rows, "g", 0, 0, 6);
	expect(&rows, "main", 0, 4, 10);
	expect(&rows, EXPORT_NO_FRAME, 0, 5, 5);
	rows_done(&rows);
	profile_destroy(profile);
}

static void lines_split_functions(void **state)
{
	struct profile *profile = recursive_profile();
	struct rows rows;
	(void)state;
	assert_int_equal(rows_init(profile, ROWS_ALL_THREADS, true, &rows), 0);
	expect(&rows, "f", 5, 3, 6);
	expect(&rows, "f", 6, 3, 3);
	expect(&rows, "main", 2, 0, 6);
	expect(&rows, "main", 3, 4, 4);
	rows_done(&rows);
	profile_destroy(profile);
}

static void threads_alone(void **state)
{
	struct profile *profile = recursive_profile();
	struct rows rows;
	(void)state;
	assert_int_equal(rows_init(profile, 1, false, &rows), 0);
	assert_int_equal(rows.n_samples, 9);
	expect(&rows, "f", 0, 0, 0);
	expect(&rows, "main", 0, 4, 4);
	rows_done(&rows);
	profile_destroy(profile);
}

/* The sums over the tree are those of a walk over every single stack. */
static void agrees_with_the_simple_way(void **state)
{
	struct profile *profile = sample_profile();
	uint32_t thread = sample_thread(profile, 0, 100, "");
	uint64_t seed = 5, own[6] = {0}, total[6] = {0};
	struct rows rows;
	(void)state;
	for (int i = 0; i < 400; i++) {
		char stack[128] = "";
		bool seen[6] = {false};
		size_t depth = dice(&seed) % 9, function = 0;
		for (size_t level = 0; level < depth; level++) {
			char word[16];
			function = dice(&seed) % 6;
			(void)snprintf(word, sizeof word, "%sf%zu:%d", level ? "|" : "", function,
				       (int)(dice(&seed) % 3));
			(void)strncat(stack, word, sizeof stack - strlen(stack) - 1);
			total[function] += !seen[function];
			seen[function] = true;
		}
		own[function] += depth > 0;
		sample_add(profile, thread, stack, 1);
	}
	assert_int_equal(rows_init(profile, ROWS_ALL_THREADS, false, &rows), 0);
	for (size_t i = 0; i < 6; i++) {
		char name[8];
		(void)snprintf(name, sizeof name, "f%zu", i);
		expect(&rows, name, 0, own[i], total[i]);
	}
	rows_done(&rows);
	profile_destroy(profile);
}

static char *table(const struct profile *profile, struct export_options options,
		   const struct tachy_stats *stats)
{
	struct out out;
	captured_begin(&out);
	assert_int_equal(table_write(profile, stats, &options, &out), 0);
	return captured_end(&out);
}

static void looks_like_this(void **state)
{
	static const char wanted[] =
		"15 samples in 0.01 s (1000.0/s of 1000 wanted), wall mode, tachyscope 0.1.0\n"
		"pid 100, Python 3.13.0, 2 threads: prog a\n"
		"\n"
		"     own   own%   own ms   total total% total ms  function (file:line)\n"
		"       6  40.0%     6.00       6  40.0%     6.00  f (f.py:1)\n"
		"       5  33.3%     5.00       5  33.3%     5.00  <no Python frame>\n"
		"       4  26.7%     4.00      10  66.7%    10.00  main (main.py:1)\n"
		"\n"
		"own: the function was running; total: it or what it called (once per stack);\n"
		"counted in stacks of one thread; times are real time, late and lost ones in.\n"
		"1 more function not shown; --limit 0 shows all.\n";
	struct profile *profile = recursive_profile();
	char *text = table(profile, (struct export_options){.limit = 3}, NULL);
	(void)state;
	assert_string_equal(text, wanted);
	free(text);
	profile_destroy(profile);
}

/* The first words of the last column, in order. */
static void check_order(const struct profile *profile, enum export_sort sort,
			const char *const names[4])
{
	char *text = table(profile, (struct export_options){.sort = sort, .no_summary = true},
			   NULL);
	char *at = strstr(text, "function (file:line)\n");
	assert_non_null(at);
	for (size_t i = 0; i < 4; i++) {
		at = strchr(at, '\n') + 1;
		const char *name = strstr(at, names[i]);
		assert_true(name && name < at + strcspn(at, "\n"));
	}
	free(text);
}

static void sorts(void **state)
{
	static const char *const own[] = {"f (", EXPORT_NO_FRAME, "main (", "g ("};
	static const char *const total[] = {"main (", "f (", "g (", EXPORT_NO_FRAME};
	static const char *const name[] = {EXPORT_NO_FRAME, "f (", "g (", "main ("};
	struct profile *profile = recursive_profile();
	(void)state;
	check_order(profile, EXPORT_SORT_OWN, own);
	check_order(profile, EXPORT_SORT_TOTAL, total);
	check_order(profile, EXPORT_SORT_NAME, name);
	profile_destroy(profile);
}

static void states_what_was_lost(void **state)
{
	struct tachy_stats stats = {.samples_captured = 14, .samples_lost = 1, .samples_late = 2};
	struct profile *profile = recursive_profile();
	char *text = table(profile, (struct export_options){.no_summary = true}, &stats);
	(void)state;
	assert_non_null(
		strstr(text,
		       "14 samples in 0.01 s (933.3/s of 1000 wanted), 1 lost, 2 late, wall mode"));
	assert_null(strstr(text, "own: "));
	free(text);
	profile_destroy(profile);
}

static void a_block_per_thread(void **state)
{
	struct profile *profile = recursive_profile();
	char *text = table(profile, (struct export_options){.by_thread = true, .no_summary = true},
			   NULL);
	char *second = strstr(text, "thread w (101): 9 stacks, 60.0% of all\n");
	char *first = strstr(text, "thread MainThread (100), main: 6 stacks, 40.0% of all\n");
	(void)state;
	assert_non_null(first);
	assert_non_null(second);
	assert_true(second < first); /* the bigger one first */
	assert_non_null(strstr(first, "       6 100.0%"));
	free(text);
	profile_destroy(profile);
}

/* Longest line in columns, colours not counted. */
static size_t widest(const char *text)
{
	size_t widest_line = 0;
	while (*text) {
		char line[4096];
		size_t n = 0;
		for (; *text && *text != '\n'; text++) {
			if (*text == '\x1b')
				text += strcspn(text, "m");
			else
				line[n++] = *text;
		}
		text += *text == '\n';
		size_t columns = utf8_columns(line, n);
		widest_line = columns > widest_line ? columns : widest_line;
	}
	return widest_line;
}

static void stays_within_the_terminal(void **state)
{
	struct profile *profile = sample_profile();
	uint32_t thread =
		sample_thread(profile, 0, 100,
			      "a name of a thread that goes on and on and on and on and on");
	char name[200];
	(void)state;
	for (size_t len = 1; len < 180; len += 3) {
		memset(name, 'n', len);
		(void)snprintf(name + len, sizeof name - len, ":1");
		sample_add(profile, thread, name, len);
	}
	sample_add(profile, thread, "日本語の関数名はこのように長くすることもできます:1", 1);
	for (uint32_t width = 80; width < 140; width += 7) {
		for (int variant = 0; variant < 4; variant++) {
			struct export_options options = {.width = width,
							 .color = variant & 1,
							 .by_thread = variant & 2};
			char *text = table(profile, options, NULL);
			assert_in_range(widest(text), 60, width);
			assert_int_equal(strchr(text, '\x1b') != NULL, variant & 1);
			free(text);
		}
	}
	profile_destroy(profile);
}

static void odd_names_are_harmless(void **state)
{
	struct profile *profile = sample_profile();
	uint32_t thread = sample_thread(profile, 0, 100, "\x1b[2J");
	(void)state;
	sample_add(profile, thread, "evil\x1b[31m\nname:1", 1);
	for (uint32_t width = 0; width <= 80; width += 80) {
		char *text = table(profile,
				   (struct export_options){.width = width, .by_thread = true},
				   NULL);
		assert_null(strchr(text, '\x1b'));
		assert_non_null(strstr(text, "\\u001b"));
		free(text);
	}
	profile_destroy(profile);
}

static void nothing_sampled(void **state)
{
	struct profile *profile = sample_profile();
	char *text = table(profile, (struct export_options){.limit = 15}, NULL);
	(void)state;
	assert_non_null(strstr(text, "0 samples in 0.00 s (0.0/s of 1000 wanted)"));
	free(text);
	profile_destroy(profile);
}

static void out_of_memory(void **state)
{
	(void)state;
	if (!FAKE_ALLOC_FAILS)
		skip();
	struct profile *profile = recursive_profile();
	struct out out;
	int rc = TACHY_ENOMEM;
	for (int n = 0; rc < 0 && n < 1000; n++) {
		captured_begin(&out);
		fake_alloc_arm(n);
		rc = table_write(profile, NULL, &(struct export_options){.by_thread = n % 2}, &out);
		(void)fake_alloc_disarm();
		assert_true(rc == 0 || rc == TACHY_ENOMEM);
		free(captured_end(&out));
	}
	assert_int_equal(rc, 0);
	profile_destroy(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(lines_split_functions),
		cmocka_unit_test(threads_alone),
		cmocka_unit_test(agrees_with_the_simple_way),
		cmocka_unit_test(looks_like_this),
		cmocka_unit_test(sorts),
		cmocka_unit_test(states_what_was_lost),
		cmocka_unit_test(a_block_per_thread),
		cmocka_unit_test(stays_within_the_terminal),
		cmocka_unit_test(odd_names_are_harmless),
		cmocka_unit_test(nothing_sampled),
		cmocka_unit_test(out_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
