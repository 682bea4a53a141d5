/* SPDX-License-Identifier: MIT
 * layout_debug.c. tests/images/debug_offsets: _Py_DebugOffsets as each build has them
 * (docs/layouts.md).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "cpython/layout_debug.h"
#include "cpython/layout_debug_tables.h"
#include "cpython/layout_fields.h"

#ifndef TEST_SOURCE_ROOT
#define TEST_SOURCE_ROOT "."
#endif

#define ARRAY_SIZE(a) (sizeof(a) / sizeof(a)[0])
#define BLOB_MAX      4096

struct blob {
	const char *name;
	unsigned minor;
	bool debug, free_threaded, jit;
};

static const struct blob blobs[] = {
	{"3.13", 13, false, false, false},    {"3.13d", 13, true, false, false},
	{"3.13t", 13, false, true, false},    {"3.13td", 13, true, true, false},
	{"3.14", 14, false, false, false},    {"3.14d", 14, true, false, false},
	{"3.14t", 14, false, true, false},    {"3.14td", 14, true, true, false},
	{"3.15", 15, false, false, false},    {"3.15d", 15, true, false, false},
	{"3.15t", 15, false, true, false},    {"3.15td", 15, true, true, false},
	{"3.15-jit", 15, false, false, true}, {"3.15d-jit", 15, true, false, true},
	{"3.15t-jit", 15, false, true, true}, {"3.15td-jit", 15, true, true, true},
};

static size_t read_blob(const char *name, uint8_t *bytes)
{
	char path[512];
	FILE *file;
	size_t size;

	snprintf(path, sizeof path, TEST_SOURCE_ROOT "/tests/images/debug_offsets/%s.bin", name);
	file = fopen(path, "rb");
	if (file == NULL)
		fail_msg("cannot open %s", path);
	size = fread(bytes, 1, BLOB_MAX, file);
	fclose(file);
	return size;
}

/* A copy of the exact size, so that a sanitizer sees the first byte read past it. */
static int parse(const uint8_t *bytes, size_t size, struct layout *layout, const char **what)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct span span = {copy, size};
	int r;

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	r = layout_from_debug_offsets(span, layout, what);
	free(copy);
	return r;
}

static void poke(uint8_t *bytes, size_t at, uint64_t value)
{
	memcpy(bytes + at, &value, sizeof value);
}

static uint64_t peek(const uint8_t *bytes, size_t at)
{
	uint64_t value;

	memcpy(&value, bytes + at, sizeof value);
	return value;
}

static const struct debug_shape *shape_of(unsigned minor)
{
	for (size_t i = 0; i < n_debug_shapes; i++)
		if (debug_shapes[i].minor == minor)
			return &debug_shapes[i];
	fail_msg("no shape of 3.%u", minor);
	return NULL;
}

static const struct layout_field *field_at(size_t at)
{
	for (size_t i = 0; i < n_layout_fields; i++)
		if (layout_fields[i].at == at)
			return &layout_fields[i];
	return NULL;
}

static void test_shapes(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_debug_shapes; i++) {
		bool gil_seen = false;
		assert_true(debug_shapes[i].size <= LAYOUT_DEBUG_BYTES);
		assert_true(i == 0 || debug_shapes[i].minor == debug_shapes[i - 1].minor + 1);
		for (size_t k = 0; k < debug_shapes[i].n_fields; k++) {
			const struct debug_field *field = &debug_shapes[i].fields[k];
			assert_non_null(field_at(field->to));
			assert_true(field->from + sizeof(uint64_t) <= debug_shapes[i].size);
			gil_seen |= field->to == offsetof(struct layout, interp.gil);
			assert_true(field->meaning != DEBUG_GIL || gil_seen);
		}
	}
}

