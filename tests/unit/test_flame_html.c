/* SPDX-License-Identifier: MIT
 * The data of the flame graph page, against tests/golden/formats/gallery.flamegraph.json, which
 * tests/e2e/test_pages.py opens in a browser. After a change that is meant: TACHYSCOPE_GOLDEN=write
 * build/tests/test_flame_html, and look at the difference.
 */
#include "cases.h"

#include "base/io.h"
#include "captured.h"
#include "fake_alloc.h"
#include "gallery.h"
#include "payload.h"
#include "tachyscope/error.h"

#define GOLDEN   TEST_SOURCE_ROOT "/tests/golden/formats/gallery.flamegraph.json"
#define JSON_MAX 100000000u

/* Every file there is has the same lines. */
static int read_any(void *ctx, const char *path, struct source_text *ret_text)
{
	static const char text[] = "one\n\ttwo </script>\nthree\n\xff\n5\n6\n7\n8\n9\n10\n11\n12\n";
	(void)ctx;
	(void)path;
	ret_text->bytes = malloc(sizeof text - 1);
	if (!ret_text->bytes)
		return TACHY_ENOMEM;
	memcpy(ret_text->bytes, text, sizeof text - 1);
	ret_text->size = sizeof text - 1;
	return 0;
}

static int write_page(const struct profile *profile, struct out *out)
{
	struct tachy_stats stats = GALLERY_STATS;
	struct export_options options = {.sources = {read_any, NULL}};
	return export_table()[export_by_name("flamegraph")].write(profile, &stats, &options, out);
}

static void golden(void **state)
{
	struct profile *profile = gallery_create();
	struct out out;
	size_t n, n_wanted;
	char *wanted;
	const char *wish = getenv("TACHYSCOPE_GOLDEN");
	(void)state;
	captured_begin(&out);
	assert_int_equal(write_page(profile, &out), 0);
	char *page = captured_end(&out), *json = payload_of(page, JSON_MAX, &n);
	if (wish && strcmp(wish, "write") == 0) {
		FILE *file = fopen(GOLDEN, "wb");
		assert_non_null(file);
		assert_int_equal(fwrite(json, 1, n, file), n);
		assert_int_equal(fclose(file), 0);
	}
	assert_int_equal(io_read_file(GOLDEN, 1 << 24, &wanted, &n_wanted), 0);
	assert_string_equal(json, wanted);
	free(wanted);
	free(json);
	free(page);
	profile_destroy(profile);
}

static void deep_stacks_stay_small(void **state)
{
	struct profile *profile = gallery_create_deep(100000);
	struct out out;
	size_t n;
	(void)state;
	captured_begin(&out);
	assert_int_equal(write_page(profile, &out), 0);
	char *page = captured_end(&out), *json = payload_of(page, JSON_MAX, &n);
	assert_true(strlen(page) < 1500000);
	free(json);
	free(page);
	profile_destroy(profile);
}

static void out_of_memory(void **state)
{
	int rc = TACHY_ENOMEM;
	(void)state;
	if (!FAKE_ALLOC_FAILS)
		skip();
	struct profile *profile = gallery_create();
	for (int n = 0; rc < 0 && n < 1000; n++) {
		struct out out;
		captured_begin(&out);
		fake_alloc_arm(n);
		rc = write_page(profile, &out);
		(void)fake_alloc_disarm();
		assert_true(rc == 0 || rc == TACHY_ENOMEM);
		free(captured_end(&out));
	}
	assert_int_equal(rc, 0);
	profile_destroy(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden),
		cmocka_unit_test(deep_stacks_stay_small),
		cmocka_unit_test(out_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
