/* SPDX-License-Identifier: MIT
 * target.c and target_thread.c where something is used again, torn, broken, or leads in circles.
 */
#include "fake_world.h"

#include <sys/wait.h>
#include <unistd.h>

/* ---- addresses used again ------------------------------------------------------------------- */

/* The thread state's place, and the pthread_t, go to a new thread at once. */
static void take_over(struct world *w)
{
	call(w, &w->main, 0);
	ticks(w, 1);
	py_thread_start(&w->t.py, &w->other, 0);
	call(w, &w->other, 1);
	ticks(w, 4);
	raddr place = w->other.addr;
	size_t left;
	uint64_t ident;
	memcpy(&ident, fake_at(w->t.py.fake, place + w->t.py.l->tstate.thread_id, &left),
	       sizeof ident);
	py_thread_end(&w->t.py, &w->other, NULL);
	py_thread_start(&w->t.py, &w->third, place);
	py_set64(&w->t.py, place, w->t.py.l->tstate.thread_id, ident);
	call(w, &w->third, 2);
	take_gil(w, &w->main);
	ticks(w, 5);
	flush(w);
	check_total(w, 0, "f0", 10);
	check_total(w, 1, "f1", 4);
	check_total(w, 1, NULL, 4);
	check_total(w, 2, "f2", 5);
}

static void test_thread_state_taken_over(void **state)
{
	(void)state;
	for_versions(8, 15, take_over);
}

/* Returns and calls between two ticks: the frame's place is the old one, the function is not. */
static void reuse_frames(struct world *w)
{
	call(w, &w->main, 0);
	raddr first = py_call(&w->t.py, &w->main, &w->f[1]);
	call(w, &w->main, 2);
	ticks(w, 2);
	py_return(&w->t.py, &w->main);
	py_return(&w->t.py, &w->main);
	w->t.py.heap = w->t.py.l->frames == FRAMES_OBJECTS ? first : w->t.py.heap;
	assert_int_equal(py_call(&w->t.py, &w->main, &w->f[3]), first);
	call(w, &w->main, 2);
	ticks(w, 3);
	flush(w);
	check_total(w, ANY, "f0;f1;f2", 2);
	check_total(w, ANY, "f0;f3;f2", 3);
	check_total(w, ANY, NULL, 5);
}

static void test_frame_address_reused(void **state)
{
	(void)state;
	for_versions(8, 15, reuse_frames);
}

/* One generator, two callers by turns. */
static void resume_elsewhere(struct world *w)
{
	raddr generator = 0;
	call(w, &w->main, 0);
	for (int i = 0; i < 10; i++) {
		call(w, &w->main, 1 + i % 2);
		generator = py_resume(&w->t.py, &w->main, &w->f[3], generator);
		call(w, &w->main, 4 + i % 2);
		ticks(w, 2);
		for (int k = 0; k < 3; k++)
			py_return(&w->t.py, &w->main);
	}
	flush(w);
	check_total(w, ANY, "f0;f1;f3;f4", 10);
	check_total(w, ANY, "f0;f2;f3;f5", 10);
	check_total(w, ANY, NULL, 20);
}

static void test_generator_resumed_elsewhere(void **state)
{
	(void)state;
	for_versions(8, 15, resume_elsewhere);
}

/* Only the caller's instruction differs: another line, another stack. */
static void move_caller(struct world *w)
{
	call(w, &w->main, 0);
	call(w, &w->main, 1);
	ticks(w, 2);
	py_frame_at(&w->t.py, w->main.frames[0].addr, &w->f[0], 100);
	ticks(w, 3);
	flush(w);
	check_total(w, ANY, "f0;f1", 5);
	assert_int_equal(w->t.profile->counts.n, 2);
}

static void test_caller_moved(void **state)
{
	(void)state;
	for_versions(8, 15, move_caller);
}