static void check_same_as_table(const struct blob *blob, const struct layout *layout)
{
	const struct layout *table = layout_find(3, blob->minor, blob->debug, blob->free_threaded);

	assert_non_null(table);
	for (size_t i = 0; i < n_layout_fields; i++) {
		bool state_size = layout_fields[i].at == offsetof(struct layout, runtime.size) ||
				  layout_fields[i].at == offsetof(struct layout, interp.size);
		if (blob->jit && state_size) /* eight bytes more, at the very end */
			assert_int_equal(layout_get(layout, &layout_fields[i]),
					 layout_get(table, &layout_fields[i]) + 8);
		else if (layout_get(layout, &layout_fields[i]) !=
			 layout_get(table, &layout_fields[i]))
			fail_msg("%s: %s", blob->name, layout_fields[i].name);
	}
	assert_int_equal(layout->gil_design, table->gil_design);
	assert_int_equal(layout->frames, FRAMES_DIRECT);
	assert_int_equal(layout->lines, LINES_LOCATIONS);
	assert_int_equal(layout->code_unit_caches_call, 3);
}

static void test_debug_offsets(void **state)
{
	uint8_t bytes[BLOB_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(blobs); i++) {
		size_t size = read_blob(blobs[i].name, bytes);
		const char *what = "";
		struct layout layout;
		if (parse(bytes, size, &layout, &what) != 0)
			fail_msg("%s: %s", blobs[i].name, what);
		assert_int_equal(layout.major, 3);
		assert_int_equal(layout.minor, blobs[i].minor);
		assert_int_equal(layout.debug, blobs[i].debug);
		assert_int_equal(layout.free_threaded, blobs[i].free_threaded);
		assert_true(layout.from_target);
		assert_false(layout.guessed);
		check_same_as_table(&blobs[i], &layout);
	}
}

static void test_debug_offsets_truncated(void **state)
{
	uint8_t bytes[BLOB_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(blobs); i++) {
		size_t size = read_blob(blobs[i].name, bytes);
		for (size_t n = 0; n < size; n++) {
			struct layout layout = {.minor = 77};
			const char *what = NULL;
			int r = parse(bytes, n, &layout, &what);
			assert_int_equal(r, n < 24 ? TACHY_ENOPYTHON : TACHY_ECORRUPT);
			assert_string_equal(what, n < 24 ? "cookie" : "size");
			assert_int_equal(layout.minor, 77);
		}
	}
}

/* No value may crash, and none may give a layout that layout_check refuses. */
static void test_debug_offsets_absurd(void **state)
{
	static const uint64_t values[] = {0,          1,
					  3,          7,
					  8,          64,
					  4096,       65535,
					  65536,      1u << 20,
					  1u << 24,   (1u << 24) + 8,
					  INT32_MAX,  UINT32_MAX - 7,
					  UINT32_MAX, 1ull << 32,
					  INT64_MAX,  UINT64_MAX - 7,
					  UINT64_MAX};
	uint8_t bytes[BLOB_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(blobs); i++) {
		size_t size = read_blob(blobs[i].name, bytes);
		for (size_t at = 0; at + 8 <= size; at += 8)
			for (size_t k = 0; k < ARRAY_SIZE(values); k++) {
				uint64_t was = peek(bytes, at);
				struct layout layout;
				const char *what = NULL;
				poke(bytes, at, values[k]);
				if (parse(bytes, size, &layout, &what) == 0)
					assert_int_equal(layout_check(&layout, &what), 0);
				else
					assert_non_null(what);
				poke(bytes, at, was);
			}
	}
}

/* Every member that is used is looked at: too large, and on an odd address. */
static void test_debug_offsets_each_field(void **state)
{
	uint8_t bytes[BLOB_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(blobs); i++) {
		const struct debug_shape *shape = shape_of(blobs[i].minor);
		size_t size = read_blob(blobs[i].name, bytes);
		for (size_t k = 0; k < shape->n_fields; k++) {
			const struct debug_field *field = &shape->fields[k];
			uint64_t was = peek(bytes, field->from);
			struct layout layout;
			const char *what = NULL;
			int want = field->meaning == DEBUG_FT && !blobs[i].free_threaded
					   ? 0
					   : TACHY_ECORRUPT;
			poke(bytes, field->from, 16 * 1024 * 1024 + 8);
			assert_int_equal(parse(bytes, size, &layout, &what), want);
			poke(bytes, field->from, 1ull << 32 | was);
			assert_int_equal(parse(bytes, size, &layout, &what), want);
			poke(bytes, field->from, was);
		}
	}
}

