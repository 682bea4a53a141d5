/* SPDX-License-Identifier: MIT
 * time_strip.c: every tick is in the bucket of its time, however often buckets were made longer on the way; nothing
 * is lost, whatever times there are.
 */
#include "cases.h"

#include "base/error.h"
#include "fake_alloc.h"
#include "model/time_strip.h"

#define N_COUNTS 50u
#define MS       UINT64_C(1000000)
#define START    (77 * MS)

struct tick_sums {
	uint64_t n[STRIP_BUCKETS_MAX][N_COUNTS];
};

/* Ticks one by one, in buckets of a width that is known beforehand. */
static void add_ticks(struct tick_sums *sums, const struct sample *sample, uint32_t count,
		      uint64_t width_ns)
{
	uint64_t step = sample->weight_ns / sample->n_ticks;
	for (uint64_t i = 0; i < sample->n_ticks; i++)
		sums->n[(sample->time_ns + i * step - START) / width_ns][count]++;
}

static void check_rows(const struct time_strip *strip, uint64_t n_samples, uint64_t weight_ns)
{
	uint64_t n = 0, weight = 0;
	for (size_t i = 0; i < strip->rows.n; i++) {
		const struct strip_row *row = &strip->rows.at[i];
		assert_true(row->bucket < strip->n_used && row->n_samples > 0);
		assert_true(row->before == STRIP_NONE ||
			    (strip->rows.at[row->before].count == row->count &&
			     strip->rows.at[row->before].bucket < row->bucket));
		n += row->n_samples;
		weight += row->weight_ns;
	}
	assert_true(strip->n_used <= STRIP_BUCKETS_MAX);
	assert_int_equal(n, n_samples);
	assert_int_equal(weight, weight_ns);
}

/* Samples in no order, of a run whose length nobody knew. */
static void each_tick_in_its_bucket(void **state)
{
	(void)state;
	for (unsigned turn = 0; turn < 8; turn++) {
		struct time_strip strip = {.width_ns = 0};
		struct tick_sums *sums = calloc(1, sizeof *sums);
		struct sample samples[3000];
		uint32_t counts[N_OF(samples)];
		uint64_t seed = 11 + turn, n = 0, weight = 0;
		assert_non_null(sums);
		time_strip_begin(&strip, START, turn % 2 ? 1000 : 0);
		for (size_t i = 0; i < N_OF(samples); i++) {
			uint64_t far = dice(&seed) % 10 ? i : dice(&seed) % (i + 1);
			samples[i] = (struct sample){.time_ns = START + (far << turn) * MS,
						     .n_ticks = 1 + dice(&seed) % 300 / 100 * 97};
			samples[i].weight_ns = samples[i].n_ticks * (dice(&seed) % (2 * MS));
			counts[i] = (uint32_t)(dice(&seed) % N_COUNTS);
			assert_int_equal(time_strip_add(&strip, &samples[i], counts[i]), 0);
			n += samples[i].n_ticks;
			weight += samples[i].weight_ns;
		}
		check_rows(&strip, n, weight);
		for (size_t i = 0; i < N_OF(samples); i++)
			add_ticks(sums, &samples[i], counts[i], strip.width_ns);
		for (size_t i = 0; i < strip.rows.n; i++) {
			const struct strip_row *row = &strip.rows.at[i];
			assert_int_equal(row->n_samples, sums->n[row->bucket][row->count]);
		}
		assert_in_range(strip.n_used, STRIP_BUCKETS_MAX / 2, STRIP_BUCKETS_MAX);
		time_strip_cover(&strip, strip.width_ns * STRIP_BUCKETS_MAX * 64);
		check_rows(&strip, n, weight);
		assert_in_range(strip.n_used, STRIP_BUCKETS_MAX / 128, STRIP_BUCKETS_MAX / 64);
		time_strip_done(&strip);
		free(sums);
	}
}

