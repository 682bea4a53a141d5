/* SPDX-License-Identifier: MIT
 * code.c: each way for what is known of a code object to be wrong, since its address proves nothing.
 */
#include "cases.h"

#include "cpython/code.h"
#include "fake_alloc.h"
#include "fake_python.h"

struct world {
	struct py py;
	struct mem_view view;
	struct stacks stacks;
	struct code_cache codes;
};

static void open_world(struct world *w, unsigned minor)
{
	memset(w, 0, sizeof *w);
	py_init(&w->py, fake_mem_create(), minor);
	mem_view_init(&w->view, &w->py.fake->mem);
	assert_int_equal(stacks_init(&w->stacks), 0);
	code_cache_init(&w->codes, w->py.l, &w->stacks);
}

static const struct opcode no_opcode = {0, 0};

static void close_world(struct world *w)
{
	code_cache_done(&w->codes);
	stacks_done(&w->stacks);
	mem_view_done(&w->view);
	mem_close(&w->py.fake->mem);
}

static void for_all_versions(void (*test)(struct world *w))
{
	for (unsigned minor = 8; minor <= 15; minor++) {
		struct world w;
		open_world(&w, minor);
		test(&w);
		close_world(&w);
	}
}

/* The entry of a new tick. */
static uint32_t get(struct world *w, raddr addr, uint64_t generation)
{
	uint32_t index = UINT32_MAX;
	assert_int_equal(mem_view_begin(&w->view), 0);
	assert_int_equal(code_cache_get(&w->codes, &w->view, addr, 0, generation, &index), 0);
	return index;
}

static void check_frame(struct world *w, uint32_t index, int64_t at, const char *name,
			const char *file, int32_t line)
{
	frame_id id;
	struct tachy_frame told;
	assert_int_equal(code_cache_frame(&w->codes, index, at, no_opcode, &id), 0);
	stacks_describe(&w->stacks, id, &told);
	assert_string_equal(told.function, name);
	assert_string_equal(told.file, file);
	assert_int_equal(told.line, line);
	assert_int_equal(told.kind, TACHY_FRAME_PYTHON);
}

/* ---- what is read --------------------------------------------------------------------------- */

static void read_one(struct world *w)
{
	struct py_code code = py_code(&w->py, "work", "dir/a.py", 40);
	uint32_t index = get(w, code.addr, 0);
	const struct code_entry *entry = code_cache_entry(&w->codes, index);

	assert_int_equal(entry->addr, code.addr);
	assert_int_equal(entry->bytecode_size, PY_CODE_UNITS * 2);
	if (w->py.l->frames != FRAMES_OBJECTS) {
		assert_int_equal(entry->frame_words, code.words);
		assert_int_equal(entry->bytecode, code.addr + w->py.l->code.bytecode);
	}
	assert_false(entry->shim);
	for (int32_t at = 0; at < 100; at += 2)
		check_frame(w, index, at, "work", "dir/a.py", 40 + at / 4);
	check_frame(w, index, -2, "work", "dir/a.py", 40); /* not yet begun */
	check_frame(w, index, INT64_MIN, "work", "dir/a.py", 40);
	frame_id one, two;
	assert_int_equal(code_cache_frame(&w->codes, index, 8, no_opcode, &one), 0);
	assert_int_equal(code_cache_frame(&w->codes, index, 10, no_opcode, &two), 0);
	assert_int_equal(one, two); /* the same line */
}

static void test_read(void **state)
{
	(void)state;
	for_all_versions(read_one);
}

