/* SPDX-License-Identifier: MIT
 * calls.c and call_tree.c: one over time, one summed up, both against plain arrays of stacks.
 */
#include "cases.h"

#include "captured.h"
#include "export/call_tree.h"
#include "export/calls.h"
#include "export/rows.h"

#define MS    1000000u
#define DEPTH 12

/* What is open, and what was said. */
struct log {
	struct places places;
	uint32_t open[64];
	size_t n, n_events;
	uint64_t last_ns, open_ns; /* time with anything open */
	char text[512];
};

static void say(struct log *log, const char *what, uint32_t place, str_id opcode, uint64_t time_ns)
{
	struct tachy_frame frame;
	size_t used = strlen(log->text);
	places_describe(&log->places, place, &frame);
	if (used < sizeof log->text - 64)
		(void)snprintf(log->text + used, sizeof log->text - used, "%s%s@%u ", what,
			       opcode ? strtab_get(log->places.stacks->strings, opcode)
				      : frame.function,
			       (unsigned)(time_ns / MS));
	assert_true(time_ns >= log->last_ns);
	log->open_ns += log->n > 0 ? time_ns - log->last_ns : 0;
	log->last_ns = time_ns;
	log->n_events++;
}

static void on_open(void *ctx, uint32_t place, str_id opcode, uint64_t time_ns)
{
	struct log *log = ctx;
	say(log, "+", place, opcode, time_ns);
	assert_true(log->n < N_OF(log->open));
	log->open[log->n++] = opcode ? UINT32_MAX - opcode : place;
}

static void on_close(void *ctx, uint32_t place, str_id opcode, uint64_t time_ns)
{
	struct log *log = ctx;
	say(log, "-", place, opcode, time_ns);
	assert_true(log->n > 0);
	assert_int_equal(log->open[--log->n], opcode ? UINT32_MAX - opcode : place);
}

static const struct calls_ops ops = {on_open, on_close};

static stack_id last_stack(const struct profile *profile)
{
	return profile->counts.at[profile->counts.n - 1].stack;
}

static struct span span_of(stack_id stack, uint64_t begin, uint64_t end)
{
	return (struct span){.begin_ns = begin * MS, .end_ns = end * MS, .stack = stack};
}

static void what_differs_is_said(void **state)
{
	struct profile *profile = sample_profile();
	uint32_t thread = sample_thread(profile, 0, 100, "t");
	static const char *const stacks[] = {"a:1|b:1", "a:2|b:3",     "a:2|b:3|b:3", "",
					     "",        "a:1|c:1|b:1", "a:1|c:1"};
	struct log log = {.n = 0};
	struct calls calls;
	(void)state;
	struct span spans[N_OF(stacks)];
	for (size_t i = 0; i < N_OF(stacks); i++) {
		sample_add(profile, thread, stacks[i], i + 1);
		spans[i] = span_of(stacks[i][0] ? last_stack(profile) : STACK_EMPTY, i, i + 1);
	}
	spans[6].begin_ns += 10 * MS; /* a gap */
	spans[6].end_ns += 10 * MS;
	assert_int_equal(places_init(profile, false, &log.places), 0);
	calls_init(&calls, &log.places, &ops, &log);
	for (size_t i = 0; i < N_OF(stacks); i++)
		assert_int_equal(calls_add(&calls, &spans[i]), 0);
	calls_end(&calls);
	assert_string_equal(log.text, "+a@0 +b@0 +b@2 -b@3 -b@3 -a@3 +<no Python frame>@3 "
				      "-<no Python frame>@5 +a@5 +c@5 +b@5 -b@6 -c@6 -a@6 "
				      "+a@16 +c@16 -c@17 -a@17 ");
	calls_done(&calls);
	places_done(&log.places);
	profile_destroy(profile);
}

/* A stack of up to DEPTH random frames out of few, so that neighbours share roots. */
static void random_stack(uint64_t *seed, char *text, size_t size)
{
	size_t depth = dice(seed) % DEPTH, used = 0;
	text[0] = '\0';
	for (size_t i = 0; i < depth && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%sf%u:%u", i ? "|" : "",
					 (unsigned)(dice(seed) % (i < 6 ? 1 : 3)),
					 (unsigned)(dice(seed) % 2 + 1));
}

