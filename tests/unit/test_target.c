/* SPDX-License-Identifier: MIT
 * target.c on Pythons made by hand: what counts, for whom, and for how long.
 */
#include "fake_world.h"

#define THREADS 20

/* ---- counting ------------------------------------------------------------------------------- */

static void count_runs(struct world *w)
{
	call(w, &w->main, 0);
	call(w, &w->main, 1);
	ticks(w, 5);
	assert_int_equal(w->t.sink.n_samples, 0); /* one run: nothing to tell yet */
	call(w, &w->main, 2);
	ticks(w, 3);
	assert_int_equal(w->t.sink.n_samples, 1);
	py_return(&w->t.py, &w->main);
	ticks(w, 2);
	py_return(&w->t.py, &w->main);
	call(w, &w->main, 3);
	ticks(w, 7);
	flush(w);
	check_total(w, ANY, "f0;f1", 7);
	check_total(w, ANY, "f0;f1;f2", 3);
	check_total(w, ANY, "f0;f3", 7);
	check_total(w, ANY, NULL, 17);
	assert_int_equal(fake_target_total(&w->t, ANY, NULL).weight_ns, 17u * MS);
	ticks(w, 2);
	flush(w);
	flush(w); /* nothing twice */
	check_total(w, ANY, "f0;f3", 9);
	assert_int_equal(w->t.target->counts.thread_samples, 19);
}

static void test_runs(void **state)
{
	(void)state;
	for_versions(8, 15, count_runs);
}

/* Runs that a flush has cut: each piece has the time of its own first tick. */
static void times_of_runs(struct world *w)
{
	static const struct {
		int n_ticks;
		bool flush;
	} pieces[] = {{5, true}, {3, true}, {2, false}, {4, true}};
	uint64_t begin_ns = w->t.now_ns + MS;
	size_t n_kept = 0;
	w->t.profile->keeps_timeline = true;
	call(w, &w->main, 0);
	for (size_t i = 0; i < N_OF(pieces); i++) {
		ticks(w, pieces[i].n_ticks);
		if (pieces[i].flush)
			flush(w);
		else
			call(w, &w->main, 1);
	}
	assert_int_equal(w->t.profile->timeline.n, N_OF(pieces));
	for (size_t i = 0; i < N_OF(pieces); i++, n_kept++) {
		const struct sample *sample = &w->t.profile->timeline.at[n_kept];
		assert_int_equal(sample->time_ns, begin_ns);
		assert_int_equal(sample->n_ticks, pieces[i].n_ticks);
		begin_ns += (uint64_t)pieces[i].n_ticks * MS;
	}
}

static void test_times(void **state)
{
	(void)state;
	for_versions(8, 15, times_of_runs);
}

/* A random program, ticks of random length, some of them lost: sums are exact, per stack and in all. */
static void count_exactly(struct world *w)
{
	static const char *const words[] = {"f0", "f0;f1", "f0;f1;f2", "f0;f1;f2;f3"};
	struct fake_total want[4] = {{0, 0}};
	uint64_t seed = 4711, pending_ns = 0;

	call(w, &w->main, 0);
	for (int i = 0; i < 3000; i++) {
		uint64_t turn = dice(&seed) % 8, step_ns = 1 + dice(&seed) % (3 * MS);
		if (turn == 0 && w->main.n < 4)
			call(w, &w->main, (int)w->main.n);
		else if (turn == 1 && w->main.n > 1)
			py_return(&w->t.py, &w->main);
		bool lose = dice(&seed) % 10 == 0;
		w->t.py.fake->fail = lose ? TACHY_EPERM : 0;
		w->t.py.fake->fail_after = 0;
		int rc = fake_target_tick(&w->t, step_ns, true, false);
		assert_int_equal(rc, lose ? TACHY_EPERM : 0);
		pending_ns += step_ns;
		if (lose)
			continue;
		want[w->main.n - 1].n++;
		want[w->main.n - 1].weight_ns += pending_ns;
		pending_ns = 0;
		if (dice(&seed) % 50 == 0)
			flush(w);
	}
	flush(w);
	for (size_t i = 0; i < N_OF(words); i++) {
		struct fake_total got = fake_target_total(&w->t, ANY, words[i]);
		assert_int_equal(got.n, want[i].n);
		assert_int_equal(got.weight_ns, want[i].weight_ns);
	}
}

static void test_exact_sums(void **state)
{
	(void)state;
	for_versions(8, 15, count_exactly);
}

