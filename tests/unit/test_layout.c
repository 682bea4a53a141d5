/* SPDX-License-Identifier: MIT
 * layout.c and the generated tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "cpython/layout.h"
#include "cpython/layout_fields.h"
#include "cpython/layout_tables.h"

/* ---- the tables ---- */

static bool in_version(const struct layout *layout, const struct layout_field *field)
{
	return layout->minor >= field->from && layout->minor <= field->to &&
	       (field->need < LAYOUT_FT || layout->free_threaded);
}

static void test_tables_are_sound(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_layout_tables; i++) {
		const char *what = "(none)";
		if (layout_check(&layout_tables[i], &what) != 0)
			fail_msg("3.%d: %s", layout_tables[i].minor, what);
		assert_string_equal(what, "(none)");
	}
}

static void test_tables_have_every_field(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_layout_tables; i++)
		for (size_t k = 0; k < n_layout_fields; k++) {
			const struct layout *table = &layout_tables[i];
			bool there = layout_get(table, &layout_fields[k]) != LAYOUT_NONE;
			if (there != in_version(table, &layout_fields[k]))
				fail_msg("3.%d: %s", table->minor, layout_fields[k].name);
		}
}

static void test_every_build_is_found(void **state)
{
	size_t n = 0;

	(void)state;
	for (unsigned minor = 8; minor <= 15; minor++)
		for (unsigned build = 0; build < (minor < 13 ? 2 : 4); build++) {
			const struct layout *table = layout_find(3, minor, build & 1, build >> 1);
			assert_non_null(table);
			assert_int_equal(table->minor, minor);
			assert_int_equal(table->debug, build & 1);
			assert_int_equal(table->free_threaded, build >> 1);
			assert_false(table->from_target || table->guessed || table->trace_refs);
			n++;
		}
	assert_int_equal(n, n_layout_tables);
	assert_null(layout_find(3, 7, false, false));
	assert_null(layout_find(3, 16, false, false));
	assert_null(layout_find(2, 8, false, false));
	assert_null(layout_find(3, 12, false, true));
}

static void test_fields_are_listed_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_layout_fields; i++) {
		assert_in_range(layout_fields[i].at, offsetof(struct layout, runtime),
				sizeof(struct layout) - sizeof(uint32_t));
		for (size_t k = 0; k < i; k++)
			assert_int_not_equal(layout_fields[i].at, layout_fields[k].at);
	}
}

/* Facts that other files lean on: a change of these is a change of theirs. */
static void test_facts(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_layout_tables; i++) {
		const struct layout *l = &layout_tables[i];
		if (l->minor >= 11) {
			assert_int_equal(l->tstate.datastack_top, l->tstate.datastack_chunk + 8);
			assert_int_equal(l->tstate.datastack_limit, l->tstate.datastack_chunk + 16);
			assert_int_equal(l->frame.locals, l->frame.size);
			assert_int_equal(l->code.bytecode, l->code.size);
			assert_int_equal(l->code_unit_caches_call, l->minor == 11 ? 4 : 3);
			assert_int_equal(l->owner.thread, 0);
			assert_int_equal(l->owner.generator, 1);
			assert_int_equal(l->owner.frame_object, 2);
		}
		assert_int_equal(l->gil.switch_number, l->gil.locked + 8);
		if (l->minor == 12 || l->minor == 13)
			assert_int_equal(l->owner.cstack, 3);
		if (l->minor >= 14)
			assert_int_equal(l->owner.interpreter, 3);
		if (l->minor == 14)
			assert_int_equal(l->owner.cstack, 4);
	}
}

/* ---- layout_check on damaged tables ---- */

/* The damage is found, and the field at fault (or one that it now collides with) is named. */
static void expect_corrupt(const struct layout *layout, const char *damage)
{
	const char *what = NULL;

	if (layout_check(layout, &what) != TACHY_ECORRUPT)
		fail_msg("3.%d: not noticed: %s", layout->minor, damage);
	assert_non_null(what);
}

static void expect_named(const struct layout *layout, const char *name)
{
	const char *what = NULL;

	assert_int_equal(layout_check(layout, &what), TACHY_ECORRUPT);
	assert_string_equal(what, name);
}

