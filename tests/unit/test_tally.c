/* SPDX-License-Identifier: MIT
 * tui/tally.c, tree.c, catalog.c, series.h: sums against plain arrays; what a session never tells.
 */
#include "fake_live.h"

static uint32_t function_id(const struct fake_live *w, const char *name)
{
	for (uint32_t id = 0; id < w->n_functions; id++)
		if (strcmp(w->names[id], name) == 0)
			return id;
	fail_msg("no %s", name);
	return 0;
}

static const struct count *count_of(const struct fake_live *w, const char *name)
{
	return &w->state.tally.functions.at[function_id(w, name)].count;
}

static void recursion_counts_once(void **state)
{
	struct fake_live w;
	(void)state;
	fake_live_open(&w, 24, 80);
	uint32_t thread = fake_live_thread(&w, "t", true);
	fake_live_give(&w, thread, "f:1;f:2;g;f:1;f:2", 7, 0);
	fake_live_give(&w, thread, "f:1;g", 3, 0);
	fake_live_tick(&w, 1);
	assert_int_equal(count_of(&w, "f")->n_own, 7);
	assert_int_equal(count_of(&w, "f")->n_total, 10);
	assert_int_equal(count_of(&w, "g")->n_own, 3);
	assert_int_equal(count_of(&w, "g")->n_total, 10);
	const struct tally *tally = &w.state.tally;
	for (uint32_t id = 0; id < tally->lines.n; id++) {
		const struct told_line *line = &tally->catalog.lines.at[id];
		if (line->function == function_id(&w, "f"))
			assert_int_equal(tally->lines.at[id].count.n_total,
					 line->line == 1 ? 10 : 7);
	}
	assert_int_equal(tally->count.n_total, 10);
	assert_int_equal(tally->tree.nodes.at[TREE_ROOT].count.n_total, 10);
	fake_live_close(&w);
}

/* Whatever is selected: the sums are those of the samples that count, also of those that came later. */
static void selections(void **state)
{
	static const char *const stacks[] = {"a;b;c", "a;b", "a;c;c", "d", "", "d;b;a"};
	const enum tachy_mode modes[] = {TACHY_MODE_WALL, TACHY_MODE_CPU, TACHY_MODE_GIL,
					 TACHY_MODE_EXCEPTION};
	struct fake_live w;
	uint64_t seed = 9, own[3][64][4] = {{{0}}}; /* by thread, states and leaf */
	(void)state;
	fake_live_open(&w, 24, 80);
	for (unsigned i = 0; i < 3; i++)
		(void)fake_live_thread(&w, "t", i == 0);
	fake_live_give(&w, 0, "a;b;c;d", 1, 0);
	own[0][0][3] += 1;
	for (unsigned round = 0; round < 60; round++) {
		for (unsigned i = 0; i < 20; i++) {
			uint32_t thread = (uint32_t)(dice(&seed) % 3);
			uint32_t states = (uint32_t)(dice(&seed) % 64), n = 1 + i;
			const char *stack = stacks[dice(&seed) % N_OF(stacks)];
			fake_live_give(&w, thread, stack, n, states);
			if (*stack)
				own[thread][states][stack[strlen(stack) - 1] - 'a'] += n;
		}
		fake_live_tick(&w, 0.3);
		struct selection selection = {dice(&seed) % 2 ? NO_ID : (uint32_t)(dice(&seed) % 3),
					      modes[dice(&seed) % 4]};
		if (round % 3 == 0)
			assert_int_equal(tally_select(&w.state.tally, selection), 0);
		selection = w.state.tally.selection;
		for (unsigned leaf = 0; leaf < 4; leaf++) {
			char name[] = {(char)('a' + leaf), '\0'};
			uint64_t want = 0;
			for (uint32_t thread = 0; thread < 3; thread++)
				for (uint32_t states = 0; states < 64; states++)
					if ((selection.thread == NO_ID ||
					     selection.thread == thread) &&
					    tally_mode_counts(selection.mode, states))
						want += own[thread][states][leaf];
			assert_int_equal(count_of(&w, name)->n_own, want);
		}
	}
	tally_reset(&w.state.tally);
	assert_int_equal(w.state.tally.count.n_total, 0);
	assert_int_equal(count_of(&w, "a")->n_total, 0);
	fake_live_close(&w);
}

