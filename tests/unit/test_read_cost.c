/* SPDX-License-Identifier: MIT
 * What counts as an interruption: something that stands out from what is usual, and does not become so by itself.
 */
#include "cases.h"

#include "sampler/read_cost.h"

static bool judge(struct read_cost *cost, uint64_t ns)
{
	return read_cost_judge(cost, 60, 12000, 1, ns);
}

static void test_stands_out(void **state)
{
	(void)state;
	struct read_cost cost = {0};
	for (int i = 0; i < 10; i++)
		assert_false(judge(&cost, 10000 + (uint64_t)i * 100));
	assert_true(judge(&cost, 60000));
	for (int i = 0; i < 500; i++) /* however often */
		if (i % 4)
			assert_false(judge(&cost, 10000));
		else
			assert_true(judge(&cost, 80000));
}

static void test_first_batch_is_usual_but_for_the_absurd(void **state)
{
	(void)state;
	struct read_cost calm = {0}, absurd = {0};
	assert_false(judge(&calm, 30000));
	assert_true(judge(&absurd, 2000000));
	for (int i = 0; i < 20; i++) /* and is forgotten soon */
		(void)judge(&absurd, 10000);
	assert_true(judge(&absurd, 80000));
}

static void test_a_machine_that_got_slow(void **state)
{
	(void)state;
	struct read_cost cost = {0};
	for (int i = 0; i < 10; i++)
		(void)judge(&cost, 10000);
	assert_true(judge(&cost, 50000));
	for (int i = 0; i < 1000; i++)
		(void)judge(&cost, 50000);
	assert_false(judge(&cost, 50000));
}

static void test_several_copies_take_longer(void **state)
{
	(void)state;
	struct read_cost cost = {0};
	for (int i = 0; i < 10; i++)
		(void)judge(&cost, 10000);
	assert_false(read_cost_judge(&cost, 60, 12000, 8, 80000));
	assert_false(judge(&cost, 10000));
	assert_true(judge(&cost, 80000));
}

static void test_empty_batch(void **state)
{
	(void)state;
	struct read_cost cost = {0};
	assert_false(read_cost_judge(&cost, 0, 0, 1, 0));
	assert_false(read_cost_judge(&cost, 0, 0, 1, 500));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stands_out),
		cmocka_unit_test(test_first_batch_is_usual_but_for_the_absurd),
		cmocka_unit_test(test_a_machine_that_got_slow),
		cmocka_unit_test(test_several_copies_take_longer),
		cmocka_unit_test(test_empty_batch),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