/* The code object under a frame that looks unchanged is another one: freed, and its place taken. */
static void replace_code(struct world *w)
{
	struct py *py = &w->t.py;
	struct py_code code = py_code(py, "old", "old.py", 1);
	call(w, &w->main, 0);
	py_call(py, &w->main, &code);
	call(w, &w->main, 1);
	ticks(w, 2);
	py_code_write(py, code.addr, py_str(py, "new"), py_str(py, "new.py"), 1, code.table);
	py_set64(py, py->interp, py->l->interp.code_generation, 2);
	ticks(w, 3);
	flush(w);
	check_total(w, ANY, "f0;old;f1", 2);
	check_total(w, ANY, "f0;new;f1", 3);
	check_total(w, ANY, NULL, 5);
}

static void test_code_address_reused(void **state)
{
	(void)state;
	for_versions(8, 15, replace_code);
}

/* ---- torn, broken, gone --------------------------------------------------------------------- */

/* One thread's frames cannot be read; that is its own affair. */
static void spoil_one(struct world *w)
{
	struct py *py = &w->t.py;
	call(w, &w->main, 0);
	py_thread_start(py, &w->other, 0);
	call(w, &w->other, 1);
	py_thread_start(py, &w->third, 0);
	call(w, &w->third, 2);
	take_gil(w, &w->main);
	ticks(w, 3);
	if (py->l->frames == FRAMES_CFRAME)
		py_set64(py, w->other.cframe, py->l->cframe.current_frame, 0x10);
	py_set64(py, w->other.addr, py->l->tstate.frame, 0x10);
	py_set64(py, w->other.addr, py->l->tstate.current_frame, 0x10);
	take_gil(w, &w->main);
	assert_true(fake_target_read(&w->t, true, false) < 0); /* may be had by another look */
	for (int i = 0; i < 8; i++) {
		take_gil(w, &w->main);
		assert_int_equal(fake_target_tick(&w->t, MS, i % 2, true), 0);
	}
	py_publish(py, &w->other);
	take_gil(w, &w->main);
	ticks(w, 2);
	flush(w);
	check_total(w, ANY, "f0", 13);
	check_total(w, ANY, "f1", 5);
	check_total(w, ANY, "f2", 13);
	check_total(w, ANY, NULL, 31);
}

static void test_one_unreadable_thread(void **state)
{
	(void)state;
	for_versions(8, 15, spoil_one);
}

/* The thread list breaks off in the middle of a look that is thrown away; the next look is whole. */
static void torn_list(struct world *w)
{
	struct py *py = &w->t.py;
	call(w, &w->main, 0);
	py_thread_start(py, &w->other, 0);
	call(w, &w->other, 1);
	take_gil(w, &w->main);
	ticks(w, 3);
	py_set64(py, py->interp, py->l->interp.threads_head, 0x1000);
	assert_true(fake_target_read(&w->t, true, false) < 0);
	py_set64(py, py->interp, py->l->interp.threads_head, w->other.addr);
	ticks(w, 4);
	assert_int_equal(w->t.target->threads.n, 2);
	flush(w);
	check_total(w, ANY, "f0", 7);
	check_total(w, ANY, "f1", 7);
	assert_int_equal(w->t.target->counts.threads_seen, 2);
}

static void test_torn_list(void **state)
{
	(void)state;
	for_versions(8, 15, torn_list);
}

/* A thread that only a torn look has seen never was. */
static void torn_thread(struct world *w)
{
	struct py *py = &w->t.py;
	call(w, &w->main, 0);
	ticks(w, 2);
	py_thread_start(py, &w->other, 0);
	call(w, &w->other, 1);
	py_set64(py, py_leaf(&w->other), py->l->frame.back, 0x10);
	assert_true(fake_target_read(&w->t, true, false) < 0);
	py_thread_end(py, &w->other, NULL);
	ticks(w, 3);
	flush(w);
	check_total(w, ANY, NULL, 5);
	check_total(w, ANY, "f0", 5);
	assert_int_equal(w->t.target->threads.n, 1);
}

static void test_torn_thread(void **state)
{
	(void)state;
	for_versions(8, 15, torn_thread);
}

static void set_ids(struct world *w, uint64_t thread_id, uint64_t native_id)
{
	struct py *py = &w->t.py;
	py_set64(py, w->other.addr, py->l->tstate.thread_id, thread_id);
	py_set64(py, w->other.addr, py->l->tstate.native_thread_id, native_id);
}

