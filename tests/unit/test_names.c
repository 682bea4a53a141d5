/* SPDX-License-Identifier: MIT
 * names.c and dict.c: sys.modules, threading and its threads made by hand, in every layout that we have
 * and with every kind of table that it knows. Real interpreters are asked by the end-to-end tests.
 *
 * test_names DIR writes what is built here as corpus files of tests/fuzz/fuzz_names.c.
 */
#include "cases.h"

#include <inttypes.h>

#include "cpython/dict.h"
#include "cpython/layout_tables.h"
#include "cpython/names.h"
#include "fake_python.h"

#define HEAP_SIZE (256u << 10)
#define INTERP    0x7e0000000000u /* only the page that names_read looks at is mapped */
#define TYPE_SIZE 1024u
#define N_THREADS 4u

#define FLAG_INLINE_VALUES (1u << 2)
#define FLAG_MANAGED_DICT  (1u << 4)
#define FLAG_LONG          (1u << 24)
#define FLAG_DICT          (1u << 29)

enum { KEYS_GENERAL, KEYS_UNICODE, KEYS_SPLIT };

/* Where an instance keeps its attributes. */
enum where { IN_DICT, IN_SHARED, IN_SHARED_DICT, N_WHERES };

struct entry {
	raddr key, value;
};

struct world {
	struct py py;
	struct mem_view view;
	raddr dict_type, int_type, module_type;
	raddr modules, active;
	size_t n_names;
	uint64_t idents[64];
	char names[64][64];
};

static raddr make_type(struct world *w, uint64_t flags)
{
	raddr type = py_alloc(&w->py, TYPE_SIZE);
	py_set64(&w->py, type, w->py.l->object.tp_flags, flags);
	return type;
}

/* A keys object with room for `n` entries and a few more, of which the last is a deleted one. */
static raddr make_keys(struct world *w, unsigned kind, const struct entry *entries, size_t n)
{
	const struct layout *l = w->py.l;
	unsigned log2_size = n < 5    ? 3
			     : n < 85 ? 7
				      : 9,
		 log2_bytes = log2_size < 8 ? log2_size : log2_size + 1;
	size_t entry_size = l->minor <= 10 || kind == KEYS_GENERAL ? 24 : 16;
	raddr keys = py_alloc(&w->py, l->dict.indices + ((size_t)1 << log2_bytes) +
					      (entry_size << log2_size));
	py_set8(&w->py, keys, l->dict.log2_size, (uint8_t)log2_size);
	py_set8(&w->py, keys, l->dict.log2_index_bytes, (uint8_t)log2_bytes);
	py_set8(&w->py, keys, l->dict.kind, (uint8_t)kind);
	if (l->minor <= 10)
		py_set64(&w->py, keys, l->dict.keys_size, (uint64_t)1 << log2_size);
	py_set64(&w->py, keys, l->dict.nentries, n + 1);
	raddr at = keys + l->dict.indices + ((raddr)1 << log2_bytes);
	for (size_t i = 0; i < n; i++, at += entry_size) {
		fake_put_u64(w->py.fake, at + entry_size - 16, entries[i].key);
		fake_put_u64(w->py.fake, at + entry_size - 8,
			     kind == KEYS_SPLIT ? 0 : entries[i].value);
	}
	return keys;
}

/* The values of a split table, as struct _dictvalues from 3.13 on. */
static void put_values(struct world *w, raddr at, const struct entry *entries, size_t n)
{
	if (w->py.l->minor >= 13) {
		const uint8_t header[] = {(uint8_t)(n + 1), (uint8_t)n, 1, 1};
		fake_put(w->py.fake, at, header, sizeof header);
		at += 8;
	}
	for (size_t i = 0; i < n; i++)
		fake_put_u64(w->py.fake, at + i * 8, entries[i].value);
}

static raddr make_dict_of(struct world *w, raddr keys, raddr values)
{
	raddr dict = py_alloc(&w->py, 128);
	py_set64(&w->py, dict, w->py.l->object.ob_type, w->dict_type);
	py_set64(&w->py, dict, w->py.l->dict.keys, keys);
	py_set64(&w->py, dict, w->py.l->dict.values, values);
	return dict;
}

static raddr make_dict(struct world *w, unsigned kind, const struct entry *entries, size_t n)
{
	return make_dict_of(w, make_keys(w, kind, entries, n), 0);
}

