/* SPDX-License-Identifier: MIT
 * linetable.c against what real interpreters say (tests/golden/linetable_3.X.txt, written by
 * make_linetables there), and against tables made up here: huge, odd, cut short.
 */
#include "cases.h"

#include "base/error.h"
#include "base/vec.h"
#include "cpython/linetable.h"
#include "fake_alloc.h"

#define LINE_MAX_BYTES 65536
#define HUGE_LINES     60000

/* ---- golden --------------------------------------------------------------------------------- */

struct golden {
	struct linetable table;
	char name[128];
	int32_t first_line, last_line; /* last_line: of the instructions so far */
	bool open;
	size_t n_codes, n_places, n_no_line, n_back;
};

static enum linetable_design design_of(int minor)
{
	return minor <= 9 ? LINES_LNOTAB : minor == 10 ? LINES_PEP626 : LINES_LOCATIONS;
}

static size_t from_hex(const char *text, uint8_t *bytes)
{
	size_t n = 0;
	unsigned byte;
	for (; strcmp(text, "-") != 0 && sscanf(text + 2 * n, "%2x", &byte) == 1; n++)
		bytes[n] = (uint8_t)byte;
	return n;
}

static void open_code(struct golden *golden, int minor, const char *line, char *hex, uint8_t *bytes)
{
	int first_line, size;
	if (golden->open)
		linetable_done(&golden->table);
	assert_int_equal(sscanf(line, "code %127s %d %d %65535s", golden->name, &first_line, &size,
				hex),
			 4);
	struct span span = {bytes, from_hex(hex, bytes)};
	assert_int_equal(linetable_init(&golden->table, design_of(minor), first_line, span), 0);
	golden->first_line = golden->last_line = first_line;
	golden->open = true;
	golden->n_codes++;
}

static void fail_at(const struct golden *golden, int at, const struct line_place *want,
		    const struct line_place *got)
{
	fail_msg("3.x %s at %d: want %d-%d %d-%d, got %d-%d %d-%d", golden->name, at, want->line,
		 want->end_line, want->column, want->end_column, got->line, got->end_line,
		 got->column, got->end_column);
}

/* `want` as the interpreter has it; we show the nearest line before where there is none. */
static void check_range(struct golden *golden, int start, int end, struct line_place want)
{
	bool none = want.line == -1;
	if (none)
		want = (struct line_place){golden->last_line, 0, -1, -1};
	if (want.end_line < want.line)
		want.end_line = golden->table.design == LINES_LOCATIONS ? want.line : 0;
	for (int at = start; at < end; at++) {
		struct line_place got;
		assert_int_equal(linetable_find(&golden->table, at, &got), 0);
		if (memcmp(&got, &want, sizeof got) != 0)
			fail_at(golden, at, &want, &got);
	}
	golden->n_back += want.line < golden->last_line;
	golden->n_no_line += none;
	golden->last_line = want.line;
	golden->n_places++;
}

static void check_version(int minor)
{
	char path[256];
	char *line = malloc(LINE_MAX_BYTES), *hex = malloc(LINE_MAX_BYTES);
	uint8_t *bytes = malloc(LINE_MAX_BYTES);
	struct golden golden = {.open = false};
	snprintf(path, sizeof path, "%s/tests/golden/linetable_3.%d.txt", TEST_SOURCE_ROOT, minor);
	FILE *file = fopen(path, "r");
	assert_true(file && line && hex && bytes);
	while (fgets(line, LINE_MAX_BYTES, file)) {
		struct line_place want;
		int start, end;
		if (line[0] == 'c') {
			open_code(&golden, minor, line, hex, bytes);
			continue;
		}
		assert_int_equal(sscanf(line, "at %d %d %d %d %d %d", &start, &end, &want.line,
					&want.end_line, &want.column, &want.end_column),
				 6);
		check_range(&golden, start, end, want);
	}
	assert_true(golden.n_codes > 25 && golden.n_places > 100 && golden.n_back > 5);
	assert_true(minor < 10 || golden.n_no_line > 0);
	linetable_done(&golden.table);
	fclose(file);
	free(line);
	free(hex);
	free(bytes);
}

static void test_golden(void **state)
{
	(void)state;
	for (int minor = 8; minor <= 15; minor++)
		check_version(minor);
}

/* ---- made up -------------------------------------------------------------------------------- */

typedef VEC(uint8_t) bytes_vec;

static void put(bytes_vec *bytes, uint32_t byte)
{
	assert_true(vec_push(bytes, (uint8_t)byte));
}

