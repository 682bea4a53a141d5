/* SPDX-License-Identifier: MIT
 * mem_view.c over a memory that counts what it is asked.
 */
#include "fake_alloc.h"
#include "fake_view.h"

#define KEEP_TICKS 64 /* of mem_view.c */
#define COLD_PAGES 512

/* ---- learning ------------------------------------------------------------------------------- */

static void test_one_call_in_the_steady_state(void **state)
{
	struct world *w = *state;
	static const struct {
		raddr addr;
		uint32_t size;
	} wants[] = {{BASE + 64, 16},
		     {BASE + 1000, 400},
		     {BASE + 10 * PAGE, 8},
		     {BASE + 50 * PAGE - 8, 16},
		     {BASE + 80 * PAGE, 3 * PAGE}};

	map_numbered(w->fake, BASE, 100 * PAGE);
	for (int tick = 0; tick < 300; tick++) {
		uint64_t reads = w->fake->n_read, batches = w->fake->n_read_many;
		begin(w);
		for (size_t i = 0; i < N_OF(wants); i++)
			hot(w, wants[i].addr, wants[i].size);
		assert_int_equal(w->fake->n_read - reads, tick == 0 ? N_OF(wants) : 0);
		assert_int_equal(w->fake->n_read_many - batches, tick != 0);
	}
	assert_int_equal(w->view.counts.batches, 299);
	assert_int_equal(w->view.counts.batches_whole, 299);
	assert_int_equal(w->view.counts.batch_misses, N_OF(wants));
	assert_int_equal(w->view.counts.segments_requested, w->view.counts.segments_done);
}

/* Asked twice within a tick: read once. Inside what was read: not read at all. */
static void test_a_miss_is_read_once(void **state)
{
	struct world *w = *state;
	map_numbered(w->fake, BASE, PAGE);
	begin(w);
	hot(w, BASE + 128, 64);
	hot(w, BASE + 128, 64);
	hot(w, BASE + 136, 8);
	assert_int_equal(fake_calls(w->fake), 1);
	begin(w);
	hot(w, BASE + 128, 64);
	hot(w, BASE + 184, 8);
	assert_int_equal(fake_calls(w->fake), 2);
	hot(w, BASE + 184, 16); /* sticks out */
	assert_int_equal(fake_calls(w->fake), 3);
	begin(w);
	hot(w, BASE + 184, 16);
	hot(w, BASE + 128, 72);
	assert_int_equal(fake_calls(w->fake), 4);
}

static void test_neighbours_are_merged(void **state)
{
	static const struct {
		raddr a, b;
		uint32_t a_size, b_size;
		size_t n_segments;
		raddr from;
		uint32_t size;
	} cases[] = {
		{0, 64, 8, 8, 1, 0, 72},                     /* one page */
		{64, 0, 8, 8, 1, 0, 72},                     /* the other way round */
		{PAGE - 8, PAGE + 8, 8, 8, 1, PAGE - 8, 24}, /* adjacent pages */
		{0, 1024, 8, 8, 1, 0, 1032},                 /* little is read in vain */
		{0, 1040, 8, 8, 2, 0, 8},                    /* too much would be */
		{0, PAGE + 8, 8, 8, 2, 0, 8},
		{0, 2 * PAGE, 8, 8, 2, 0, 8},               /* a page between them */
		{PAGE - 8, 2 * PAGE, 8, 8, 2, PAGE - 8, 8}, /* close, but a page between */
		{0, 8, 256, 8, 1, 0, 256},                  /* one inside the other */
		{0, 0, 8, 256, 1, 0, 256},
	};

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		void *made = NULL;
		assert_int_equal(set_up(&made), 0);
		struct world *w = made;
		map_numbered(w->fake, BASE, 8 * PAGE);
		begin(w);
		hot(w, BASE + cases[i].a, cases[i].a_size);
		hot(w, BASE + cases[i].b, cases[i].b_size);
		begin(w);
		assert_int_equal(w->fake->batch.n, cases[i].n_segments);
		assert_int_equal(w->fake->batch.at[0].addr, BASE + cases[i].from);
		assert_int_equal(w->fake->batch.at[0].size, cases[i].size);
		uint64_t before = fake_calls(w->fake);
		hot(w, BASE + cases[i].a, cases[i].a_size);
		hot(w, BASE + cases[i].b, cases[i].b_size);
		assert_int_equal(fake_calls(w->fake), before);
		tear_down(&made);
	}
}

