/* SPDX-License-Identifier: MIT
 * heatmap.c, heatmap_sources.c and heat_views.c: what goes into the page. With TACHYSCOPE_PAGES=FOLDER
 * the pages are written there too, where tests/e2e/test_heatmap.py opens them in a browser.
 */
#include "cases.h"

#include <zlib.h>

#include "captured.h"
#include "export/heat_views.h"
#include "fake_alloc.h"
#include "gallery.h"
#include "tachyscope/error.h"

#define DATA_MAX (64u << 20)

static const char main_py[] = "#!/usr/bin/env python3\n"
			      "\"\"\"Has \"quotes\" & <tags>\n"
			      "in a string of two lines.\"\"\"\n"
			      "x = '</script><script>document.title = \"taken\"</script>'\r\n"
			      "# \xe2\x80\xae reversed \x1b[31m red \x07 \xff\n"
			      "\ty = 1  # after a tab\n\n\n\n"
			      "def main():\n"
			      "    while True:\n"
			      "    work(1)\n"
			      "    gr\xc3\xb6\xc3\x9f"
			      "e(fib(30) + 1)\n";

/* As its path begins: a source, or why there is none. */
static int read_source(void *ctx, const char *path, struct source_text *ret_text)
{
	static const struct {
		const char *path, *text;
		int code;
		int64_t changed;
	} files[] = {
		{"/srv/app/main.py", main_py, 0, 1},
		{"/srv/app/fib.py", "#\n#\ndef fib(n):\n", 0, INT64_MAX},
		{"/tmp/", "root:x:secret\n", 0, 1},
		{"/srv/gr", NULL, TACHY_EPERM, 0},
	};
	(void)ctx;
	for (size_t i = 0; i < N_OF(files); i++) {
		if (strncmp(path, files[i].path, strlen(files[i].path)) != 0)
			continue;
		if (files[i].code < 0)
			return files[i].code;
		ret_text->size = strlen(files[i].text);
		ret_text->changed_unix_ns = files[i].changed;
		ret_text->bytes = malloc(ret_text->size + 1);
		if (!ret_text->bytes)
			return TACHY_ENOMEM;
		memcpy(ret_text->bytes, files[i].text, ret_text->size + 1);
		return 0;
	}
	return TACHY_ENOENT;
}