static void damage_field(const struct layout *table, const struct layout_field *field)
{
	struct layout layout = *table;
	uint32_t was = layout_get(table, field);

	if (!in_version(table, field)) {
		layout_set(&layout, field, 8);
		expect_named(&layout, field->name);
		return;
	}
	if (field->need != LAYOUT_EXPECTED && field->need != LAYOUT_FT_EXPECTED) {
		layout_set(&layout, field, LAYOUT_NONE);
		expect_named(&layout, field->name);
	}
	layout_set(&layout, field, LAYOUT_NONE - 1);
	expect_named(&layout, field->name);
	layout_set(&layout, field, 16 * 1024 * 1024 + 8);
	expect_named(&layout, field->name);
	if (layout_is_offset(field) && layout_width(table, field) > 1) {
		layout_set(&layout, field, was + 1);
		expect_named(&layout, field->name);
	}
}

static void test_check_each_field(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_layout_tables; i++)
		for (size_t k = 0; k < n_layout_fields; k++)
			damage_field(&layout_tables[i], &layout_fields[k]);
}

/* What may be missing may be missing. */
static void test_check_absent_is_fine(void **state)
{
	const char *what;

	(void)state;
	for (size_t i = 0; i < n_layout_tables; i++) {
		struct layout layout = layout_tables[i];
		for (size_t k = 0; k < n_layout_fields; k++)
			if (layout_fields[k].need == LAYOUT_EXPECTED ||
			    layout_fields[k].need == LAYOUT_FT_EXPECTED)
				layout_set(&layout, &layout_fields[k], LAYOUT_NONE);
		assert_int_equal(layout_check(&layout, &what), 0);
	}
}

static void damage_bound(const struct layout *table, const struct layout_field *field)
{
	const struct layout_field *size = layout_size_field((enum layout_struct)field->in);
	struct layout layout = *table;

	if (!in_version(table, field) || !layout_is_offset(field) || size == NULL ||
	    layout_width(table, field) == 0)
		return;
	/* the last aligned place at which it would stick out of the struct */
	layout_set(&layout, field, (layout_get(table, size) + 7) / 8 * 8);
	expect_named(&layout, field->name);
	layout = *table;
	layout_set(&layout, size, 8);
	expect_corrupt(&layout, size->name);
}

static void test_check_bounds(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_layout_tables; i++)
		for (size_t k = 0; k < n_layout_fields; k++)
			damage_bound(&layout_tables[i], &layout_fields[k]);
}

static void damage_overlap(const struct layout *table, const struct layout_field *a,
			   const struct layout_field *b)
{
	struct layout layout = *table;

	if (a == b || a->in != b->in || !layout_is_offset(a) || !layout_is_offset(b) ||
	    !in_version(table, a) || !in_version(table, b) || layout_width(table, a) == 0 ||
	    layout_width(table, b) == 0)
		return;
	layout_set(&layout, a, layout_get(table, b));
	expect_corrupt(&layout, a->name);
}

static void test_check_overlaps(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_layout_tables; i++)
		for (size_t k = 0; k < n_layout_fields; k++)
			for (size_t m = 0; m < n_layout_fields; m++)
				damage_overlap(&layout_tables[i], &layout_fields[k],
					       &layout_fields[m]);
}

static void test_check_header(void **state)
{
	const struct layout *table = layout_find(3, 14, false, false);
	struct layout l;

	(void)state;
#define DAMAGED(field, value, name) (l = *table, l.field = (value), expect_named(&l, name))
	DAMAGED(major, 2, "version");
	DAMAGED(minor, 7, "version");
	DAMAGED(frames, FRAMES_CFRAME, "frames");
	DAMAGED(lines, LINES_LNOTAB, "lines");
	DAMAGED(gil_design, GIL_RUNTIME, "gil_design");
	DAMAGED(free_threaded, true, "gil_design");
	DAMAGED(code_unit_caches_call, 17, "code_unit_caches_call");
	DAMAGED(code_unit_caches_call, LAYOUT_NONE, "code_unit_caches_call");
	DAMAGED(owner.interpreter, 4, "owner.interpreter"); /* is that of cstack */
	DAMAGED(owner.thread, 128, "owner.thread");
	DAMAGED(unicode.kind_shift, 32, "unicode.kind_shift");
	table = layout_find(3, 12, false, false);
	DAMAGED(free_threaded, true, "free_threaded");
	table = layout_find(3, 8, false, false);
	DAMAGED(code_unit_caches_call, 0, "code_unit_caches_call");
	DAMAGED(minor, 10, "lines");
#undef DAMAGED
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables_are_sound),
		cmocka_unit_test(test_tables_have_every_field),
		cmocka_unit_test(test_every_build_is_found),
		cmocka_unit_test(test_fields_are_listed_once),
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_check_each_field),
		cmocka_unit_test(test_check_absent_is_fine),
		cmocka_unit_test(test_check_bounds),
		cmocka_unit_test(test_check_overlaps),
		cmocka_unit_test(test_check_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