static void read_many(struct world *w)
{
	enum { N = 300 };
	struct py_code codes[N];
	uint32_t indices[N];
	char name[32], file[32];

	for (int i = 0; i < N; i++) {
		snprintf(name, sizeof name, "f%d", i);
		snprintf(file, sizeof file, "m%d.py", i / 10);
		codes[i] = py_code(&w->py, name, file, i);
	}
	for (int round = 0; round < 3; round++) {
		assert_int_equal(mem_view_begin(&w->view), 0);
		for (int i = 0; i < N; i++) {
			uint32_t index;
			assert_int_equal(code_cache_get(&w->codes, &w->view, codes[i].addr, 0, 0,
							&index),
					 0);
			assert_true(round == 0 || index == indices[i]);
			indices[i] = index;
			snprintf(name, sizeof name, "f%d", i);
			snprintf(file, sizeof file, "m%d.py", i / 10);
			check_frame(w, index, 4, name, file, i + 1);
		}
	}
	assert_int_equal(w->codes.n_misses, N);
	assert_int_equal(w->codes.n_hits, 2 * N);
	assert_int_equal(w->codes.n_stale, 0);
}

static void test_read_many(void **state)
{
	(void)state;
	for_all_versions(read_many);
}

/* The interpreter's own piece of code under a hot __init__ (3.13+) has one string for all its names;
 * a function of the program may have too. */
static void test_shim(void **state)
{
	(void)state;
	for (unsigned minor = 8; minor <= 15; minor++) {
		struct world w;
		open_world(&w, minor);
		raddr name = py_str(&w.py, "__init__"), other = py_str(&w.py, "f");
		struct py_code shim = py_code_write(&w.py, py_alloc(&w.py, py_code_size(&w.py)),
						    name, name, 0, py_linetable(&w.py));
		struct py_code user = py_code_write(&w.py, py_alloc(&w.py, py_code_size(&w.py)),
						    other, other, 1, py_linetable(&w.py));
		py_set32(&w.py, shim.addr, w.py.l->code.firsttraceable, PY_CODE_UNITS);
		uint32_t index = get(&w, shim.addr, 0);
		assert_true(minor < 12 || code_cache_entry(&w.codes, index)->shim);
		assert_false(code_cache_entry(&w.codes, get(&w, user.addr, 0))->shim);
		close_world(&w);
	}
}

/* ---- another code object at the same address ------------------------------------------------ */

static void replace(struct world *w)
{
	struct py_code code = py_code(&w->py, "one", "one.py", 1);
	uint32_t first = get(w, code.addr, 0);
	assert_int_equal(get(w, code.addr, 0), first);
	py_code_write(&w->py, code.addr, py_str(&w->py, "two"), py_str(&w->py, "two.py"), 5,
		      py_linetable(&w->py));
	uint32_t second = get(w, code.addr, 0);
	assert_int_not_equal(second, first);
	assert_int_equal(w->codes.n_stale, 1);
	check_frame(w, second, 4, "two", "two.py", 6);
	py_code_write(&w->py, code.addr, code.name, code.file, 1, code.table); /* and back */
	uint32_t third = get(w, code.addr, 0);
	assert_int_not_equal(third, second);
	check_frame(w, third, 4, "one", "one.py", 2);
}

static void test_another_at_the_same_address(void **state)
{
	(void)state;
	for_all_versions(replace);
}

/* Only one field differs; what does must be seen. */
static void replace_one_field(struct world *w)
{
	for (int field = 0; field < 4; field++) {
		struct py_code code = py_code(&w->py, "one", "one.py", 1);
		uint32_t first = get(w, code.addr, 0);
		raddr name = field == 0 ? py_str(&w->py, "two") : code.name;
		raddr file = field == 1 ? py_str(&w->py, "two.py") : code.file;
		int32_t line = field == 2 ? 77 : 1;
		uint8_t table[4] = {0};
		raddr lines = field == 3 ? py_bytes(&w->py, table, sizeof table) : code.table;
		py_code_write(&w->py, code.addr, name, file, line, lines);
		uint32_t second = get(w, code.addr, 0);
		assert_int_not_equal(second, first);
		check_frame(w, second, 0, field == 0 ? "two" : "one",
			    field == 1 ? "two.py" : "one.py", line);
	}
}

static void test_one_field_differs(void **state)
{
	(void)state;
	for_all_versions(replace_one_field);
}

