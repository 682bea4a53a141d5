/* SPDX-License-Identifier: MIT
 * diff_table.c, and below it diff_profile.c: two runs as one, equal functions found again wherever they lie
 * and begin, every sample on its side.
 */
#include "cases.h"

#include "captured.h"
#include "export/diff_profile.h"
#include "fake_alloc.h"
#include "gallery.h"
#include "tachyscope/error.h"

static void add(struct profile *profile, const char *name, const char *file, int32_t first_line,
		int32_t line, stack_id parent, uint64_t n, stack_id *ret_stack)
{
	struct function function = {.first_line = first_line};
	struct frame frame = {.at = {.line = line, .column = -1, .end_column = -1}};
	struct sample sample = {.weight_ns = n * 1000000, .n_ticks = n};
	struct stacks *stacks = &profile->stacks;
	frame_id id;
	assert_int_equal(strtab_add(stacks->strings, name, strlen(name), &function.name), 0);
	assert_int_equal(strtab_add(stacks->strings, file, strlen(file), &function.file), 0);
	assert_int_equal(stacks_function(stacks, &function, &frame.function), 0);
	assert_int_equal(stacks_frame(stacks, &frame, &id), 0);
	assert_int_equal(stacks_push(stacks, parent, id, ret_stack), 0);
	sample.stack = *ret_stack;
	if (n > 0)
		assert_int_equal(profile_count_sample(profile, &sample), 0);
}

static struct profile *make(const char *file, int32_t shift, bool is_base)
{
	struct profile *profile = sample_profile();
	stack_id main, leaf;
	(void)sample_thread(profile, 0, 100, "t");
	profile->duration_ns = 50000000;
	add(profile, "main", file, 1, 20 + shift, STACK_EMPTY, 0, &main);
	add(profile, "work", file, 5 + shift, 7 + shift, main, is_base ? 10 : 15, &leaf);
	add(profile, "same", file, 10 + shift, 11 + shift, main, 4, &leaf);
	add(profile, is_base ? "old" : "fresh", file, 14 + shift, 15 + shift, main, 6, &leaf);
	return profile;
}

static char *table_of(const struct profile *now, const struct profile *base,
		      struct export_options options)
{
	struct out out;
	options.base = base;
	captured_begin(&out);
	assert_int_equal(export_table()[export_by_name("diff")].write(now, NULL, &options, &out),
			 0);
	return captured_end(&out);
}

static void has_line(const char *text, const char *line)
{
	if (!strstr(text, line))
		fail_msg("no line '%s' in:\n%s", line, text);
}

static void tells_what_changed(void **state)
{
	struct profile *now = make("/srv/new/app.py", 100, false);
	struct profile *base = make("/home/old/app.py", 0, true);
	(void)state;
	char *text = table_of(now, base, (struct export_options){.limit = 15});
	has_line(text, "now:  25 stacks, 0.03 s in 0.05 s, wall mode, Python 3.13.0: prog a\n");
	has_line(text, "1 file of the base lies under another path now: found by its end\n");
	has_line(text, "functions in both: 3\n");
	has_line(text, "     +5.00     15.00     10.00     +5.00     15.00     10.00  work "
		       "(/srv/new/app.py:105)\n");
	has_line(text, "      0.00      4.00      4.00      0.00      4.00      4.00  same "
		       "(/srv/new/app.py:110)\n");
	has_line(text, "      0.00      0.00      0.00     +5.00     25.00     20.00  main ");
	has_line(text, "new functions: 1\n");
	has_line(text, "+6.00      6.00      0.00  fresh (/srv/new/app.py:114)\n");
	has_line(text, "gone functions: 1\n");
	has_line(text, "-6.00      0.00      6.00  old (/srv/new/app.py:14)\n");
	assert_null(strstr(text, "differ"));
	free(text);
	/* by line: those of a function that begins elsewhere are found again too */
	text = table_of(now, base, (struct export_options){.lines = true});
	has_line(text, "10.00  work (/srv/new/app.py:107)\n");
	free(text);
	profile_destroy(now);
	profile_destroy(base);
}

