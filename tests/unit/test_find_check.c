/* SPDX-License-Identifier: MIT
 * find_check.c and find_scan.c, on images of real interpreters: the corpus of fuzz_find holds just the
 * words that the check reads, the first range being the beginning of _PyRuntime.
 */
#include "cases.h"

#include "base/io.h"
#include "cpython/find_check.h"
#include "cpython/find_scan.h"
#include "os/mem_image.h"

#define FOLDER "tests/fuzz/corpus/find/"

struct target {
	struct finder finder;
	raddr addr;
	uint8_t *head; /* first range, owned */
	size_t head_size;
};

static void open_target(const char *name, struct target *ret)
{
	char path[256], *file;
	size_t size;
	*ret = (struct target){.addr = 0};
	(void)snprintf(path, sizeof path, FOLDER "%s", name);
	assert_int_equal(io_read_file(path, 1 << 20, &file, &size), 0);
	struct span bytes = {(const uint8_t *)file, size};
	ret->addr = load_u64(bytes, 16);
	ret->head_size = (size_t)load_u64(bytes, 24);
	ret->head = malloc(ret->head_size);
	assert_non_null(ret->head);
	assert_int_equal(mem_image_from_bytes(bytes.data, size, &ret->finder.mem), 0);
	assert_int_equal(mem_read(ret->finder.mem, ret->addr, ret->head, ret->head_size), 0);
	free(file);
}

static void close_target(struct target *target)
{
	mem_close(target->finder.mem);
	free(target->finder.chunk);
	free(target->head);
}

/* The same image with another head in front of it: where ranges overlap the first counts. */
static void change_head(struct target *target, const char *name)
{
	char path[256], *file;
	size_t size;
	(void)snprintf(path, sizeof path, FOLDER "%s", name);
	assert_int_equal(io_read_file(path, 1 << 20, &file, &size), 0);
	uint32_t n = load_u32((struct span){(const uint8_t *)file, size}, 12);
	memcpy(file + 16 + (size_t)n * 16, target->head, target->head_size);
	mem_close(target->finder.mem);
	assert_int_equal(mem_image_from_bytes((const uint8_t *)file, size, &target->finder.mem), 0);
	free(file);
}

static const struct {
	const char *name;
	unsigned minor;
	bool sure;
} images[] = {
	{"3.8.18", 8, true},      {"3.9.18", 9, true},   {"3.10.13", 10, true},
	{"3.11.7", 11, true},     {"3.11.2d", 11, true}, {"3.12.1", 12, true},
	{"3.13.0", 13, true},     {"3.14", 14, true},    {"3.14d", 14, true},
	{"3.15", 15, true},       {"3.15d", 15, true},   {"idle_3.8", 8, false},
	{"idle_3.12", 12, false},
};

static void every_version_holds(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(images); i++) {
		struct target target;
		struct verdict verdict;
		open_target(images[i].name, &target);
		verdict_reach(&target.finder, target.addr, &verdict);
		assert_int_equal(verdict.kind, VERDICT_HOLDS);
		assert_int_equal(verdict.layout.minor, images[i].minor);
		assert_int_equal(verdict.sure, images[i].sure);
		assert_int_equal(verdict.version_hex >> 16,
				 images[i].minor >= 13 ? 0x300 | images[i].minor : 0);
		/* one word further there is nothing */
		verdict_reach(&target.finder, target.addr + 8, &verdict);
		assert_true(verdict.kind < VERDICT_EARLY);
		close_target(&target);
	}
}

