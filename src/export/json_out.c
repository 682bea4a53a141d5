/* SPDX-License-Identifier: MIT
 * Hides commas and escapes. Invariant: `comma` is true exactly when the next value or key of this
 * level must be parted from the one before. What would steer a terminal or an editor (base/utf8.h) is
 * escaped too, which JSON does not ask for: line separators, bidi controls, invisible characters.
 */
#include "export/json_out.h"

#include <string.h>

#include "base/utf8.h"

void json_init(struct json_out *json, struct out *out)
{
	json->out = out;
	json->comma = false;
}

static void begin_value(struct json_out *json)
{
	if (json->comma)
		out_char(json->out, ',');
	json->comma = true;
}

void json_open(struct json_out *json, char bracket)
{
	begin_value(json);
	out_char(json->out, bracket);
	json->comma = false;
}

void json_close(struct json_out *json, char bracket)
{
	out_char(json->out, bracket);
	json->comma = true;
}

void json_key(struct json_out *json, const char *name)
{
	begin_value(json);
	out_char(json->out, '"');
	out_text(json->out, name);
	out_bytes(json->out, "\":", 2);
	json->comma = false;
}

static void escape_u(struct out *out, uint32_t c)
{
	static const char hex[] = "0123456789abcdef";
	char text[6] = {'\\',       'u', hex[c >> 12 & 15], hex[c >> 8 & 15], hex[c >> 4 & 15],
			hex[c & 15]};
	out_bytes(out, text, sizeof text);
}

static void put_character(struct out *out, uint32_t c)
{
	static const char letters[] = "bfnrt";
	static const char controls[] = "\b\f\n\r\t";
	const char *known = c > 0 && c < 0x20 ? strchr(controls, (int)c) : NULL;
	char text[4];
	if (c == '"' || c == '\\') {
		out_char(out, '\\');
		out_char(out, (char)c);
	} else if (known) {
		out_char(out, '\\');
		out_char(out, letters[known - controls]);
	} else if (utf8_unsafe(c) && c > 0xffff) {
		escape_u(out, 0xd800 + ((c - 0x10000) >> 10));
		escape_u(out, 0xdc00 + (c & 0x3ff));
	} else if (utf8_unsafe(c)) {
		escape_u(out, c);
	} else {
		out_bytes(out, text, utf8_encode(c, text));
	}
}

/* Bytes from `pos` on that stand for themselves: printable ASCII but the two that JSON escapes. */
static size_t plain_run(const char *text, size_t len, size_t pos)
{
	size_t end = pos;
	while (end < len && text[end] >= 0x20 && text[end] < 0x7f && text[end] != '"' &&
	       text[end] != '\\')
		end++;
	return end - pos;
}

void json_text_begin(struct json_out *json)
{
	begin_value(json);
	out_char(json->out, '"');
}

void json_text_add(struct json_out *json, const char *text, size_t len)
{
	for (size_t pos = 0; pos < len;) {
		size_t run = plain_run(text, len, pos);
		out_bytes(json->out, text + pos, run);
		pos += run;
		if (pos < len)
			put_character(json->out, utf8_next(text, len, &pos));
	}
}

void json_text_end(struct json_out *json)
{
	out_char(json->out, '"');
}

void json_string(struct json_out *json, const char *text)
{
	json_text_begin(json);
	json_text_add(json, text, strlen(text));
	json_text_end(json);
}

void json_i64(struct json_out *json, int64_t value)
{
	begin_value(json);
	out_i64(json->out, value);
}

void json_u64(struct json_out *json, uint64_t value)
{
	begin_value(json);
	out_u64(json->out, value);
}

void json_bool(struct json_out *json, bool value)
{
	begin_value(json);
	out_text(json->out, value ? "true" : "false");
}

void json_null(struct json_out *json)
{
	json_raw(json, "null");
}

void json_raw(struct json_out *json, const char *text)
{
	begin_value(json);
	out_text(json->out, text);
}

void json_fixed(struct json_out *json, double value, unsigned decimals)
{
	begin_value(json);
	out_fixed(json->out, value, decimals);
}

void json_key_open(struct json_out *json, const char *name, char bracket)
{
	json_key(json, name);
	json_open(json, bracket);
}

void json_key_string(struct json_out *json, const char *name, const char *text)
{
	json_key(json, name);
	json_string(json, text);
}

void json_key_i64(struct json_out *json, const char *name, int64_t value)
{
	json_key(json, name);
	json_i64(json, value);
}

void json_key_u64(struct json_out *json, const char *name, uint64_t value)
{
	json_key(json, name);
	json_u64(json, value);
}

void json_key_bool(struct json_out *json, const char *name, bool value)
{
	json_key(json, name);
	json_bool(json, value);
}