/* A thread state that has no ids, or those of the thread that made it, is nobody yet. */
static void unborn_thread(struct world *w)
{
	struct py *py = &w->t.py;
	const struct target *target = w->t.target;
	call(w, &w->main, 0);
	ticks(w, 2);
	py_thread_start(py, &w->other, 0);
	set_ids(w, 0, 0);
	ticks(w, 1);
	assert_int_equal(target->threads.n, 1);
	set_ids(w, target->threads.at[0].thread_id, target->threads.at[0].native_id);
	ticks(w, 2);
	assert_int_equal(target->threads.n, 1);
	set_ids(w, 0x7fff77770000u, PY_PID + 7);
	call(w, &w->other, 1);
	ticks(w, 4);
	flush(w);
	check_total(w, ANY, "f0", 9);
	check_total(w, ANY, "f1", 4);
	check_total(w, ANY, NULL, 13);
	assert_int_equal(target->counts.threads_seen, 2);
}

static void test_unborn_thread(void **state)
{
	(void)state;
	for_versions(8, 15, unborn_thread);
}

/* Dead frames on top: another look; or, when there is no other, without them. */
static void salvage_leaf(struct world *w)
{
	for (int i = 0; i < 3; i++)
		call(w, &w->main, i);
	ticks(w, 2);
	py_frame_at(&w->t.py, py_leaf(&w->main), &w->f[2], 100000);
	assert_int_equal(fake_target_tick(&w->t, MS, true, false), TACHY_ETORN);
	assert_int_equal(fake_target_tick(&w->t, MS, true, true), 0);
	flush(w);
	check_total(w, ANY, "f0;f1;f2", 2);
	check_total(w, ANY, "f0;f1", 1);
	assert_int_equal(fake_target_total(&w->t, ANY, "f0;f1").weight_ns,
			 2u * MS); /* the lost tick's too */
	assert_int_equal(w->t.target->counts.salvaged, 1);
}

static void test_salvage(void **state)
{
	(void)state;
	for_versions(8, 15, salvage_leaf);
}

/* f1 stands at its return. */
static void return_f1(struct world *w, raddr frame)
{
	const raddr at = w->f[1].addr + w->t.py.l->code.bytecode + 40;
	fake_put_u8(w->t.py.fake, at, py_opcode(&w->t.py, "RETURN_VALUE"));
	py_frame_at(&w->t.py, frame, &w->f[1], 40);
}

/* f1 has returned and lies there still, as frames do until the next call; what lies above it is left over from another
 * caller's call. */
static void caller_has_returned(struct world *w)
{
	for (int i = 0; i < 3; i++)
		call(w, &w->main, i);
	ticks(w, 2);
	return_f1(w, w->main.frames[1].addr);
	assert_int_equal(fake_target_tick(&w->t, MS, true, false), TACHY_ETORN);
	assert_int_equal(fake_target_tick(&w->t, MS, true, true), 0);
	flush(w);
	check_total(w, ANY, "f0;f1;f2", 2);
	check_total(w, ANY, "f0", 1);
}

/* f0;f1, whose f1 has returned and lies there still, while the thread's leaf is where it lies once more. */
static void leaf_that_is_over(struct world *w)
{
	call(w, &w->main, 1);
	return_f1(w, py_leaf(&w->main));
	py_set_running(&w->t.py, py_leaf(&w->main), false);
}

static void leaf_is_over(struct world *w)
{
	ticks(w, 1); /* no leaf at all yet */
	call(w, &w->main, 0);
	leaf_that_is_over(w);
	for (int i = 0; i < 3;
	     i++) /* it stays, as one does that a trace function in C is told of */
		assert_int_equal(fake_target_tick(&w->t, MS, true, true), 0);
	flush(w);
	check_total(w, ANY, "f0;f1", 3);
	for (int i = 0; i < 2; i++) {
		py_return(&w->t.py, &w->main);
		call(w, &w->main, 2);
		ticks(w, 1);
		py_return(&w->t.py, &w->main);
		leaf_that_is_over(w);
		w->t.target->joint.solid = i; /* no other look */
		assert_int_equal(fake_target_read(&w->t, true, true), 0);
		assert_int_equal(w->t.target->joint.doubted, !i);
	}
	assert_int_equal(target_commit(w->t.target, w->t.now_ns + MS, MS), 0);
	flush(w);
	check_total(w, ANY, "f0;f1", 3);
	check_total(w, ANY, "f0", 1);
}

