/* SPDX-License-Identifier: MIT
 * profile.c
 */
#include "cases.h"

#include "base/error.h"
#include "base/hash.h"
#include "fake_alloc.h"
#include "model/profile.h"

#define SAMPLES 50000u
#define N_CELLS 600u

static struct sample make_sample(uint32_t thread, stack_id stack, uint32_t states, uint64_t n,
				 uint64_t weight)
{
	return (struct sample){.n_ticks = n,
			       .weight_ns = weight,
			       .thread = thread,
			       .stack = stack,
			       .states = states};
}

/* Sums and cells, against plain arrays. */
static void test_sums(void **state)
{
	uint64_t ticks[N_CELLS] = {0}, weight[N_CELLS] = {0}, all_ticks = 0, all_weight = 0,
		 seed = 7;
	struct profile *profile;

	(void)state;
	assert_int_equal(profile_create(&profile), 0);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		uint32_t cell = (uint32_t)(dice(&seed) % N_CELLS);
		struct sample sample = make_sample(cell % 6, cell / 6 % 25, cell / 150,
						   1 + dice(&seed) % 9, dice(&seed) % 1000000);
		ticks[cell] += sample.n_ticks;
		weight[cell] += sample.weight_ns;
		all_ticks += sample.n_ticks;
		all_weight += sample.weight_ns;
		assert_int_equal(profile_count_sample(profile, &sample), 0);
	}
	assert_int_equal(profile->n_samples, all_ticks);
	assert_int_equal(profile->weight_ns, all_weight);
	assert_int_equal(profile->counts.n, N_CELLS);
	for (size_t i = 0; i < profile->counts.n; i++) {
		const struct profile_count *count = &profile->counts.at[i];
		uint32_t cell = count->thread + count->stack * 6 + count->states * 150;
		assert_true(cell < N_CELLS);
		assert_int_equal(count->n_samples, ticks[cell]);
		assert_int_equal(count->weight_ns, weight[cell]);
		ticks[cell] = UINT64_MAX; /* a second cell for the same would be found here */
	}
	profile_destroy(profile);
	profile_destroy(NULL);
}

static void test_a_taken_key(void **state)
{
	struct profile *profile;
	struct sample one = make_sample(1, 2, 3, 1, 10), two = make_sample(4, 5, 6, 1, 20);

	(void)state;
	assert_int_equal(profile_create(&profile), 0);
	assert_int_equal(profile_count_sample(profile, &one), 0);
	uint64_t key = hash_pair((uint64_t)two.thread << 32 | two.stack, two.states);
	assert_true(map_put(&profile->count_by_key, key, 0));
	for (int i = 0; i < 2; i++)
		assert_int_equal(profile_count_sample(profile, &two), 0);
	assert_int_equal(profile->counts.n, 2);
	assert_int_equal(profile->counts.at[0].weight_ns, 10);
	assert_int_equal(profile->counts.at[1].weight_ns, 40);
	profile_destroy(profile);
}

static void test_names(void **state)
{
	struct profile *profile;
	uint32_t process, thread;

	(void)state;
	assert_int_equal(profile_create(&profile), 0);
	assert_int_equal(profile_add_process(profile, 17, "python3 a.py", "3.13.0", &process), 0);
	assert_int_equal(process, 0);
	struct profile_thread entry = {.process = process, .tid = 18, .main = true};
	assert_int_equal(profile_add_thread(profile, &entry, &thread), 0);
	assert_int_equal(profile_set_thread_name(profile, thread, "worker"), 0);
	assert_string_equal(strtab_get(profile->stacks.strings, profile->threads.at[thread].name),
			    "worker");
	assert_string_equal(strtab_get(profile->stacks.strings, profile->processes.at[0].command),
			    "python3 a.py");
	assert_string_equal(strtab_get(profile->stacks.strings, profile->processes.at[0].version),
			    "3.13.0");
	profile_destroy(profile);
}

static void test_out_of_memory(void **state)
{
	struct profile *profile = NULL;
	uint32_t index = 99;
	int n_failed = 0;

	(void)state;
	if (!FAKE_ALLOC_FAILS)
		skip();
	for (int n_good = 0, rc = -1; rc < 0; n_good++) {
		fake_alloc_arm(n_good);
		rc = profile_create(&profile);
		fake_alloc_disarm();
		assert_true(rc == 0 || rc == TACHY_ENOMEM);
	}
	struct profile_thread entry = {.tid = 1};
	fake_alloc_arm(0);
	assert_int_equal(profile_add_process(profile, 1, "a", "b", &index), TACHY_ENOMEM);
	assert_int_equal(profile_add_thread(profile, &entry, &index), TACHY_ENOMEM);
	fake_alloc_disarm();
	assert_int_equal(index, 99);
	for (uint32_t i = 0; i < 3000; i++) {
		struct sample sample = make_sample(0, i, 0, 1, 5);
		fake_alloc_arm(i % 2);
		int rc = profile_count_sample(profile, &sample);
		fake_alloc_disarm();
		if (rc < 0) {
			assert_int_equal(rc, TACHY_ENOMEM);
			assert_int_equal(profile->n_samples, i);
			assert_int_equal(profile->weight_ns, 5 * (uint64_t)i);
			assert_int_equal(profile->counts.n, i);
			assert_int_equal(profile_count_sample(profile, &sample), 0);
			n_failed++;
		}
	}
	assert_true(n_failed > 3);
	assert_int_equal(profile->n_samples, 3000);
	profile_destroy(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_a_taken_key),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
