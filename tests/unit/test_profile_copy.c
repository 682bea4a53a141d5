/* SPDX-License-Identifier: MIT
 * profile_copy.c: a copy taken while somebody writes refers to nothing that it does not have.
 */
#include "cases.h"

#include "fake_alloc.h"
#include "model/profile_copy.h"

struct writer {
	struct profile *profile;
	pthread_mutex_t lock;
	bool stop; /* under the lock */
};

static void add_one(struct profile *profile, unsigned i, uint32_t states)
{
	struct stacks *stacks = &profile->stacks;
	struct function function = {.first_line = (int32_t)i};
	struct frame frame = {.at = {(int32_t)i, 0, 0, 0}};
	struct sample sample = {.time_ns = 1 + i * 100000,
				.n_ticks = 1,
				.weight_ns = 10,
				.states = states};
	frame_id id;
	char name[32];
	snprintf(name, sizeof name, "function %u", i);
	assert_int_equal(strtab_add(stacks->strings, name, strlen(name), &function.name), 0);
	assert_int_equal(stacks_function(stacks, &function, &frame.function), 0);
	assert_int_equal(stacks_frame(stacks, &frame, &id), 0);
	assert_int_equal(stacks_push(stacks, STACK_EMPTY, id, &sample.stack), 0);
	assert_int_equal(profile_count_sample(profile, &sample), 0);
}

static void *write_on(void *arg)
{
	struct writer *writer = arg;
	bool stop = false;
	for (unsigned i = 0; !stop && i < 300000; i++) {
		pthread_mutex_lock(&writer->lock);
		add_one(writer->profile, i, 0);
		stop = writer->stop;
		pthread_mutex_unlock(&writer->lock);
	}
	return NULL;
}

static void while_it_is_written(void **state)
{
	struct writer writer = {0};
	pthread_t thread;
	size_t before = 0;
	(void)state;
	assert_int_equal(pthread_mutex_init(&writer.lock, NULL), 0);
	assert_int_equal(profile_create(&writer.profile), 0);
	profile_keep(writer.profile, TACHY_TIMELINE_SAMPLES);
	assert_int_equal(pthread_create(&thread, NULL, write_on, &writer), 0);
	for (unsigned round = 0; round < 10 || before < 1000; round++) {
		struct profile *copy;
		assert_int_equal(profile_copy(writer.profile, &writer.lock, TACHY_MODE_WALL, &copy),
				 0);
		assert_int_equal(copy->n_samples, copy->counts.n);
		assert_int_equal(copy->weight_ns, 10 * copy->counts.n);
		assert_true(copy->counts.n >= before && copy->timeline.n >= copy->counts.n);
		before = copy->counts.n;
		uint64_t n_strip = 0;
		for (size_t i = 0; i < copy->strip.rows.n; i++)
			n_strip += copy->strip.rows.at[i].n_samples;
		assert_int_equal(n_strip, copy->n_samples);
		for (size_t i = 0; i < copy->counts.n; i++) {
			char name[32];
			struct tachy_frame frame;
			assert_true(copy->counts.at[i].stack < copy->stacks.nodes.n);
			stacks_describe(&copy->stacks,
					stacks_node(&copy->stacks, copy->counts.at[i].stack)->frame,
					&frame);
			snprintf(name, sizeof name, "function %zu", i);
			assert_string_equal(frame.function, name);
		}
		profile_destroy(copy);
	}
	pthread_mutex_lock(&writer.lock);
	writer.stop = true;
	pthread_mutex_unlock(&writer.lock);
	pthread_join(thread, NULL);
	assert_true(before > 0);
	profile_destroy(writer.profile);
}

static void in_a_mode(void **state)
{
	const struct {
		enum tachy_mode mode;
		uint64_t n;
	} cases[] = {
		{TACHY_MODE_WALL, 4},
		{TACHY_MODE_GIL, 2},
		{TACHY_MODE_CPU, 1},
		{TACHY_MODE_EXCEPTION, 0},
	};
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct profile *profile, *copy;
	str_id id;
	(void)state;
	assert_int_equal(profile_create(&profile), 0);
	profile_keep(profile, TACHY_TIMELINE_SAMPLES);
	add_one(profile, 1, 0);
	add_one(profile, 2, TACHY_STATE_GIL);
	add_one(profile, 3, TACHY_STATE_GIL | TACHY_STATE_ON_CPU);
	add_one(profile, 4, TACHY_STATE_GC);
	for (size_t i = 0; i < N_OF(cases); i++) {
		assert_int_equal(profile_copy(profile, &lock, cases[i].mode, &copy), 0);
		assert_int_equal(copy->n_samples, cases[i].n);
		assert_int_equal(copy->timeline.n, cases[i].n);
		assert_int_equal(copy->strip.rows.n, cases[i].n);
		assert_int_equal(copy->mode, cases[i].mode);
		assert_int_equal(strtab_add(copy->stacks.strings, "x", 1, &id), TACHY_EINVAL);
		profile_destroy(copy);
	}
	profile_destroy(profile);
}

static void without_memory(void **state)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct profile *profile, *copy = NULL;
	int rc = TACHY_ENOMEM;
	(void)state;
	if (!FAKE_ALLOC_FAILS)
		skip();
	assert_int_equal(profile_create(&profile), 0);
	for (unsigned i = 0; i < 100; i++)
		add_one(profile, i, 0);
	for (int n_good = 0; rc < 0 && n_good < 50; n_good++) {
		fake_alloc_arm(n_good);
		rc = profile_copy(profile, &lock, TACHY_MODE_WALL, &copy);
		fake_alloc_disarm();
		assert_true(rc == 0 || (rc == TACHY_ENOMEM && !copy));
	}
	assert_int_equal(rc, 0);
	profile_destroy(copy);
	profile_destroy(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(while_it_is_written),
		cmocka_unit_test(in_a_mode),
		cmocka_unit_test(without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