static void test_debug_offsets_header(void **state)
{
	static const struct {
		size_t at;
		uint64_t value;
		int want;
		const char *what;
	} cases[] = {
		{0, 0, TACHY_ENOPYTHON, "cookie"},
		{0, 0x7970677562656479, TACHY_ENOPYTHON, "cookie"}, /* "ydebugpy" */
		{8, 0x030c00f0, TACHY_EVERSION, "version"},
		{8, 0x040000f0, TACHY_EVERSION, "version"},
		{8, 0x020700f0, TACHY_EVERSION, "version"},
		{8, 0x030d0000, TACHY_ECORRUPT, "version"},
		{8, 0x030d00f1, TACHY_ECORRUPT, "version"},
		{8, 0, TACHY_ECORRUPT, "version"},
		{8, 0x1030d00f0, TACHY_ECORRUPT, "version"},
		{16, 2, TACHY_ECORRUPT, "free_threaded"},
		{16, UINT64_MAX, TACHY_ECORRUPT, "free_threaded"},
		/* a build with a GIL that says it has none has the wrong object header */
		{16, 1, TACHY_ECORRUPT, "object.size"},
	};
	uint8_t bytes[BLOB_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t size = read_blob("3.13", bytes);
		struct layout layout = {.minor = 77};
		const char *what = NULL;
		poke(bytes, cases[i].at, cases[i].value);
		assert_int_equal(parse(bytes, size, &layout, &what), cases[i].want);
		assert_string_equal(what, cases[i].what);
		assert_int_equal(layout.minor, 77);
	}
}

/* As if `n` bytes had been put into struct `in` before its byte `at`. */
static void insert(uint8_t *bytes, const struct layout *table, enum layout_struct in, uint32_t at,
		   uint32_t n)
{
	const struct debug_shape *shape = shape_of(table->minor);

	for (size_t i = 0; i < shape->n_fields; i++) {
		const struct debug_field *from = &shape->fields[i];
		const struct layout_field *field = field_at(from->to);
		uint32_t was = layout_get(table, field);
		bool gil_moves = from->meaning == DEBUG_GIL && in == LAYOUT_IN_INTERP &&
				 table->interp.gil >= at;
		if (i > 0 && from[-1].from == from->from)
			continue; /* one member for two fields */
		if ((field->in == in && was != LAYOUT_NONE && was >= at) || gil_moves)
			poke(bytes, from->from, peek(bytes, from->from) + n);
	}
}

static void parse_with_insertion(const char *name, const struct layout *table,
				 enum layout_struct in, uint32_t at, struct layout *ret)
{
	uint8_t bytes[BLOB_MAX];
	size_t size = read_blob(name, bytes);
	const char *what = "";

	insert(bytes, table, in, at, 16);
	if (parse(bytes, size, ret, &what) != 0)
		fail_msg("%s with 16 bytes before %u: %s", name, at, what);
}

/* How many fields got lost when 16 bytes were put in before `at`. Those that are left must be
 * where they would be; but where the change was next to a field, nobody can tell on which side. */
static size_t check_moved(const struct layout *layout, const struct layout *table,
			  enum layout_struct in, uint32_t at)
{
	size_t n_lost = 0;

	for (size_t k = 0; k < n_layout_fields; k++) {
		uint32_t now = layout_get(layout, &layout_fields[k]);
		uint32_t was = layout_get(table, &layout_fields[k]);
		uint32_t moved = layout_fields[k].in == in && was >= at ? 16 : 0;
		bool near = was <= at + 16 &&
			    at <= was + layout_width(table, &layout_fields[k]) + 16;
		if (was == LAYOUT_NONE || layout_fields[k].in == LAYOUT_IN_IMPL)
			continue;
		n_lost += now == LAYOUT_NONE;
		if (now != LAYOUT_NONE && now != was + moved &&
		    !(layout_fields[k].in == in && near))
			fail_msg("3.%d, before %u: %s is %u, was %u", table->minor, at,
				 layout_fields[k].name, now, was);
	}
	return n_lost;
}

