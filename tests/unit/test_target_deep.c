/* SPDX-License-Identifier: MIT
 * target_thread.c against the truth: random programs, shallow and deep, whose stack is known at every tick.
 * Whatever is reused of the last tick, the stack that is told must be the one that is.
 */
#include "fake_program.h"

#define TICKS     700
#define DEPTH_MAX 400

static void test_random_programs(void **state)
{
	const struct target_options options = {.no_gc = true};
	struct truth *t = calloc(1, sizeof *t);

	(void)state;
	assert_non_null(t);
	for (unsigned minor = 8; minor <= 15; minor++) {
		memset(t, 0, sizeof *t);
		t->seed = 1234567 + minor;
		open_with(&t->w, minor, &options);
		t->thread = &t->w.main;
		t->depth_max = DEPTH_MAX;
		for (int tick = 0; tick < TICKS; tick++) {
			live_on(t);
			if (tick % 5 == 0)
				take_gil(&t->w, &t->w.main);
			ticks(&t->w, 1);
			check_stack(t, tick);
		}
		assert_true(t->n_shown > 20 * TICKS);
		assert_int_equal(target_flush(t->w.t.target), 0);
		check_total(&t->w, ANY, NULL, TICKS);
		fake_target_close(&t->w.t);
	}
	free(t);
}

/* Deep down, a code object is freed and its place taken by another; all else stays. */
static void replace_below(struct world *w)
{
	struct py *py = &w->t.py;
	char words[512];
	struct py_code code = py_code(py, "old", "old.py", 1);
	call(w, &w->main, 0);
	py_call(py, &w->main, &code);
	for (int i = 0; i < 150; i++)
		call(w, &w->main, 1);
	ticks(w, 5);
	for (int turn = 0; turn < 4; turn++) {
		const char *name = turn % 2 ? "old" : "new";
		py_code_write(py, code.addr, py_str(py, name), py_str(py, name), 1, code.table);
		py_set64(py, py->interp, py->l->interp.code_generation, 2 + (uint64_t)turn);
		ticks(w, 3);
	}
	flush(w);
	for (int turn = 0; turn < 2; turn++) {
		uint64_t n = 0;
		int len = snprintf(words, sizeof words, "f0;%s", turn ? "new" : "old");
		for (size_t i = 0; i < w->t.profile->counts.n; i++) {
			const struct profile_count *count = &w->t.profile->counts.at[i];
			char text[512];
			fake_target_words(w->t.profile, count->stack, text, sizeof text);
			if (strncmp(text, words, (size_t)len) == 0)
				n += count->n_samples;
		}
		assert_int_equal(n, turn ? 6 : 11);
	}
	check_total(w, ANY, NULL, 17);
}

static void test_code_replaced_deep_down(void **state)
{
	(void)state;
	for_versions(8, 15, replace_below);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_programs),
		cmocka_unit_test(test_code_replaced_deep_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