static raddr make_int(struct world *w, uint64_t value)
{
	const struct layout *l = w->py.l;
	uint32_t n = 0;
	raddr at = py_alloc(&w->py, l->integer.digit + 12);
	py_set64(&w->py, at, l->object.ob_type, w->int_type);
	for (uint64_t left = value; left; left >>= 30, n++)
		fake_put_u32(w->py.fake, at + l->integer.digit + n * 4,
			     (uint32_t)(left & 0x3fffffff));
	py_set64(&w->py, at, l->integer.tag, l->minor >= 12 ? (uint64_t)n << 3 | (value == 0) : n);
	return at;
}

/* PyHeapTypeObject.ht_cached_keys, as the headers of each version have it. */
static uint32_t cached_keys(const struct layout *l)
{
	static const uint32_t offsets[] = {872, 864, 872, 872,
					   880, 880, 880, 888}; /* 3.8 .. 3.15 */
	return offsets[l->minor - 8] + (l->free_threaded ? 16 : 0);
}

static raddr make_shared(struct world *w, const struct entry *entries, size_t n, bool with_dict)
{
	const struct layout *l = w->py.l;
	bool is_managed = l->minor >= 11, is_inline = l->minor >= 13;
	raddr type = make_type(w, (is_managed ? FLAG_MANAGED_DICT : 0) |
					  (is_inline ? FLAG_INLINE_VALUES : 0));
	raddr keys = make_keys(w, KEYS_SPLIT, entries, n);
	raddr object = py_alloc(&w->py, 512) + 64, before = object - (l->free_threaded ? 8 : 24);
	raddr values = is_inline ? object + l->object.size : py_alloc(&w->py, n * 8 + 16);
	py_set64(&w->py, object, l->object.ob_type, type);
	fake_put_u64(w->py.fake, type + cached_keys(l), keys);
	py_set64(&w->py, type, l->object.tp_basicsize, l->object.size);
	put_values(w, values, entries, n);
	raddr dict = with_dict || !is_managed ? make_dict_of(w, keys, values) : 0;
	if (!is_managed) {
		py_set64(&w->py, type, l->object.tp_dictoffset, l->object.size);
		fake_put_u64(w->py.fake, object + l->object.size, dict);
	} else if (dict || is_inline) {
		fake_put_u64(w->py.fake, before, dict);
	} else if (l->minor == 12) {
		fake_put_u64(w->py.fake, before, values - 1);
	} else {
		fake_put_u64(w->py.fake, object - 32, values);
	}
	return object;
}

/* An instance with a dict of its own, at a place that the type tells, as all have up to 3.10 and some
 * later. */
static raddr make_plain(struct world *w, const struct entry *entries, size_t n, unsigned kind)
{
	const struct layout *l = w->py.l;
	raddr type = make_type(w, 0), object = py_alloc(&w->py, 128);
	py_set64(&w->py, object, l->object.ob_type, type);
	py_set64(&w->py, type, l->object.tp_dictoffset, l->object.size + 8);
	fake_put_u64(w->py.fake, object + l->object.size + 8, make_dict(w, kind, entries, n));
	return object;
}

static raddr make_thread(struct world *w, enum where where, const char *name)
{
	struct entry entries[] = {
		{py_str(&w->py, "_target"), py_str(&w->py, "x")},
		{py_str(&w->py, "_args"), 0},
		{py_str(&w->py, "_name"), py_str(&w->py, name)},
		{py_str(&w->py, "_daemonic"), py_str(&w->py, "y")},
	};
	if (where == IN_DICT)
		return make_plain(w, entries, N_OF(entries), KEYS_UNICODE);
	return make_shared(w, entries, N_OF(entries), where == IN_SHARED_DICT);
}

static raddr make_module(struct world *w, raddr namespace)
{
	raddr module = py_alloc(&w->py, 128);
	py_set64(&w->py, module, w->py.l->object.ob_type, w->module_type);
	fake_put_u64(w->py.fake, module + w->py.l->object.size, namespace);
	return module;
}

/* Idents of one, two and three digits. */
static uint64_t ident_of(unsigned i)
{
	static const uint64_t idents[N_THREADS] = {7, 0x12345678, 0x7f0123456740, UINT64_MAX};
	return idents[i];
}