static void keep_page(const char *name, const char *page)
{
	char path[4096];
	const char *folder = getenv("TACHYSCOPE_PAGES");
	if (!folder)
		return;
	(void)snprintf(path, sizeof path, "%s/%s.html", folder, name);
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_true(fputs(page, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static char *write_page(const struct profile *profile, bool sources, const char *name)
{
	struct tachy_stats stats = GALLERY_STATS;
	struct export_options options = {.limit = 0};
	struct out out;
	if (sources)
		options.sources.read = read_source;
	captured_begin(&out);
	assert_int_equal(heatmap_write(profile, &stats, &options, &out), 0);
	char *page = captured_end(&out);
	keep_page(name, page);
	return page;
}

/* The JSON in the page. */
static char *data_of(const char *page)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = strstr(page, "type=\"text/plain\">");
	assert_non_null(at);
	at += strlen("type=\"text/plain\">");
	size_t n = strcspn(at, "<"), n_packed = 0;
	unsigned char *packed = malloc(n);
	uint32_t bits = 0;
	assert_non_null(packed);
	for (size_t i = 0; i < n && at[i] != '='; i++) {
		const char *digit = strchr(digits, at[i]);
		assert_non_null(digit);
		bits = bits << 6 | (uint32_t)(digit - digits);
		if (i % 4)
			packed[n_packed++] = (unsigned char)(bits >> (6 - i % 4 * 2) & 255);
	}
	char *data = malloc(DATA_MAX);
	assert_non_null(data);
	z_stream z = {.next_in = packed,
		      .avail_in = (uInt)n_packed,
		      .next_out = (unsigned char *)data,
		      .avail_out = DATA_MAX - 1};
	assert_int_equal(inflateInit2(&z, -15), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	data[z.total_out] = '\0';
	assert_int_equal(inflateEnd(&z), Z_OK);
	free(packed);
	return data;
}

static void has(const char *data, const char *part)
{
	if (!strstr(data, part))
		fail_msg("not in the data: %s", part);
}

static void gallery(void **state)
{
	struct profile *profile = gallery_create();
	char *page = write_page(profile, true, "gallery");
	(void)state;
	assert_null(strstr(page, "alert(1)"));
	assert_string_equal(page + strlen(page) - 8, "</html>\n");
	char *data = data_of(page);
	has(data, "\"schema\":\"tachyscope-heatmap/1\"");
	has(data, "\"n_samples\":36,");
	has(data, "\"kind\":\"all\",\"index\":0,\"n_samples\":36,\"weight_us\":36500,");
	has(data, "\"kind\":\"state\",\"state\":\"gil_waiting\",\"index\":0,\"n_samples\":7,");
	has(data, "\"kind\":\"process\",\"index\":1,\"n_samples\":7,");
	has(data, "\"kind\":\"thread\",\"index\":1,\"n_samples\":14,");
	has(data, "\"</script><script>alert(1)</script>\"");
	has(data, "\"BINARY_OP_ADD_INT\"");
	has(data, "[\"<no Python frame>\",\"marker\",-1]");
	has(data, "[\"<string>\",\"generated\",0]");
	has(data, "# \\u202e reversed \\u001b[31m red \\u0007 \xef\xbf\xbd\\n\\ty = 1");
	has(data, "\"whole\":true,\"lines\":13,\"beyond\":1,\"changed\":false");
	has(data, "\"whole\":true,\"lines\":3,\"beyond\":1,\"changed\":true");
	has(data, "\"state\":\"denied\"");
	has(data, "\"state\":\"missing\"");
	has(data, "\"state\":\"not_python\"");
	assert_null(strstr(data, "secret"));
	free(data);
	free(page);
	profile_destroy(profile);
}

static void without_sources(void **state)
{
	struct profile *profile = gallery_create();
	char *page = write_page(profile, false, "unread"), *data = data_of(page);
	(void)state;
	has(data, "\"state\":\"unread\"");
	assert_null(strstr(data, "\"shown\""));
	free(data);
	free(page);
	profile_destroy(profile);
}

static void nothing_sampled(void **state)
{
	struct profile *profile;
	(void)state;
	assert_int_equal(profile_create(&profile), 0);
	char *page = write_page(profile, true, "empty"), *data = data_of(page);
	has(data, "\"sources\":[]}");
	has(data, "\"views\":[{\"kind\":\"all\"");
	free(data);
	free(page);
	profile_destroy(profile);
}

/* The page of a deep stack is small: a line is a line, however often it is on the stack. */
static void deep(void **state)
{
	struct profile *profile = gallery_create_deep(100000);
	char *page = write_page(profile, true, "deep");
	(void)state;
	assert_true(strlen(page) < 200000);
	free(page);
	profile_destroy(profile);
}

/* Those with the most samples; parts that hold all or nothing are no parts. */
static void views(void **state)
{
	struct profile *profile = sample_profile();
	struct heat_views views;
	(void)state;
	for (uint64_t i = 0; i < HEAT_THREADS_MAX + 5; i++)
		sample_add(profile, sample_thread(profile, 0, 100 + i, "t"), "f:1", 1 + i);
	(void)sample_thread(profile, 0, 1000, "idle");
	assert_int_equal(heat_views_init(profile, &views), 0);
	assert_int_equal(views.views.n, 1 + HEAT_THREADS_MAX);
	assert_int_equal(views.n_threads_left_out, 5);
	assert_int_equal(views.views.at[1].index, HEAT_THREADS_MAX + 4);
	assert_int_equal(views.views.at[1].n_samples, HEAT_THREADS_MAX + 5);
	heat_views_done(&views);
	profile_destroy(profile);
}

static void out_of_memory(void **state)
{
	struct export_options options = {.sources = {read_source, NULL}};
	int rc = TACHY_ENOMEM;
	(void)state;
	if (!FAKE_ALLOC_FAILS)
		skip();
	struct profile *profile = gallery_create();
	for (int64_t n_good = 0; rc < 0; n_good++) {
		struct out out;
		captured_begin(&out);
		fake_alloc_arm(n_good);
		rc = heatmap_write(profile, NULL, &options, &out);
		(void)fake_alloc_disarm();
		assert_true(rc == 0 || rc == TACHY_ENOMEM);
		assert_true(n_good < 2000);
		free(captured_end(&out));
	}
	profile_destroy(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gallery),         cmocka_unit_test(without_sources),
		cmocka_unit_test(nothing_sampled), cmocka_unit_test(deep),
		cmocka_unit_test(views),           cmocka_unit_test(out_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