/* After how many ticks what was asked for in the `n` first is no longer read. */
static int ticks_until_dropped(struct world *w, int n)
{
	raddr place = BASE + (raddr)(10 + n) * PAGE;
	for (int tick = 0; tick < 3 * KEEP_TICKS; tick++) {
		begin(w);
		hot(w, BASE, 8);
		if (tick < n)
			hot(w, place, 8);
		else if (w->fake->batch.n == 1)
			return tick - n + 1;
	}
	return -1;
}

/* What was asked for again and again: not before 64 ticks without use, and not long after. What was asked for once:
 * soon. */
static void test_unused_ranges_are_dropped(void **state)
{
	struct world *w = *state;
	map_numbered(w->fake, BASE, 20 * PAGE);
	for (int n = 1; n <= 8; n++) {
		int ticks = ticks_until_dropped(w, n), least = n < 4 ? 16 * n : KEEP_TICKS;
		if (ticks < least || ticks > least + 16)
			fail_msg("%d ticks of use: dropped after %d, not %d", n, ticks, least);
		hot(w, BASE + (raddr)(10 + n) * PAGE, 8); /* and is learned again */
		begin(w);
		assert_int_equal(w->fake->batch.n, 2);
		while (w->fake->batch.n == 2) {
			begin(w);
			hot(w, BASE, 8);
		}
	}
}

static void test_unmapped_ranges_leave_the_plan(void **state)
{
	struct world *w = *state;
	struct span span;

	map_numbered(w->fake, BASE, PAGE);
	map_numbered(w->fake, BASE + 10 * PAGE, PAGE);
	map_numbered(w->fake, BASE + 20 * PAGE, PAGE);
	begin(w);
	for (int i = 0; i < 3; i++)
		hot(w, BASE + (raddr)i * 10 * PAGE, 64);
	begin(w);
	fake_unmap(w->fake, BASE + 10 * PAGE);
	begin(w); /* no failure: the others are there */
	assert_int_equal(w->fake->batch.n, 3);
	assert_int_equal(w->view.counts.batches_whole, 1);
	hot(w, BASE, 64);
	hot(w, BASE + 20 * PAGE, 64);
	assert_false(mem_view_peek(&w->view, BASE + 10 * PAGE, 64, &span));
	assert_int_equal(mem_view_hot(&w->view, BASE + 10 * PAGE, 64, &span), TACHY_EFAULT);
	begin(w);
	assert_int_equal(w->fake->batch.n, 2);
	assert_int_equal(w->view.counts.batches_whole, 2);
	map_numbered(w->fake, BASE + 10 * PAGE, PAGE); /* back again */
	hot(w, BASE + 10 * PAGE, 64);
	begin(w);
	assert_int_equal(w->fake->batch.n, 3);
	assert_int_equal(w->view.counts.segments_requested - w->view.counts.segments_done, 1);
}

/* ---- spans ---------------------------------------------------------------------------------- */

/* What was handed out stays where it is, whatever else the tick reads. */
static void test_spans_stay_until_the_next_tick(void **state)
{
	enum { N = 3000 };
	struct world *w = *state;
	struct span *spans = calloc(N, sizeof *spans);

	assert_non_null(spans);
	map_numbered(w->fake, BASE, (size_t)N * 2 * PAGE);
	for (int tick = 0; tick < 4; tick++) {
		begin(w);
		for (raddr i = 0; i < N; i++) {
			raddr addr = BASE + i * 2 * PAGE + (raddr)tick * 8;
			int rc = i % 3 ? mem_view_hot(&w->view, addr, 64, &spans[i])
				       : mem_view_cold(&w->view, addr, 64, &spans[i]);
			assert_int_equal(rc, 0);
		}
		for (raddr i = 0; i < N; i++)
			check_span(spans[i], BASE + i * 2 * PAGE + (raddr)tick * 8, 64);
	}
	free(spans);
}

/* More segments than one system call takes. */
static void test_thousands_of_segments(void **state)
{
	enum { N = 3000 };
	struct world *w = *state;

	map_numbered(w->fake, BASE, (size_t)N * 3 * PAGE);
	for (int tick = 0; tick < 5; tick++) {
		uint64_t reads = w->fake->n_read;
		begin(w);
		for (raddr i = 0; i < N; i++) /* from the back: the plan sorts */
			hot(w, BASE + (N - 1 - i) * 3 * PAGE, 32);
		assert_int_equal(w->fake->n_read - reads, tick == 0 ? N : 0);
		if (tick)
			assert_int_equal(w->fake->batch.n, N);
	}
	for (size_t i = 1; i < w->fake->batch.n; i++)
		assert_true(w->fake->batch.at[i - 1].addr < w->fake->batch.at[i].addr);
}

