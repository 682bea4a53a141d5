/* SPDX-License-Identifier: MIT
 * Threads that have not got the GIL while they are read: from 3.12 on what lies in the C stack is assumed, where the
 * rest proves it. What is told must be true all the same, and what is assumed must not be read.
 */
#include "fake_program.h"

#define TICKS     3000
#define DEPTH_MAX 12

/* As main() of test_target_deep.c, in a thread that gives the GIL back before it is looked at. */
static size_t run_beside(struct truth *t, unsigned minor, bool native)
{
	const struct target_options options = {.no_gc = true, .native = native};
	size_t n_assumed = 0;
	memset(t, 0, sizeof *t);
	t->seed = 7654321 + minor;
	open_with(&t->w, minor, &options);
	call(&t->w, &t->w.main, 0);
	py_thread_start(&t->w.t.py, &t->w.other, 0);
	t->thread = &t->w.other;
	t->depth_max = DEPTH_MAX;
	for (int tick = 0; tick < TICKS; tick++) {
		if (tick % 3 == 0)
			live_on(t);
		take_gil(&t->w, &t->w.main); /* again: `other` had it */
		ticks(&t->w, 1);
		if (native)
			t->n_shown +=
				shown(t)->frames.n; /* markers between the frames: see below */
		else
			check_stack(t, tick);
		n_assumed += shown(t)->fresh.assumed;
	}
	fake_target_close(&t->w.t);
	return n_assumed;
}

static void test_random_programs(void **state)
{
	struct truth *t = calloc(1, sizeof *t);

	(void)state;
	assert_non_null(t);
	for (unsigned minor = 8; minor <= 15; minor++) {
		for (int native = 0; native < 2; native++) {
			size_t n_assumed = run_beside(t, minor, native);
			assert_true(t->n_shown > 2 * TICKS);
			assert_true(minor >= 12 ? n_assumed > TICKS / 50 : n_assumed == 0);
		}
	}
	free(t);
}

/* main;f0 -> C -> f1;f2 of a thread that waits; the C stack below it is then made to say something else. */
static void lie_in_the_c_stack(struct world *w)
{
	struct py *py = &w->t.py;
	const struct layout *l = py->l;
	py_thread_start(py, &w->other, 0);
	call(w, &w->main, 0);
	call(w, &w->other, 0);
	py_call_from_c(py, &w->other, &w->f[1]);
	call(w, &w->other, 2);
	for (int i = 0; i < 3; i++) { /* `other` had it in between: all are looked at */
		take_gil(w, &w->main);
		ticks(w, 1);
	}
	raddr entry = w->other.frames[1].addr;
	py_set64(py, entry, l->frame.back, w->other.base);
	if (w->other.cframe)
		py_set64(py, w->other.cframe, l->cframe.current_frame, w->other.frames[0].addr);
	take_gil(w, &w->main);
	ticks(w, 2);
	flush(w);
	check_total(w, ANY, "f0;f1;f2", 5); /* not read */
	py_set64(py, entry, l->frame.back, w->other.frames[0].addr);
	py_return(py, &w->other); /* other words in the thread state: read */
	take_gil(w, &w->main);
	ticks(w, 2);
	flush(w);
	check_total(w, ANY, "f0;f1;f2", 5);
	check_total(w, ANY, "f0;f1", 2);
	py_resume(py, &w->other, &w->f[3], 0); /* in the heap: the top of the data stack stays */
	take_gil(w, &w->main);
	ticks(w, 2);
	flush(w);
	check_total(w, ANY, "f0;f1;f3", 2);
}

static void test_what_is_assumed(void **state)
{
	(void)state;
	for_versions(12, 15, lie_in_the_c_stack);
}

/* A leaf that is being popped is counted by the thread and is in no stack: nothing is proved by their number. */
static void pop_the_leaf(struct world *w)
{
	struct py *py = &w->t.py;
	py_thread_start(py, &w->other, 0);
	call(w, &w->main, 0);
	call(w, &w->other, 0);
	py_call_from_c(py, &w->other, &w->f[1]);
	call(w, &w->other, 2);
	for (int i = 0; i < 3; i++) {
		take_gil(w, &w->main);
		ticks(w, 1);
	}
	assert_true(shown_thread(w, &w->other)->fresh.counted);
	py_set64(py, py_leaf(&w->other), py->l->frame.code, 0);
	take_gil(w, &w->main);
	assert_int_equal(fake_target_tick(&w->t, MS, true, true), 0);
	assert_false(shown_thread(w, &w->other)->fresh.counted);
	flush(w);
	check_total(w, ANY, "f0;f1;f2", 3);
	check_total(w, ANY, "f0;f1", 1);
}

static void test_popped_leaf(void **state)
{
	(void)state;
	for_versions(12, 15, pop_the_leaf);
}

/* The holder moves while it is read: nothing of it is assumed. */
static void read_the_holder(struct world *w)
{
	struct py *py = &w->t.py;
	call(w, &w->main, 0);
	py_call_from_c(py, &w->main, &w->f[1]);
	ticks(w, 3);
	assert_false(w->t.target->threads.at[0].fresh.assumed);
	py_set64(py, w->main.frames[1].addr, py->l->frame.back, w->main.base);
	ticks(w, 2);
	flush(w);
	check_total(w, ANY, "f0;f1", 3);
	check_total(w, ANY, "f1", 2);
}

