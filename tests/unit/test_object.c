/* SPDX-License-Identifier: MIT
 * object.c: strings of every form that a version has, and what is none.
 */
#include "cases.h"

#include "cpython/object.h"
#include "fake_alloc.h"
#include "fake_python.h"

struct world {
	struct py py;
	struct mem_view view;
	struct text text;
};

static void open_world(struct world *w, unsigned minor)
{
	memset(w, 0, sizeof *w);
	py_init(&w->py, fake_mem_create(), minor);
	mem_view_init(&w->view, &w->py.fake->mem);
	assert_int_equal(mem_view_begin(&w->view), 0);
}

static void close_world(struct world *w)
{
	vec_done(&w->text.chars);
	mem_view_done(&w->view);
	mem_close(&w->py.fake->mem);
}

static int read_str(struct world *w, raddr addr)
{
	w->text.chars.n = 0;
	assert_int_equal(mem_view_begin(&w->view), 0); /* the test writes between the reads */
	return object_str(&w->view, w->py.l, addr, &w->text);
}

static void check_text(struct world *w, raddr addr, const char *want)
{
	assert_int_equal(read_str(w, addr), 0);
	assert_int_equal(w->text.chars.n, strlen(want));
	if (*want)
		assert_memory_equal(w->text.chars.at, want, strlen(want));
}

#define CHARS_MAX 8

static void test_str(void **state)
{
	static const struct {
		uint32_t kind; /* bytes a character */
		bool compact, ascii;
		uint32_t chars[CHARS_MAX];
		size_t n;
		const char *want;
	} cases[] = {
		{1, true, true, {'a', 'b', 'c'}, 3, "abc"},
		{1, true, true, {0}, 0, ""},
		{1, true, false, {'a', 0xe9, 0xff}, 3, "a\xc3\xa9\xc3\xbf"},
		{2, true, false, {0x65e5, 0x672c, 'x'}, 3, "\xe6\x97\xa5\xe6\x9c\xacx"},
		{4, true, false, {0x1f600, 0x10ffff}, 2, "\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf"},
		{1, false, true, {'o', 'l', 'd'}, 3, "old"}, /* a subclass of str, or <= 3.11 */
		{2, false, false, {0x416, 0x7ff, 0x800}, 3, "\xd0\x96\xdf\xbf\xe0\xa0\x80"},
		{4, false, false, {0x10000}, 1, "\xf0\x90\x80\x80"},
		{2, true, false, {0xd800, 'a', 0xdfff}, 3, "\\ud800a\\udfff"}, /* lone surrogates */
		{1, true, true, {'a', 0, 'b'}, 3, "a\\x00b"},
		{4, true, false, {0x110000}, 1, "\\u110000"},
	};

	(void)state;
	for (unsigned minor = 8; minor <= 15; minor++) {
		struct world w;
		open_world(&w, minor);
		for (size_t i = 0; i < N_OF(cases); i++) {
			uint8_t chars[CHARS_MAX * 4];
			for (size_t k = 0; k < cases[i].n; k++)
				memcpy(chars + k * cases[i].kind, &cases[i].chars[k],
				       cases[i].kind);
			raddr addr = py_alloc(&w.py, 128);
			py_str_write(&w.py, addr, cases[i].kind, cases[i].compact, cases[i].ascii,
				     chars, cases[i].n);
			check_text(&w, addr, cases[i].want);
		}
		close_world(&w);
	}
}

