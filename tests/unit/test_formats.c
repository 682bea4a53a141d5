/* SPDX-License-Identifier: MIT
 * Every format on the same small profile, against files in tests/golden/formats, which
 * tests/e2e/test_formats.py reads with other people's readers. After a change that is meant:
 * TACHYSCOPE_GOLDEN=write build/tests/test_formats, and look at the difference.
 */
#include "cases.h"

#include <zlib.h>

#include "base/io.h"
#include "captured.h"
#include "fake_alloc.h"
#include "gallery.h"
#include "tachyscope/error.h"

#define GOLDEN TEST_SOURCE_ROOT "/tests/golden/formats/"

static const struct {
	const char *format, *file;
	struct export_options options;
} cases[] = {
	{"speedscope", "gallery.speedscope.json", {.width = 0}},
	{"speedscope", "lines.speedscope.json", {.lines = true}},
	{"chrome", "gallery.trace.json", {.width = 0}},
	{"chrome", "lines.trace.json", {.lines = true}},
	{"jsonl", "gallery.jsonl", {.width = 0}},
	{"pstats", "gallery.pstats", {.width = 0}},
	{"pstats", "lines.pstats", {.lines = true, .by_thread = true}},
	{"svg", "gallery.svg", {.width = 0}},
	{"svg", "lines.svg", {.lines = true, .by_thread = true}},
	{"gecko", "gallery.gecko.json", {.width = 0}},
	{"pprof", "gallery.pprof", {.width = 0}},
	{"pprof", "threads.pprof", {.by_thread = true}},
};

static const struct export_ops *ops_of(const char *name)
{
	int index = export_by_name(name);
	assert_true(index >= 0);
	return &export_table()[index];
}

static int write_format(const struct profile *profile, size_t i, char **ret_bytes, size_t *ret_n)
{
	struct tachy_stats stats = GALLERY_STATS;
	struct out out;
	captured_begin(&out);
	int rc = ops_of(cases[i].format)->write(profile, &stats, &cases[i].options, &out);
	*ret_bytes = captured_end_sized(&out, ret_n);
	return rc;
}

/* What a gzip'd file holds: how it is compressed is zlib's affair. */
static void decompress(char **bytes, size_t *n)
{
	z_stream stream = {.next_in = (unsigned char *)*bytes, .avail_in = (uInt)*n};
	size_t room = 1 << 20;
	char *plain = malloc(room);
	assert_non_null(plain);
	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	stream.next_out = (unsigned char *)plain;
	stream.avail_out = (uInt)room;
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	*n = stream.total_out;
	assert_int_equal(inflateEnd(&stream), Z_OK);
	free(*bytes);
	*bytes = plain;
}

static void golden(void **state)
{
	struct profile *profile = gallery_create();
	const char *wish = getenv("TACHYSCOPE_GOLDEN");
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		char path[4096], *bytes, *wanted;
		size_t n, n_wanted;
		(void)snprintf(path, sizeof path, "%s%s", GOLDEN, cases[i].file);
		assert_int_equal(write_format(profile, i, &bytes, &n), 0);
		if (wish && strcmp(wish, "write") == 0) {
			FILE *file = fopen(path, "wb");
			assert_non_null(file);
			assert_int_equal(fwrite(bytes, 1, n, file), n);
			assert_int_equal(fclose(file), 0);
		}
		assert_int_equal(io_read_file(path, 1 << 24, &wanted, &n_wanted), 0);
		if (strcmp(cases[i].format, "pprof") == 0) {
			decompress(&bytes, &n);
			decompress(&wanted, &n_wanted);
		}
		if (n != n_wanted || memcmp(bytes, wanted, n) != 0)
			fail_msg("%s is not as %s", cases[i].format, path);
		free(bytes);
		free(wanted);
	}
	profile_destroy(profile);
}

/* Every format there is, table and pages too. */
static void nothing_sampled(void **state)
{
	struct profile *profile;
	struct export_options options = {.by_thread = true};
	(void)state;
	assert_int_equal(profile_create(&profile), 0);
	profile_keep(profile, TACHY_TIMELINE_SAMPLES);
	for (int i = 0; i < EXPORT_N; i++) {
		struct out out;
		captured_begin(&out);
		assert_int_equal(export_table()[i].write(profile, NULL, &options, &out), 0);
		free(captured_end(&out));
	}
	profile_destroy(profile);
}

/* A hundred thousand frames: no recursion, and not ten times as much for ten samples. */
static void deep(void **state)
{
	struct profile *profile = gallery_create_deep(100000);
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		char *bytes;
		size_t n;
		assert_int_equal(write_format(profile, i, &bytes, &n), 0);
		assert_true(n > 200);
		if (strcmp(cases[i].format, "jsonl") != 0)
			assert_true(n < 100000000);
		free(bytes);
	}
	profile_destroy(profile);
}

static void out_of_memory(void **state)
{
	(void)state;
	if (!FAKE_ALLOC_FAILS)
		skip();
	struct profile *profile = gallery_create();
	for (size_t i = 0; i < N_OF(cases); i++) {
		int rc = TACHY_ENOMEM;
		for (int n = 0; rc < 0 && n < 1000; n++) {
			struct out out;
			captured_begin(&out);
			fake_alloc_arm(n);
			rc = ops_of(cases[i].format)->write(profile, NULL, &cases[i].options, &out);
			(void)fake_alloc_disarm();
			assert_true(rc == 0 || rc == TACHY_ENOMEM);
			free(captured_end(&out));
		}
		assert_int_equal(rc, 0);
	}
	profile_destroy(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden),
		cmocka_unit_test(nothing_sampled),
		cmocka_unit_test(deep),
		cmocka_unit_test(out_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
