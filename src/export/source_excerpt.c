/* SPDX-License-Identifier: MIT
 * One walk over the bytes, with a cursor in the wanted lines beside it. Invariant: between two lines
 * `open` says whether a text is being written.
 */
#include "export/source_excerpt.h"

#include <string.h>
#include <strings.h>

#define FIRST_LINE_MAX 256

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), n = strlen(end);
	return len > n && strcasecmp(text + len - n, end) == 0;
}

bool source_is_python(const char *path, const char *bytes, size_t size)
{
	static const char *const suffixes[] = {".py", ".pyw", ".pyi", ".pyx", ".pxi", ".pxd"};
	if (memchr(bytes, '\0', size))
		return false;
	for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
		if (ends_with(path, suffixes[i]))
			return true;
	if (size < 2 || memcmp(bytes, "#!", 2) != 0)
		return false;
	size_t len = size < FIRST_LINE_MAX ? size : FIRST_LINE_MAX;
	const char *end = memchr(bytes, '\n', len);
	return memmem(bytes, end ? (size_t)(end - bytes) : len, "python", 6) != NULL;
}

size_t source_line_at(const char *bytes, size_t size, size_t pos, size_t *ret_next)
{
	size_t end = pos;
	while (end < size && bytes[end] != '\n' && bytes[end] != '\r')
		end++;
	*ret_next = end + 1;
	if (end + 1 < size && bytes[end] == '\r' && bytes[end + 1] == '\n')
		*ret_next = end + 2;
	return end - pos;
}

static void write_line(struct json_out *json, const char *text, size_t len)
{
	size_t shown = len;
	if (len > EXCERPT_LINE_MAX) {
		shown = EXCERPT_LINE_MAX;
		while (shown > 0 && ((unsigned char)text[shown] & 0xc0) == 0x80)
			shown--; /* not within a character */
	}
	json_text_add(json, text, shown);
	if (shown < len)
		json_text_add(json, "\xe2\x80\xa6", 3);
	json_text_add(json, "\n", 1);
}

/* Is line `number` to be shown? `*at` moves on over wanted lines that lie too far back. */
static bool is_near(const struct excerpt *excerpt, int32_t number, size_t *at)
{
	if (excerpt->context < 0)
		return true;
	while (*at < excerpt->n_wanted && (int64_t)excerpt->wanted[*at] + excerpt->context < number)
		++*at;
	return *at < excerpt->n_wanted &&
	       (int64_t)excerpt->wanted[*at] - excerpt->context <= number;
}

static void close_part(struct json_out *json, bool *open)
{
	if (!*open)
		return;
	json_text_end(json);
	json_close(json, ']');
	*open = false;
}

static void open_part(struct json_out *json, int32_t number, bool *open)
{
	if (*open)
		return;
	json_open(json, '[');
	json_i64(json, number);
	json_text_begin(json);
	*open = true;
}

void source_excerpt_write(const struct excerpt *excerpt, struct json_out *json,
			  struct excerpt_told *ret_told)
{
	struct excerpt_told told = {.n_lines = 0};
	const char *bytes = excerpt->bytes;
	size_t at = 0, next;
	bool open = false;
	json_open(json, '[');
	for (size_t pos = excerpt->size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	     pos < excerpt->size && told.n_lines < INT32_MAX; pos = next) {
		size_t len = source_line_at(bytes, excerpt->size, pos, &next);
		told.n_lines++;
		if (!is_near(excerpt, told.n_lines, &at)) {
			close_part(json, &open);
			continue;
		}
		open_part(json, told.n_lines, &open);
		write_line(json, bytes + pos, len);
		told.n_shown++;
	}
	close_part(json, &open);
	json_close(json, ']');
	for (size_t i = excerpt->n_wanted; i-- > 0 && excerpt->wanted[i] > told.n_lines;)
		told.n_beyond++;
	*ret_told = told;
}