static void a_second_process_is_a_level(void **state)
{
	struct fake_live w;
	struct tachy_live_event event = {.kind = TACHY_LIVE_PROCESS, .id = 1};
	(void)state;
	fake_live_open(&w, 24, 80);
	(void)fake_live_thread(&w, "t", true);
	fake_live_give(&w, 0, "a;b", 5, 0);
	fake_live_tick(&w, 1);
	event.process.pid = 4712;
	event.process.command = "child";
	event.process.version = "3.12.1";
	state_event(&w.state, &event);
	event = (struct tachy_live_event){.kind = TACHY_LIVE_THREAD, .id = 1};
	event.thread.name = "u";
	event.thread.process = 1;
	w.n_threads++;
	state_event(&w.state, &event);
	fake_live_give(&w, 1, "a;b", 3, 0);
	fake_live_tick(&w, 1);
	fake_live_keys(&w, "2");
	const struct list *list = &w.state.lists[VIEW_TREE];
	const struct tree *tree = &w.state.tally.tree;
	assert_int_equal(list->rows.n, 4); /* two processes, open, with an `a` each */
	assert_int_equal(tree->nodes.at[list->rows.at[0].id].label, TREE_PROCESS | 0);
	assert_int_equal(tree->nodes.at[list->rows.at[0].id].count.n_total, 5);
	assert_int_equal(tree->nodes.at[list->rows.at[2].id].count.n_total, 3);
	assert_int_equal(count_of(&w, "b")->n_own, 8);
	fake_live_close(&w);
}

static void seconds(void **state)
{
	struct series series = {{0}, 0};
	(void)state;
	for (int64_t s = 100; s < 130; s++)
		series_add(&series, s, (uint64_t)s * 1000);
	assert_int_equal(series_sum(&series, 129, 1), 129);
	assert_int_equal(series_sum(&series, 129, 3), 129 + 128 + 127);
	assert_int_equal(series_sum(&series, 131, 3), 129);
	assert_int_equal(series_sum(&series, 200, 5), 0);
	series_add(&series, 133, 7000);
	assert_int_equal(series_sum(&series, 133, 6), 7 + 129 + 128);
	series_add(&series, 500, 1000);
	assert_int_equal(series_sum(&series, 500, 15), 1);
}

/* Ids that do not follow are refused, and nothing is counted for them. */
static void nonsense(void **state)
{
	struct tally tally;
	struct tachy_live_event event = {.kind = TACHY_LIVE_SAMPLE, .id = 0};
	(void)state;
	assert_int_equal(tally_init(&tally), 0);
	assert_int_equal(tally_take(&tally, &event, 1), TACHY_ECORRUPT);
	event.kind = TACHY_LIVE_THREAD;
	assert_int_equal(tally_take(&tally, &event, 1), TACHY_ECORRUPT); /* of no process */
	event.kind = TACHY_LIVE_FRAME;
	assert_int_equal(tally_take(&tally, &event, 1), TACHY_ECORRUPT); /* of no function */
	event.kind = TACHY_LIVE_STACK;
	event.id = 1;
	assert_int_equal(tally_take(&tally, &event, 1), TACHY_ECORRUPT); /* of no frame */
	event.kind = TACHY_LIVE_FUNCTION;
	assert_int_equal(tally_take(&tally, &event, 1), TACHY_ECORRUPT); /* a gap */
	event.kind = TACHY_LIVE_PROCESS;
	assert_int_equal(tally_take(&tally, &event, 1), TACHY_ECORRUPT);
	assert_int_equal(tally_settle(&tally, 1, true), 0);
	assert_int_equal(tally.count.n_total, 0);
	tally_done(&tally);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(selections),
		cmocka_unit_test(a_second_process_is_a_level),
		cmocka_unit_test(seconds),
		cmocka_unit_test(nonsense),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
