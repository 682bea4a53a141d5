/* SPDX-License-Identifier: MIT
 * filter.c, pattern.c: which samples pass, and how much of a run.
 */
#include "cases.h"

#include "captured.h"
#include "model/aggregate.h"
#include "model/filter.h"
#include "model/pattern.h"

static void test_modules(void **state)
{
	static const struct {
		const char *file, *module;
	} cases[] = {
		{"/usr/lib/python3.11/json/decoder.py", "json.decoder"},
		{"/usr/lib/python3.11/json/__init__.py", "json"},
		{"/venv/lib/python3.9/site-packages/a/b.py", "a.b"},
		{"/usr/lib/python3/dist-packages/yaml/__init__.py", "yaml"},
		{"/home/me/work/app.py", "app"},
		{"app.py", "app"},
		{"<frozen importlib._bootstrap>", "importlib._bootstrap"},
		{"<string>", "<string"},
		{"", ""},
		{"/lib/python", "python"},
	};
	char module[PATTERN_MODULE_MAX], longer[2000];
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		pattern_module(cases[i].file, module);
		assert_string_equal(module, cases[i].module);
	}
	memset(longer, 'x', sizeof longer);
	longer[sizeof longer - 1] = '\0';
	pattern_module(longer, module);
	assert_int_equal(strlen(module), PATTERN_MODULE_MAX - 1);
}

static void test_patterns(void **state)
{
	static const char *const file = "/usr/lib/python3.11/json/decoder.py";
	static const struct {
		const char *pattern;
		bool matches;
	} cases[] = {
		{"JSONDecoder.decode", true},
		{"decode", true}, /* the last part of the name */
		{"JSON*", true},
		{"json", true}, /* a package that it is in */
		{"json.decoder", true},
		{"json.encoder", false},
		{"decoder.py", true},
		{"json/decoder.py", true},
		{"/usr/lib/*", true},
		{"usr", false},
		{"*/json/*", true},
		{"function:json", false},
		{"function:decode", true},
		{"module:json", true},
		{"module:decode", false},
		{"file:decoder.py", true},
		{"file:json", false},
		{"JSONDecoder.d[ef]code", true},
		{"", false},
		{"[", false},
	};
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++)
		if (pattern_matches(cases[i].pattern, "JSONDecoder.decode", file, "json.decoder") !=
		    cases[i].matches)
			fail_msg("%s", cases[i].pattern);
	assert_true(pattern_matches("<GC>", "<GC>", "", ""));
	assert_false(pattern_matches("file:*", "<GC>", "", ""));
}

/* ---- the sink ----------------------------------------------------------------------------------------- */

struct rig {
	struct profile *names; /* whose ids the samples have */
	struct aggregate all;  /* what passed; counts only */
	struct profile *passed;
	struct filter filter;
	struct tachy_filter wanted;
	uint32_t thread;
};

static void rig_open(struct rig *rig, enum tachy_mode mode)
{
	rig->names = sample_profile();
	rig->names->start_ns = UINT64_C(5000000000);
	rig->thread = sample_thread(rig->names, 0, 100, "");
	assert_int_equal(profile_create(&rig->passed), 0);
	rig->passed->keeps_timeline = true;
	aggregate_init(&rig->all, rig->passed);
	rig->wanted.size = sizeof rig->wanted;
	filter_init(&rig->filter, &rig->all.sink, &rig->wanted, mode);
	assert_int_equal(rig->filter.sink.ops->begin(&rig->filter.sink, rig->names), 0);
}

static void rig_close(struct rig *rig)
{
	assert_int_equal(rig->filter.sink.ops->end(&rig->filter.sink), 0);
	filter_done(&rig->filter);
	profile_destroy(rig->passed);
	profile_destroy(rig->names);
	memset(rig, 0, sizeof *rig);
}

/* A run of `n` ticks, a millisecond each, from `ms` after the start on. */
static void pass(struct rig *rig, uint64_t ms, uint64_t n, stack_id stack, uint32_t states)
{
	struct sample sample = {.time_ns = rig->names->start_ns + ms * 1000000,
				.weight_ns = n * 1000000,
				.n_ticks = n,
				.thread = rig->thread,
				.stack = stack,
				.states = states};
	assert_int_equal(rig->filter.sink.ops->sample(&rig->filter.sink, &sample), 0);
}

static void test_time(void **state)
{
	static const struct {
		double from_s, to_s;
		uint64_t ms, n, passed, first_ms;
	} cases[] = {
		{0.1, 0.2, 100, 100, 100, 100},
		{0.1, 0.2, 50, 100, 50, 100},
		{0.1, 0.2, 150, 100, 50, 150},
		{0.1, 0.2, 200, 10, 0, 0},
		{0.1, 0.2, 0, 100, 0, 0},
		{0.1, 0.2, 0, 1000, 100, 100},
		{0.1, 0, 0, 1000, 900, 100},
		{0, 0.1, 0, 1000, 100, 0},
		{0, 0.1, 99, 1, 1, 99},
		{0, 0.1, 100, 1, 0, 0},
		{0.1005, 0.1035, 100, 10, 3, 101},
	};
	struct rig rig = {0};
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		rig.wanted.from_s = cases[i].from_s;
		rig.wanted.to_s = cases[i].to_s;
		rig_open(&rig, TACHY_MODE_WALL);
		pass(&rig, cases[i].ms, cases[i].n, STACK_EMPTY, 0);
		assert_int_equal(rig.passed->n_samples, cases[i].passed);
		assert_int_equal(rig.passed->weight_ns, cases[i].passed * 1000000);
		if (cases[i].passed)
			assert_int_equal(rig.passed->timeline.at[0].time_ns - rig.names->start_ns,
					 cases[i].first_ms * 1000000);
		rig_close(&rig);
	}
	filter_init(&rig.filter, NULL, &(struct tachy_filter){.from_s = 1, .to_s = 3}, 0);
	assert_int_equal(filter_duration(&rig.filter, UINT64_C(10000000000)), 2000000000);
	assert_int_equal(filter_duration(&rig.filter, 1500000000), 500000000);
	assert_int_equal(filter_duration(&rig.filter, 500000000), 0);
}

