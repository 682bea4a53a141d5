/* SPDX-License-Identifier: MIT
 * error.c
 */
#include "cases.h"

#include <errno.h>

#include "base/error.h"

static void every_code_has_name_text_and_class(void **state)
{
	(void)state;
#define CHECK(name, value, class, text) \
	assert_int_equal(name, value); \
	assert_true(name < 0); \
	assert_string_equal(error_name(name), #name); \
	assert_string_equal(error_text(name), text); \
	assert_int_equal(error_class(name), class);
	TACHY_ERRORS(CHECK)
#undef CHECK
	assert_string_equal(error_name(0), "TACHY_OK");
	assert_int_equal(error_class(3), TACHY_CLASS_NONE);
	assert_int_equal(error_class(-9999), TACHY_CLASS_BUG);
	assert_non_null(error_text(-9999));
}

static void sets_and_returns(void **state)
{
	struct tachy_error err = {0};
	(void)state;
	assert_int_equal(error_set(&err, TACHY_EPERM, "process %d", 7), TACHY_EPERM);
	assert_int_equal(err.code, TACHY_EPERM);
	assert_string_equal(err.text, "process 7");
	assert_int_equal(error_set(NULL, TACHY_EGONE, "nobody listens"), TACHY_EGONE);
	/* its own text as an argument */
	assert_int_equal(error_set(&err, TACHY_EIO, "again: %s", err.text), TACHY_EIO);
	assert_string_equal(err.text, "again: process 7");
}

static void wraps(void **state)
{
	struct tachy_error err = {0};
	(void)state;
	(void)error_set(&err, TACHY_ENOENT, "no file");
	assert_int_equal(error_wrap(&err, "cannot %s", "open"), TACHY_ENOENT);
	assert_string_equal(err.text, "cannot open: no file");
	assert_int_equal(error_wrap(NULL, "x"), 0);
	struct tachy_error empty = {0};
	(void)error_wrap(&empty, "alone");
	assert_string_equal(empty.text, "alone");
}

static void cuts_between_letters(void **state)
{
	(void)state;
	for (size_t shift = 0; shift < 4; shift++) {
		char text[2 * TACHY_ERROR_TEXT_MAX] = "";
		struct tachy_error err = {0};
		memset(text, 'x', shift);
		for (size_t at = shift; at + 5 < sizeof text; at += 4)
			memcpy(text + at, "\xf0\x9f\x90\x8d", 5); /* a snake of four bytes */
		(void)error_set(&err, TACHY_EIO, "%s", text);
		size_t len = strlen(err.text);
		assert_true(len < sizeof err.text);
		assert_true(len + 4 >= sizeof err.text - 1);
		assert_int_equal((len - shift) % 4, 0);
		(void)error_wrap(&err, "why");
		assert_int_equal((strlen(err.text) - shift - strlen("why: ")) % 4, 0);
	}
}

static void from_errno(void **state)
{
	static const struct {
		int from, to;
	} cases[] = {{0, 0},
		     {EPERM, TACHY_EPERM},
		     {EACCES, TACHY_EPERM},
		     {ESRCH, TACHY_EGONE},
		     {EFAULT, TACHY_EFAULT},
		     {ENOMEM, TACHY_ENOMEM},
		     {ENOENT, TACHY_ENOENT},
		     {EIO, TACHY_EIO},
		     {ENOSPC, TACHY_EIO},
		     {EAGAIN, TACHY_EAGAIN},
		     {EINVAL, TACHY_EINVAL},
		     {ENOSYS, TACHY_EPLATFORM}};
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++)
		assert_int_equal(error_from_errno(cases[i].from), cases[i].to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_code_has_name_text_and_class),
		cmocka_unit_test(sets_and_returns),
		cmocka_unit_test(wraps),
		cmocka_unit_test(cuts_between_letters),
		cmocka_unit_test(from_errno),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
