/* SPDX-License-Identifier: MIT
 * buckets.c: nothing is lost or counted twice, whatever the width; runs are spread over the time they
 * lasted; rows stay bounded.
 */
#include "cases.h"

#include "captured.h"
#include "export/buckets.h"
#include "tachyscope/error.h"

#define MS 1000000u

static stack_id push(struct profile *profile, stack_id parent, uint32_t line)
{
	struct function function = {.first_line = 1};
	struct frame frame = {.at = {.line = (int32_t)line, .column = -1, .end_column = -1}};
	stack_id stack;
	assert_int_equal(stacks_function(&profile->stacks, &function, &frame.function), 0);
	frame_id id;
	assert_int_equal(stacks_frame(&profile->stacks, &frame, &id), 0);
	assert_int_equal(stacks_push(&profile->stacks, parent, id, &stack), 0);
	return stack;
}

static void add(struct profile *profile, uint64_t time_ns, uint64_t n, uint64_t weight_ns,
		uint32_t thread, stack_id stack)
{
	struct sample sample = {time_ns, weight_ns, n, thread, stack, 0};
	assert_int_equal(profile_count_sample(profile, &sample), 0);
}

static void sums_agree(const struct profile *profile, const struct buckets *buckets)
{
	uint64_t n = 0, weight = 0;
	for (size_t i = 0; i < buckets->rows.n; i++) {
		assert_true(buckets->rows.at[i].bucket < buckets->n);
		n += buckets->rows.at[i].n_samples;
		weight += buckets->rows.at[i].weight_ns;
	}
	assert_int_equal(n, profile->n_samples);
	assert_int_equal(weight, profile->weight_ns);
}

static void without_a_timeline(void **state)
{
	struct profile *profile = sample_profile();
	struct buckets buckets;
	(void)state;
	uint32_t thread = sample_thread(profile, 0, 100, "a");
	sample_add(profile, thread, "f:1|g:2", 5);
	sample_add(profile, thread, "f:1", 2);
	assert_int_equal(buckets_init(profile, &buckets), 0);
	assert_int_equal(buckets.n, 1);
	assert_int_equal(buckets.rows.n, 2);
	sums_agree(profile, &buckets);
	buckets_done(&buckets);
	profile_destroy(profile);
}

static void nothing_at_all(void **state)
{
	struct profile *profile = sample_profile();
	struct buckets buckets;
	(void)state;
	profile->keeps_strip = true;
	assert_int_equal(buckets_init(profile, &buckets), 0);
	assert_int_equal(buckets.n, 1);
	assert_int_equal(buckets.rows.n, 0);
	buckets_done(&buckets);
	profile_destroy(profile);
}

static void a_run_is_spread_over_its_time(void **state)
{
	struct profile *profile = sample_profile();
	struct buckets buckets;
	(void)state;
	uint32_t thread = sample_thread(profile, 0, 100, "a");
	profile->keeps_strip = true;
	profile->start_ns = 5000u * MS;
	profile->duration_ns = 1024u * MS;
	stack_id stack = push(profile, STACK_EMPTY, 1);
	add(profile, 5000u * MS, 1024, 1024u * MS, thread, stack);
	add(profile, 5100u * MS, 1, 7, thread, push(profile, stack, 2));
	assert_int_equal(buckets_init(profile, &buckets), 0);
	sums_agree(profile, &buckets);
	assert_true(buckets.n > 1000 && buckets.n <= STRIP_BUCKETS_MAX);
	for (size_t i = 0; i < buckets.rows.n; i++) {
		const struct bucket_row *row = &buckets.rows.at[i];
		assert_true(row->n_samples <= 2);
		if (row->stack != stack)
			assert_in_range(row->bucket, 99, 101);
	}
	buckets_done(&buckets);
	profile_destroy(profile);
}

