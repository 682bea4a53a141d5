/* SPDX-License-Identifier: MIT
 * line_heat.c and heat_index.c: recursion, calls, markers, filters, hostile names, stacks of any depth.
 */
#include "cases.h"

#include "captured.h"
#include "export/line_heat.h"
#include "fake_alloc.h"
#include "tachyscope/error.h"

struct world {
	struct profile *profile;
	struct heat_index index;
	struct line_heat heat;
};

static void sum(struct world *world, struct heat_filter filter)
{
	assert_int_equal(heat_index_init(world->profile, &world->index), 0);
	assert_int_equal(line_heat_init(&world->index, &filter, &world->heat), 0);
}

static void done(struct world *world)
{
	line_heat_done(&world->heat);
	heat_index_done(&world->index);
}

/* "f" is a function of f.py; a marker is its own file */
static uint32_t file_of(const struct world *world, const char *name)
{
	const struct strtab *strings = world->profile->stacks.strings;
	char path[300];
	(void)snprintf(path, sizeof path, "%s%s", name, name[0] == '<' ? "" : ".py");
	for (uint32_t i = 0; i < world->index.files.n; i++)
		if (strcmp(strtab_get(strings, world->index.files.at[i].path), path) == 0)
			return i;
	fail_msg("no file %s", path);
	return 0;
}

static uint32_t line_of(const struct world *world, const char *name, int32_t line)
{
	uint32_t file = file_of(world, name);
	for (uint32_t i = 0; i < world->index.lines.n; i++)
		if (world->index.lines.at[i].file == file && world->index.lines.at[i].line == line)
			return i;
	fail_msg("no line %s:%d", name, line);
	return 0;
}

static void check_line(const struct world *world, const char *name, int32_t line, uint64_t own,
		       uint64_t total)
{
	const struct heat *heat = &world->heat.by[HEAT_LINES][line_of(world, name, line)];
	assert_int_equal(heat->own, own);
	assert_int_equal(heat->total, total);
	assert_int_equal(heat->own_ns, own * 1000000);
	assert_int_equal(heat->total_ns, total * 1000000);
}

static void check_file(const struct world *world, const char *name, uint64_t own, uint64_t total)
{
	const struct heat *heat = &world->heat.by[HEAT_FILES][file_of(world, name)];
	assert_int_equal(heat->own, own);
	assert_int_equal(heat->total, total);
}

/* Samples in which `from` called `to`, which stood on its line; 0: nobody ever did. */
static uint64_t callers(const struct world *world, uint32_t to, uint32_t from)
{
	for (size_t i = 0; i < world->index.callers.n; i++)
		if (world->index.callers.at[i].from == to && world->index.callers.at[i].to == from)
			return world->heat.by[HEAT_CALLERS][i].total;
	return 0;
}

static uint64_t calls(const struct world *world, uint32_t from, const char *function)
{
	const struct stacks *stacks = &world->profile->stacks;
	for (size_t i = 0; i < world->index.calls.n; i++) {
		const struct function *to = &stacks->functions.at[world->index.calls.at[i].to];
		if (world->index.calls.at[i].from == from &&
		    strcmp(strtab_get(stacks->strings, to->name), function) == 0)
			return world->heat.by[HEAT_CALLS][i].total;
	}
	return 0;
}

static void own_and_total(void **state)
{
	struct world world = {.profile = sample_profile()};
	uint32_t thread = sample_thread(world.profile, 0, 100, "t");
	(void)state;
	sample_add(world.profile, thread, "main:2|f:5", 3);
	sample_add(world.profile, thread, "main:2|f:6", 2);
	sample_add(world.profile, thread, "main:3|g:1|f:5", 4);
	sample_add(world.profile, thread, "main:3", 1);
	sample_add(world.profile, thread, "main:0", 7); /* a line that is not known */
	sample_add(world.profile, thread, "", 5);
	sum(&world, HEAT_FILTER_ALL);
	assert_int_equal(world.heat.n_samples, 22);
	assert_int_equal(world.heat.weight_ns, 22000000);
	check_line(&world, "main", 2, 0, 5);
	check_line(&world, "main", 3, 1, 5);
	check_line(&world, "main", 0, 7, 7);
	check_line(&world, "f", 5, 7, 7);
	check_line(&world, "f", 6, 2, 2);
	check_line(&world, "g", 1, 0, 4);
	check_file(&world, "main", 8, 17);
	check_file(&world, "f", 9, 9);
	assert_int_equal(world.heat.by[HEAT_FILES][world.index.files.n - 1].own, 5);
	assert_int_equal(calls(&world, line_of(&world, "main", 2), "f"), 5);
	assert_int_equal(calls(&world, line_of(&world, "main", 3), "f"), 0);
	assert_int_equal(calls(&world, line_of(&world, "main", 3), "g"), 4);
	assert_int_equal(callers(&world, line_of(&world, "f", 5), line_of(&world, "main", 2)), 3);
	assert_int_equal(callers(&world, line_of(&world, "f", 5), line_of(&world, "g", 1)), 4);
	done(&world);
	profile_destroy(world.profile);
}

