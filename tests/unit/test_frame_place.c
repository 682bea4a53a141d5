/* SPDX-License-Identifier: MIT
 * Heap frames whose places have been those of other code, in a target that runs on while it is read.
 */
#include "fake_world.h"

#include "sampler/frame_place.h"

/* f0 calls f1, which calls f2; later f3 lies where f1 did, and f2 where it was. The place of f3. */
static raddr reuse_place(struct world *w)
{
	call(w, &w->main, 0);
	raddr place = py_call(&w->t.py, &w->main, &w->f[1]);
	call(w, &w->main, 2);
	ticks(w, 1);
	py_return(&w->t.py, &w->main);
	py_return(&w->t.py, &w->main);
	w->t.py.heap = place;
	assert_int_equal(py_call(&w->t.py, &w->main, &w->f[3]), place);
	call(w, &w->main, 2);
	return place;
}

static void bear_witness(struct world *w)
{
	reuse_place(w);
	assert_int_equal(fake_target_read(&w->t, true, false), 0);
	assert_true(w->t.target->joint.doubted);
	ticks(w, 1);
	assert_false(w->t.target->joint.doubted);
	ticks(w, 1); /* as it was: no need to ask again */
	assert_false(w->t.target->joint.doubted);
	flush(w);
	check_total(w, ANY, "f0;f1;f2", 1);
	check_total(w, ANY, "f0;f3;f2", 2);
}

static void test_two_readings_agree(void **state)
{
	(void)state;
	for_versions(8, 10, bear_witness);
}

/* The caller is another one by the second reading. */
static void contradict(struct world *w)
{
	raddr place = reuse_place(w);
	assert_int_equal(fake_target_read(&w->t, true, false), 0);
	py_set64(&w->t.py, place, w->t.py.l->frame.code, w->f[4].addr);
	assert_int_equal(fake_target_read(&w->t, true, false), 0);
	assert_true(w->t.target->joint.doubted);
	py_set64(&w->t.py, place, w->t.py.l->frame.code, w->f[3].addr);
	w->t.target->joint.solid = true;
	ticks(w, 1);
	assert_false(w->t.target->joint.doubted);
	flush(w);
	check_total(w, ANY, "f0;f1;f2", 1);
	check_total(w, ANY, "f0", 1);
	check_total(w, ANY, NULL, 2);
}

static void test_two_readings_differ(void **state)
{
	(void)state;
	for_versions(8, 10, contradict);
}

/* A caller that has gone on may have another callee: what stands on it is not known to have. */
static void go_on(struct world *w)
{
	raddr place = reuse_place(w);
	assert_int_equal(fake_target_read(&w->t, true, false), 0);
	py_frame_at(&w->t.py, place, &w->f[3], 4);
	w->t.target->joint.solid = true;
	ticks(w, 1);
	flush(w);
	check_total(w, ANY, "f0;f1;f2", 1);
	check_total(w, ANY, "f0;f3", 1);
}

static void test_caller_goes_on(void **state)
{
	(void)state;
	for_versions(8, 10, go_on);
}

/* Code that always lies in the same place needs no witness. */
static void stay(struct world *w)
{
	call(w, &w->main, 0);
	raddr place = py_call(&w->t.py, &w->main, &w->f[1]);
	ticks(w, 1);
	for (int i = 0; i < 3; i++) {
		py_return(&w->t.py, &w->main);
		ticks(w, 1);
		w->t.py.heap = place;
		assert_int_equal(py_call(&w->t.py, &w->main, &w->f[1]), place);
		ticks(w, 1);
		assert_false(w->t.target->joint.doubted);
	}
	flush(w);
	check_total(w, ANY, "f0;f1", 4);
	check_total(w, ANY, "f0", 3);
}

static void test_places_of_one_code(void **state)
{
	(void)state;
	for_versions(8, 10, stay);
}

/* ---- by themselves -------------------------------------------------------------------------- */

static struct raw_frame frame(raddr addr, raddr code, raddr back, int64_t at)
{
	return (struct raw_frame){.addr = addr, .code = code, .back = back, .at = at};
}

static void test_shared_for_good(void **state)
{
	(void)state;
	struct frame_places places;
	frame_places_init(&places);
	struct raw_frame a = frame(0x1000, 0x50, 0, 2), b = frame(0x1000, 0x60, 0, 2);
	assert_false(frame_places_shared(&places, &a, 1));
	assert_false(frame_places_shared(&places, &a, 1));
	assert_true(frame_places_shared(&places, &b, 1));
	assert_true(frame_places_shared(&places, &a, 1));
	assert_true(frame_places_shared(&places, &a, 1));
	frame_places_done(&places);
}

static void test_places_are_bounded(void **state)
{
	(void)state;
	struct frame_places places;
	frame_places_init(&places);
	for (raddr addr = 16; addr < 16 * 300000; addr += 16) {
		struct raw_frame one = frame(addr, 0x50, 0, 2);
		assert_false(frame_places_shared(&places, &one, 1));
		assert_true(places.codes.n < 70000);
	}
	frame_places_done(&places);
}

/* Readings that were taken over frames that were not read, of different number. */
static void test_looks_on_different_bases(void **state)
{
	(void)state;
	struct raw_frame below[] = {frame(1, 50, 0, 2), frame(2, 50, 1, 2), frame(3, 50, 2, 2)};
	struct raw_frame all[] = {frame(4, 60, 3, 2), below[2], below[1], below[0]};
	struct raw_stack high = {.frames = {all, 2, 0}}, low = {.frames = {all, 3, 0}};
	struct frame_look look = {.reading = 0};
	assert_int_equal(frame_look_proves(&look, 1, &low, 1, below), 0);
	assert_int_equal(frame_look_take(&look, 7, &high, 2), 0);
	assert_int_equal(frame_look_proves(&look, 8, &low, 1, below), 4);
	assert_int_equal(frame_look_proves(&look, 9, &low, 1, below), 0); /* not the one before */
	all[0].back = 2;
	assert_int_equal(frame_look_proves(&look, 8, &low, 1, below), 3);
	all[2].at = 4;
	assert_int_equal(frame_look_proves(&look, 8, &low, 1, below), 2);
	frame_look_done(&look);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_readings_agree),
		cmocka_unit_test(test_two_readings_differ),
		cmocka_unit_test(test_caller_goes_on),
		cmocka_unit_test(test_places_of_one_code),
		cmocka_unit_test(test_shared_for_good),
		cmocka_unit_test(test_places_are_bounded),
		cmocka_unit_test(test_looks_on_different_bases),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