/* A thread counts from the tick that first saw it to the last one that did. */
static void come_and_go(struct world *w)
{
	call(w, &w->main, 0);
	ticks(w, 4);
	py_thread_start(&w->t.py, &w->other, 0);
	call(w, &w->other, 1);
	ticks(w, 6);
	py_thread_start(&w->t.py, &w->third, 0);
	call(w, &w->third, 2);
	ticks(w, 3);
	py_thread_end(&w->t.py, &w->other, &w->third);
	take_gil(w, &w->main);
	ticks(w, 5);
	py_thread_end(&w->t.py, &w->third, NULL);
	ticks(w, 2);
	flush(w);
	check_total(w, 0, "f0", 20);
	check_total(w, 1, "f1", 9);
	check_total(w, 2, "f2", 8);
	check_total(w, ANY, NULL, 37);
	assert_int_equal(w->t.target->threads.n, 1);
	assert_int_equal(w->t.target->counts.threads_seen, 3);
	assert_true(w->t.profile->threads.at[0].main ||
		    w->t.py.l->minor < 11); /* no kernel id: no main */
	assert_false(w->t.profile->threads.at[1].main);
}

static void test_threads_come_and_go(void **state)
{
	(void)state;
	for_versions(8, 15, come_and_go);
}

/* A thread state without a frame is a thread all the same. */
static void no_frames(struct world *w)
{
	py_thread_start(&w->t.py, &w->other, 0);
	call(w, &w->other, 1);
	ticks(w, 3);
	flush(w);
	check_total(w, ANY, "", 3);
	check_total(w, ANY, "f1", 3);
}

static void test_thread_without_frames(void **state)
{
	(void)state;
	for_versions(8, 15, no_frames);
}

/* ---- who can have changed ------------------------------------------------------------------- */

static void skip_idle(struct world *w)
{
	static struct py_thread idle[THREADS];
	struct py_code elsewhere = py_code(&w->t.py, "elsewhere", "b.py", 1);
	call(w, &w->main, 0);
	w->t.py.heap +=
		1 << 20; /* what is read for the others has no page near those of the first */
	for (int i = 0; i < THREADS; i++) {
		py_thread_start(&w->t.py, &idle[i], 0);
		for (int k = 0; k < 10; k++)
			call(w, &idle[i], 1 + k % 2);
	}
	w->t.py.heap += 1 << 20;
	take_gil(w, &w->main);
	ticks(w, 2);
	assert_int_equal(w->t.target->touched.n, 1);
	for (int i = 0; i < 200; i++) { /* until the plan has let go of them */
		raddr heap = w->t.py.heap;
		call(w, &w->main, 2);
		ticks(w, 1);
		py_return(&w->t.py, &w->main);
		ticks(w, 1);
		w->t.py.heap = heap;
	}
	uint64_t bytes = w->t.py.fake->mem.n_bytes, calls = fake_calls(w->t.py.fake);
	ticks(w, 10);
	assert_int_equal(fake_calls(w->t.py.fake) - calls, 10);
	assert_true(w->t.py.fake->batch.n < 16);
	assert_true((w->t.py.fake->mem.n_bytes - bytes) / 10 < 40000);
	/* what an idle thread cannot do is not looked at ... */
	py_call(&w->t.py, &idle[3], &elsewhere);
	ticks(w, 10);
	flush(w);
	check_total(w, ANY, "f1;f2;f1;f2;f1;f2;f1;f2;f1;f2;elsewhere", 0);
	check_total(w, ANY, "f1;f2;f1;f2;f1;f2;f1;f2;f1;f2", THREADS * 422u);
	/* ... until the GIL has been elsewhere */
	take_gil(w, &w->main);
	ticks(w, 10);
	flush(w);
	check_total(w, ANY, "f1;f2;f1;f2;f1;f2;f1;f2;f1;f2;elsewhere", 10);
	check_total(w, ANY, NULL, (THREADS + 1) * 432u);
}

static void test_idle_threads_are_not_read(void **state)
{
	(void)state;
	for_versions(8, 15, skip_idle);
}