static void put_varint(bytes_vec *bytes, uint32_t value)
{
	for (; value >= 64; value >>= 6)
		put(bytes, (value & 63) | 64);
	put(bytes, value);
}

static void put_signed(bytes_vec *bytes, int32_t value)
{
	put_varint(bytes, value < 0 ? ((uint32_t)-value << 1) | 1 : (uint32_t)value << 1);
}

/* One entry: 4 bytes of code on the line `delta` below the one before it. */
static void put_line(bytes_vec *bytes, enum linetable_design design, int32_t delta)
{
	switch (design) {
	case LINES_LNOTAB: /* the line holds from where the 4 bytes before it end */
		for (; delta > 127; delta -= 127, put(bytes, 0), put(bytes, 127)) {
		}
		for (; delta < -128; delta += 128, put(bytes, 0), put(bytes, 0x80)) {
		}
		put(bytes, 0);
		put(bytes, (uint8_t)(int8_t)delta);
		put(bytes, 4);
		put(bytes, 0);
		break;
	case LINES_PEP626:
		for (; delta > 127; delta -= 127, put(bytes, 0), put(bytes, 127)) {
		}
		for (; delta < -127; delta += 127, put(bytes, 0), put(bytes, 0x81)) {
		}
		put(bytes, 4);
		put(bytes, (uint8_t)(int8_t)delta);
		break;
	case LINES_LOCATIONS:
		put(bytes, 0x80 | 13u << 3 | 1);
		put_signed(bytes, delta);
		break;
	}
}

/* 60,000 lines, some of them far back: each of them, asked in a wild order, in good time. */
static void test_huge_tables(void **state)
{
	static const enum linetable_design designs[] = {LINES_LNOTAB, LINES_PEP626,
							LINES_LOCATIONS};
	int32_t *lines = calloc(HUGE_LINES, sizeof *lines);
	uint64_t seed = 99;

	(void)state;
	assert_non_null(lines);
	for (size_t d = 0; d < N_OF(designs); d++) {
		bytes_vec bytes = {NULL, 0, 0};
		struct linetable table;
		struct line_place place;
		int32_t line = 10;
		for (int i = 0; i < HUGE_LINES; i++) {
			int32_t delta = i % 1000 == 999 ? -5000 : i % 77 == 0 ? 300 : 1 + i % 3;
			if (line + delta < 1)
				delta = 1;
			put_line(&bytes, designs[d], delta);
			lines[i] = line += delta;
		}
		assert_int_equal(linetable_init(&table, designs[d], 10,
						(struct span){bytes.at, bytes.n}),
				 0);
		vec_done(&bytes);
		for (int i = 0; i < 4 * HUGE_LINES; i++) {
			int64_t k = i < HUGE_LINES ? i : (int64_t)(dice(&seed) % HUGE_LINES);
			assert_int_equal(linetable_find(&table, k * 4 + i % 4, &place), 0);
			if (place.line != lines[k])
				fail_msg("design %zu, line %d of the table: %d, not %d", d, (int)k,
					 place.line, lines[k]);
		}
		for (int64_t at = 4 * HUGE_LINES; at < INT64_MAX / 4; at *= 3) { /* past the end */
			assert_int_equal(linetable_find(&table, at, &place), 0);
			assert_int_equal(place.line, line);
		}
		linetable_done(&table);
	}
	free(lines);
}

static void test_before_the_first_and_no_table(void **state)
{
	static const enum linetable_design designs[] = {LINES_LNOTAB, LINES_PEP626,
							LINES_LOCATIONS};
	static const int64_t ats[] = {INT64_MIN, -2, -1, 0, 1, 2, INT64_MAX};

	(void)state;
	for (size_t d = 0; d < N_OF(designs); d++) {
		for (int filled = 0; filled < 2; filled++) {
			bytes_vec bytes = {NULL, 0, 0};
			struct linetable table;
			for (int i = 0; i < 40 && filled; i++)
				put_line(&bytes, designs[d], 2);
			struct span span = {bytes.at, bytes.n};
			assert_int_equal(linetable_init(&table, designs[d], 7, span), 0);
			for (size_t i = 0; i < N_OF(ats); i++) {
				struct line_place place;
				int32_t want = !filled || ats[i] < 0 ? 7 : ats[i] < 4 ? 9 : 87;
				assert_int_equal(linetable_find(&table, ats[i], &place), 0);
				assert_int_equal(place.line, want);
				assert_int_equal(place.column, -1);
			}
			linetable_done(&table);
			vec_done(&bytes);
		}
	}
}