/* ---- tails ---------------------------------------------------------------------------------- */

static void test_tails_come_last(void **state)
{
	struct world *w = *state;
	const raddr tails[] = {BASE + 90 * PAGE, BASE, BASE + 999 * PAGE, BASE + 8};
	uint64_t value = 0;

	map_numbered(w->fake, BASE, 100 * PAGE);
	begin(w);
	assert_false(mem_view_tail(&w->view, 0, &value));
	hot(w, BASE + 95 * PAGE, 64);
	hot(w, BASE + 50 * PAGE, 64);
	mem_view_set_tails(&w->view, tails, N_OF(tails));
	assert_false(mem_view_tail(&w->view, 0, &value)); /* not read yet */
	begin(w);
	assert_int_equal(w->fake->batch.n, 2 + N_OF(tails));
	for (size_t i = 0; i < N_OF(tails); i++) {
		assert_int_equal(w->fake->batch.at[2 + i].addr, tails[i]);
		assert_int_equal(w->fake->batch.at[2 + i].size, 8);
		value = 1;
		assert_int_equal(mem_view_tail(&w->view, i, &value), i != 2);
		assert_int_equal(value, i == 2 ? 1 : tails[i]);
	}
	assert_false(mem_view_tail(&w->view, 4, &value));
	hot(w, BASE + 95 * PAGE, 64); /* a tail that failed takes nothing with it */
	hot(w, BASE + 50 * PAGE, 64);
	begin(w);
	assert_int_equal(w->fake->batch.n, 2 + N_OF(tails));
	mem_view_set_tails(&w->view, tails, 0);
	begin(w);
	assert_int_equal(w->fake->batch.n, 2);
	raddr many[MEM_VIEW_TAILS_MAX + 2]; /* more than there is room for */
	for (size_t i = 0; i < N_OF(many); i++)
		many[i] = BASE;
	mem_view_set_tails(&w->view, many, N_OF(many));
	begin(w);
	assert_int_equal(w->fake->batch.n, 2 + MEM_VIEW_TAILS_MAX);
}

/* One range comes before all others; every range gets its own bytes all the same, those that fail too. */
static void test_one_comes_first(void **state)
{
	struct world *w = *state;
	enum { N = 6 };

	map_numbered(w->fake, BASE, 100 * PAGE);
	map_numbered(w->fake, BASE + 200 * PAGE, PAGE);
	begin(w);
	for (size_t i = 0; i < N; i++)
		hot(w, BASE + 10 * i * PAGE, 64);
	hot(w, BASE + 200 * PAGE, 64);
	for (size_t first = 0; first < N; first++) {
		mem_view_set_first(&w->view, BASE + 10 * first * PAGE + 16);
		begin(w);
		assert_int_equal(w->fake->batch.n, N + 1);
		assert_int_equal(w->fake->batch.at[0].addr, BASE + 10 * first * PAGE);
		for (size_t i = 2; i <= N; i++) /* the others as ever */
			assert_true(w->fake->batch.at[i - 1].addr < w->fake->batch.at[i].addr);
		for (size_t i = 0; i < N; i++)
			hot(w, BASE + 10 * i * PAGE, 64);
		hot(w, BASE + 200 * PAGE, 64);
	}
	mem_view_set_first(&w->view, BASE + 99 * PAGE); /* in no range */
	begin(w);
	assert_int_equal(w->fake->batch.at[0].addr, BASE);
	fake_unmap(w->fake, BASE + 200 * PAGE);
	mem_view_set_first(&w->view, BASE + 200 * PAGE);
	begin(w);
	struct span bytes;
	assert_false(mem_view_peek(&w->view, BASE + 200 * PAGE, 64, &bytes));
	for (size_t i = 0; i < N; i++)
		hot(w, BASE + 10 * i * PAGE, 64);
}

/* ---- the cold side -------------------------------------------------------------------------- */

static void test_cold_pages_live_one_tick(void **state)
{
	struct world *w = *state;

	map_numbered(w->fake, BASE, 4 * PAGE);
	begin(w);
	for (raddr off = 0; off + 16 <= PAGE; off += 16)
		cold(w, BASE + off, 16);
	assert_int_equal(fake_calls(w->fake), 1);
	cold(w, BASE + PAGE - 8, 16); /* over the edge: by itself */
	assert_int_equal(fake_calls(w->fake), 2);
	cold(w, BASE, 3 * PAGE); /* more than a page: by itself */
	assert_int_equal(fake_calls(w->fake), 3);
	begin(w);
	assert_int_equal(w->fake->n_read_many, 0); /* nothing was learned */
	cold(w, BASE, 16);
	assert_int_equal(fake_calls(w->fake), 4);
	fake_put_u64(w->fake, BASE + 64, 12345);
	begin(w);
	struct span span;
	assert_int_equal(mem_view_cold(&w->view, BASE + 64, 8, &span), 0);
	assert_int_equal(load_u64(span, 0), 12345);
	assert_int_equal(mem_view_cold(&w->view, 8, 8, &span), TACHY_EFAULT);
}