/* What a range leaves and what lies before and behind it are everything together. */
static void test_times_add_up(void **state)
{
	uint64_t n[3] = {0};
	(void)state;
	for (int part = 0; part < 3; part++) {
		struct rig rig = {0};
		uint64_t seed = 99;
		rig.wanted.from_s = part == 0 ? 0 : part == 1 ? 0.31415 : 0.71828;
		rig.wanted.to_s = part == 0 ? 0.31415 : part == 1 ? 0.71828 : 0;
		rig_open(&rig, TACHY_MODE_WALL);
		for (uint64_t ms = 0; ms < 1000;) {
			uint64_t n_ticks = 1 + dice(&seed) % 97;
			pass(&rig, ms, n_ticks, STACK_EMPTY, 0);
			ms += n_ticks;
		}
		n[part] = rig.passed->n_samples;
		rig_close(&rig);
	}
	uint64_t seed = 99, all = 0;
	while (all < 1000)
		all += 1 + dice(&seed) % 97;
	assert_int_equal(n[0], 315);
	assert_int_equal(n[1], 719 - 315);
	assert_int_equal(n[0] + n[1] + n[2], all);
}

static void test_functions(void **state)
{
	static const char *const include[] = {"a", "x"}, *const exclude[] = {"b"};
	struct rig rig = {0};
	(void)state;
	rig.wanted.include = include;
	rig.wanted.exclude = exclude;
	for (size_t n_include = 0; n_include <= 2; n_include++) {
		for (size_t n_exclude = 0; n_exclude <= 1; n_exclude++) {
			static const char *const stacks[] = {"a|c|d", "a|b|c", "d",
							     "d|a",   "b",     "c|x"};
			rig.wanted.include = include;
			rig.wanted.exclude = exclude;
			rig.wanted.n_include = n_include;
			rig.wanted.n_exclude = n_exclude;
			rig_open(&rig, TACHY_MODE_WALL);
			uint64_t want = 0;
			for (size_t i = 0; i < N_OF(stacks); i++) {
				bool has_a = strchr(stacks[i], 'a'), has_x = strchr(stacks[i], 'x');
				bool in = n_include == 0 || has_a || (has_x && n_include == 2);
				bool out = n_exclude && strchr(stacks[i], 'b');
				sample_add(rig.names, rig.thread, stacks[i], 1);
				const struct profile_count *last =
					&rig.names->counts.at[rig.names->counts.n - 1];
				pass(&rig, i, 1, last->stack, 0);
				want += in && !out;
			}
			pass(&rig, 50, 1, STACK_EMPTY, 0);
			want += n_include == 0;
			assert_int_equal(rig.passed->n_samples, want);
			rig_close(&rig);
		}
	}
}

static void name_thread(struct rig *rig, const char *name)
{
	assert_int_equal(profile_set_thread_name(rig->names, rig->thread, name), 0);
}

static void test_threads(void **state)
{
	static const char *const words[] = {"work*", "4711"};
	struct rig rig = {0};
	(void)state;
	rig.wanted.threads = words;
	rig.wanted.n_threads = 2;
	rig_open(&rig, TACHY_MODE_WALL);
	pass(&rig, 0, 10, STACK_EMPTY, 0);
	assert_int_equal(rig.passed->n_samples, 0);
	name_thread(&rig, "worker-1"); /* its first samples count as well */
	pass(&rig, 10, 10, STACK_EMPTY, 0);
	assert_int_equal(rig.passed->n_samples, 20);
	name_thread(&rig, "other");
	pass(&rig, 20, 10, STACK_EMPTY, 0);
	rig.thread = sample_thread(rig.names, 0, 4711, "");
	pass(&rig, 20, 5, STACK_EMPTY, 0);
	assert_int_equal(rig.passed->n_samples, 25);
	rig.thread = sample_thread(rig.names, 0, 47111, "idle");
	pass(&rig, 20, 5, STACK_EMPTY, 0);
	pass(&rig, 5000, 5, STACK_EMPTY, 0);
	name_thread(&rig, "work"); /* too late for what was before */
	pass(&rig, 5005, 5, STACK_EMPTY, 0);
	assert_int_equal(rig.passed->n_samples, 30);
	rig.thread = sample_thread(rig.names, 0, 47112, "");
	pass(&rig, 5010, 7, STACK_EMPTY, 0);
	name_thread(&rig, "worker"); /* after its last sample */
	assert_int_equal(rig.filter.sink.ops->end(&rig.filter.sink), 0);
	assert_int_equal(rig.passed->n_samples, 37);
	rig_close(&rig);
}

static void test_modes(void **state)
{
	struct rig rig = {0};
	(void)state;
	rig_open(&rig, TACHY_MODE_GIL);
	pass(&rig, 0, 3, STACK_EMPTY, TACHY_STATE_GIL | TACHY_STATE_GIL_KNOWN);
	pass(&rig, 3, 4, STACK_EMPTY, TACHY_STATE_CPU_KNOWN);
	assert_int_equal(rig.passed->n_samples, 3);
	assert_int_equal(rig.filter.n_seen, 2);
	assert_int_equal(rig.filter.n_cpu_known, 1);
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modules),   cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_time),      cmocka_unit_test(test_times_add_up),
		cmocka_unit_test(test_functions), cmocka_unit_test(test_threads),
		cmocka_unit_test(test_modes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