/* Another patch release put something into a struct, wherever that was. */
static void test_moved_fields(void **state)
{
	static const struct {
		enum layout_struct in;
		uint32_t end;
	} structs[] = {{LAYOUT_IN_TSTATE, 300}, {LAYOUT_IN_INTERP, 8200}, {LAYOUT_IN_CODE, 200}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(blobs); i++) {
		const struct layout *table = layout_find(3, blobs[i].minor, blobs[i].debug,
							 blobs[i].free_threaded);
		if (blobs[i].jit)
			continue;
		for (size_t s = 0; s < ARRAY_SIZE(structs); s++)
			for (uint32_t at = 8; at < structs[s].end; at += 8) {
				struct layout layout;
				if (structs[s].in == LAYOUT_IN_CODE && at <= table->object.ob_size)
					continue; /* the object header stays */
				parse_with_insertion(blobs[i].name, table, structs[s].in, at,
						     &layout);
				assert_true(check_moved(&layout, table, structs[s].in, at) <= 4);
			}
	}
}

static void test_moved_tstate(void **state)
{
	const struct layout *t = layout_find(3, 13, false, false);
	struct layout l;

	(void)state;
	/* before current_frame: the counters between `status` and it are nearer to `status` */
	parse_with_insertion("3.13", t, LAYOUT_IN_TSTATE, t->tstate.current_frame, &l);
	assert_int_equal(l.tstate.state, t->tstate.state);
	assert_int_equal(l.tstate.recursion_remaining, t->tstate.recursion_remaining);
	assert_int_equal(l.tstate.exc_info, t->tstate.exc_info + 16);
	assert_int_equal(l.tstate.id, t->tstate.id + 16);
	assert_int_equal(l.tstate.datastack_top, t->tstate.datastack_top + 16);
	assert_int_equal(l.tstate.exc_state, t->tstate.exc_state + 16);
	/* behind it: what lies in between may have moved or not */
	parse_with_insertion("3.13", t, LAYOUT_IN_TSTATE, t->tstate.current_frame + 8, &l);
	assert_int_equal(l.tstate.current_frame, t->tstate.current_frame);
	assert_int_equal(l.tstate.exc_info, LAYOUT_NONE);
	assert_int_equal(l.tstate.current_exception, LAYOUT_NONE);
	assert_int_equal(l.tstate.datastack_limit, t->tstate.datastack_limit + 16);
	/* at the end: only what lies past the struct moves */
	t = layout_find(3, 15, false, false);
	parse_with_insertion("3.15", t, LAYOUT_IN_TSTATE, t->tstate.size, &l);
	assert_int_equal(l.tstate.datastack_limit, t->tstate.datastack_limit);
	assert_int_equal(l.tstate.asyncio_running_task, t->tstate.asyncio_running_task + 16);
}

static void test_moved_interp(void **state)
{
	const struct layout *t = layout_find(3, 14, true, false);
	struct layout l;

	(void)state;
	/* the GIL moves as a whole */
	parse_with_insertion("3.14d", t, LAYOUT_IN_INTERP, t->interp.sysdict, &l);
	assert_true(l.debug);
	assert_int_equal(l.interp.gil, t->interp.gil + 16);
	assert_int_equal(l.interp.finalizing, t->interp.finalizing);
	assert_memory_equal(&l.gil, &t->gil, sizeof l.gil);
	parse_with_insertion("3.14d", t, LAYOUT_IN_INTERP, 8, &l);
	assert_int_equal(l.interp.finalizing, t->interp.finalizing + 16);
	parse_with_insertion("3.14d", t, LAYOUT_IN_CODE, t->code.firstlineno - 4, &l);
	assert_int_equal(l.code.framesize, t->code.framesize + 16);
	assert_int_equal(l.code.version, t->code.version + 16);
	assert_int_equal(l.code.flags, t->code.flags);
}