/* Without frames the layouts of 3.9 and 3.10 cannot be told apart: then the version decides. */
static void idle_nine_and_ten(void **state)
{
	(void)state;
	for (unsigned minor = 9; minor <= 10; minor++) {
		struct target target;
		struct verdict verdict;
		open_target(minor == 9 ? "idle_3.9" : "idle_3.10", &target);
		verdict_reach(&target.finder, target.addr, &verdict);
		assert_int_equal(verdict.kind, VERDICT_HOLDS);
		assert_false(verdict.sure);
		assert_true(verdict_try_minor(&target.finder, target.addr, minor, &verdict));
		assert_int_equal(verdict.layout.minor, minor);
		assert_false(verdict_try_minor(&target.finder, target.addr, 11, &verdict));
		assert_false(verdict_try_minor(&target.finder, target.addr, 7, &verdict));
		assert_false(verdict_try_minor(&target.finder, target.addr, 13, &verdict));
		close_target(&target);
	}
}

static void put(struct target *target, uint32_t offset, uint64_t value)
{
	assert_true(offset + 8 <= target->head_size);
	memcpy(target->head + offset, &value, sizeof value);
}

static enum verdict_kind kind_with(const char *name, uint32_t offset, uint64_t value, bool both)
{
	struct target target;
	struct verdict verdict;
	open_target(name, &target);
	put(&target, offset, value);
	if (both)
		put(&target, offset + 8, value);
	change_head(&target, name);
	verdict_reach(&target.finder, target.addr, &verdict);
	close_target(&target);
	return verdict.kind;
}

static void unfit_runtimes(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(images); i++) {
		struct target target;
		struct verdict verdict;
		const char *name = images[i].name;
		open_target(name, &target);
		verdict_reach(&target.finder, target.addr, &verdict);
		const struct layout *layout = &verdict.layout;
		uint32_t head = layout->runtime.interpreters_head;
		assert_int_equal(kind_with(name, head, 0, true), VERDICT_EMPTY);
		assert_int_equal(kind_with(name, head, 0x7f0000001000, true), VERDICT_FALSE);
		assert_int_equal(kind_with(name, head, 1, true), VERDICT_FALSE);
		assert_int_equal(kind_with(name, layout->runtime.finalizing, 0x555500001000, false),
				 VERDICT_FINALIZING);
		close_target(&target);
	}
	assert_int_equal(kind_with("3.15", 8, 0x030100f0, false),
			 VERDICT_STRANGE); /* the version */
	assert_int_equal(kind_with("3.15", 24, UINT64_MAX, false), VERDICT_STRANGE);
	assert_int_equal(kind_with("3.15", 0, 0, false), VERDICT_FALSE); /* no cookie */
}

static void what_cannot_be_read(void **state)
{
	struct finder finder = {0};
	struct verdict verdict;
	(void)state;
	assert_int_equal(mem_image_create(&finder.mem), 0);
	verdict_reach(&finder, 0x1000, &verdict);
	assert_int_equal(verdict.kind, VERDICT_FALSE);
	mem_close(finder.mem);
}

static void version_texts(void **state)
{
	static const struct {
		const char *text;
		uint32_t hex;
	} cases[] = {
		{"3.9.18", 0x030912f0},
		{"2.7.18", 0x020712f0},
		{"3.13.0rc1", 0x030d00c1},
		{"3.15.0a7", 0x030f00a7},
		{"3.15.0b2+", 0x030f00b2},
		{"3.12.1+", 0x030c01f0},
		{"3.12.1 (main", 0x030c01f0},
		{"3.100.255", 0x0364fff0},
		{"", 0},
		{"3", 0},
		{"3.", 0},
		{"3.9", 0},
		{"3.9.", 0},
		{"4.0.0", 0},
		{"3.9.18x", 0},
		{"3.9.1818", 0},
		{"3.9.18rc16", 0},
		{"3.9.18rc", 0},
		{"3.300.1", 0},
		{" 3.9.18", 0},
		{"-3.9.18", 0},
	};
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++)
		assert_int_equal(version_text_hex(cases[i].text), cases[i].hex);
}

/* ---- scans --------------------------------------------------------------------------------------- */

#define DATA 0x555500000000u

