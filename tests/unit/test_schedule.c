/* SPDX-License-Identifier: MIT
 * schedule.c on a clock of its own: deadlines are only arithmetic.
 */
#include "cases.h"

#include "sampler/schedule.h"

#define START 1000000000u
#define TICKS 200000u

static struct schedule begin(double rate_hz, bool jitter)
{
	struct schedule schedule;
	schedule_init(&schedule, rate_hz, jitter, 12345);
	schedule.start_ns = START;
	return schedule;
}

static uint64_t cell_of(const struct schedule *schedule, uint64_t time_ns)
{
	return (time_ns - schedule->start_ns) / schedule->period_ns;
}

static void test_periods(void **state)
{
	static const struct {
		double rate_hz;
		uint64_t period_ns;
	} cases[] = {{1, 1000000000},   {100, 10000000}, {1000, 1000000}, {3, 333333333},
		     {0.5, 2000000000}, {1e6, 1000},     {0, 0}};

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++)
		assert_int_equal(begin(cases[i].rate_hz, true).period_ns, cases[i].period_ns);
	struct schedule max = begin(0, true);
	for (uint64_t now = START; now < START + 1000; now += 7)
		assert_int_equal(schedule_next(&max, now), now); /* rate max: always now */
	assert_int_equal(max.n_missed, 0);
}

static void test_without_jitter_exactly_periodic(void **state)
{
	struct schedule schedule = begin(1000, false);
	uint64_t now = START;

	(void)state;
	for (uint64_t i = 0; i < TICKS; i++) {
		uint64_t deadline = schedule_next(&schedule, now);
		assert_int_equal(deadline, START + i * schedule.period_ns);
		now = deadline + 1 + i % 900000; /* late, but within its cell: nothing shifts */
	}
	assert_int_equal(schedule.n_missed, 0);
}

/* One tick a cell, the mean distance is the period, and the places within the cell are spread. */
static void test_jitter(void **state)
{
	static const double rates[] = {1, 100, 1000, 10000, 1e6};

	(void)state;
	for (size_t r = 0; r < N_OF(rates); r++) {
		struct schedule schedule = begin(rates[r], true);
		uint64_t now = START, first = 0, last = 0, in_bucket[8] = {0};
		for (uint64_t i = 0; i < TICKS; i++) {
			last = schedule_next(&schedule, now);
			assert_int_equal(cell_of(&schedule, last), i);
			uint64_t in_cell = (last - START) % schedule.period_ns;
			assert_true(in_cell <= schedule.period_ns / 2);
			in_bucket[in_cell * 16 / schedule.period_ns < 8
					  ? in_cell * 16 / schedule.period_ns
					  : 7]++;
			assert_true(i == 0 || last > now - 2);
			first = i ? first : last;
			now = last + 1;
		}
		double mean = (double)(last - first) / (TICKS - 1) / (double)schedule.period_ns;
		assert_true(mean > 0.9999 && mean < 1.0001);
		for (size_t b = 0; b < N_OF(in_bucket); b++)
			assert_true(in_bucket[b] > TICKS / 16 && in_bucket[b] < TICKS / 4);
		assert_int_equal(schedule.n_missed, 0);
	}
}

/* After a stall of any length: one tick, in the cell that we are in, then on as before. */
static void test_no_burst_after_a_stall(void **state)
{
	static const double stalls[] = {0.4, 0.99, 1, 1.01, 2.5, 100, 12345.6, 1e9};

	(void)state;
	for (size_t i = 0; i < 2 * N_OF(stalls); i++) {
		struct schedule schedule = begin(1000, i % 2);
		uint64_t now = START, n_ticks = 0, last_cell = 0;
		for (; n_ticks < 10; n_ticks++)
			now = schedule_next(&schedule, now);
		now += (uint64_t)(stalls[i / 2] * (double)schedule.period_ns);
		last_cell = cell_of(&schedule, schedule.start_ns + 9 * schedule.period_ns);
		for (int k = 0; k < 20; k++, n_ticks++) {
			uint64_t deadline = schedule_next(&schedule, now),
				 cell = cell_of(&schedule, deadline);
			assert_true(cell > last_cell); /* never two ticks a cell */
			assert_true(k == 0 || cell == last_cell + 1);
			assert_true(deadline + schedule.period_ns > now);
			last_cell = cell;
			now = deadline > now ? deadline : now;
		}
		/* every cell was either a tick or counted as missed */
		assert_int_equal(n_ticks + schedule.n_missed, last_cell + 1);
	}
}

/* Called late by a bit more than a cell again and again: the grid is never left. */
static void test_always_late(void **state)
{
	struct schedule schedule = begin(1000, true);
	uint64_t now = START, n = 0, last_cell = 0;

	(void)state;
	for (; n < 1000; n++) {
		uint64_t deadline = schedule_next(&schedule, now),
			 cell = cell_of(&schedule, deadline);
		assert_true(n == 0 || cell > last_cell);
		last_cell = cell;
		now = (deadline > now ? deadline : now) + 1700000;
	}
	assert_int_equal(n + schedule.n_missed, last_cell + 1);
	assert_true(schedule.n_missed > 500);
}

static void test_another_rate(void **state)
{
	struct schedule schedule;
	uint64_t now = 5000000000u;

	(void)state;
	schedule_init(&schedule, 1000, false, 1);
	schedule.start_ns = 0;
	assert_int_equal(schedule_next(&schedule, now), now);
	assert_int_equal(schedule.n_missed, 5000);
	schedule_retime(&schedule, 100, now);
	for (uint64_t n = 0; n < 10; n++, now += 10000000)
		assert_int_equal(schedule_next(&schedule, now), now);
	assert_int_equal(schedule.n_missed, 5000); /* no new ones */
	schedule_retime(&schedule, 0, now);
	assert_int_equal(schedule_next(&schedule, now + 77), now + 77);
}

static void test_the_clock(void **state)
{
	uint64_t before = clock_now_ns(), deadline = before + 2000000;

	(void)state;
	while (clock_now_ns() < deadline)
		clock_sleep_until(deadline);
	assert_true(clock_now_ns() >= deadline);
	clock_sleep_until(before); /* in the past: at once */
	struct schedule schedule;
	schedule_init(&schedule, 1000, true, 0); /* a seed of 0 jitters too */
	assert_int_not_equal(schedule.random, 0);
	schedule_init(&schedule, 1000, false, 5);
	assert_int_equal(schedule.random, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_periods),
		cmocka_unit_test(test_without_jitter_exactly_periodic),
		cmocka_unit_test(test_jitter),
		cmocka_unit_test(test_no_burst_after_a_stall),
		cmocka_unit_test(test_always_late),
		cmocka_unit_test(test_another_rate),
		cmocka_unit_test(test_the_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