/* Past so many pages cold reads go straight through, and the look-up stays short. */
static void test_the_page_cache_is_bounded(void **state)
{
	struct world *w = *state;
	raddr n = COLD_PAGES + 500;

	map_numbered(w->fake, BASE, (size_t)(n + 1) * PAGE);
	for (int round = 0; round < 2; round++) {
		begin(w);
		uint64_t bytes = w->fake->mem.n_bytes;
		for (raddr i = 0; i < n; i++)
			cold(w, BASE + i * PAGE + 8, 16);
		assert_int_equal(w->fake->mem.n_bytes - bytes,
				 (uint64_t)COLD_PAGES * PAGE + 500 * 16);
		bytes = w->fake->mem.n_bytes;
		for (raddr i = 0; i < COLD_PAGES; i++)
			cold(w, BASE + i * PAGE + 512, 16);
		assert_int_equal(w->fake->mem.n_bytes, bytes);
	}
}

static void test_cold_takes_what_the_plan_read(void **state)
{
	struct world *w = *state;
	map_numbered(w->fake, BASE, PAGE);
	begin(w);
	hot(w, BASE, 128);
	begin(w);
	uint64_t calls = fake_calls(w->fake);
	cold(w, BASE + 64, 32);
	assert_int_equal(fake_calls(w->fake), calls);
}

/* Several places in one call, and what lies within them is at hand for cold reads of this tick. */
static void test_fetched_at_once(void **state)
{
	struct world *w = *state;
	const struct view_place places[] = {{BASE + 8, 32},
					    {0, 64},
					    {BASE + 2 * PAGE, 128},
					    {8, 8},
					    {BASE + 5 * PAGE - 16, 64}};
	map_numbered(w->fake, BASE, 6 * PAGE);
	begin(w);
	uint64_t reads = w->fake->n_read, batches = w->fake->n_read_many;
	mem_view_fetch(&w->view, places, N_OF(places));
	assert_int_equal(w->fake->n_read_many - batches, 1);
	cold(w, BASE + 8, 32);
	cold(w, BASE + 16, 8);
	cold(w, BASE + 2 * PAGE + 64, 64);
	cold(w, BASE + 5 * PAGE - 16, 64);
	assert_int_equal(w->fake->n_read, reads);
	cold(w, BASE + 2 * PAGE + 64, 72); /* sticks out */
	assert_int_equal(w->fake->n_read, reads + 1);
	begin(w);
	cold(w, BASE + 8, 32); /* of this tick */
	assert_int_equal(w->fake->n_read, reads + 2);
}

/* ---- again, reset --------------------------------------------------------------------------- */

static void test_again_reads_anew(void **state)
{
	struct world *w = *state;
	struct span span;

	map_numbered(w->fake, BASE, 4 * PAGE);
	begin(w);
	hot(w, BASE, 16);
	begin(w);
	hot(w, BASE, 16);
	fake_put_u64(w->fake, BASE, 1);
	fake_put_u64(w->fake, BASE + 2 * PAGE, 2);
	assert_int_equal(mem_view_again(&w->view), 0);
	assert_int_equal(mem_view_hot(&w->view, BASE, 8, &span), 0);
	assert_int_equal(load_u64(span, 0), 1);
	assert_int_equal(mem_view_cold(&w->view, BASE + 2 * PAGE, 8, &span), 0);
	fake_put_u64(w->fake, BASE + 2 * PAGE, 3);
	assert_int_equal(mem_view_again(&w->view), 0);
	assert_int_equal(mem_view_cold(&w->view, BASE + 2 * PAGE, 8, &span), 0);
	assert_int_equal(load_u64(span, 0), 3);
	assert_int_equal(mem_view_hot(&w->view, BASE + 3 * PAGE, 8, &span), 0);
	assert_int_equal(mem_view_again(&w->view), 0); /* what was missed is planned already */
	uint64_t calls = fake_calls(w->fake);
	hot(w, BASE + 3 * PAGE, 8);
	assert_int_equal(fake_calls(w->fake), calls);
}