static void rows_are_bounded(void **state)
{
	struct time_strip strip = {.width_ns = 0};
	const uint32_t n_counts = 3000;
	uint64_t n = 0;
	(void)state;
	time_strip_begin(&strip, 0, 1000);
	for (uint64_t i = 0; i < 2000000; i++, n++) {
		struct sample sample = {.time_ns = i * MS, .weight_ns = 1, .n_ticks = 1};
		assert_int_equal(time_strip_add(&strip, &sample, (uint32_t)(i * 7 % n_counts)), 0);
		assert_true(strip.rows.n <= STRIP_ROWS_MAX);
	}
	check_rows(&strip, n, n);
	assert_true(strip.rows.n > STRIP_ROWS_MAX / 4);
	assert_true(strip.rows.cap <= 2 * STRIP_ROWS_MAX);
	time_strip_done(&strip);
}

static void any_times(void **state)
{
	static const uint64_t odd[] = {0,         1,        START - 1,      START,
				       START + 1, MS << 20, UINT64_MAX / 2, UINT64_MAX - 1,
				       UINT64_MAX};
	struct time_strip strip = {.width_ns = 0};
	uint64_t n = 0, weight = 0;
	(void)state;
	time_strip_begin(&strip, START, 1e9);
	for (size_t i = 0; i < N_OF(odd); i++)
		for (size_t k = 0; k < N_OF(odd); k++)
			for (uint64_t ticks = 1; ticks; ticks = ticks << 21 | (ticks == 1)) {
				struct sample sample = {odd[i], odd[k], ticks, 0, 0, 0};
				assert_int_equal(time_strip_add(&strip, &sample, 3), 0);
				n += ticks; /* modulo 2^64, as theirs */
				weight += odd[k];
			}
	check_rows(&strip, n, weight);
	time_strip_cover(&strip, UINT64_MAX);
	check_rows(&strip, n, weight);
	time_strip_done(&strip);
}

static void some_counts_only(void **state)
{
	struct time_strip strip = {.width_ns = 0}, copy, none = {.width_ns = 0};
	const uint32_t numbers[] = {1, STRIP_NONE, 0, STRIP_NONE};
	(void)state;
	time_strip_begin(&strip, 0, 1000);
	for (uint64_t i = 0; i < 400; i++) {
		struct sample sample = {i * MS, MS, 1, 0, 0, 0};
		assert_int_equal(time_strip_add(&strip, &sample, (uint32_t)i % 4), 0);
	}
	assert_int_equal(time_strip_copy(&strip, numbers, &copy), 0);
	check_rows(&copy, 200, 200 * MS);
	for (size_t i = 0; i < copy.rows.n; i++)
		assert_int_equal(copy.rows.at[i].bucket % 4, copy.rows.at[i].count ? 0 : 2);
	time_strip_done(&copy);
	assert_int_equal(time_strip_copy(&none, NULL, &copy), 0);
	time_strip_cover(&copy, 5 * MS);
	assert_int_equal(copy.rows.n, 0);
	time_strip_done(&copy);
	time_strip_done(&strip);
}

static void out_of_memory(void **state)
{
	struct time_strip strip = {.width_ns = 0}, copy;
	uint64_t n = 0;
	unsigned n_failed = 0;
	(void)state;
	if (!FAKE_ALLOC_FAILS)
		skip();
	time_strip_begin(&strip, 0, 1000);
	for (uint64_t i = 0; i < 3000; i++) {
		struct sample sample = {i * MS, 40 * MS, 40, 0, 0, 0};
		fake_alloc_arm(0);
		int rc = time_strip_add(&strip, &sample, (uint32_t)i);
		(void)fake_alloc_disarm();
		n_failed += rc < 0;
		if (rc < 0) {
			assert_int_equal(rc, TACHY_ENOMEM);
			check_rows(&strip, 40 * n, 40 * n * MS);
			assert_int_equal(time_strip_add(&strip, &sample, (uint32_t)i), 0);
		}
		n++;
	}
	assert_true(n_failed > 5);
	check_rows(&strip, 40 * n, 40 * n * MS);
	fake_alloc_arm(3);
	assert_int_equal(time_strip_copy(&strip, NULL, &copy), TACHY_ENOMEM);
	(void)fake_alloc_disarm();
	time_strip_done(&strip);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_tick_in_its_bucket),
		cmocka_unit_test(rows_are_bounded),
		cmocka_unit_test(any_times),
		cmocka_unit_test(some_counts_only),
		cmocka_unit_test(out_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
