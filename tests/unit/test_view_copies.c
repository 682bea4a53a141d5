/* SPDX-License-Identifier: MIT
 * mem_view.c where a plan is read several times in one call.
 */
#include "fake_view.h"

/* Each time the range is read, its first word counts up. */
static void count_up(struct fake_mem *fake, raddr addr, void *arg)
{
	uint64_t *count = arg;
	if (addr == BASE)
		fake_put_u64(fake, BASE, ++*count);
}

static uint64_t first_word(struct world *w)
{
	struct span bytes;
	assert_true(mem_view_peek(&w->view, BASE, 8, &bytes));
	return load_u64(bytes, 0);
}

static void test_copies_are_moments_of_their_own(void **state)
{
	struct world *w = *state;
	const raddr tail = BASE;
	uint64_t count = 0, value;

	map_numbered(w->fake, BASE, PAGE);
	mem_view_set_copies(&w->view, 3);
	begin(w);
	hot(w, BASE, 64);
	mem_view_set_tails(&w->view, &tail, 1);
	w->fake->before = count_up;
	w->fake->before_arg = &count;
	for (uint64_t i = 0; i < 9; i++) {
		uint64_t reads = w->fake->n_read_many;
		if (i % 2)
			begin(w);
		else
			assert_int_equal(mem_view_again(&w->view), 0);
		assert_int_equal(w->fake->n_read_many - reads, i % 3 == 0);
		assert_int_equal(first_word(w), 2 * i + 1); /* the tail counts too */
		assert_true(mem_view_tail(&w->view, 0, &value));
		assert_int_equal(value, 2 * i + 2);
		assert_int_equal(w->view.reading, i + 2);
	}
	mem_view_drop_ahead(&w->view);
	begin(w);
	assert_int_equal(first_word(w), 19);
	mem_view_drop_ahead(&w->view);
	begin(w); /* the copies behind the one looked at were read in vain */
	assert_int_equal(first_word(w), 25);
	w->fake->before = NULL;
}

/* What is new to the plan is in the next reading, whatever was read ahead. */
static void test_copies_end_with_the_plan(void **state)
{
	struct world *w = *state;
	struct span bytes;

	map_numbered(w->fake, BASE, 100 * PAGE);
	mem_view_set_copies(&w->view, 4);
	begin(w);
	hot(w, BASE, 64);
	begin(w);
	hot(w, BASE + 50 * PAGE, 64);
	begin(w);
	assert_true(mem_view_peek(&w->view, BASE + 50 * PAGE, 64, &bytes));
	hot(w, BASE, 64);
	assert_int_equal(w->view.n_ahead, 3);
	mem_view_reset(&w->view);
	assert_int_equal(w->view.n_ahead, 0);
}

/* How many moments are left of one reading of `n` ranges of `size`, far from each other. */
static uint32_t ahead_of(struct world *w, int n, uint32_t size)
{
	mem_view_reset(&w->view);
	begin(w);
	for (int i = 0; i < n; i++)
		hot(w, BASE + (raddr)i * 16 * PAGE, size);
	begin(w);
	return w->view.n_ahead;
}

/* The last moment of a call must not be old when its turn comes. */
static void test_less_copies_of_more(void **state)
{
	struct world *w = *state;

	map_numbered(w->fake, BASE, 3300 * PAGE);
	mem_view_set_copies(&w->view, 8);
	assert_int_equal(ahead_of(w, 1, 64), 7);
	assert_int_equal(ahead_of(w, 20, 64), 7 - (20 * 64 >> 10));
	assert_int_equal(ahead_of(w, 60, 64), 1);
	assert_int_equal(ahead_of(w, 1, 10 * PAGE), 2);
	assert_int_equal(ahead_of(w, 200, 64), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_copies_are_moments_of_their_own),
		CASE(test_copies_end_with_the_plan),
		CASE(test_less_copies_of_more),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
