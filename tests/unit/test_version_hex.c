/* SPDX-License-Identifier: MIT
 * version.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "cpython/version_hex.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof(a)[0])

static void test_version(void **state)
{
	static const struct {
		uint32_t hex;
		const char *text;
	} cases[] = {{0x030d00f0, "3.13.0"},   {0x030f00c1, "3.15.0rc1"},
		     {0x030812f0, "3.8.18"},   {0x030e00a7, "3.14.0a7"},
		     {0x031000b4, "3.16.0b4"}, {0x030e0af0, "3.14.10"},
		     {0x02071200, NULL},       {0x030d00f1, NULL},
		     {0x030d0090, NULL},       {0xffffffcf, "255.255.255rc15"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[VERSION_TEXT_MAX] = "untouched";
		int r = version_hex_format(cases[i].hex, text, sizeof text);
		assert_int_equal(r, cases[i].text ? 0 : TACHY_ECORRUPT);
		assert_string_equal(text, cases[i].text ? cases[i].text : "untouched");
	}
}

static void test_version_parts(void **state)
{
	unsigned major = 1, minor = 2, micro = 3, level = 4, serial = 5;
	char text[6] = "keep";

	(void)state;
	assert_int_equal(version_hex_decode(0x030f02c7, &major, &minor, &micro, &level, &serial),
			 0);
	assert_int_equal(major, 3);
	assert_int_equal(minor, 15);
	assert_int_equal(micro, 2);
	assert_int_equal(level, VERSION_RC);
	assert_int_equal(serial, 7);
	assert_int_equal(version_hex_decode(0, &major, &minor, &micro, &level, &serial),
			 TACHY_ECORRUPT);
	assert_int_equal(minor, 15);
	assert_int_equal(version_hex_format(0x030d00f0, text, sizeof text), TACHY_EINVAL);
	assert_string_equal(text, "keep");
	assert_int_equal(version_hex_format(0x030900f0, text, sizeof text), 0);
	assert_string_equal(text, "3.9.0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_version_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