/* The strings were freed with the old code object, and their places taken by new ones: every address
 * is what it was, only the text is another. */
static void replace_text(struct world *w)
{
	struct py_code code = py_code(&w->py, "fn_17", "gen_17.py", 1);
	uint32_t first = get(w, code.addr, 0);
	check_frame(w, first, 0, "fn_17", "gen_17.py", 1);
	py_str_write(&w->py, code.name, 1, true, true, "fn_18", 5);
	py_str_write(&w->py, code.file, 1, true, true, "gen_18.py", 9);
	py_code_write(&w->py, code.addr, code.name, code.file, 1, code.table);
	uint32_t second = get(w, code.addr, 0);
	check_frame(w, second, 0, "fn_18", "gen_18.py", 1);
	assert_int_not_equal(second, first);
}

static void test_strings_whose_places_were_taken(void **state)
{
	(void)state;
	for_all_versions(replace_text);
}

/* Only the line table's bytes are others: the same function, generated anew from another template. */
static void replace_lines(struct world *w)
{
	uint8_t bytes[4] = {0};
	struct py_code code = py_code(&w->py, "render", "template", 1);
	uint32_t first = get(w, code.addr, 0);
	check_frame(w, first, 40, "render", "template", 11);
	size_t left;
	uint8_t *table = fake_at(w->py.fake, code.table + w->py.l->bytes.sval, &left);
	assert_non_null(table);
	memcpy(bytes, table, sizeof bytes);
	bytes[3] = 8; /* the second entry is lines below the first */
	fake_put(w->py.fake, code.table + w->py.l->bytes.sval, bytes, sizeof bytes);
	py_code_write(&w->py, code.addr, code.name, code.file, 1, code.table);
	uint32_t second = get(w, code.addr, 0);
	check_frame(w, second, 40, "render", "template",
		    w->py.l->lines == LINES_LOCATIONS ? 14 : 18);
}

static void test_line_table_whose_place_was_taken(void **state)
{
	(void)state;
	for_all_versions(replace_lines);
}

/* The same module run again: other objects, the same text. Nothing that was derived is lost. */
static void same_content(struct world *w)
{
	struct py_code code = py_code(&w->py, "f", "a.py", 9);
	uint32_t first = get(w, code.addr, 0);
	frame_id before, after;
	assert_int_equal(code_cache_frame(&w->codes, first, 12, no_opcode, &before), 0);
	if (w->py.l->frames !=
	    FRAMES_OBJECTS) { /* before, the bytecode lies elsewhere: another entry */
		py_code_write(&w->py, code.addr, py_str(&w->py, "f"), py_str(&w->py, "a.py"), 9,
			      py_linetable(&w->py));
		assert_int_equal(get(w, code.addr, 0), first);
		assert_int_equal(w->codes.entries.n, 1);
	}
	struct py_code elsewhere = py_code(&w->py, "f", "a.py", 9);
	uint32_t other = get(w, elsewhere.addr, 0);
	assert_int_not_equal(other, first);
	assert_int_equal(code_cache_frame(&w->codes, other, 12, no_opcode, &after), 0);
	assert_int_equal(before, after); /* one frame for people */
	check_frame(w, first, 12, "f", "a.py", 12);
}

static void test_same_content(void **state)
{
	(void)state;
	for_all_versions(same_content);
}

/* ---- when it is verified -------------------------------------------------------------------- */

/* With the same generation nothing has been freed: no reading at all. */
static void generation_vouches(struct world *w)
{
	struct py_code code = py_code(&w->py, "one", "one.py", 1);
	uint32_t index, first = get(w, code.addr, 7);
	for (int tick = 0; tick < 200; tick++) /* until the plan has let go of the range */
		assert_int_equal(mem_view_begin(&w->view), 0);
	uint64_t calls = fake_calls(w->py.fake);
	assert_int_equal(code_cache_get(&w->codes, &w->view, code.addr, 0, 7, &index), 0);
	assert_int_equal(index, first);
	assert_int_equal(fake_calls(w->py.fake), calls);
	py_code_write(&w->py, code.addr, py_str(&w->py, "two"), code.file, 1, code.table);
	assert_int_equal(get(w, code.addr, 7), first); /* told so */
	assert_int_not_equal(get(w, code.addr, 8), first);
	assert_int_equal(get(w, code.addr, 8), get(w, code.addr, 9));
}

