/* SPDX-License-Identifier: MIT
 * Generators in a target that runs on while it is read.
 */
#include "fake_world.h"

#include "sampler/joint.h"

/* main calls f1, which resumes a generator of f3, which calls f4. */
static raddr resume(struct world *w)
{
	call(w, &w->main, 0);
	call(w, &w->main, 1);
	raddr generator = py_resume(&w->t.py, &w->main, &w->f[3], 0);
	call(w, &w->main, 4);
	return generator;
}

/* What is not planned yet is read after the batch: never one moment, see test_chunk_read_late. */
static void plan(struct world *w)
{
	assert_int_equal(fake_target_read(&w->t, true, false), TACHY_ETORN);
}

/* The first reading does not know what to look at again; the second does. */
static void prove(struct world *w)
{
	struct joint *joint = &w->t.target->joint;
	resume(w);
	plan(w);
	assert_int_equal(fake_target_read(&w->t, true, false), 0);
	assert_true(joint->doubted);
	joint_watch(joint, 0, &w->t.target->view);
	assert_int_equal(fake_target_read(&w->t, true, false), 0);
	assert_false(joint->doubted);
}

static void test_proved_by_last_words(void **state)
{
	(void)state;
	for_versions(11, 15, prove);
}

struct change {
	struct world *w;
	raddr at; /* when this is read, f1's frame becomes one of f2 */
};

static void change_caller(struct fake_mem *fake, raddr addr, void *arg)
{
	const struct change *change = arg;
	struct world *w = change->w;
	const struct layout *l = w->t.py.l;
	uint64_t code = w->f[2].addr;
	(void)fake;
	if (addr > change->at || change->at >= addr + 512)
		return;
	py_set64(&w->t.py, w->main.frames[1].addr, l->frame.code,
		 code | (l->minor >= 14 ? PY_TAG : 0));
	py_frame_at(&w->t.py, w->main.frames[1].addr, &w->f[2], 8);
	py_set64(&w->t.py, change->at, l->frame.back, w->main.frames[0].addr);
}

/* The caller becomes another while the generator is copied: each part is whole, and they never were one. */
static void disprove(struct world *w)
{
	struct joint *joint = &w->t.target->joint;
	struct change change = {w, resume(w)};
	plan(w);
	assert_int_equal(fake_target_read(&w->t, true, false), 0);
	joint_watch(joint, 0, &w->t.target->view);
	w->t.py.fake->before = change_caller;
	w->t.py.fake->before_arg = &change;
	assert_int_equal(fake_target_read(&w->t, true, false), 0);
	w->t.py.fake->before = NULL;
	assert_true(joint->doubted);
}

static void test_disproved(void **state)
{
	(void)state;
	for_versions(11, 15, disprove);
}

/* What cannot be proved is left out, from the lowest generator on. */
static void leave_out(struct world *w)
{
	resume(w);
	w->t.target->joint.solid = true;
	assert_int_equal(fake_target_tick(&w->t, MS, true, true), 0);
	flush(w);
	check_total(w, ANY, "f0;f1", 1);
	check_total(w, ANY, NULL, 1);
}

static void test_left_out(void **state)
{
	(void)state;
	for_versions(11, 15, leave_out);
}

/* A frame at its very beginning may be one of other code in a moment. One that stays is what it seems. */
static void begin_frame(struct world *w)
{
	const struct joint *joint = &w->t.target->joint;
	call(w, &w->main, 0);
	raddr leaf = py_call(&w->t.py, &w->main, &w->f[1]);
	py_frame_at(&w->t.py, leaf, &w->f[1], 0);
	plan(w);
	assert_int_equal(fake_target_read(&w->t, true, false), 0);
	assert_true(joint->doubted);
	py_frame_at(&w->t.py, leaf, &w->f[1], 2);
	assert_int_equal(fake_target_read(&w->t, true, false), 0);
	assert_false(joint->doubted); /* gone on within the same frame: there it was in between */
	py_frame_at(&w->t.py, leaf, &w->f[1], 0);
	py_set64(&w->t.py, leaf, w->t.py.l->frame.code,
		 w->f[2].addr | (w->t.py.l->minor >= 14 ? PY_TAG : 0));
	py_frame_at(&w->t.py, leaf, &w->f[2], 0);
	assert_int_equal(fake_target_read(&w->t, true, false), 0);
	assert_true(joint->doubted);
	ticks(w, 2);
	assert_false(joint->doubted);
	flush(w);
	check_total(w, ANY, "f0;f2", 2);
	check_total(w, ANY, NULL, 2);
}

static void test_frames_that_begin(void **state)
{
	(void)state;
	for_versions(11, 15, begin_frame);
}

/* A generator that was just suspended leads nowhere; that its callers live is seen all the same. */
static void rebuild(struct world *w)
{
	raddr generator = resume(w);
	ticks(w, 3);
	py_set64(&w->t.py, generator, w->t.py.l->frame.back, 0);
	if (w->t.py.l->frames == FRAMES_OBJECTS)
		py_set8(&w->t.py, generator, w->t.py.l->frame.executing, 0);
	if (w->t.py.l->frame.state != LAYOUT_NONE)
		py_set8(&w->t.py, generator, w->t.py.l->frame.state, 1);
	assert_int_equal(fake_target_tick(&w->t, MS, true, false), TACHY_ETORN);
	assert_int_equal(fake_target_tick(&w->t, MS, true, true), 0);
	flush(w);
	check_total(w, ANY, "f0;f1;f3;f4", 3);
	check_total(w, ANY, "f0;f1", 1);
	check_total(w, ANY, NULL, 4);
}

static void test_callers_rebuilt(void **state)
{
	(void)state;
	for_versions(8, 15, rebuild);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_proved_by_last_words),
		cmocka_unit_test(test_disproved),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_frames_that_begin),
		cmocka_unit_test(test_callers_rebuilt),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