/* The holder changes without a switch number (a torn copy), a list changes: all are read. */
static void read_all_when_in_doubt(struct world *w)
{
	call(w, &w->main, 0);
	py_thread_start(&w->t.py, &w->other, 0);
	call(w, &w->other, 1);
	take_gil(w, &w->main);
	ticks(w, 2);
	assert_int_equal(w->t.target->touched.n, 1);
	take_gil(w, &w->other);
	ticks(w, 1);
	assert_int_equal(w->t.target->touched.n, 2);
	ticks(w, 1);
	assert_int_equal(w->t.target->touched.n, 1);
	py_thread_start(&w->t.py, &w->third, 0);
	ticks(w, 1);
	assert_int_equal(w->t.target->touched.n, 3);
	assert_ptr_equal(target_rider(w->t.target, 0, true)->addr, w->other.addr);
	py_set_gil(&w->t.py, 0x1234, true, 5000); /* of a thread that is in no list */
	ticks(w, 2);
	assert_int_equal(w->t.target->touched.n, 0);
	assert_null(target_rider(w->t.target, 0, true));
	flush(w);
	check_total(w, ANY, "f0", 7);
	check_total(w, ANY, "f1", 7);
}

static void test_doubt(void **state)
{
	(void)state;
	for_versions(8, 15, read_all_when_in_doubt);
}

/* ---- gone ----------------------------------------------------------------------------------- */

static void fail_whole(struct world *w)
{
	static const int codes[] = {TACHY_EGONE, TACHY_EPERM};
	struct py *py = &w->t.py;
	call(w, &w->main, 0);
	ticks(w, 2);
	for (size_t i = 0; i < N_OF(codes); i++) {
		py->fake->fail = codes[i];
		assert_int_equal(fake_target_tick(&w->t, MS, true, true), codes[i]);
		py->fake->fail = 0;
	}
	w->t.sink.fail = TACHY_EIO;
	call(w, &w->main, 1);
	assert_int_equal(fake_target_tick(&w->t, MS, true, false), TACHY_EIO);
	assert_int_equal(target_flush(w->t.target), TACHY_EIO);
	w->t.sink.fail = 0;
	py_set64(py, py->runtime, py->l->runtime.interpreters_head, 0);
	assert_int_equal(fake_target_tick(&w->t, MS, true, true), TACHY_EFINALIZING);
	py_set64(py, py->runtime, py->l->runtime.interpreters_head, 0x1000);
	assert_int_equal(fake_target_tick(&w->t, MS, true, true), TACHY_EFAULT);
}

static void test_errors(void **state)
{
	(void)state;
	for_versions(8, 15, fail_whole);
}

/* ---- options -------------------------------------------------------------------------------- */

static void test_options(void **state)
{
	static const struct {
		struct target_options options;
		unsigned from;
		uint64_t n_main, n_other;
	} cases[] = {
		{{.mode = TACHY_MODE_WALL}, 8, 4, 4},
		{{.mode = TACHY_MODE_GIL}, 8, 4, 0},
		{{.mode = TACHY_MODE_EXCEPTION}, 8, 0, 0},
		{{.main_thread_only = true}, 11, 4, 0},
	};
	struct world *w = calloc(1, sizeof *w);

	(void)state;
	assert_non_null(w);
	for (size_t i = 0; i < N_OF(cases); i++) {
		for (unsigned minor = cases[i].from; minor <= 15; minor++) {
			open_with(w, minor, &cases[i].options);
			call(w, &w->main, 0);
			py_thread_start(&w->t.py, &w->other, 0);
			call(w, &w->other, 1);
			ticks(w, 4);
			flush(w);
			check_total(w, ANY, "f0", cases[i].n_main);
			check_total(w, ANY, "f1", cases[i].n_other);
			fake_target_close(&w->t);
		}
	}
	free(w);
}

static void two_interpreters(struct world *w)
{
	struct py *py = &w->t.py;
	raddr main_interp = py->interp;
	call(w, &w->main, 0);
	py->interp = py_add_interp(py, 1, main_interp);
	py_set64(py, py->runtime, py->l->runtime.interpreters_head, py->interp);
	py_thread_start(py, &w->other, 0);
	call(w, &w->other, 1);
	take_gil(w, &w->main);
	ticks(w, 5);
	py_set64(py, py->runtime, py->l->runtime.interpreters_head, main_interp);
	take_gil(w, &w->main);
	ticks(w, 3);
	flush(w);
	check_total(w, ANY, "f0", 8);
	check_total(w, ANY, "f1", 5);
	assert_int_equal(w->t.profile->threads.n, 2);
	bool first_is_main = w->t.profile->threads.at[0].interpreter == 0;
	assert_int_equal(w->t.profile->threads.at[first_is_main].interpreter, 1);
	py->interp = main_interp;
}

static void test_interpreters(void **state)
{
	(void)state;
	for_versions(8, 15, two_interpreters);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_exact_sums),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_threads_come_and_go),
		cmocka_unit_test(test_thread_without_frames),
		cmocka_unit_test(test_idle_threads_are_not_read),
		cmocka_unit_test(test_doubt),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_interpreters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
