/* SPDX-License-Identifier: MIT
 * Invariant: every call of key_next that gives a key takes bytes away, and with `idle` any bytes there are
 * give one: nothing that is sent can stop the reader.
 */
#include "tui/key.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

size_t key_feed(struct key_reader *reader, const char *bytes, size_t n)
{
	size_t room = sizeof reader->bytes - reader->n;
	if (n > room)
		n = room;
	memcpy(reader->bytes + reader->n, bytes, n);
	reader->n += n;
	return n;
}

static bool take(struct key_reader *reader, size_t n, int32_t code, struct key *ret_key)
{
	ret_key->code = code;
	reader->n -= n;
	memmove(reader->bytes, reader->bytes + n, reader->n);
	return true;
}

/* The key of a sequence that ends with `last`, after the parameters `text`. */
static int32_t name_sequence(const char *text, char last)
{
	static const struct {
		char last, number;
		int32_t code;
	} names[] = {
		{'A', 0, KEY_UP},       {'B', 0, KEY_DOWN},    {'C', 0, KEY_RIGHT},
		{'D', 0, KEY_LEFT},     {'H', 0, KEY_HOME},    {'F', 0, KEY_END},
		{'Z', 0, KEY_BACK_TAB}, {'~', 1, KEY_HOME},    {'~', 3, KEY_DELETE},
		{'~', 4, KEY_END},      {'~', 5, KEY_PAGE_UP}, {'~', 6, KEY_PAGE_DOWN},
		{'~', 7, KEY_HOME},     {'~', 8, KEY_END},
	};
	long number = last == '~' ? strtol(text, NULL, 10) : 0;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (names[i].last == last && names[i].number == number)
			return names[i].code;
	return KEY_OTHER;
}

/* "<button;column;row" and M (pressed) or m (released) */
static int32_t name_mouse(const char *text, char last, struct key *ret_key)
{
	char *end;
	unsigned long button = strtoul(text + 1, &end, 10), col, row;
	if (*end != ';')
		return KEY_OTHER;
	col = strtoul(end + 1, &end, 10);
	if (*end != ';')
		return KEY_OTHER;
	row = strtoul(end + 1, NULL, 10);
	if (col < 1 || row < 1 || col > UINT16_MAX || row > UINT16_MAX || last != 'M')
		return KEY_OTHER;
	ret_key->col = (unsigned)col - 1;
	ret_key->row = (unsigned)row - 1;
	return button == 0    ? KEY_CLICK
	       : button == 64 ? KEY_WHEEL_UP
	       : button == 65 ? KEY_WHEEL_DOWN
			      : KEY_OTHER;
}

/* ESC [ parameters, then one byte from @ on; ESC O and one byte. */
static bool take_sequence(struct key_reader *reader, bool idle, struct key *ret_key)
{
	size_t at = 2;
	char text[KEY_BYTES_MAX] = "";
	bool csi = reader->bytes[1] == '[';
	while (csi && at < reader->n && at < KEY_BYTES_MAX && reader->bytes[at] >= 0x20 &&
	       reader->bytes[at] < 0x40)
		at++;
	if (at >= reader->n) {
		if (!idle)
			return false;
		return take(reader, reader->n > 2 ? reader->n : 1,
			    reader->n > 2 ? KEY_OTHER : KEY_ESCAPE, ret_key);
	}
	if (at >= KEY_BYTES_MAX)
		return take(reader, at, KEY_OTHER, ret_key);
	memcpy(text, reader->bytes + 2, at - 2);
	char last = reader->bytes[at];
	int32_t code = text[0] == '<' ? name_mouse(text, last, ret_key) : name_sequence(text, last);
	return take(reader, at + 1, code, ret_key);
}

static bool take_character(struct key_reader *reader, bool idle, struct key *ret_key)
{
	size_t pos = 0, want = 1;
	unsigned char lead = (unsigned char)reader->bytes[0];
	if (lead >= 0xc0)
		want = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
	if (reader->n < want && !idle)
		return false;
	uint32_t c = utf8_next(reader->bytes, reader->n, &pos);
	if (c == '\n')
		c = KEY_ENTER;
	if (c == '\b')
		c = KEY_BACKSPACE;
	return take(reader, pos, (int32_t)c, ret_key);
}

bool key_next(struct key_reader *reader, bool idle, struct key *ret_key)
{
	*ret_key = (struct key){0};
	if (reader->n == 0)
		return false;
	if (reader->bytes[0] != KEY_ESCAPE)
		return take_character(reader, idle, ret_key);
	if (reader->n == 1)
		return idle && take(reader, 1, KEY_ESCAPE, ret_key);
	if (reader->bytes[1] == '[' || reader->bytes[1] == 'O')
		return take_sequence(reader, idle, ret_key);
	return take(reader, 1, KEY_ESCAPE, ret_key);
}
