/* SPDX-License-Identifier: MIT
 * map.c against a reference that is too simple to be wrong.
 */
#include "cases.h"

#include "base/hash.h"
#include "base/map.h"
#include "fake_alloc.h"

#define KEYS    512u
#define STEPS   200000u
#define MASK_64 63u /* of a map that has not grown yet */

struct reference { /* the same keys, in a plain array */
	uint64_t key[KEYS], value[KEYS];
	bool there[KEYS];
	size_t n;
};

static void check_all(const struct map *map, const struct reference *ref, size_t n_keys)
{
	assert_int_equal(map->n, ref->n);
	for (size_t i = 0; i < n_keys; i++) {
		uint64_t value = 0;
		assert_int_equal(map_get(map, ref->key[i], &value), ref->there[i]);
		if (ref->there[i])
			assert_int_equal(value, ref->value[i]);
	}
}

static void step(struct map *map, struct reference *ref, size_t n_keys, uint64_t *seed)
{
	size_t i = (size_t)(dice(seed) % n_keys);
	switch (dice(seed) % 8) {
	case 0: /* rare: everything goes */
		if (dice(seed) % 200)
			break;
		map_clear(map);
		memset(ref->there, 0, sizeof ref->there);
		ref->n = 0;
		break;
	case 1:
	case 2:
	case 3:
		map_remove(map, ref->key[i]);
		ref->n -= ref->there[i];
		ref->there[i] = false;
		break;
	default:
		ref->value[i] = dice(seed);
		assert_true(map_put(map, ref->key[i], ref->value[i]));
		ref->n += !ref->there[i];
		ref->there[i] = true;
	}
}

static void run(size_t n_keys, uint64_t (*make_key)(size_t), uint32_t generation)
{
	struct reference *ref = calloc(1, sizeof *ref);
	uint64_t seed = 88172645463325252u;
	struct map map;
	assert_non_null(ref);
	for (size_t i = 0; i < n_keys; i++)
		ref->key[i] = make_key(i);
	map_init(&map);
	if (generation)
		map.generation = generation;
	for (size_t i = 0; i < STEPS; i++) {
		step(&map, ref, n_keys, &seed);
		if (i % 97 == 0)
			check_all(&map, ref, n_keys);
	}
	check_all(&map, ref, n_keys);
	map_done(&map);
	free(ref);
}

static uint64_t key_small(size_t i)
{
	return i;
}

static uint64_t key_extreme(size_t i)
{
	return i % 2 ? UINT64_MAX - i : (uint64_t)i << 48;
}

/* Keys that all want one of three neighbouring slots, the last ones of the table: long runs of
 * probes that wrap around its end. */
static uint64_t key_clustered(size_t i)
{
	uint64_t key = 0;
	for (size_t met = 0;; key++) {
		uint64_t home = hash_u64(key) & MASK_64;
		if (home >= MASK_64 - 2 && met++ == i)
			return key;
	}
}

static void test_against_reference(void **state)
{
	static const struct {
		size_t n_keys;
		uint64_t (*make_key)(size_t);
		uint32_t generation;
	} cases[] = {
		{KEYS, key_small, 0},
		{KEYS, key_extreme, 0},
		{30, key_clustered, 0},
		{KEYS, key_small, UINT32_MAX - 3},
		{30, key_clustered, UINT32_MAX - 3},
		{1, key_small, 0},
	};

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++)
		run(cases[i].n_keys, cases[i].make_key, cases[i].generation);
}

/* Every subset of a run of clustered keys, taken out in every order of one after the other. */
static void test_remove_from_a_cluster(void **state)
{
	enum { N = 6 };
	uint64_t keys[N];

	(void)state;
	for (size_t i = 0; i < N; i++)
		keys[i] = key_clustered(i * 3);
	for (unsigned order = 0; order < N * N * N; order++) {
		struct map map;
		const size_t gone[3] = {order % N, order / N % N, order / N / N};
		map_init(&map);
		for (size_t i = 0; i < N; i++)
			assert_true(map_put(&map, keys[i], i));
		for (size_t g = 0; g < 3; g++) {
			map_remove(&map, keys[gone[g]]);
			for (size_t i = 0; i < N; i++) {
				uint64_t value = N;
				bool removed = i == gone[0] || (g > 0 && i == gone[1]) ||
					       (g > 1 && i == gone[2]);
				assert_int_equal(map_get(&map, keys[i], &value), !removed);
				assert_int_equal(value, removed ? N : i);
			}
		}
		map_done(&map);
	}
}

/* A slot written in generation 1 must not come back when the numbers start again. */
static void test_generations_wrap(void **state)
{
	struct map map;
	uint64_t value;

	(void)state;
	map_init(&map);
	assert_true(map_put(&map, 7, 70));
	map.generation = UINT32_MAX; /* as after 4 billion clears */
	map.n = 0;
	assert_true(map_put(&map, 8, 80));
	map_clear(&map);
	assert_int_not_equal(map.generation, 0);
	for (int i = 0; i < 3; i++) {
		assert_true(map_put(&map, 9, 90));
		assert_false(map_get(&map, 7, &value));
		assert_false(map_get(&map, 8, &value));
		map_clear(&map);
	}
	map_done(&map);
	map_clear(&map); /* an empty one, never used */
	map_remove(&map, 1);
	assert_false(map_get(&map, 1, &value));
	map_done(&map);
}

static void test_out_of_memory_changes_nothing(void **state)
{
	struct map map;
	uint64_t value = 0, n = 0;

	(void)state;
	if (!FAKE_ALLOC_FAILS)
		skip();
	map_init(&map);
	fake_alloc_arm(0);
	assert_false(map_put(&map, 1, 1));
	fake_alloc_disarm();
	assert_int_equal(map.n, 0);
	for (; n < 32; n++)
		assert_true(map_put(&map, n, n + 1));
	fake_alloc_arm(0);
	assert_false(map_put(&map, 1000, 1));
	fake_alloc_disarm();
	assert_int_equal(map.n, 32);
	assert_true(map_get(&map, 31, &value));
	assert_int_equal(value, 32);
	assert_false(map_get(&map, 1000, &value));
	map_done(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_reference),
		cmocka_unit_test(test_remove_from_a_cluster),
		cmocka_unit_test(test_generations_wrap),
		cmocka_unit_test(test_out_of_memory_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
