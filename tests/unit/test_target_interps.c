/* SPDX-License-Identifier: MIT
 * target_interps.c: interpreters that come, go and follow each other at one address, and whom to ride on.
 */
#include "cases.h"

#include "fake_target.h"
#include "sampler/target_interps.h"

struct world {
	struct fake_target t;
	struct py_thread main, other;
	struct py_code codes[2];
	raddr first; /* the main interpreter */
};

static void open_world(struct world *w, unsigned minor)
{
	const struct target_options options = {0};
	memset(w, 0, sizeof *w);
	fake_target_open(&w->t, minor, &options);
	w->first = w->t.py.interp;
	w->codes[0] = py_code(&w->t.py, "zero", "a.py", 1);
	py_thread_start(&w->t.py, &w->main, 0);
	py_call(&w->t.py, &w->main, &w->codes[0]);
	py_set_gil(&w->t.py, w->main.addr, true, 7);
}

/* What follows is done in this interpreter. */
static void enter(struct world *w, raddr interp)
{
	struct py *py = &w->t.py;
	py->interp = interp;
	if (py->l->gil_design == GIL_INTERPRETER)
		py->gil = interp + py->l->interp.gil;
}

static raddr add_interp(struct world *w, int64_t id)
{
	struct py *py = &w->t.py;
	raddr interp = py_add_interp(py, id, w->first);
	py_set64(py, PY_RUNTIME, py->l->runtime.interpreters_head, interp);
	enter(w, interp);
	return interp;
}

static void drop_interp(struct world *w)
{
	py_set64(&w->t.py, PY_RUNTIME, w->t.py.l->runtime.interpreters_head, w->first);
}

static int tick(struct world *w)
{
	return fake_target_tick(&w->t, 1000, true, true);
}

static uint64_t count_of(const struct world *w, int64_t interpreter, const char *words)
{
	uint64_t n = 0;
	for (size_t i = 0; i < w->t.profile->threads.n; i++)
		if (w->t.profile->threads.at[i].interpreter == interpreter)
			n += fake_target_total(&w->t, (uint32_t)i, words).n;
	return n;
}

static void for_versions(unsigned from, unsigned to, void (*test)(struct world *w))
{
	struct world *w = malloc(sizeof *w);
	assert_non_null(w);
	for (unsigned minor = from; minor <= to; minor++) {
		open_world(w, minor);
		test(w);
		fake_target_close(&w->t);
	}
	free(w);
}

/* The next one lies where the last one did: the same addresses, numbers of threads and versions of code. */
static void followed_at_one_address(struct world *w)
{
	struct py *py = &w->t.py;
	raddr at = add_interp(w, 1);
	py_thread_start(py, &w->other, 0);
	w->codes[1] = py_code(py, "one", "b.py", 1);
	py_call(py, &w->other, &w->codes[1]);
	py_set_gil(py, w->other.addr, true, 3);
	assert_int_equal(tick(w), 0);
	assert_int_equal(tick(w), 0);
	py_set64(py, at, py->l->interp.id, 2);
	fake_put(py->fake, w->codes[1].name + py->l->unicode.ascii_size, "two", 3);
	assert_int_equal(tick(w), 0);
	assert_int_equal(target_flush(w->t.target), 0);
	assert_int_equal(count_of(w, 0, "zero"), 3);
	assert_int_equal(count_of(w, 1, "one"), 2);
	assert_int_equal(count_of(w, 1, NULL), 2);
	assert_int_equal(count_of(w, 2, "two"), 1);
	assert_int_equal(count_of(w, 2, NULL), 1);
}

static void tells_followers_apart(void **state)
{
	(void)state;
	for_versions(8, 15, followed_at_one_address);
}

static void come_and_go(struct world *w)
{
	struct py *py = &w->t.py;
	for (int64_t id = 1; id <= 20; id++) {
		raddr interp = add_interp(w, id);
		py_thread_start(py, &w->other, 0);
		py_call(py, &w->other, &w->codes[0]);
		assert_int_equal(tick(w), 0);
		assert_int_equal(w->t.target->threads.n, 2);
		drop_interp(w);
		/* its memory is given back */
		memset(fake_at(py->fake, interp, &(size_t){0}), 0xdb, py->l->interp.size);
		assert_int_equal(tick(w), 0);
		assert_int_equal(w->t.target->threads.n, 1);
		assert_int_equal(count_of(w, id, NULL), 1);
	}
	assert_true(w->t.target->interps.n <= 3);
	assert_int_equal(target_flush(w->t.target), 0);
	assert_int_equal(count_of(w, 0, "zero"), 40);
}

static void forgets_what_has_ended(void **state)
{
	(void)state;
	for_versions(8, 15, come_and_go);
}

/* A new interpreter is the head of the list before it is anything at all. */
static void in_the_making(struct world *w)
{
	struct py *py = &w->t.py;
	raddr interp = add_interp(w, 1);
	memset(fake_at(py->fake, interp, &(size_t){0}), 0, py->l->interp.size);
	assert_int_equal(fake_target_read(&w->t, true, true), TACHY_ETORN);
	drop_interp(w);
	assert_int_equal(tick(w), 0);
	assert_int_equal(w->t.target->threads.n, 1);
	assert_int_equal(target_flush(w->t.target), 0);
	assert_int_equal(count_of(w, 0, "zero"), 1);
}