/* Longer than any page, and longer than the bound: cut, and it shows. */
static void test_long_str(void **state)
{
	enum { LONG = STR_CHARS_MAX + 5 };
	uint16_t *chars = calloc(LONG, sizeof *chars);
	struct world w;

	(void)state;
	assert_non_null(chars);
	for (size_t i = 0; i < LONG; i++)
		chars[i] = (uint16_t)('a' + i % 26);
	open_world(&w, 12);
	for (size_t n = 4090;
	     n<LONG; n = n * 3> LONG && n < STR_CHARS_MAX ? STR_CHARS_MAX : n * 3) {
		raddr addr = py_alloc(&w.py, 128 + n * 2);
		py_str_write(&w.py, addr, 2, true, false, chars, n);
		assert_int_equal(read_str(&w, addr), 0);
		assert_int_equal(w.text.chars.n, n);
		assert_int_equal(w.text.chars.at[n - 1], 'a' + (n - 1) % 26);
	}
	raddr addr = py_alloc(&w.py, 128 + LONG * 2);
	py_str_write(&w.py, addr, 2, true, false, chars, LONG);
	assert_int_equal(read_str(&w, addr), 0);
	assert_int_equal(w.text.chars.n, STR_CHARS_MAX + 3);
	assert_memory_equal(w.text.chars.at + STR_CHARS_MAX, "...", 3);
	close_world(&w);
	free(chars);
}

static void test_str_appends(void **state)
{
	struct world w;

	(void)state;
	open_world(&w, 13);
	raddr one = py_str(&w.py, "one"), two = py_str(&w.py, "two");
	assert_int_equal(mem_view_begin(&w.view), 0);
	assert_int_equal(object_str(&w.view, w.py.l, one, &w.text), 0);
	assert_int_equal(object_str(&w.view, w.py.l, two, &w.text), 0);
	assert_int_equal(w.text.chars.n, 6);
	assert_memory_equal(w.text.chars.at, "onetwo", 6);
	close_world(&w);
}

static void test_what_is_no_str(void **state)
{
	(void)state;
	for (unsigned minor = 8; minor <= 15; minor++) {
		struct world w;
		open_world(&w, minor);
		const struct layout *l = w.py.l;
		assert_int_equal(read_str(&w, 0), TACHY_ECORRUPT);
		assert_int_equal(read_str(&w, 0x1234), TACHY_EFAULT);
		for (uint32_t kind = 0; kind < 8; kind++) {
			raddr addr = py_str(&w.py, "text");
			if (kind == 1 || kind == 2 || kind == 4)
				continue;
			py_set32(&w.py, addr, l->unicode.state,
				 kind << l->unicode.kind_shift | 1u << l->unicode.compact_shift);
			assert_int_equal(read_str(&w, addr), TACHY_ECORRUPT);
		}
		raddr addr = py_alloc(&w.py, 128);
		py_str_write(&w.py, addr, 1, false, false, "x", 1);
		py_set64(&w.py, addr, l->unicode.data, 0);
		assert_int_equal(read_str(&w, addr), TACHY_ECORRUPT);
		py_set64(&w.py, addr, l->unicode.data, 0x10);
		assert_int_equal(read_str(&w, addr), TACHY_EFAULT);
		addr = py_str(&w.py, "text");
		py_set64(&w.py, addr, l->unicode.length, UINT64_MAX);
		assert_int_equal(read_str(&w, addr), TACHY_ECORRUPT);
		py_set64(&w.py, addr, l->unicode.length, (uint64_t)INT32_MAX + 1);
		assert_int_equal(read_str(&w, addr), TACHY_ECORRUPT);
		addr = PY_HEAP + PY_HEAP_SIZE - 256; /* longer than what is mapped behind it */
		py_str_write(&w.py, addr, 1, true, true, "text", 4);
		py_set64(&w.py, addr, l->unicode.length, 100000);
		assert_int_equal(read_str(&w, addr), TACHY_EFAULT);
		w.py.fake->fail = TACHY_EGONE;
		w.text.chars.n = 0;
		assert_int_equal(object_str(&w.view, l, py_str(&w.py, "text"), &w.text),
				 TACHY_EGONE);
		close_world(&w);
	}
}