/* A module of two writable mappings that touch, in one range of memory. */
static void make_module(struct finder *finder, struct proc_map maps[2], const uint8_t *bytes,
			size_t size, size_t seam)
{
	*finder = (struct finder){.maps = {.at = maps, .n = 2}};
	maps[0] = (struct proc_map){.start = DATA,
				    .end = DATA + seam,
				    .read = true,
				    .write = true,
				    .inode = 5,
				    .path = "/x"};
	maps[1] = (struct proc_map){
		.start = DATA + seam, .end = DATA + size, .read = true, .write = true, .path = ""};
	struct module module = {.n = 2, .start = DATA, .end = DATA + size, .path = "/x"};
	assert_true(vec_push(&finder->modules, module));
	assert_int_equal(mem_image_create(&finder->mem), 0);
	assert_int_equal(mem_image_add(finder->mem, DATA, bytes, size), 0);
}

static void drop_module(struct finder *finder)
{
	mem_close(finder->mem);
	vec_done(&finder->modules);
	free(finder->chunk);
}

static bool keep_hit(void *context, raddr candidate)
{
	*(raddr *)context = candidate;
	return true;
}

/* Wherever it lies, across mappings and across the pieces in which memory is read. */
static void scans_find_across_seams(void **state)
{
	enum { SIZE = 3 * SCAN_CHUNK + 4096, SEAM = 2 * SCAN_CHUNK };
	uint8_t *bytes = calloc(1, SIZE);
	static const char text[] = "3.9.18 (main, Jan  1 2024, 00:00:00) \n[GCC 12.2.0]";
	(void)state;
	assert_non_null(bytes);
	for (size_t i = 0; i < 400; i++) {
		struct finder finder;
		struct proc_map maps[2];
		char version[SCAN_VERSION_MAX];
		raddr hit = 0;
		size_t at = (i % 2 ? SEAM : SIZE - (SCAN_CHUNK - 128)) - 400 + (i / 2) * 8 % 800;
		memset(bytes, 0, SIZE);
		memcpy(bytes + at, text, sizeof text);
		memcpy(bytes + at + 256, "xdebugpy", 8);
		make_module(&finder, maps, bytes, SIZE, SEAM);
		assert_true(scan_version(&finder, &finder.modules.at[0], 9, version));
		assert_string_equal(version, "3.9.18");
		assert_true(scan_version(&finder, &finder.modules.at[0], 0, version));
		assert_false(scan_version(&finder, &finder.modules.at[0], 8, version));
		assert_true(scan_runtimes(&finder, &finder.modules.at[0], keep_hit, &hit));
		assert_int_equal(hit, DATA + at + 256);
		drop_module(&finder);
	}
	free(bytes);
}

static void scans_know_the_words_around(void **state)
{
	enum { SIZE = 65536 };
	uint64_t *words = calloc(1, SIZE);
	(void)state;
	assert_non_null(words);
	/* 3.8: core_initialized and initialized, finalizing, mutex, head, main, next_id */
	const uint64_t good[] = {1 | (uint64_t)1 << 32, 0, DATA + 8, DATA + 16, DATA + 16, 1};
	for (int spoil = -1; spoil < 6; spoil++) {
		struct finder finder;
		struct proc_map maps[2];
		raddr hit = 0;
		memcpy(words + 500, good, sizeof good);
		if (spoil >= 0)
			words[500 + spoil] = spoil == 1 ? DATA : spoil == 5 ? 0 : 7;
		make_module(&finder, maps, (const uint8_t *)words, SIZE, 4096);
		assert_int_equal(scan_runtimes(&finder, &finder.modules.at[0], keep_hit, &hit),
				 spoil < 0);
		if (spoil < 0)
			assert_int_equal(hit, DATA + 503 * 8 - 32);
		drop_module(&finder);
	}
	free(words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_version_holds),
		cmocka_unit_test(idle_nine_and_ten),
		cmocka_unit_test(unfit_runtimes),
		cmocka_unit_test(what_cannot_be_read),
		cmocka_unit_test(version_texts),
		cmocka_unit_test(scans_find_across_seams),
		cmocka_unit_test(scans_know_the_words_around),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