static void test_reset_forgets(void **state)
{
	struct world *w = *state;
	struct span span;

	map_numbered(w->fake, BASE, 4 * PAGE);
	begin(w);
	hot(w, BASE, 16);
	begin(w);
	mem_view_reset(&w->view);
	assert_false(mem_view_peek(&w->view, BASE, 16, &span));
	uint64_t many = w->fake->n_read_many;
	begin(w);
	assert_int_equal(w->fake->n_read_many, many);
	hot(w, BASE, 16);
}

/* ---- failures ------------------------------------------------------------------------------- */

static void test_errors_come_through(void **state)
{
	static const int codes[] = {TACHY_EGONE, TACHY_EPERM, TACHY_EFAULT};
	struct world *w = *state;
	struct span span;

	map_numbered(w->fake, BASE, 4 * PAGE);
	begin(w);
	hot(w, BASE, 16);
	for (size_t i = 0; i < N_OF(codes); i++) {
		w->fake->fail = codes[i];
		int rc = mem_view_begin(&w->view);
		assert_int_equal(rc, codes[i] == TACHY_EFAULT ? 0 : codes[i]);
		assert_int_equal(mem_view_hot(&w->view, BASE + 3 * PAGE, 8, &span), codes[i]);
		assert_int_equal(mem_view_cold(&w->view, BASE + 3 * PAGE, 8, &span), codes[i]);
		w->fake->fail = 0;
		begin(w);
		hot(w, BASE, 16);
	}
}

/* Whichever allocation fails, it is said, and the next tick is whole again. */
static void test_out_of_memory(void **state)
{
	int n_failed = 0;

	(void)state;
	if (!FAKE_ALLOC_FAILS)
		skip();
	for (int n_good = 0; n_good < 40; n_good++) {
		void *made = NULL;
		struct span span;
		assert_int_equal(set_up(&made), 0);
		struct world *w = made;
		map_numbered(w->fake, BASE, 64 * PAGE);
		assert_true(vec_reserve(&w->fake->batch,
					64)); /* the fake's own memory is not at stake */
		fake_alloc_arm(n_good);
		for (raddr i = 0; i < 60; i++) {
			int begun = mem_view_begin(&w->view);
			int read = mem_view_hot(&w->view, BASE + i % 30 * 2 * PAGE, 64, &span);
			int cold_read = mem_view_cold(&w->view, BASE + 61 * PAGE + i, 64, &span);
			assert_true(begun == 0 || begun == TACHY_ENOMEM);
			assert_true(read == 0 || read == TACHY_ENOMEM);
			assert_true(cold_read == 0 || cold_read == TACHY_ENOMEM);
			n_failed += begun != 0 || read != 0 || cold_read != 0;
		}
		fake_alloc_disarm();
		for (int tick = 0; tick < 2; tick++) {
			begin(w);
			for (raddr i = 0; i < 30; i++)
				hot(w, BASE + i * 2 * PAGE, 64);
		}
		tear_down(&made);
	}
	assert_true(n_failed > 100);
}

/* After a hundred ticks of the same, a thousand more take no memory. */
static void test_no_allocation_in_the_steady_state(void **state)
{
	struct world *w = *state;

	if (!FAKE_ALLOC_COUNTS)
		skip();
	map_numbered(w->fake, BASE, 64 * PAGE);
	for (raddr tick = 0; tick < 1200; tick++) {
		if (tick == 200)
			fake_alloc_arm(-1);
		assert_int_equal(mem_view_begin(&w->view), 0);
		for (raddr i = 0; i < 8; i++) { /* frames that come and go */
			struct span span;
			mem_view_hot(&w->view, BASE + (i + tick % 7) * 2 * PAGE, 64, &span);
			mem_view_cold(&w->view, BASE + (40 + i) * PAGE, 64, &span);
		}
	}
	assert_int_equal(fake_alloc_disarm(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_one_call_in_the_steady_state),
		CASE(test_a_miss_is_read_once),
		cmocka_unit_test(test_neighbours_are_merged),
		CASE(test_unused_ranges_are_dropped),
		CASE(test_unmapped_ranges_leave_the_plan),
		CASE(test_spans_stay_until_the_next_tick),
		CASE(test_thousands_of_segments),
		CASE(test_tails_come_last),
		CASE(test_one_comes_first),
		CASE(test_cold_pages_live_one_tick),
		CASE(test_the_page_cache_is_bounded),
		CASE(test_cold_takes_what_the_plan_read),
		CASE(test_fetched_at_once),
		CASE(test_again_reads_anew),
		CASE(test_reset_forgets),
		CASE(test_errors_come_through),
		CASE(test_out_of_memory),
		CASE(test_no_allocation_in_the_steady_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
