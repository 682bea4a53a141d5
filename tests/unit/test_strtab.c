/* SPDX-License-Identifier: MIT
 * strtab.c
 */
#include "cases.h"

#include "base/error.h"
#include "base/strtab.h"
#include "fake_alloc.h"

#define MANY 20000u

static str_id add(struct strtab *tab, const char *text)
{
	str_id id = UINT32_MAX;
	assert_int_equal(strtab_add(tab, text, strlen(text), &id), 0);
	return id;
}

static void test_equal_text_has_equal_id(void **state)
{
	static const char *const texts[] = {"a", "b", "ab", "aaaaaaaa", "aaaaaaaaa", "\xe6\x97\xa5",
					    "A"};
	struct strtab *tab;

	(void)state;
	assert_int_equal(strtab_create(&tab), 0);
	assert_int_equal(add(tab, ""), 0);
	assert_string_equal(strtab_get(tab, 0), "");
	for (size_t i = 0; i < N_OF(texts); i++)
		assert_int_equal(add(tab, texts[i]), i + 1);
	for (size_t i = 0; i < N_OF(texts); i++) {
		assert_int_equal(add(tab, texts[i]), i + 1);
		assert_string_equal(strtab_get(tab, (str_id)i + 1), texts[i]);
	}
	assert_int_equal(strtab_count(tab), N_OF(texts) + 1);
	assert_string_equal(strtab_get(tab, 1000), "");
	assert_string_equal(strtab_get(tab, UINT32_MAX), "");
	strtab_destroy(tab);
	strtab_destroy(NULL);
}

static void test_only_the_given_length_counts(void **state)
{
	struct strtab *tab;
	str_id one, two;

	(void)state;
	assert_int_equal(strtab_create(&tab), 0);
	assert_int_equal(strtab_add(tab, "same tail 1", 9, &one), 0);
	assert_int_equal(strtab_add(tab, "same tail 2", 9, &two), 0);
	assert_int_equal(one, two);
	assert_string_equal(strtab_get(tab, one), "same tail");
	strtab_destroy(tab);
}

/* Through many growths ids and pointers stay what they were. */
static void test_pointers_stay(void **state)
{
	struct strtab *tab;
	const char **first = calloc(MANY, sizeof *first);
	char text[32];

	(void)state;
	assert_non_null(first);
	assert_int_equal(strtab_create(&tab), 0);
	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(text, sizeof text, "name_%u", i);
		assert_int_equal(add(tab, text), i + 1);
		first[i] = strtab_get(tab, i + 1);
	}
	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(text, sizeof text, "name_%u", i);
		assert_int_equal(add(tab, text), i + 1);
		assert_ptr_equal(strtab_get(tab, i + 1), first[i]);
		assert_string_equal(first[i], text);
	}
	free(first);
	strtab_destroy(tab);
}

static void test_borrower(void **state)
{
	struct strtab *tab, *borrower = NULL;
	str_id id;
	int rc, n_steps = 0;

	(void)state;
	assert_int_equal(strtab_create(&tab), 0);
	for (uint32_t i = 1; i < 100; i++) {
		char text[16];
		snprintf(text, sizeof text, "%u", i);
		add(tab, text);
	}
	do {
		rc = strtab_borrow(tab, 30, &borrower);
		n_steps++;
	} while (rc > 0);
	assert_int_equal(rc, 0);
	assert_int_equal(n_steps, 4);
	assert_int_equal(strtab_count(borrower), 100);
	assert_ptr_equal(strtab_get(borrower, 99), strtab_get(tab, 99));
	assert_int_equal(strtab_add(borrower, "x", 1, &id), TACHY_EINVAL);
	add(tab, "one more");
	assert_int_equal(strtab_borrow(tab, 30, &borrower), 0);
	assert_string_equal(strtab_get(borrower, 100), "one more");
	strtab_destroy(borrower);
	strtab_destroy(tab);
}

/* Whichever allocation fails: ENOMEM, nothing half done, and the same text goes in later. */
static void test_out_of_memory(void **state)
{
	struct strtab *tab = NULL;
	char text[32];

	(void)state;
	if (!FAKE_ALLOC_FAILS)
		skip();
	for (int n_good = 0; n_good < 8; n_good++) {
		fake_alloc_arm(n_good);
		int rc = strtab_create(&tab);
		fake_alloc_disarm();
		if (rc == 0)
			break;
		assert_int_equal(rc, TACHY_ENOMEM);
		assert_null(tab);
	}
	for (uint32_t i = 1, fails = 0; i < 5000; i++) {
		str_id id = UINT32_MAX;
		snprintf(text, sizeof text, "text %u", i);
		fake_alloc_arm(fails++ % 3);
		int rc = strtab_add(tab, text, strlen(text), &id);
		fake_alloc_disarm();
		if (rc < 0) {
			assert_int_equal(rc, TACHY_ENOMEM);
			assert_int_equal(id, UINT32_MAX);
			assert_int_equal(strtab_count(tab), i);
			id = add(tab, text);
		}
		assert_int_equal(id, i);
		assert_string_equal(strtab_get(tab, i), text);
	}
	strtab_destroy(tab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_text_has_equal_id),
		cmocka_unit_test(test_only_the_given_length_counts),
		cmocka_unit_test(test_pointers_stay),
		cmocka_unit_test(test_borrower),
		cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