/* A million different rows if nothing were done. */
static void rows_are_bounded(void **state)
{
	struct profile *profile = sample_profile();
	struct buckets buckets;
	uint32_t noise = 7;
	(void)state;
	uint32_t thread = sample_thread(profile, 0, 100, "a");
	profile->keeps_strip = true;
	stack_id stacks[1000];
	for (uint32_t i = 0; i < 1000; i++)
		stacks[i] = push(profile, STACK_EMPTY, i + 1);
	for (uint32_t i = 0; i < 1000000; i++) {
		noise = noise * 1664525u + 1013904223u;
		add(profile, (uint64_t)i * MS, 1 + noise % 3, (1 + noise % 3) * MS, thread,
		    stacks[noise >> 16 & 511]);
	}
	assert_int_equal(buckets_init(profile, &buckets), 0);
	assert_in_range(buckets.rows.n, 50000, STRIP_ROWS_MAX);
	assert_in_range(buckets.n, 200, 600);
	sums_agree(profile, &buckets);
	buckets_done(&buckets);
	profile_destroy(profile);
}

/* A thread whose samples have no times, as those of a base to compare with. */
static void threads_without_times_are_counted(void **state)
{
	struct profile *profile = sample_profile();
	struct buckets buckets;
	(void)state;
	uint32_t a = sample_thread(profile, 0, 100, "a"), b = sample_thread(profile, 0, 101, "b");
	profile->keeps_strip = true;
	add(profile, 10 * MS, 3, 3 * MS, a, push(profile, STACK_EMPTY, 1));
	profile->keeps_strip = false;
	sample_add(profile, b, "f:1|g:2", 5);
	assert_int_equal(buckets_init(profile, &buckets), 0);
	sums_agree(profile, &buckets);
	buckets_done(&buckets);
	profile_destroy(profile);
}

/* A program that does nothing any more, seen in a mode that does not count that. */
static void a_run_goes_on_after_its_samples(void **state)
{
	struct profile *profile = sample_profile();
	struct buckets buckets;
	(void)state;
	uint32_t thread = sample_thread(profile, 0, 100, "a");
	profile->keeps_strip = true;
	profile->start_ns = 5000u * MS;
	for (unsigned i = 0; i < 500; i++)
		add(profile, (5000u + i) * UINT64_C(1000000), 1, MS, thread,
		    push(profile, STACK_EMPTY, 1 + i % 3));
	profile->duration_ns = 1000u * UINT64_C(500000000);
	assert_int_equal(buckets_init(profile, &buckets), 0);
	sums_agree(profile, &buckets);
	assert_in_range(buckets.n, 513, STRIP_BUCKETS_MAX);
	assert_true(buckets.n * buckets.width_ns >= profile->duration_ns);
	assert_true((buckets.n - 1) * buckets.width_ns < profile->duration_ns);
	assert_int_equal(buckets.rows.n, 6);
	buckets_done(&buckets);
	profile_destroy(profile);
}

static void odd_samples(void **state)
{
	struct profile *profile = sample_profile();
	struct buckets buckets;
	(void)state;
	uint32_t thread = sample_thread(profile, 0, 100, "a");
	profile->keeps_strip = true;
	profile->start_ns = 1000;
	stack_id stack = push(profile, STACK_EMPTY, 1);
	add(profile, 1000, 10, 0, thread, stack); /* no weight */
	add(profile, 10, 4, 3, thread, stack);    /* before the start, weight below a tick each */
	add(profile, 1000000, 1, UINT32_MAX, 77, stack); /* of no thread that is known */
	assert_int_equal(buckets_init(profile, &buckets), 0);
	sums_agree(profile, &buckets);
	buckets_done(&buckets);
	profile_destroy(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_timeline),
		cmocka_unit_test(nothing_at_all),
		cmocka_unit_test(a_run_is_spread_over_its_time),
		cmocka_unit_test(rows_are_bounded),
		cmocka_unit_test(threads_without_times_are_counted),
		cmocka_unit_test(a_run_goes_on_after_its_samples),
		cmocka_unit_test(odd_samples),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