/* Sizes that no table has: still a debug build if they are near its. */
static void test_debug_build_by_size(void **state)
{
	static const struct {
		const char *name;
		int64_t more;
		bool debug;
	} cases[] = {{"3.13", 640, false}, {"3.13d", 640, true}, {"3.14d", -96, true},
		     {"3.14", -96, false}, {"3.15td", 24, true}, {"3.15t", 24, false}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t bytes[BLOB_MAX];
		size_t size = read_blob(cases[i].name, bytes);
		struct layout layout;
		const char *what = "";
		poke(bytes, 24, peek(bytes, 24) + (uint64_t)cases[i].more); /* runtime_state.size */
		poke(bytes, 48,
		     peek(bytes, 48) + (uint64_t)cases[i].more); /* interpreter_state.size */
		assert_int_equal(parse(bytes, size, &layout, &what), 0);
		assert_int_equal(layout.debug, cases[i].debug);
	}
}

static void test_guessed(void **state)
{
	static const struct {
		const char *name;
		uint64_t hex;
		int want;
		bool guessed;
	} cases[] = {
		{"3.15", 0x030f00c1, 0, false}, /* a release candidate is frozen */
		{"3.15", 0x030f00b1, 0, true},
		{"3.15", 0x030f00a1, 0, true},
		{"3.15", 0x031000f0, 0, true}, /* a 3.16 that changed nothing */
		{"3.15t", 0x031000a1, 0, true},
		{"3.15d", 0x036300f0, 0, true},
		{"3.13", 0x030e00a5, TACHY_ECORRUPT, false}, /* shorter than 3.14's shape */
		{"3.15", 0x030e00a5, TACHY_EVERSION, false}, /* longer, and other */
		{"3.15t", 0x030e00b1, TACHY_EVERSION, false},
		{"3.15", 0x030e00f0, TACHY_ECORRUPT,
		 false}, /* not guessed: a final 3.14 has its shape */
		{"3.14", 0x030d00f0, TACHY_ECORRUPT, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t bytes[BLOB_MAX];
		size_t size = read_blob(cases[i].name, bytes);
		struct layout layout = {.guessed = false};
		const char *what = "";
		int r;
		poke(bytes, 8, cases[i].hex);
		r = parse(bytes, size, &layout, &what);
		if (r != cases[i].want)
			fail_msg("%s as %#llx: %d %s", cases[i].name,
				 (unsigned long long)cases[i].hex, r, what);
		assert_int_equal(layout.guessed, cases[i].guessed);
		if (r == 0)
			assert_int_equal(layout.minor, cases[i].hex >> 16 & 0xff);
	}
}

/* A member put in, or left out, anywhere in the shape: all that follow are then read as another. */
static void test_shifted_shape(void **state)
{
	uint8_t bytes[BLOB_MAX], shifted[BLOB_MAX + 8];

	(void)state;
	for (size_t at = 24; at < 500; at += 8) {
		size_t size = read_blob("3.15", bytes);
		struct layout layout;
		const char *what = "";
		poke(bytes, 8, 0x031000f0);
		memcpy(shifted, bytes, size);
		poke(shifted, at, 40);
		memcpy(shifted + at + 8, bytes + at, size - at);
		assert_int_equal(parse(shifted, size + 8, &layout, &what), TACHY_EVERSION);
		memmove(bytes + at, bytes + at + 8, size - at - 8);
		assert_int_equal(parse(bytes, size, &layout, &what), TACHY_EVERSION);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_debug_offsets),
		cmocka_unit_test(test_debug_offsets_truncated),
		cmocka_unit_test(test_debug_offsets_absurd),
		cmocka_unit_test(test_debug_offsets_each_field),
		cmocka_unit_test(test_debug_offsets_header),
		cmocka_unit_test(test_moved_fields),
		cmocka_unit_test(test_moved_tstate),
		cmocka_unit_test(test_moved_interp),
		cmocka_unit_test(test_debug_build_by_size),
		cmocka_unit_test(test_guessed),
		cmocka_unit_test(test_shifted_shape),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