static void test_holder_is_read(void **state)
{
	(void)state;
	for_versions(12, 15, read_the_holder);
}

/* A caller of C code, and its callee, that are other functions now; all else is as it was. */
static void replace_caller(struct world *w)
{
	struct py *py = &w->t.py;
	call(w, &w->main, 0);
	py_thread_start(py, &w->other, 0);
	for (int turn = 0; turn < 6; turn++) {
		call(w, &w->other, turn % 3);
		py_call_from_c(py, &w->other, &w->f[3 + turn % 2]);
		take_gil(w, &w->main);
		ticks(w, 2);
		py_return(py, &w->other);
		py_return(py, &w->other);
	}
	flush(w);
	for (int turn = 0; turn < 6; turn++) {
		char words[] = "f0;f0";
		words[1] = (char)('0' + turn % 3);
		words[4] = (char)('3' + turn % 2);
		check_total(w, ANY, words, 2);
	}
}

static void test_caller_replaced(void **state)
{
	(void)state;
	for_versions(8, 15, replace_caller);
}

struct passing {
	struct world *w;
	raddr generator; /* when this is read, the GIL goes to another thread */
	bool ends;       /* and its memory as well */
};

/* Whether the range of the plan that begins at `addr` holds `place`. */
static bool holds(const struct world *w, raddr addr, raddr place)
{
	const struct mem_view *view = &w->t.target->view;
	for (size_t i = 0; i < view->plan.n; i++)
		if (view->plan.at[i].addr == addr)
			return place >= addr && place < addr + view->plan.at[i].size;
	return false;
}

static void pass_on(struct fake_mem *fake, raddr addr, void *arg)
{
	const struct passing *passing = arg;
	struct world *w = passing->w;
	(void)fake;
	if (!holds(w, addr, passing->generator))
		return;
	assert_false(holds(w, addr, w->t.py.gil));
	if (passing->ends) { /* main's, which has called something else meanwhile */
		py_frame_write(&w->t.py, passing->generator, &w->f[5], w->main.frames[0].addr,
			       w->t.py.l->owner.generator);
		py_set_running(&w->t.py, passing->generator, false);
	}
	take_gil(w, &w->other);
}

/* `other` has a function that was called from a generator, and waits. While it is read it gets the GIL, the generator ends,
 * and its memory is that of a generator of main's: a stack of two threads. */
static void mix_threads(struct world *w)
{
	struct py *py = &w->t.py;
	struct passing passing = {.w = w, .ends = true};
	call(w, &w->main, 0);
	call(w, &w->main, 1);
	py_thread_start(py, &w->other, 0);
	call(w, &w->other, 1);
	passing.generator = py_resume(py, &w->other, &w->f[3], 0);
	call(w, &w->other, 4);
	for (int i = 0; i < 3; i++) {
		take_gil(w, &w->main);
		ticks(w, 1);
	}
	py_return(py, &w->other); /* a new stack, of which nobody is a witness */
	call(w, &w->other, 2);
	take_gil(w, &w->main);
	py->fake->before = pass_on;
	py->fake->before_arg = &passing;
	w->t.target->joint.solid = true; /* no other look */
	assert_int_equal(fake_target_tick(&w->t, MS, true, true), 0);
	py->fake->before = NULL;
	flush(w);
	check_total(w, ANY, "f0;f1", 4);
	check_total(w, ANY, "f1;f3;f4", 3);
	check_total(w, ANY, "f0;f5;f2", 0);
	check_total(w, ANY, "f1", 1); /* what is left of it is what lives of its own */
}

static void test_mixed_threads(void **state)
{
	(void)state;
	for_versions(11, 15, mix_threads);
}

/* A stack with a generator in a thread that waits is shown whole, although the GIL is passed on in every reading: when two
 * readings saw it. */
static void keep_generator(struct world *w)
{
	struct py *py = &w->t.py;
	struct passing passing = {.w = w};
	call(w, &w->main, 0);
	py_thread_start(py, &w->other, 0);
	call(w, &w->other, 1);
	passing.generator = py_resume(py, &w->other, &w->f[3], 0);
	take_gil(w, &w->main);
	ticks(w, 1);
	call(w, &w->other, 4);
	for (int i = 0; i < 3; i++) {
		w->t.now_ns += MS;
		py->fake->before = pass_on;
		py->fake->before_arg = &passing;
		for (int look = 0; look < 3; look++) {
			w->t.target->joint.solid = look == 2;
			take_gil(w, &w->main);
			int rc = fake_target_read(&w->t, true, look == 2);
			assert_true(rc == 0 || (rc == TACHY_ETORN && look < 2));
			assert_int_equal(w->t.target->passed_gil, py->gil);
		}
		py->fake->before = NULL;
		assert_int_equal(target_commit(w->t.target, w->t.now_ns, MS), 0);
	}
	flush(w);
	check_total(w, ANY, "f1;f3", 1);
	check_total(w, ANY, "f1;f3;f4", 3);
}

static void test_generator_of_a_waiting_thread(void **state)
{
	(void)state;
	for_versions(11, 15, keep_generator);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_programs),
		cmocka_unit_test(test_what_is_assumed),
		cmocka_unit_test(test_popped_leaf),
		cmocka_unit_test(test_holder_is_read),
		cmocka_unit_test(test_caller_replaced),
		cmocka_unit_test(test_mixed_threads),
		cmocka_unit_test(test_generator_of_a_waiting_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