static void test_leaf_that_is_over(void **state)
{
	(void)state;
	for_versions(11, 13, leaf_is_over);
}

/* A profile function of the return is called from C, and stands on a frame that returns. */
static void returns_into_a_profiler(struct world *w)
{
	call(w, &w->main, 0);
	call(w, &w->main, 1);
	return_f1(w, py_leaf(&w->main));
	py_call_from_c(&w->t.py, &w->main, &w->f[2]);
	ticks(w, 1);
	assert_int_equal(fake_target_tick(&w->t, MS, true, false), 0);
	flush(w);
	check_total(w, ANY, "f0;f1;f2", 2);
}

static void test_caller_has_returned(void **state)
{
	(void)state;
	for_versions(11, 15, caller_has_returned);
	for_versions(11, 15, returns_into_a_profiler);
}

/* The data stack has grown beyond what was planned: its frames are of two readings, of two moments. */
static void chunk_read_late(struct world *w)
{
	call(w, &w->main, 0);
	ticks(w, 2);
	for (int i = 0; i < 40; i++)
		call(w, &w->main, 1);
	assert_int_equal(fake_target_read(&w->t, true, false), TACHY_ETORN);
	assert_int_equal(fake_target_read(&w->t, true, false), 0);
}

static void test_chunk_read_late(void **state)
{
	(void)state;
	for_versions(11, 15, chunk_read_late);
}

/* Where nothing can be saved there is no stack: that is no sample of an empty one. */
static void salvage_nothing(struct world *w)
{
	call(w, &w->main, 0);
	py_thread_start(&w->t.py, &w->other, 0);
	call(w, &w->other, 1);
	ticks(w, 2);
	take_gil(w, &w->main);
	py_frame_at(&w->t.py, py_leaf(&w->main), &w->f[0], 100000);
	(void)fake_target_tick(&w->t, MS, true, true);
	flush(w);
	check_total(w, ANY, "", 0);
	check_total(w, ANY, "f0", 2);
	check_total(w, ANY, "f1", 3);
}

static void test_nothing_to_salvage(void **state)
{
	(void)state;
	for_versions(8, 15, salvage_nothing);
}

/* Of the only thread nothing can be saved: then the tick is lost, and its time goes to the next. */
static void all_is_lost(struct world *w)
{
	call(w, &w->main, 0);
	ticks(w, 2);
	py_frame_at(&w->t.py, py_leaf(&w->main), &w->f[0], 100000);
	assert_int_equal(fake_target_tick(&w->t, MS, true, true), TACHY_ETORN);
	py_frame_at(&w->t.py, py_leaf(&w->main), &w->f[0], 8);
	ticks(w, 1);
	flush(w);
	check_total(w, ANY, NULL, 3);
	assert_int_equal(fake_target_total(&w->t, ANY, NULL).weight_ns, 4u * MS);
}

static void test_all_is_lost(void **state)
{
	(void)state;
	for_versions(8, 15, all_is_lost);
}

/* 3.11, 3.12: a C frame is made known before it is filled (Python/ceval.c, _PyEval_EvalFrameDefault). Until
 * then its current_frame is what the C stack held before: a generator that was suspended long ago. */