/* Own times are parts of the whole: nothing twice, nothing left out. */
static void own_times_add_up(void **state)
{
	struct world world = {.profile = sample_profile()};
	uint32_t thread = sample_thread(world.profile, 0, 100, "t");
	uint64_t random = 7;
	(void)state;
	for (int i = 0; i < 400; i++) {
		char stack[512] = "";
		for (uint64_t depth = dice(&random) % 12; depth > 0; depth--) {
			size_t len = strlen(stack);
			static const char *const words[] = {"a:1", "a:2", "b:1", "<native>",
							    "<GC>"};
			(void)snprintf(stack + len, sizeof stack - len, "%s%s", len ? "|" : "",
				       words[dice(&random) % N_OF(words)]);
		}
		sample_add(world.profile, thread, stack, 1 + dice(&random) % 3);
	}
	sum(&world, HEAT_FILTER_ALL);
	uint64_t by_file = 0, by_function = 0, largest = 0;
	for (size_t i = 0; i < world.heat.n[HEAT_FILES]; i++)
		by_file += world.heat.by[HEAT_FILES][i].own;
	for (size_t i = 0; i < world.heat.n[HEAT_FUNCTIONS]; i++)
		by_function += world.heat.by[HEAT_FUNCTIONS][i].own;
	by_function += world.heat.by[HEAT_FILES][world.index.files.n - 1].own;
	for (int by = 0; by < HEAT_N_BY; by++)
		for (size_t i = 0; i < world.heat.n[by]; i++)
			if (world.heat.by[by][i].total > largest)
				largest = world.heat.by[by][i].total;
	assert_int_equal(by_file, world.profile->n_samples);
	assert_int_equal(by_function, world.profile->n_samples);
	assert_true(largest <= world.profile->n_samples);
	done(&world);
	profile_destroy(world.profile);
}

static void recursion_counts_once_a_stack(void **state)
{
	struct world world = {.profile = sample_profile()};
	uint32_t thread = sample_thread(world.profile, 0, 100, "t");
	(void)state;
	sample_add(world.profile, thread, "main:1|f:2|f:2|f:2|f:3", 4);
	sample_add(world.profile, thread, "main:1|f:2|g:1|f:2|g:1", 2); /* in turn */
	sum(&world, HEAT_FILTER_ALL);
	check_line(&world, "f", 2, 0, 6);
	check_line(&world, "f", 3, 4, 4);
	check_line(&world, "g", 1, 2, 2);
	check_file(&world, "f", 4, 6);
	uint32_t line = line_of(&world, "f", 2);
	assert_int_equal(calls(&world, line, "f"), 4);
	assert_int_equal(calls(&world, line, "g"), 2);
	assert_int_equal(callers(&world, line, line), 4);
	assert_int_equal(callers(&world, line, line_of(&world, "main", 1)), 6);
	done(&world);
	profile_destroy(world.profile);
}

/* A call goes through a marker, and not through a gap. */
static void markers(void **state)
{
	struct world world = {.profile = sample_profile()};
	uint32_t thread = sample_thread(world.profile, 0, 100, "t");
	(void)state;
	sample_add(world.profile, thread, "main:1|<native>|f:2|<GC>", 3);
	sample_add(world.profile, thread, "main:1|<cut>|f:2", 2);
	sample_add(world.profile, thread, "<native>|main:1", 1);
	sum(&world, HEAT_FILTER_ALL);
	assert_int_equal(world.index.lines.n, 2);
	check_file(&world, "<native>", 0, 4);
	check_file(&world, "<GC>", 3, 3);
	check_file(&world, "<cut>", 0, 2);
	check_line(&world, "f", 2, 2, 5);
	check_line(&world, "main", 1, 1, 6);
	uint32_t line = line_of(&world, "main", 1);
	assert_int_equal(calls(&world, line, "<native>"), 3);
	assert_int_equal(calls(&world, line, "f"), 3);
	assert_int_equal(callers(&world, line_of(&world, "f", 2), line), 3);
	assert_int_equal(calls(&world, line_of(&world, "f", 2), "<GC>"), 3);
	done(&world);
	profile_destroy(world.profile);
}