static void says_when_it_compares_unlike_things(void **state)
{
	struct profile *now = make("/a/app.py", 0, false), *base = make("/a/app.py", 0, true);
	(void)state;
	base->mode = TACHY_MODE_CPU;
	assert_int_equal(strtab_add(base->stacks.strings, "3.9.1", 5,
				    &base->processes.at[0].version),
			 0);
	char *text = table_of(now, base, (struct export_options){.limit = 1});
	has_line(text, "the modes differ (wall, base cpu): their times do not mean the same\n");
	has_line(text, "the Python versions differ: names of functions may, too\n");
	has_line(text, "2 more; --limit 0 shows all.\n");
	free(text);
	profile_destroy(now);
	profile_destroy(base);
}

/* Several functions of one name in one file: the same line first, then in their order. */
static void functions_of_one_name(void **state)
{
	struct profile *now = sample_profile(), *base = sample_profile();
	struct diff_profile diff;
	stack_id stack;
	(void)state;
	(void)sample_thread(now, 0, 1, "");
	(void)sample_thread(base, 0, 1, "");
	add(base, "<lambda>", "/a.py", 10, 10, STACK_EMPTY, 1, &stack);
	add(base, "<lambda>", "/a.py", 30, 30, STACK_EMPTY, 1, &stack);
	add(base, "<lambda>", "/a.py", 40, 40, STACK_EMPTY, 1, &stack);
	add(now, "<lambda>", "/a.py", 12, 12, STACK_EMPTY, 1, &stack);
	add(now, "<lambda>", "/a.py", 30, 30, STACK_EMPTY, 1, &stack);
	assert_int_equal(diff_profile_init(now, base, &diff), 0);
	assert_int_equal(diff.n_counts, 2);
	assert_int_equal(diff.both->counts.n, 5);
	size_t n_functions = 0;
	for (size_t i = 0; i < diff.both->stacks.functions.n; i++)
		n_functions += diff.both->stacks.functions.at[i].first_line > 0;
	assert_int_equal(n_functions, 3); /* 12 (was 10), 30, and 40 which is gone */
	assert_int_equal(diff.n_threads, 1);
	assert_int_equal(diff.both->counts.at[2].thread, 1);
	assert_int_equal(diff.both->counts.at[2].stack, diff.both->counts.at[0].stack);
	diff_profile_done(&diff);
	profile_destroy(now);
	profile_destroy(base);
}

static void sums_stay(void **state)
{
	struct profile *now = gallery_create(), *base = gallery_create_deep(1000);
	struct diff_profile diff;
	uint64_t sums[2] = {0, 0};
	(void)state;
	assert_int_equal(diff_profile_init(now, base, &diff), 0);
	for (size_t i = 0; i < diff.both->counts.n; i++)
		sums[i >= diff.n_counts] += diff.both->counts.at[i].n_samples;
	assert_int_equal(sums[0], now->n_samples);
	assert_int_equal(sums[1], base->n_samples);
	assert_int_equal(diff.both->strip.rows.n, now->strip.rows.n);
	diff_profile_done(&diff);
	assert_int_equal(diff_profile_init(now, now, &diff), 0); /* with itself: nothing is new */
	assert_int_equal(diff.both->stacks.nodes.n, now->stacks.nodes.n);
	assert_int_equal(diff.both->stacks.functions.n, now->stacks.functions.n);
	diff_profile_done(&diff);
	profile_destroy(now);
	profile_destroy(base);
}

static void out_of_memory(void **state)
{
	struct profile *now = gallery_create(), *base = make("/x/app.py", 0, true);
	static const char *const formats[] = {"diff", "diff-flamegraph"};
	(void)state;
	for (size_t i = 0; i < 2 && FAKE_ALLOC_FAILS; i++) {
		int rc = TACHY_ENOMEM;
		for (int n = 0; rc < 0 && n < 2000; n++) {
			struct export_options options = {.base = base};
			struct out out;
			captured_begin(&out);
			fake_alloc_arm(n);
			rc = export_table()[export_by_name(formats[i])].write(now, NULL, &options,
									      &out);
			(void)fake_alloc_disarm();
			assert_true(rc == 0 || rc == TACHY_ENOMEM);
			free(captured_end(&out));
		}
		assert_int_equal(rc, 0);
	}
	profile_destroy(now);
	profile_destroy(base);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_what_changed),
		cmocka_unit_test(says_when_it_compares_unlike_things),
		cmocka_unit_test(functions_of_one_name),
		cmocka_unit_test(sums_stay),
		cmocka_unit_test(out_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