static void unfilled_cframe(struct world *w)
{
	struct py *py = &w->t.py;
	raddr cframe = py_alloc(py, py->l->cframe.size);
	call(w, &w->main, 0);
	call(w, &w->main, 1);
	raddr stale = py_resume(py, &w->main, &w->f[2], 0);
	ticks(w, 2);
	py_return(py, &w->main);
	py_set64(py, stale, py->l->frame.back, 0);
	py_set64(py, cframe, py->l->cframe.current_frame, stale);
	py_set64(py, cframe, py->l->cframe.previous, w->main.cframe);
	py_set64(py, w->main.addr, py->l->tstate.cframe, cframe);
	for (int i = 0; i < 4; i++)
		assert_int_equal(fake_target_tick(&w->t, MS, i % 2, true), 0);
	flush(w);
	check_total(w, ANY, "f0;f1;f2", 2);
	check_total(w, ANY, "f0;f1", 4);
	check_total(w, ANY, NULL, 6);
}

static void test_unfilled_cframe(void **state)
{
	(void)state;
	for_versions(11, 12, unfilled_cframe);
}

/* The code object deep in the stack is none any more: what is above it goes, what is below it stays. */
static void salvage_above_code(struct world *w)
{
	struct py_code gone = py_code(&w->t.py, "gone", "a.py", 1);
	call(w, &w->main, 0);
	call(w, &w->main, 1);
	py_call(&w->t.py, &w->main, &gone);
	call(w, &w->main, 2);
	py_set64(&w->t.py, gone.addr, w->t.py.l->object.ob_type, 0);
	assert_true(fake_target_tick(&w->t, MS, true, false) < 0);
	assert_int_equal(fake_target_tick(&w->t, MS, true, true), 0);
	flush(w);
	check_total(w, ANY, "f0;f1", 1);
}

static void test_code_gone_under_a_stack(void **state)
{
	(void)state;
	for_versions(8, 15, salvage_above_code);
}

/* ---- circles -------------------------------------------------------------------------------- */

static void thread_after_itself(struct world *w)
{
	py_set64(&w->t.py, w->main.addr, w->t.py.l->tstate.next, w->main.addr);
}

static void interp_after_itself(struct world *w)
{
	py_set64(&w->t.py, w->t.py.interp, w->t.py.l->interp.next, w->t.py.interp);
}

static void all_after_themselves(struct world *w)
{
	thread_after_itself(w);
	interp_after_itself(w);
	py_set64(&w->t.py, py_leaf(&w->main), w->t.py.l->frame.back, py_leaf(&w->main));
}

/* In a child, where a loop without end can be stopped. */
static void must_end(unsigned minor, void (*spoil)(struct world *w), bool salvage)
{
	fflush(NULL);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct world *w = calloc(1, sizeof *w);
		must_end_soon();
		open_world(w, minor);
		call(w, &w->main, 0);
		call(w, &w->main, 1);
		ticks(w, 2);
		spoil(w);
		take_gil(w, &w->main);
		(void)fake_target_tick(&w->t, MS, true, salvage);
		flush(w);
		fake_target_close(&w->t);
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status != 0)
		fail_msg("3.%u did not end", minor);
}

static void test_circles(void **state)
{
	static void (*const spoils[])(struct world * w) = {thread_after_itself, interp_after_itself,
							   all_after_themselves};

	(void)state;
	for (size_t i = 0; i < 2 * N_OF(spoils); i++)
		for (unsigned minor = 9; minor <= 15; minor += 2)
			must_end(minor, spoils[i / 2], i % 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thread_state_taken_over),
		cmocka_unit_test(test_frame_address_reused),
		cmocka_unit_test(test_generator_resumed_elsewhere),
		cmocka_unit_test(test_caller_moved),
		cmocka_unit_test(test_code_address_reused),
		cmocka_unit_test(test_one_unreadable_thread),
		cmocka_unit_test(test_torn_list),
		cmocka_unit_test(test_torn_thread),
		cmocka_unit_test(test_unborn_thread),
		cmocka_unit_test(test_salvage),
		cmocka_unit_test(test_leaf_that_is_over),
		cmocka_unit_test(test_caller_has_returned),
		cmocka_unit_test(test_chunk_read_late),
		cmocka_unit_test(test_nothing_to_salvage),
		cmocka_unit_test(test_all_is_lost),
		cmocka_unit_test(test_unfilled_cframe),
		cmocka_unit_test(test_code_gone_under_a_stack),
		cmocka_unit_test(test_circles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