static void filters(void **state)
{
	struct world world = {.profile = sample_profile()};
	uint32_t process;
	(void)state;
	assert_int_equal(profile_add_process(world.profile, 200, "b", "3.8.1", &process), 0);
	uint32_t one = sample_thread(world.profile, 0, 100, "one"),
		 two = sample_thread(world.profile, process, 200, "two");
	sample_add(world.profile, one, "f:1", 3);
	sample_add(world.profile, one, "f:1|g:1", 2);
	sample_add(world.profile, two, "h:1", 4);
	world.profile->counts.at[0].states = TACHY_STATE_ON_CPU | TACHY_STATE_CPU_KNOWN;
	world.profile->counts.at[1].states = TACHY_STATE_CPU_KNOWN;

	struct heat_filter filter = HEAT_FILTER_ALL;
	filter.thread = two;
	sum(&world, filter);
	assert_int_equal(world.heat.n_samples, 4);
	check_line(&world, "h", 1, 4, 4);
	check_line(&world, "f", 1, 0, 0);
	/* which process a file belongs to has nothing to do with the filter */
	assert_int_equal(world.index.files.at[file_of(&world, "f")].process, 0);
	assert_int_equal(world.index.files.at[file_of(&world, "h")].process, process);
	done(&world);

	filter = HEAT_FILTER_ALL;
	filter.process = 0;
	sum(&world, filter);
	assert_int_equal(world.heat.n_samples, 5);
	check_line(&world, "f", 1, 3, 5);
	check_line(&world, "h", 1, 0, 0);
	done(&world);

	filter = HEAT_FILTER_ALL;
	filter.states_mask = TACHY_STATE_CPU_KNOWN | TACHY_STATE_ON_CPU;
	filter.states_wanted = TACHY_STATE_CPU_KNOWN;
	sum(&world, filter);
	assert_int_equal(world.heat.n_samples, 2);
	check_line(&world, "f", 1, 0, 2);
	check_line(&world, "g", 1, 2, 2);
	done(&world);
	profile_destroy(world.profile);
}

static void hostile_names_stay_apart(void **state)
{
	static const char *const names[] = {"</script>", "a\"b\\", "\x1b[31m",  "\xe2\x80\xaexyz",
					    "\xff\xfe",  "..",     "<frozen x>"};
	struct world world = {.profile = sample_profile()};
	uint32_t thread = sample_thread(world.profile, 0, 100, "</script>");
	(void)state;
	for (size_t i = 0; i < N_OF(names); i++) {
		char stack[64];
		(void)snprintf(stack, sizeof stack, "main:1|%s:%zu", names[i], i + 1);
		sample_add(world.profile, thread, stack, i + 1);
	}
	sum(&world, HEAT_FILTER_ALL);
	assert_int_equal(world.index.lines.n, 1 + N_OF(names));
	for (size_t i = 0; i < N_OF(names); i++)
		assert_int_equal(calls(&world, line_of(&world, "main", 1), names[i]), i + 1);
	done(&world);
	profile_destroy(world.profile);
}

static void nothing_sampled(void **state)
{
	struct world world = {.profile = sample_profile()};
	(void)state;
	sum(&world, HEAT_FILTER_ALL);
	assert_int_equal(world.heat.n_samples, 0);
	assert_int_equal(world.index.lines.n, 0);
	assert_int_equal(world.heat.by[HEAT_FILES][world.index.files.n - 1].total, 0);
	done(&world);
	profile_destroy(world.profile);
}

static void a_hundred_thousand_frames(void **state)
{
	struct world world = {.profile = sample_profile()};
	uint32_t thread = sample_thread(world.profile, 0, 100, "t");
	struct sample sample = {.weight_ns = 1000000, .n_ticks = 1, .thread = thread};
	(void)state;
	sample_add(world.profile, thread, "down:1|down:2", 1);
	frame_id frame = world.profile->stacks.nodes.at[2].frame;
	sample.stack = 2;
	for (int i = 0; i < 100000; i++)
		assert_int_equal(stacks_push(&world.profile->stacks, sample.stack, frame,
					     &sample.stack),
				 0);
	assert_int_equal(profile_count_sample(world.profile, &sample), 0);
	sum(&world, HEAT_FILTER_ALL);
	check_line(&world, "down", 2, 2, 2);
	check_line(&world, "down", 1, 0, 2);
	assert_int_equal(calls(&world, line_of(&world, "down", 2), "down"), 1);
	done(&world);
	profile_destroy(world.profile);
}

/* Each allocation fails once: an error, and nothing is left behind. */
static void out_of_memory(void **state)
{
	struct heat_filter all = HEAT_FILTER_ALL;
	int rc = TACHY_ENOMEM;
	(void)state;
	if (!FAKE_ALLOC_FAILS)
		skip();
	struct profile *profile = sample_profile();
	sample_add(profile, sample_thread(profile, 0, 100, "t"), "main:1|f:2|<native>|g:3", 1);
	for (int64_t n_good = 0; rc < 0; n_good++) {
		struct heat_index index;
		struct line_heat heat;
		fake_alloc_arm(n_good);
		rc = heat_index_init(profile, &index);
		if (rc >= 0) {
			rc = line_heat_init(&index, &all, &heat);
			if (rc >= 0)
				line_heat_done(&heat);
			heat_index_done(&index);
		}
		fake_alloc_disarm();
		assert_true(rc == 0 || rc == TACHY_ENOMEM);
		assert_true(n_good < 200);
	}
	profile_destroy(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_and_total),
		cmocka_unit_test(own_times_add_up),
		cmocka_unit_test(recursion_counts_once_a_stack),
		cmocka_unit_test(markers),
		cmocka_unit_test(filters),
		cmocka_unit_test(hostile_names_stay_apart),
		cmocka_unit_test(nothing_sampled),
		cmocka_unit_test(a_hundred_thousand_frames),
		cmocka_unit_test(out_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