static void make_threading(struct world *w, enum where where)
{
	struct entry threads[N_THREADS], names[60],
		modules[] = {
			{py_str(&w->py, "sys"), py_str(&w->py, "no module")},
			{py_str(&w->py, "threadinG"), py_str(&w->py, "nor this")},
			{py_str(&w->py, "threading"), 0},
		};
	char name[32];
	for (unsigned i = 0; i < N_THREADS; i++) {
		(void)snprintf(name, sizeof name, "worker %u", i);
		threads[i] = (struct entry){make_int(w, ident_of(i)), make_thread(w, where, name)};
	}
	w->active = make_dict(w, KEYS_GENERAL, threads, N_THREADS);
	for (unsigned i = 0; i < N_OF(names); i++) {
		(void)snprintf(name, sizeof name, "name%u", i);
		names[i] = (struct entry){py_str(&w->py, name), w->modules};
	}
	names[N_OF(names) - 1] = (struct entry){py_str(&w->py, "_active"), w->active};
	modules[2].value = make_module(w, make_dict(w, KEYS_UNICODE, names, N_OF(names)));
	w->modules = make_dict(w, KEYS_GENERAL, modules, N_OF(modules));
	fake_put_u64(w->py.fake, INTERP + w->py.l->interp.modules, w->modules);
}

static void open_world(struct world *w, const struct layout *layout, enum where where)
{
	memset(w, 0, sizeof *w);
	w->py = (struct py){.fake = fake_mem_create(), .l = layout, .heap = PY_HEAP};
	fake_map(w->py.fake, PY_HEAP, HEAP_SIZE);
	fake_map(w->py.fake, INTERP + layout->interp.modules, 8);
	w->dict_type = make_type(w, FLAG_DICT);
	w->int_type = make_type(w, FLAG_LONG);
	w->module_type = make_type(w, 0);
	w->py.str_type = make_type(w, 0);
	make_threading(w, where);
	mem_view_init(&w->view, &w->py.fake->mem);
}

static void close_world(struct world *w)
{
	mem_view_done(&w->view);
	mem_close(&w->py.fake->mem);
}

static void take_name(void *arg, uint64_t ident, const char *name)
{
	struct world *w = arg;
	assert_true(w->n_names < N_OF(w->idents));
	w->idents[w->n_names] = ident;
	(void)snprintf(w->names[w->n_names++], sizeof w->names[0], "%s", name);
}

static int read_names(struct world *w)
{
	w->n_names = 0;
	mem_view_reset(&w->view);
	return names_read(&w->view, w->py.l, INTERP, take_name, w);
}

static void test_all_layouts(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_layout_tables; i++) {
		for (int where = 0; where < N_WHERES; where++) {
			struct world w;
			open_world(&w, &layout_tables[i], (enum where)where);
			assert_int_equal(read_names(&w), N_THREADS);
			for (unsigned k = 0; k < N_THREADS; k++) {
				char want[32];
				(void)snprintf(want, sizeof want, "worker %u", k);
				assert_int_equal(w.idents[k], ident_of(k));
				assert_string_equal(w.names[k], want);
			}
			close_world(&w);
		}
	}
}

static void test_nobody_imported_it(void **state)
{
	(void)state;
	struct world w;
	open_world(&w, layout_find(3, 12, false, false), IN_DICT);
	struct entry only = {py_str(&w.py, "sys"), w.modules};
	raddr modules = make_dict(&w, KEYS_UNICODE, &only, 1);
	fake_put_u64(w.py.fake, INTERP + w.py.l->interp.modules, modules);
	assert_int_equal(read_names(&w), 0);
	fake_put_u64(w.py.fake, INTERP + w.py.l->interp.modules, 0);
	assert_int_equal(read_names(&w), 0);
	fake_put_u64(w.py.fake, INTERP + w.py.l->interp.modules, 0xdead0000);
	assert_int_equal(read_names(&w), TACHY_EFAULT);
	fake_put_u64(w.py.fake, INTERP + w.py.l->interp.modules, w.module_type);
	assert_true(read_names(&w) < 0);
	close_world(&w);
}

