/* SPDX-License-Identifier: MIT
 * page.c: what went in comes out again of zlib and somebody else's base64 rules, at every length, and
 * the page around it stays whole.
 */
#include "cases.h"

#include <fcntl.h>
#include <unistd.h>

#include "captured.h"
#include "export/page.h"
#include "payload.h"
#include "tachyscope/error.h"

#define TEXT_MAX 300000

static void comes_back(const char *sent, size_t len)
{
	struct page_writer *writer;
	struct out out, *json;
	captured_begin(&out);
	assert_int_equal(page_begin("flamegraph", &out, &writer, &json), 0);
	out_bytes(json, sent, len);
	assert_int_equal(page_end(writer, 0), 0);
	char *page = captured_end(&out);
	size_t n;
	char *back = payload_of(page, TEXT_MAX + 1, &n);
	assert_int_equal(n, len);
	assert_memory_equal(back, sent, len);
	free(back);
	free(page);
}

static void every_length_comes_back(void **state)
{
	char *text = malloc(TEXT_MAX);
	uint32_t noise = 1;
	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < TEXT_MAX; i++) {
		noise = noise * 1664525u + 1013904223u;
		text[i] = (char)(noise >> 24);
	}
	for (size_t len = 0; len < 16; len++)
		comes_back(text, len);
	comes_back(text, OUT_ROOM - 1);
	comes_back(text, OUT_ROOM);
	comes_back(text, TEXT_MAX);
	comes_back("{\"name\":\"</script><!--\"}", 24);
	free(text);
}

static void says_what_is_wrong(void **state)
{
	struct page_writer *writer;
	struct out out, *json;
	int fd = open("/dev/full", O_WRONLY);
	(void)state;
	out_init(&out, fd);
	assert_int_equal(page_begin("no such page", &out, &writer, &json), TACHY_EINVAL);
	assert_int_equal(page_begin("flamegraph", &out, &writer, &json), 0);
	assert_int_equal(page_end(writer, TACHY_ENOMEM), TACHY_ENOMEM);
	if (fd < 0)
		skip();
	out_init(&out, fd);
	int rc = page_begin("flamegraph", &out, &writer, &json);
	for (uint32_t i = 0; rc >= 0 && i < 2000000; i++)
		out_u64(json, i * 2654435761u);
	assert_int_equal(page_end(writer, rc), TACHY_EIO);
	(void)close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_length_comes_back),
		cmocka_unit_test(says_what_is_wrong),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
