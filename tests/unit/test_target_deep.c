/* SPDX-License-Identifier: MIT
 * target_thread.c against the truth: random programs, shallow and deep, whose stack is known at every tick.
 * Whatever is reused of the last tick, the stack that is told must be the one that is.
 */
#include "fake_world.h"

#define TICKS     700
#define DEPTH_MAX 400
#define SMALL     12 /* calls or returns between two ticks, mostly */

struct truth {
	struct world w;
	int f[PY_FRAMES_MAX]; /* which function each frame executes, and where */
	int32_t at[PY_FRAMES_MAX];
	uint64_t seed;
	size_t n_shown;
};

static void descend(struct truth *t)
{
	struct py_thread *thread = &t->w.main;
	int f = (int)(dice(&t->seed) % 6);
	uint64_t way = dice(&t->seed) % 16;
	if (way == 0)
		py_call_from_c(&t->w.t.py, thread, &t->w.f[f]);
	else if (way == 1 && thread->n)
		py_resume(&t->w.t.py, thread, &t->w.f[f], 0);
	else
		py_call(&t->w.t.py, thread, &t->w.f[f]);
	t->f[thread->n - 1] = f;
	t->at[thread->n - 1] = 8;
}

/* Some frame, mostly near the leaf, goes on to another instruction. */
static void move_one(struct truth *t)
{
	struct py_thread *thread = &t->w.main;
	size_t back = (size_t)(dice(&t->seed) % (dice(&t->seed) % 4 ? 4 : DEPTH_MAX));
	if (back >= thread->n || !thread->frames[thread->n - 1 - back].code)
		return;
	size_t i = thread->n - 1 - back;
	t->at[i] = (int32_t)(dice(&t->seed) % (PY_CODE_UNITS - 4)) * 2 + 4;
	py_frame_at(&t->w.t.py, thread->frames[i].addr, &t->w.f[t->f[i]], t->at[i]);
}

static void live_on(struct truth *t)
{
	struct py_thread *thread = &t->w.main;
	uint64_t n = dice(&t->seed) % (dice(&t->seed) % 16 ? SMALL : DEPTH_MAX);
	switch (dice(&t->seed) % 5) {
	case 0:
	case 1:
		for (; n && thread->n + 2 < DEPTH_MAX; n--)
			descend(t);
		break;
	case 2:
	case 3:
		for (; n && thread->n > 1; n--)
			py_return(&t->w.t.py, thread);
		break;
	default:
		for (; n; n--)
			move_one(t);
	}
	if (!thread->n)
		descend(t);
}

/* What was told, from the leaf down. */
static void check_stack(struct truth *t, int tick)
{
	const struct py_thread *thread = &t->w.main;
	const struct target *target = t->w.t.target;
	const struct stacks *stacks = &t->w.t.profile->stacks;
	stack_id stack = target->threads.at[0].stack;
	char name[] = "f0";
	for (size_t i = thread->n; i > 0; i--) {
		struct tachy_frame told;
		if (!thread->frames[i - 1].code)
			continue;
		const struct stack_node *node = stacks_node(stacks, stack);
		stacks_describe(stacks, node->frame, &told);
		name[1] = (char)('0' + t->f[i - 1]);
		int32_t line = 10 * t->f[i - 1] + t->at[i - 1] / 4;
		if (!node->depth || strcmp(told.function, name) != 0 || told.line != line)
			fail_msg("3.%u, tick %d: frame %zu of %zu is %s:%d, told is %s:%d",
				 target->layout->minor, tick, i, thread->n, name, line,
				 told.function, told.line);
		stack = node->parent;
		t->n_shown++;
	}
	assert_int_equal(stack, STACK_EMPTY);
}

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