static void test_bytes(void **state)
{
	static const size_t sizes[] = {0, 1, 100, 4096, 70000, 1000000};
	uint8_t *bytes = malloc(1000000);

	(void)state;
	assert_non_null(bytes);
	for (size_t i = 0; i < 1000000; i++)
		bytes[i] = (uint8_t)(i * 7);
	for (unsigned minor = 8; minor <= 15; minor++) {
		struct world w;
		struct span span;
		open_world(&w, minor);
		for (size_t i = 0; i < N_OF(sizes); i++) {
			raddr addr = py_bytes(&w.py, bytes, sizes[i]);
			assert_int_equal(mem_view_begin(&w.view), 0);
			assert_int_equal(object_bytes(&w.view, w.py.l, addr, &span), 0);
			assert_int_equal(span.size, sizes[i]);
			if (span.size)
				assert_memory_equal(span.data, bytes, sizes[i]);
		}
		raddr addr = py_bytes(&w.py, bytes, 10);
		assert_int_equal(object_bytes(&w.view, w.py.l, 0, &span), TACHY_ECORRUPT);
		assert_int_equal(object_bytes(&w.view, w.py.l, 16, &span), TACHY_EFAULT);
		py_set64(&w.py, addr, w.py.l->bytes.ob_size, (uint64_t)BYTES_SIZE_MAX + 1);
		assert_int_equal(mem_view_begin(&w.view), 0);
		assert_int_equal(object_bytes(&w.view, w.py.l, addr, &span), TACHY_ELIMIT);
		py_set64(&w.py, addr, w.py.l->bytes.ob_size, UINT64_MAX);
		assert_int_equal(mem_view_begin(&w.view), 0);
		assert_int_equal(object_bytes(&w.view, w.py.l, addr, &span), TACHY_ELIMIT);
		close_world(&w);
	}
	free(bytes);
}

static void test_types(void **state)
{
	(void)state;
	for (unsigned minor = 8; minor <= 15; minor++) {
		struct world w;
		raddr value = 0;
		open_world(&w, minor);
		const struct layout *l = w.py.l;
		raddr code = py_code(&w.py, "f", "a.py", 1).addr, str = py_str(&w.py, "code");
		assert_int_equal(mem_view_begin(&w.view), 0);
		assert_true(object_is(&w.view, l, code, "code"));
		assert_false(object_is(&w.view, l, code, "cod"));
		assert_false(object_is(&w.view, l, code, "code2"));
		assert_false(
			object_is(&w.view, l, code, "a name that is longer than any type has"));
		assert_true(object_is(&w.view, l, str, "str"));
		assert_false(object_is(&w.view, l, str, "code"));
		assert_false(object_is(&w.view, l, 0, "code"));
		assert_false(object_is(&w.view, l, 0x100, "code"));
		raddr empty = py_alloc(&w.py, 64); /* its type is NULL */
		assert_int_equal(mem_view_begin(&w.view), 0);
		assert_false(object_is(&w.view, l, empty, "code"));
		assert_int_equal(object_pointer(&w.view, code + l->object.ob_type, &value), 0);
		assert_int_equal(value, w.py.code_type);
		assert_int_equal(object_pointer(&w.view, 0x100, &value), TACHY_EFAULT);
		assert_int_equal(value, w.py.code_type);
		close_world(&w);
	}
}

static void test_out_of_memory(void **state)
{
	struct world w;

	(void)state;
	if (!FAKE_ALLOC_FAILS)
		skip();
	open_world(&w, 14);
	raddr addr = py_str(&w.py, "a text");
	assert_int_equal(mem_view_begin(&w.view), 0);
	fake_alloc_arm(0);
	assert_int_equal(object_str(&w.view, w.py.l, addr, &w.text), TACHY_ENOMEM);
	fake_alloc_disarm();
	check_text(&w, addr, "a text");
	vec_done(&w.text.chars);
	fake_alloc_arm(0);
	assert_int_equal(object_str(&w.view, w.py.l, addr, &w.text), TACHY_ENOMEM);
	fake_alloc_disarm();
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_str),           cmocka_unit_test(test_long_str),
		cmocka_unit_test(test_str_appends),   cmocka_unit_test(test_what_is_no_str),
		cmocka_unit_test(test_bytes),         cmocka_unit_test(test_types),
		cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
