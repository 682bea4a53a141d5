/* SPDX-License-Identifier: MIT
 * collapsed.c: the form of a line, merging, order, and names that would break the form.
 */
#include "cases.h"

#include "captured.h"
#include "fake_alloc.h"
#include "tachyscope/error.h"

static void check(const struct profile *profile, struct export_options options, const char *wanted)
{
	struct out out;
	captured_begin(&out);
	assert_int_equal(collapsed_write(profile, NULL, &options, &out), 0);
	char *text = captured_end(&out);
	assert_string_equal(text, wanted);
	free(text);
}

static const struct export_options plain = {.width = 0};
static const struct export_options lines = {.lines = true};
static const struct export_options by_thread = {.by_thread = true};

static void lines_are_merged_and_sorted(void **state)
{
	struct profile *profile = sample_profile();
	uint32_t one = sample_thread(profile, 0, 100, "MainThread"),
		 two = sample_thread(profile, 0, 101, "");
	(void)state;
	sample_add(profile, one, "main:2|f:5", 3);
	sample_add(profile, one, "main:2|f:6", 2); /* another line of the same function */
	sample_add(profile, two, "main:3|g:1", 5); /* as often: then by text */
	sample_add(profile, two, "main:3", 9);
	sample_add(profile, two, "main:2|<GC>", 1);
	sample_add(profile, two, "", 4);
	check(profile, plain,
	      "main (main.py:1) 9\n"
	      "main (main.py:1);f (f.py:1) 5\n"
	      "main (main.py:1);g (g.py:1) 5\n"
	      "<no Python frame> 4\n"
	      "main (main.py:1);<GC> 1\n");
	check(profile, lines,
	      "main (main.py:3) 9\n"
	      "main (main.py:3);g (g.py:1) 5\n"
	      "<no Python frame> 4\n"
	      "main (main.py:2);f (f.py:5) 3\n"
	      "main (main.py:2);f (f.py:6) 2\n"
	      "main (main.py:2);<GC> 1\n");
	check(profile, by_thread,
	      "thread (101);main (main.py:1) 9\n"
	      "thread (101);main (main.py:1);g (g.py:1) 5\n"
	      "thread MainThread (100);main (main.py:1);f (f.py:1) 5\n"
	      "thread (101);<no Python frame> 4\n"
	      "thread (101);main (main.py:1);<GC> 1\n");
	profile_destroy(profile);
}

static void several_processes_come_first(void **state)
{
	struct profile *profile = sample_profile();
	uint32_t process;
	(void)state;
	assert_int_equal(profile_add_process(profile, 200, "other;one", "3.8.1", &process), 0);
	sample_add(profile, sample_thread(profile, 0, 100, "t"), "f:1", 2);
	sample_add(profile, sample_thread(profile, process, 200, "t"), "f:1", 3);
	check(profile, plain,
	      "process other,one (200);f (f.py:1) 3\n"
	      "process prog a (100);f (f.py:1) 2\n");
	check(profile, by_thread,
	      "process other,one (200);thread t (200);f (f.py:1) 3\n"
	      "process prog a (100);thread t (100);f (f.py:1) 2\n");
	profile_destroy(profile);
}

static void odd_names(void **state)
{
	struct profile *profile = sample_profile();
	uint32_t thread = sample_thread(profile, 0, 100, "a;b\nc\x1b");
	(void)state;
	sample_add(profile, thread, "x;y\n\x1b[0m:1|<native>|\xff:1|<cut>", 1);
	check(profile, by_thread,
	      "thread a,b c  (100);x,y  [0m (x,y  [0m.py:1);<native>;\xef\xbf\xbd "
	      "(\xef\xbf\xbd.py:1);<cut> 1\n");
	profile_destroy(profile);
}

static void nothing_sampled(void **state)
{
	struct profile *profile = sample_profile();
	(void)state;
	check(profile, plain, "");
	check(profile, by_thread, "");
	profile_destroy(profile);
}

/* A stack as deep as they come, and a hundred thousand stacks, in no time. */
static void deep_and_many(void **state)
{
	struct profile *profile = sample_profile();
	uint32_t thread = sample_thread(profile, 0, 100, "");
	struct sample sample = {.weight_ns = 1, .n_ticks = 1, .thread = thread};
	struct out out;
	(void)state;
	sample_add(profile, thread, "down:1", 1);
	frame_id frame = profile->stacks.nodes.at[1].frame;
	sample.stack = 1;
	for (int i = 0; i < 100000; i++) {
		assert_int_equal(stacks_push(&profile->stacks, sample.stack, frame, &sample.stack),
				 0);
		if (i % 1000 == 0)
			assert_int_equal(profile_count_sample(profile, &sample), 0);
	}
	captured_begin(&out);
	assert_int_equal(collapsed_write(profile, NULL, &plain, &out), 0);
	char *text = captured_end(&out);
	size_t n_lines = 0;
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		n_lines++;
	assert_int_equal(n_lines, 101);
	free(text);
	profile_destroy(profile);
}

/* The order is that of the whole lines, so that `sort` would not change it. */
static void order_is_by_text(void **state)
{
	struct profile *profile = sample_profile();
	uint32_t thread = sample_thread(profile, 0, 100, "");
	struct out out;
	uint64_t seed = 11;
	(void)state;
	for (int i = 0; i < 300; i++) {
		char stack[64];
		(void)snprintf(stack, sizeof stack, "a%d:1|b%d:1|c:1", (int)(dice(&seed) % 12),
			       (int)(dice(&seed) % 12));
		size_t cut = dice(&seed) % 3;
		if (cut > 0)
			*strrchr(stack, '|') = '\0';
		if (cut > 1)
			*strrchr(stack, '|') = '\0';
		sample_add(profile, thread, stack, 1);
	}
	captured_begin(&out);
	assert_int_equal(collapsed_write(profile, NULL, &plain, &out), 0);
	char *text = captured_end(&out), *rest = text, *line, last[256] = "";
	long last_count = 1000000;
	while ((line = strsep(&rest, "\n")) && *line) {
		char *blank = strrchr(line, ' ');
		long count = atol(blank + 1);
		*blank = '\0';
		assert_true(count < last_count || (count == last_count && strcmp(last, line) < 0));
		last_count = count;
		(void)snprintf(last, sizeof last, "%s", line);
	}
	free(text);
	profile_destroy(profile);
}

static void out_of_memory(void **state)
{
	(void)state;
	if (!FAKE_ALLOC_FAILS)
		skip();
	struct profile *profile = sample_profile();
	uint32_t thread = sample_thread(profile, 0, 100, "t");
	struct out out;
	int rc = TACHY_ENOMEM;
	sample_add(profile, thread, "main:1|f:1|g:1", 3);
	sample_add(profile, thread, "", 3);
	for (int n = 0; rc < 0 && n < 1000; n++) {
		captured_begin(&out);
		fake_alloc_arm(n);
		rc = collapsed_write(profile, NULL, &by_thread, &out);
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
		cmocka_unit_test(lines_are_merged_and_sorted),
		cmocka_unit_test(several_processes_come_first),
		cmocka_unit_test(odd_names),
		cmocka_unit_test(nothing_sampled),
		cmocka_unit_test(deep_and_many),
		cmocka_unit_test(order_is_by_text),
		cmocka_unit_test(out_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