static void open_is_what_the_stack_is(void **state)
{
	uint64_t seed = 17;
	(void)state;
	for (int round = 0; round < 40; round++) {
		struct profile *profile = sample_profile();
		uint32_t thread = sample_thread(profile, 0, 100, "t");
		VEC(stack_id) stacks = {NULL, 0, 0};
		struct log log = {.n = 0};
		struct calls calls;
		for (int i = 0; i < 60; i++) {
			char text[256];
			random_stack(&seed, text, sizeof text);
			sample_add(profile, thread, text, 1);
			for (size_t j = 0; j < profile->counts.n; j++)
				assert_true(vec_push(&stacks, profile->counts.at[j].stack));
		}
		assert_int_equal(places_init(profile, round % 2, &log.places), 0);
		calls_init(&calls, &log.places, &ops, &log);
		uint64_t now = 0, busy = 0;
		for (size_t i = 0; i < stacks.n; i++) {
			stack_id stack = stacks.at[dice(&seed) % stacks.n];
			now += dice(&seed) % 10 == 0 ? 5 : 0;
			struct span span = span_of(stack, now, now + 1);
			now++, busy++;
			assert_int_equal(calls_add(&calls, &span), 0);
			for (size_t depth = log.n; depth-- > 0;) {
				assert_int_equal(log.open[depth],
						 places_of_stack(&log.places, stack));
				stack = stacks_node(&profile->stacks, stack)->parent;
			}
			assert_int_equal(stack, STACK_EMPTY);
		}
		calls_end(&calls);
		assert_int_equal(log.n, 0);
		assert_int_equal(log.open_ns, busy * MS);
		calls_done(&calls);
		places_done(&log.places);
		vec_done(&stacks);
		profile_destroy(profile);
	}
}

/* Own samples by place, and all of them at the root, as rows.c sums them up on its own way. */
static void the_tree_agrees_with_the_rows(void **state)
{
	uint64_t seed = 23;
	(void)state;
	for (int round = 0; round < 40; round++) {
		struct export_options options = {.lines = round % 2, .by_thread = round % 3 == 0};
		struct profile *profile = sample_profile();
		uint32_t process, threads[3] = {sample_thread(profile, 0, 100, "a"),
						sample_thread(profile, 0, 101, "b"), 0};
		struct call_tree tree;
		struct rows rows;
		assert_int_equal(profile_add_process(profile, 200, "other", "3.8.1", &process), 0);
		threads[2] = sample_thread(profile, process, 200, "c");
		for (int i = 0; i < 100; i++) {
			char text[256];
			random_stack(&seed, text, sizeof text);
			sample_add(profile, threads[dice(&seed) % 3], text, dice(&seed) % 9 + 1);
		}
		assert_int_equal(call_tree_init(profile, &options, &tree), 0);
		assert_int_equal(rows_init(profile, ROWS_ALL_THREADS, options.lines, &rows), 0);
		assert_int_equal(tree.nodes.at[0].total, profile->n_samples);
		assert_int_equal(tree.nodes.at[0].total_ns, profile->weight_ns);
		for (size_t r = 0; r < rows.rows.n; r++) {
			uint64_t own = 0, own_ns = 0;
			for (size_t i = 1; i < tree.nodes.n; i++) {
				const struct call_node *node = &tree.nodes.at[i];
				struct tachy_frame frame;
				assert_true(node->parent < i);
				places_describe(&tree.places, node->id, &frame);
				if (node->kind != CALL_PLACE ||
				    strcmp(frame.function, rows.rows.at[r].frame.function) != 0 ||
				    (options.lines && node->id != PLACE_NO_FRAME &&
				     frame.line != rows.rows.at[r].frame.line))
					continue;
				own += node->own;
				own_ns += node->own_ns;
			}
			assert_int_equal(own, rows.rows.at[r].own);
			assert_int_equal(own_ns, rows.rows.at[r].own_ns);
		}
		rows_done(&rows);
		call_tree_done(&tree);
		profile_destroy(profile);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_differs_is_said),
		cmocka_unit_test(open_is_what_the_stack_is),
		cmocka_unit_test(the_tree_agrees_with_the_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
