/* SPDX-License-Identifier: MIT
 * os/cpu on this machine, whatever CPUs it has.
 */
#include "cases.h"

#include <sched.h>
#include <stdbool.h>

#include "os/cpu.h"

static cpu_set_t allowed_now(void)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
	return set;
}

static void test_pin_and_back(void **state)
{
	(void)state;
	cpu_set_t before = allowed_now(), after;
	int n_allowed = 0;
	assert_true(cpu_count() >= CPU_COUNT(&before));
	for (int cpu = 0; cpu < cpu_count() && cpu < CPU_SETSIZE; cpu++) {
		bool allowed = CPU_ISSET((size_t)cpu, &before);
		assert_int_equal(cpu_allowed(cpu), allowed);
		if (!allowed)
			continue;
		n_allowed++;
		assert_int_equal(cpu_pin_self(cpu), 0);
		assert_int_equal(cpu_current(), cpu);
		after = allowed_now();
		assert_int_equal(CPU_COUNT(&after), 1);
		for (int other = 0; other < CPU_SETSIZE; other++) /* not what it is pinned to now */
			assert_int_equal(cpu_allowed(other), CPU_ISSET((size_t)other, &before));
	}
	assert_true(n_allowed > 0);
	assert_int_equal(cpu_unpin_self(), 0);
	after = allowed_now();
	assert_true(CPU_EQUAL(&before, &after));
}

static void test_refused(void **state)
{
	(void)state;
	cpu_set_t before = allowed_now(), after;
	assert_int_equal(cpu_pin_self(-1), TACHY_EINVAL);
	assert_int_equal(cpu_pin_self(1 << 20), TACHY_EINVAL);
	assert_int_equal(cpu_pin_self(8191), TACHY_EINVAL);
	assert_false(cpu_allowed(-1));
	assert_false(cpu_allowed(8191));
	after = allowed_now();
	assert_true(CPU_EQUAL(&before, &after));
	assert_int_equal(cpu_unpin_self(), 0);
}

static void test_leave_and_back(void **state)
{
	(void)state;
	cpu_set_t before = allowed_now(), after;
	int cpu = cpu_current();
	assert_int_equal(cpu_leave_self(-1), TACHY_EINVAL);
	if (CPU_COUNT(&before) == 1) {
		assert_int_equal(cpu_leave_self(cpu), TACHY_EINVAL);
		return;
	}
	for (int i = 0; i < 3; i++) { /* from wherever it is by then */
		cpu = cpu_current();
		assert_int_equal(cpu_leave_self(cpu), 0);
		assert_int_not_equal(cpu_current(), cpu);
		after = allowed_now();
		assert_int_equal(CPU_COUNT(&after), CPU_COUNT(&before) - 1);
		assert_true(cpu_allowed(cpu));
	}
	assert_int_equal(cpu_unpin_self(), 0);
	after = allowed_now();
	assert_true(CPU_EQUAL(&before, &after));
}

/* With the right to it, at real-time priority while it rests, and at none any more when it does not. */
static void test_prompt_and_back(void **state)
{
	(void)state;
	int before = sched_getscheduler(0);
	cpu_prompt_self(true);
	int at_rest = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
	assert_true(at_rest == SCHED_FIFO || at_rest == before);
	cpu_prompt_self(false);
	assert_int_equal(sched_getscheduler(0) & ~SCHED_RESET_ON_FORK, before);
	cpu_prompt_self(true);
	assert_int_equal(sched_getscheduler(0) & ~SCHED_RESET_ON_FORK, at_rest);
	cpu_prompt_self(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_pin_and_back),
		cmocka_unit_test(test_leave_and_back),
		cmocka_unit_test(test_prompt_and_back),
	};
	return cmocka_run_group_tests_name("cpu", tests, NULL, NULL);
}