/* The forms of a location entry, one by one. */
static void test_location_forms(void **state)
{
	static const struct {
		uint8_t bytes[20];
		size_t size;
		struct line_place want; /* first line: 100 */
	} cases[] = {
		{{0x80 | 0 << 3, 0x25}, 2, {100, 100, 2, 7}}, /* short */
		{{0x80 | 9 << 3, 0x7f}, 2, {100, 100, 79, 94}},
		{{0x80 | 10 << 3, 5, 250}, 3, {100, 100, 5, 250}}, /* one line */
		{{0x80 | 11 << 3, 5, 6}, 3, {101, 101, 5, 6}},
		{{0x80 | 12 << 3, 255, 255}, 3, {102, 102, 255, 255}},
		{{0x80 | 13 << 3, 0x06}, 2, {103, 103, -1, -1}}, /* no columns */
		{{0x80 | 13 << 3, 0x07}, 2, {97, 97, -1, -1}},
		{{0x80 | 13 << 3, 0x40 | 1, 2}, 3, {36, 36, -1, -1}},  /* -(129 >> 1) */
		{{0x80 | 14 << 3, 4, 3, 1, 9}, 5, {102, 105, 0, 8}},   /* long */
		{{0x80 | 14 << 3, 0, 0, 0, 0}, 5, {100, 100, -1, -1}}, /* long without columns */
		{{0x80 | 14 << 3, 0, 1, 0x40, 0x10, 0x40, 0x20}, 7, {100, 101, 1023, 2047}},
		{{0x80 | 15 << 3}, 1, {100, 100, -1, -1}}, /* none */
		{{0x80 | 14 << 3, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f},
		 9,
		 {0, 0, 0, 0}}, /* endless */
	};

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct linetable table;
		struct line_place got;
		struct span span = {cases[i].bytes, cases[i].size};
		assert_int_equal(linetable_init(&table, LINES_LOCATIONS, 100, span), 0);
		assert_int_equal(linetable_find(&table, 1, &got), 0);
		if (cases[i].want.line && memcmp(&got, &cases[i].want, sizeof got) != 0)
			fail_msg("case %zu: got %d-%d %d-%d", i, got.line, got.end_line, got.column,
				 got.end_column);
		linetable_done(&table);
	}
}

/* Every length of every kind of table; the bytes end where the block does, so that sanitizers see. */
static void test_cut_short(void **state)
{
	static const enum linetable_design designs[] = {LINES_LNOTAB, LINES_PEP626,
							LINES_LOCATIONS};
	uint64_t seed = 5;

	(void)state;
	for (size_t d = 0; d < 2 * N_OF(designs); d++) {
		bytes_vec bytes = {NULL, 0, 0};
		for (int i = 0; i < 100; i++) {
			if (d % 2)
				put(&bytes, (uint32_t)dice(&seed));
			else
				put_line(&bytes, designs[d / 2], i % 2 ? -i * 3 : i * 8);
		}
		for (size_t size = 0; size <= bytes.n; size++) {
			uint8_t *copy = malloc(size ? size : 1);
			struct linetable table;
			struct line_place place;
			assert_non_null(copy);
			memcpy(copy, bytes.at, size);
			struct span span = {copy, size};
			assert_int_equal(linetable_init(&table, designs[d / 2], 1, span), 0);
			for (int64_t at = -4; at < 2000; at += 7)
				assert_int_equal(linetable_find(&table, at, &place), 0);
			linetable_done(&table);
			free(copy);
		}
		vec_done(&bytes);
	}
}

static void test_out_of_memory(void **state)
{
	static const uint8_t bytes[] = {2, 1, 2, 1};
	struct span span = {bytes, sizeof bytes};
	struct linetable table;
	struct line_place place;

	(void)state;
	if (!FAKE_ALLOC_FAILS)
		skip();
	fake_alloc_arm(0);
	assert_int_equal(linetable_init(&table, LINES_PEP626, 1, span), TACHY_ENOMEM);
	fake_alloc_disarm();
	assert_int_equal(linetable_init(&table, LINES_PEP626, 1, span), 0);
	fake_alloc_arm(0);
	assert_int_equal(linetable_find(&table, 0, &place), TACHY_ENOMEM);
	fake_alloc_disarm();
	assert_int_equal(linetable_find(&table, 2, &place), 0);
	assert_int_equal(place.line, 3);
	linetable_done(&table);
	linetable_done(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_huge_tables),
		cmocka_unit_test(test_before_the_first_and_no_table),
		cmocka_unit_test(test_location_forms),
		cmocka_unit_test(test_cut_short),
		cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