static void waits_for_one_in_the_making(void **state)
{
	(void)state;
	for_versions(8, 15, in_the_making);
}

/* Between two looks at the list: the GIL is held by a thread that nobody knows. */
static void held_by_a_stranger(struct world *w)
{
	struct py *py = &w->t.py;
	assert_int_equal(tick(w), 0);
	raddr gil = py->gil;
	add_interp(w, 5);
	py->gil = gil; /* it shares the first one's */
	py_set64(py, py->interp, py->l->interp.gil_ptr, gil);
	py_thread_start(py, &w->other, 0);
	py_call(py, &w->other, &w->codes[0]);
	py_set_gil(py, w->other.addr, true, 8);
	assert_int_equal(mem_view_begin(&w->t.target->view), 0);
	w->t.target->heads_due = false;
	assert_int_equal(target_read(w->t.target, true, true), 0);
	assert_int_equal(w->t.target->touched.n, 2);
	assert_ptr_equal(target_rider(w->t.target, 0, true)->addr, w->other.addr);
}

static void looks_where_the_gil_is(void **state)
{
	(void)state;
	for_versions(8, 15, held_by_a_stranger);
}

/* A thread state that belongs to another interpreter is being made, or has ended. */
static void of_another(struct world *w)
{
	struct py *py = &w->t.py;
	py_set64(py, w->main.addr, py->l->tstate.interp, 0x1000);
	assert_int_equal(tick(w), TACHY_ETORN);
	py_set64(py, w->main.addr, py->l->tstate.interp, w->first);
	assert_int_equal(tick(w), 0);
}

static void doubts_a_foreign_thread(void **state)
{
	(void)state;
	for_versions(8, 15, of_another);
}

static raddr rider(struct world *w, raddr present, bool stay)
{
	const struct target_thread *thread = target_rider(w->t.target, present, stay);
	return thread ? thread->addr : 0;
}

static void two_gils(struct world *w)
{
	struct py *py = &w->t.py;
	add_interp(w, 1);
	py_thread_start(py, &w->other, 0);
	py_call(py, &w->other, &w->codes[0]);
	py_set_gil(py, w->other.addr, true, 3);
	assert_int_equal(tick(w), 0);
	raddr a = rider(w, 0, true), b = rider(w, a, false);
	assert_true(a != b && (a == w->main.addr || a == w->other.addr));
	assert_int_equal(rider(w, b, false), a);
	assert_int_equal(rider(w, a, true), a);
	assert_int_equal(rider(w, b, true), b);
	w->t.target->still_gil = py->gil;
	assert_true(target_runs_beside(w->t.target));
	py_set_gil(py, w->other.addr, false, 3); /* it sleeps */
	assert_int_equal(tick(w), 0);
	assert_int_equal(rider(w, w->other.addr, true), w->main.addr);
	w->t.target->still_gil = w->first + py->l->interp.gil;
	assert_false(target_runs_beside(w->t.target));
	enter(w, w->first);
	py_set_gil(py, w->main.addr, false, 7); /* all sleep: who ran last */
	assert_int_equal(tick(w), 0);
	assert_int_equal(rider(w, 0, true), w->main.addr);
}

static void rides_in_turn(void **state)
{
	(void)state;
	for_versions(12, 15, two_gils);
}

static void rides_without_a_gil(void **state)
{
	struct world *w = malloc(sizeof *w);
	(void)state;
	assert_non_null(w);
	for (unsigned minor = 13; minor <= 15; minor++) {
		open_world(w, minor | PY_FREE_THREADED);
		struct py *py = &w->t.py;
		py_thread_start(py, &w->other, 0);
		py_call(py, &w->other, &w->codes[0]);
		assert_int_equal(tick(w), 0);
		assert_true(rider(w, 0, true) != 0); /* nobody is attached: anyone */
		py_set32(py, w->other.addr, py->l->tstate.state, 1);
		assert_int_equal(tick(w), 0);
		assert_int_equal(rider(w, w->main.addr, true), w->other.addr);
		py_set32(py, w->main.addr, py->l->tstate.state, 1);
		assert_int_equal(tick(w), 0);
		assert_int_equal(rider(w, w->main.addr, false), w->other.addr);
		assert_int_equal(rider(w, w->other.addr, false), w->main.addr);
		w->t.target->still_thread = w->main.addr;
		assert_true(target_runs_beside(w->t.target));
		py_set32(py, w->other.addr, py->l->tstate.state, 0);
		assert_int_equal(tick(w), 0);
		assert_false(target_runs_beside(w->t.target));
		fake_target_close(&w->t);
	}
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_followers_apart),
		cmocka_unit_test(forgets_what_has_ended),
		cmocka_unit_test(waits_for_one_in_the_making),
		cmocka_unit_test(looks_where_the_gil_is),
		cmocka_unit_test(doubts_a_foreign_thread),
		cmocka_unit_test(rides_in_turn),
		cmocka_unit_test(rides_without_a_gil),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
