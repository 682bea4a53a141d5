/* SPDX-License-Identifier: MIT
 * arena.c
 */
#include "cases.h"

#include "base/arena.h"
#include "fake_alloc.h"

/* One working day of an arena: many sizes, each piece filled and still whole at the end. */
static void fill(struct arena *arena, uint64_t seed, size_t n, size_t size_max)
{
	struct {
		unsigned char *at;
		size_t size;
	} pieces[512];

	assert_true(n <= N_OF(pieces));
	for (size_t i = 0; i < n; i++) {
		pieces[i].size = (size_t)(dice(&seed) % (size_max + 1));
		pieces[i].at = arena_alloc(arena, pieces[i].size);
		assert_non_null(pieces[i].at);
		assert_int_equal((uintptr_t)pieces[i].at % 16, 0);
		memset(pieces[i].at, (int)(i & 0xff), pieces[i].size);
	}
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < pieces[i].size; k++)
			assert_int_equal(pieces[i].at[k], i & 0xff);
}

static void test_pieces_do_not_overlap(void **state)
{
	static const size_t sizes[] = {0, 1, 15, 16, 17, 1000, 65536, 70000, 1000000};

	(void)state;
	for (size_t i = 0; i < N_OF(sizes); i++) {
		struct arena arena;
		arena_init(&arena);
		for (uint64_t round = 1; round < 4; round++) {
			fill(&arena, round, sizes[i] > 100000 ? 20 : 300, sizes[i]);
			arena_reset(&arena);
		}
		arena_done(&arena);
	}
}

/* The same day again costs nothing; a day with other sizes may not, but ends well too. */
static void test_a_reset_arena_allocates_nothing(void **state)
{
	struct arena arena;

	(void)state;
	if (!FAKE_ALLOC_COUNTS)
		skip();
	arena_init(&arena);
	fill(&arena, 42, 400, 5000);
	for (int i = 0; i < 5; i++) {
		arena_reset(&arena);
		fake_alloc_arm(-1);
		fill(&arena, 42, 400, 5000);
		assert_int_equal(fake_alloc_disarm(), 0);
	}
	arena_reset(&arena);
	assert_non_null(arena_alloc(&arena, 1 << 20)); /* bigger than the next block of the chain */
	fill(&arena, 43, 400, 5000);
	arena_done(&arena);
	assert_null(arena.first);
	arena_done(&arena); /* twice is fine */
}

static void test_strndup(void **state)
{
	struct arena arena;

	(void)state;
	arena_init(&arena);
	assert_string_equal(arena_strndup(&arena, "", 0), "");
	assert_string_equal(arena_strndup(&arena, "abcdef", 3), "abc");
	arena_done(&arena);
}

static void test_out_of_memory(void **state)
{
	struct arena arena;

	(void)state;
	arena_init(&arena);
	assert_null(arena_alloc(&arena, SIZE_MAX));
	assert_null(arena_alloc(&arena, SIZE_MAX - 8));
	assert_null(arena_alloc(&arena, SIZE_MAX / 2 + 1));
	if (FAKE_ALLOC_FAILS) {
		fake_alloc_arm(0);
		assert_null(arena_alloc(&arena, 1));
		assert_null(arena_strndup(&arena, "a", 1));
		fake_alloc_disarm();
	}
	assert_non_null(arena_alloc(&arena, 1)); /* and works again */
	arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces_do_not_overlap),
		cmocka_unit_test(test_a_reset_arena_allocates_nothing),
		cmocka_unit_test(test_strndup),
		cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
