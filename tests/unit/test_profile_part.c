/* SPDX-License-Identifier: MIT
 * profile_part.c
 */
#include "cases.h"

#include "base/error.h"
#include "fake_alloc.h"
#include "model/profile_part.h"

#define N_PROCESSES 3u
#define N_THREADS   7u
#define N_SAMPLES   500u

static struct profile *make(void)
{
	struct profile *profile;
	uint64_t seed = 3;
	assert_int_equal(profile_create(&profile), 0);
	profile_keep(profile, TACHY_TIMELINE_SAMPLES);
	for (uint32_t i = 0, index; i < N_PROCESSES; i++)
		assert_int_equal(profile_add_process(profile, 100 + i, "python3", "3.13.0", &index),
				 0);
	for (uint32_t i = 0, index; i < N_THREADS; i++) {
		struct profile_thread thread = {.process = i % N_PROCESSES, .tid = 1000 + i};
		assert_int_equal(profile_add_thread(profile, &thread, &index), 0);
	}
	for (uint32_t i = 0; i < N_SAMPLES; i++) {
		struct sample sample = {.time_ns = i,
					.weight_ns = dice(&seed) % 1000,
					.n_ticks = 1 + dice(&seed) % 3,
					.thread = (uint32_t)(dice(&seed) % N_THREADS),
					.stack = (stack_id)(dice(&seed) % 5)};
		assert_int_equal(profile_count_sample(profile, &sample), 0);
	}
	return profile;
}

/* The parts together are the whole, and each holds its own only. */
static void parts_make_the_whole(void **state)
{
	struct profile *whole = make();
	uint64_t n_samples = 0, weight_ns = 0;
	size_t n_threads = 0, n_counts = 0, n_timeline = 0;
	(void)state;
	for (uint32_t i = 0; i < N_PROCESSES; i++) {
		struct profile part;
		uint64_t n_part = 0;
		assert_int_equal(profile_part_init(whole, i, &part), 0);
		assert_int_equal(part.processes.n, 1);
		assert_int_equal(part.processes.at[0].pid, 100 + i);
		for (size_t k = 0; k < part.threads.n; k++) {
			assert_int_equal(part.threads.at[k].process, 0);
			assert_int_equal((part.threads.at[k].tid - 1000) % N_PROCESSES, i);
		}
		for (size_t k = 0; k < part.counts.n; k++) {
			assert_true(part.counts.at[k].thread < part.threads.n);
			n_part += part.counts.at[k].n_samples;
		}
		for (size_t k = 0; k < part.timeline.n; k++)
			assert_true(part.timeline.at[k].thread < part.threads.n);
		assert_int_equal(part.n_samples, n_part);
		for (size_t k = 0; k < part.strip.rows.n; k++) {
			assert_true(part.strip.rows.at[k].count < part.counts.n);
			n_part -= part.strip.rows.at[k].n_samples;
		}
		assert_int_equal(n_part, 0);
		n_samples += part.n_samples;
		weight_ns += part.weight_ns;
		n_threads += part.threads.n;
		n_counts += part.counts.n;
		n_timeline += part.timeline.n;
		profile_part_done(&part);
	}
	assert_int_equal(n_samples, whole->n_samples);
	assert_int_equal(weight_ns, whole->weight_ns);
	assert_int_equal(n_threads, N_THREADS);
	assert_int_equal(n_counts, whole->counts.n);
	assert_int_equal(n_timeline, N_SAMPLES);
	profile_destroy(whole);
}

static void out_of_memory(void **state)
{
	struct profile *whole = make();
	int rc = TACHY_ENOMEM;
	(void)state;
	for (int after = 0; FAKE_ALLOC_FAILS && after < 1000 && rc < 0; after++) {
		struct profile part;
		fake_alloc_arm(after);
		rc = profile_part_init(whole, 1, &part);
		(void)fake_alloc_disarm();
		assert_true(rc == 0 || rc == TACHY_ENOMEM);
		assert_true(rc == TACHY_ENOMEM || after > 3);
		if (rc == 0)
			profile_part_done(&part);
	}
	profile_destroy(whole);
	if (!FAKE_ALLOC_FAILS)
		skip();
	assert_int_equal(rc, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_make_the_whole),
		cmocka_unit_test(out_of_memory),
	};
	return cmocka_run_group_tests_name("profile_part", tests, NULL, NULL);
}