/* Words of the threads' table that make no sense cost that thread its name, or all of them theirs. */
static void test_broken(void **state)
{
	(void)state;
	struct world w;
	open_world(&w, layout_find(3, 15, false, false), IN_SHARED);
	const struct layout *l = w.py.l;
	size_t left;
	uint64_t keys, key;
	memcpy(&keys, fake_at(w.py.fake, w.active + l->dict.keys, &left), sizeof keys);
	raddr entries = keys + l->dict.indices + 8; /* of 24 bytes: a hash, an int, a thread */
	memcpy(&key, fake_at(w.py.fake, entries + 8, &left), sizeof key);

	fake_put_u64(w.py.fake, entries + 16, 0xdead0000); /* a thread that is nowhere */
	assert_int_equal(read_names(&w), N_THREADS - 1);
	fake_put_u64(w.py.fake, entries + 16, 0); /* and one that was deleted */
	assert_int_equal(read_names(&w), N_THREADS - 1);
	fake_put_u64(w.py.fake, entries + 24 + 8, w.dict_type); /* a key that is no int */
	assert_int_equal(read_names(&w), N_THREADS - 2);
	fake_put_u64(w.py.fake, key + l->integer.tag, 2); /* a negative one does no harm here */
	assert_int_equal(read_names(&w), N_THREADS - 2);
	fake_put_u64(w.py.fake, keys + l->dict.nentries, 3);
	fake_put_u64(w.py.fake, entries + 48 + 8, w.dict_type);
	assert_int_equal(read_names(&w), TACHY_ECORRUPT);
	fake_put_u64(w.py.fake, keys + l->dict.nentries, 1u << 20);
	assert_int_equal(read_names(&w), TACHY_ECORRUPT);
	fake_put_u8(w.py.fake, keys + l->dict.log2_size, 25);
	fake_put_u8(w.py.fake, keys + l->dict.log2_index_bytes, 27);
	fake_put_u64(w.py.fake, keys + l->dict.nentries, (1u << 20) + 1);
	assert_int_equal(read_names(&w), TACHY_ELIMIT);
	fake_put_u8(w.py.fake, keys + l->dict.log2_size, 200);
	assert_int_equal(read_names(&w), TACHY_ECORRUPT);
	close_world(&w);
}

static void test_dict(void **state)
{
	(void)state;
	struct world w;
	struct dict dict;
	raddr key, value;
	open_world(&w, layout_find(3, 8, false, false), IN_SHARED);
	mem_view_reset(&w.view);
	assert_int_equal(dict_open(&w.view, w.py.l, w.modules, &dict), 0);
	assert_int_equal(dict.n, 4);
	assert_int_equal(dict_entry(&w.view, &dict, 4, &key, &value), TACHY_EINVAL);
	assert_int_equal(dict_entry(&w.view, &dict, 3, &key, &value), 0);
	assert_true(key == 0 && value == 0);
	assert_int_equal(dict_find(&w.view, w.py.l, &dict, "", &value), TACHY_EINVAL);
	assert_int_equal(dict_find(&w.view, w.py.l, &dict, "threadin", &value), TACHY_ENOENT);
	assert_int_equal(dict_find(&w.view, w.py.l, &dict, "sys", &value), 0);
	assert_int_equal(dict_open(&w.view, w.py.l, 0, &dict), TACHY_ECORRUPT);
	assert_int_equal(dict_open_instance(&w.view, w.py.l, w.modules, &dict), TACHY_ENOENT);
	close_world(&w);
}

/* ---- for the fuzzer ------------------------------------------------------------------------- */

static void put_u64(FILE *file, uint64_t value)
{
	(void)fwrite(&value, 1, sizeof value, file);
}

/* minor, flags, then an image as in os/mem_image.h: the page of the interpreter, and the heap. */
static void write_file(const struct world *w, const char *folder, int where)
{
	const struct layout *l = w->py.l;
	char path[512];
	(void)snprintf(path, sizeof path, "%s/3.%d%s%s-%d", folder, l->minor,
		       l->free_threaded ? "t" : "", l->debug ? "d" : "", where);
	FILE *file = fopen(path, "wb");
	if (!file)
		exit(1);
	const uint8_t head[] = {l->minor, (uint8_t)(l->debug | l->free_threaded << 1),
				'T',      'A',
				'C',      'H',
				'Y',      'M',
				'E',      'M',
				1,        0,
				0,        0,
				2,        0,
				0,        0};
	size_t left,
		n_heap = (size_t)(w->py.heap - PY_HEAP + FAKE_PAGE - 1) & ~(size_t)(FAKE_PAGE - 1);
	raddr page = (INTERP + l->interp.modules) & ~(raddr)(FAKE_PAGE - 1);
	(void)fwrite(head, 1, sizeof head, file);
	put_u64(file, page);
	put_u64(file, FAKE_PAGE);
	put_u64(file, PY_HEAP);
	put_u64(file, n_heap);
	(void)fwrite(fake_at(w->py.fake, page, &left), 1, FAKE_PAGE, file);
	(void)fwrite(fake_at(w->py.fake, PY_HEAP, &left), 1, n_heap, file);
	(void)fclose(file);
}

static int write_corpus(const char *folder)
{
	for (size_t i = 0; i < n_layout_tables; i++) {
		struct world w;
		int where = (int)(i % N_WHERES);
		open_world(&w, &layout_tables[i], (enum where)where);
		if (!layout_tables[i].debug)
			write_file(&w, folder, where);
		close_world(&w);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2)
		return write_corpus(argv[1]);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_layouts),
		cmocka_unit_test(test_nobody_imported_it),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_dict),
	};
	return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