static void test_generation(void **state)
{
	(void)state;
	for_all_versions(generation_vouches);
}

/* Verified once a tick; and from the second tick on with what the batch brought. */
static void one_batch(struct world *w)
{
	struct py_code code = py_code(&w->py, "one", "one.py", 1);
	uint32_t index;
	for (int tick = 0; tick < 3; tick++) /* learns */
		get(w, code.addr, 0);
	for (int tick = 0; tick < 5; tick++) {
		uint64_t calls = fake_calls(w->py.fake);
		for (int i = 0; i < 3; i++) {
			if (i == 0)
				get(w, code.addr, 0);
			assert_int_equal(code_cache_get(&w->codes, &w->view, code.addr, 0, 0,
							&index),
					 0);
		}
		assert_int_equal(fake_calls(w->py.fake), calls + 1);
	}
}

static void test_verified_within_the_batch(void **state)
{
	(void)state;
	for_all_versions(one_batch);
}

/* A second reading within one tick sees another moment: what was verified in the first is not now. */
static void read_again(struct world *w)
{
	struct py_code code = py_code(&w->py, "one", "one.py", 1);
	uint32_t index, first = get(w, code.addr, 0);
	get(w, code.addr, 0); /* planned by now */
	py_code_write(&w->py, code.addr, py_str(&w->py, "two"), py_str(&w->py, "two.py"), 3,
		      code.table);
	assert_int_equal(mem_view_again(&w->view), 0);
	assert_int_equal(code_cache_get(&w->codes, &w->view, code.addr, 0, 0, &index), 0);
	assert_int_not_equal(index, first);
	check_frame(w, index, 0, "two", "two.py", 3);
}

static void test_read_again_verifies_again(void **state)
{
	(void)state;
	for_all_versions(read_again);
}

/* ---- what is no code object ----------------------------------------------------------------- */

enum damage {
	NO_TYPE,
	OTHER_TYPE,
	NO_NAME,
	NO_FILE,
	BAD_FILE,
	NO_TABLE,
	HUGE_TABLE,
	NO_UNITS,
	HUGE_UNITS,
	N_DAMAGES
};

static int expected(const struct world *w, enum damage damage)
{
	switch (damage) {
	case BAD_FILE:
		return TACHY_EFAULT;
	case HUGE_TABLE:
		return TACHY_ELIMIT;
	case NO_UNITS:
	case HUGE_UNITS:
		return w->py.l->lines == LINES_LOCATIONS ? TACHY_ECORRUPT : 0;
	default:
		return TACHY_ECORRUPT;
	}
}

static void damage_code(struct world *w, const struct py_code *code, enum damage damage)
{
	const struct layout *l = w->py.l;
	raddr name = l->code.qualname != LAYOUT_NONE ? l->code.qualname : l->code.name;
	switch (damage) {
	case NO_TYPE:
		py_set64(&w->py, code->addr, l->object.ob_type, 0);
		break;
	case OTHER_TYPE:
		py_set64(&w->py, code->addr, l->object.ob_type, w->py.str_type);
		break;
	case NO_NAME:
		py_set64(&w->py, code->addr, (uint32_t)name, 0);
		py_set64(&w->py, code->addr, l->code.name, 0);
		break;
	case NO_FILE:
		py_set64(&w->py, code->addr, l->code.filename, 0);
		break;
	case BAD_FILE:
		py_set64(&w->py, code->addr, l->code.filename, 0x100);
		break;
	case NO_TABLE:
		py_set64(&w->py, code->addr, l->code.linetable, 0);
		break;
	case HUGE_TABLE:
		py_set64(&w->py, code->table, l->bytes.ob_size, UINT64_MAX / 2);
		break;
	case NO_UNITS:
		if (l->lines == LINES_LOCATIONS)
			py_set64(&w->py, code->addr, l->code.ob_size, 0);
		break;
	default:
		if (l->lines == LINES_LOCATIONS)
			py_set64(&w->py, code->addr, l->code.ob_size, UINT64_MAX);
	}
}

static void damage_each(struct world *w)
{
	for (enum damage damage = 0; damage < N_DAMAGES; damage++) {
		struct py_code code = py_code(&w->py, "one", "one.py", 1);
		uint32_t index = 99;
		uint32_t good = damage % 2 ? get(w, code.addr, 0) : 99; /* known before, or not */
		damage_code(w, &code, damage);
		py_set32(&w->py, code.addr, w->py.l->code.firstlineno,
			 2); /* so that it is looked at */
		size_t n = w->codes.entries.n;
		for (int i = 0; i < 2; i++) {
			assert_int_equal(mem_view_begin(&w->view), 0);
			assert_int_equal(code_cache_get(&w->codes, &w->view, code.addr, 0, 0,
							&index),
					 expected(w, damage));
			if (expected(w, damage) < 0)
				assert_int_equal(index, 99);
		}
		if (expected(w, damage) < 0)
			assert_int_equal(w->codes.entries.n, n);
		if (good != 99 && expected(w, damage) < 0)
			check_frame(w, good, 0, "one", "one.py", 1); /* its old frames stay true */
	}
	uint32_t index;
	assert_int_equal(code_cache_get(&w->codes, &w->view, 0x2000, 0, 0, &index), TACHY_EFAULT);
	w->py.fake->fail = TACHY_EGONE;
	assert_int_equal(code_cache_get(&w->codes, &w->view, PY_HEAP + 0x100000, 0, 0, &index),
			 TACHY_EGONE);
}

static void test_what_is_no_code(void **state)
{
	(void)state;
	for_all_versions(damage_each);
}

/* Whichever allocation fails: ENOMEM, and the next try is whole. */
static void no_memory(struct world *w)
{
	int n_failed = 0;
	assert_true(
		vec_reserve(&w->py.fake->batch, 4096)); /* the fake's own memory is not at stake */
	for (int i = 0; i < 200; i++) {
		char name[16];
		uint32_t index = UINT32_MAX;
		frame_id id = UINT32_MAX;
		snprintf(name, sizeof name, "f%d", i);
		struct py_code code = py_code(&w->py, name, "a.py", i);
		assert_int_equal(mem_view_begin(&w->view), 0);
		fake_alloc_arm(i % 6);
		int rc = code_cache_get(&w->codes, &w->view, code.addr, 0, 0, &index);
		if (rc == 0)
			rc = code_cache_frame(&w->codes, index, 4, no_opcode, &id);
		fake_alloc_disarm();
		assert_true(rc == 0 || rc == TACHY_ENOMEM);
		n_failed += rc < 0;
		check_frame(w, get(w, code.addr, 0), 4, name, "a.py", i + 1);
	}
	assert_true(n_failed > 10);
}

static void test_out_of_memory(void **state)
{
	(void)state;
	if (!FAKE_ALLOC_FAILS)
		skip();
	for_all_versions(no_memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_read_many),
		cmocka_unit_test(test_shim),
		cmocka_unit_test(test_another_at_the_same_address),
		cmocka_unit_test(test_one_field_differs),
		cmocka_unit_test(test_strings_whose_places_were_taken),
		cmocka_unit_test(test_line_table_whose_place_was_taken),
		cmocka_unit_test(test_same_content),
		cmocka_unit_test(test_generation),
		cmocka_unit_test(test_verified_within_the_batch),
		cmocka_unit_test(test_read_again_verifies_again),
		cmocka_unit_test(test_what_is_no_code),
		cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
