/* SPDX-License-Identifier: MIT
 * A cursor walks the table entry by entry; marks are saved cursors, one every LINE_STEPS entries, so
 * that a look-up in a table of 60,000 lines does not walk it from the start.
 *
 * 3.8, 3.9: Objects/lnotab_notes.txt. 3.10: the same file, PEP 626. 3.11+: Objects/locations.md
 * (InternalDocs/code_objects.md from 3.14).
 */
#include "cpython/linetable.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define LINE_STEPS 32u
#define CODE_UNIT  2

/* Codes of the location table's entries. */
enum {
	SHORT_LAST = 9,
	ONE_LINE_0 = 10,
	ONE_LINE_2 = 12,
	NO_COLUMNS = 13,
	LONG = 14,
	NO_LOCATION = 15
};

/* The entry that begins at byte `off` of the table covers [start, end) of the bytecode. */
struct cursor {
	size_t off; /* of the entry after this one */
	int64_t start, end;
	int32_t running_line; /* what the next line delta is relative to */
	struct line_place place;
	bool has_line;
};

struct line_mark {
	struct cursor at;
	int32_t line; /* last line seen so far, for entries that have none */
};

int linetable_init(struct linetable *table, enum linetable_design design, int32_t first_line,
		   struct span bytes)
{
	uint8_t *copy = malloc(bytes.size ? bytes.size : 1);
	if (!copy)
		return TACHY_ENOMEM;
	if (bytes.size)
		memcpy(copy, bytes.data, bytes.size);
	*table = (struct linetable){design, first_line, {copy, bytes.size}, NULL, 0};
	return 0;
}

void linetable_done(struct linetable *table)
{
	free((void *)(uintptr_t)table->bytes.data);
	free(table->marks);
	memset(table, 0, sizeof *table);
}

static int32_t add_line(int32_t line, int32_t delta)
{
	return (int32_t)((uint32_t)line + (uint32_t)delta);
}

/* Objects/lnotab_notes.txt: (bytecode delta, signed line delta) pairs; an entry's line holds from where
 * the bytecode delta has been added. Here an entry is "the line from `start` on until the next one". */
static bool next_lnotab(struct span bytes, struct cursor *c)
{
	if (c->off >= bytes.size) {
		if (c->end == INT64_MAX)
			return false;
		c->start = c->end;
		c->end = INT64_MAX;
	} else {
		c->start = c->end;
		c->end += load_u8(bytes, c->off);
	}
	c->place = (struct line_place){c->running_line, 0, -1, -1};
	c->has_line = true;
	if (c->off < bytes.size)
		c->running_line = add_line(c->running_line, load_i8(bytes, c->off + 1));
	c->off += 2;
	return true;
}

/* (bytecode delta, signed line delta); -128: these instructions have no line. */
static bool next_pep626(struct span bytes, struct cursor *c)
{
	if (c->off + 2 > bytes.size)
		return false;
	int8_t delta = load_i8(bytes, c->off + 1);
	c->start = c->end;
	c->end += load_u8(bytes, c->off);
	c->has_line = delta != -128;
	if (c->has_line)
		c->running_line = add_line(c->running_line, delta);
	c->place = (struct line_place){c->running_line, 0, -1, -1};
	c->off += 2;
	return true;
}

/* Six bits a byte, bit 6: more follow. At most 6 bytes are meaningful in 32 bits. */
static uint32_t read_varint(struct span bytes, size_t *off)
{
	uint32_t value = 0;
	for (unsigned shift = 0; *off < bytes.size; shift += 6) {
		uint8_t byte = load_u8(bytes, (*off)++);
		if (shift < 32)
			value |= (uint32_t)(byte & 0x3f) << shift;
		if (!(byte & 0x40))
			break;
	}
	return value;
}

static int32_t read_signed(struct span bytes, size_t *off)
{
	uint32_t value = read_varint(bytes, off);
	return value & 1 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
}

static void read_columns(struct span bytes, unsigned code, struct cursor *c)
{
	struct line_place *place = &c->place;
	if (code <= SHORT_LAST) {
		uint8_t byte = load_u8(bytes, c->off++);
		place->column = (int32_t)(code << 3 | byte >> 4);
		place->end_column = place->column + (byte & 15);
	} else if (code <= ONE_LINE_2) {
		place->column = load_u8(bytes, c->off++);
		place->end_column = load_u8(bytes, c->off++);
	} else if (code == LONG) {
		place->end_line = add_line(place->line, (int32_t)read_varint(bytes, &c->off));
		place->column = (int32_t)read_varint(bytes, &c->off) - 1;
		place->end_column = (int32_t)read_varint(bytes, &c->off) - 1;
	}
}

static bool next_location(struct span bytes, struct cursor *c)
{
	if (c->off >= bytes.size)
		return false;
	uint8_t first = load_u8(bytes, c->off++);
	unsigned code = first >> 3 & 15;
	c->start = c->end;
	c->end += ((first & 7) + 1) * CODE_UNIT;
	c->has_line = code != NO_LOCATION;
	if (code == LONG || code == NO_COLUMNS)
		c->running_line = add_line(c->running_line, read_signed(bytes, &c->off));
	else if (code >= ONE_LINE_0 && code <= ONE_LINE_2)
		c->running_line = add_line(c->running_line, (int32_t)(code - ONE_LINE_0));
	c->place = (struct line_place){c->running_line, c->running_line, -1, -1};
	if (c->has_line)
		read_columns(bytes, code, c);
	return true;
}

static bool next_entry(const struct linetable *table, struct cursor *c)
{
	switch (table->design) {
	case LINES_LNOTAB:
		return next_lnotab(table->bytes, c);
	case LINES_PEP626:
		return next_pep626(table->bytes, c);
	case LINES_LOCATIONS:
		return next_location(table->bytes, c);
	}
	return false;
}

static struct cursor first_cursor(const struct linetable *table)
{
	return (struct cursor){.running_line = table->first_line,
			       .place = {table->first_line, 0, -1, -1}};
}

static int make_marks(struct linetable *table)
{
	struct cursor c = first_cursor(table);
	struct line_mark mark = {c, table->first_line};
	VEC(struct line_mark) marks = {NULL, 0, 0};
	size_t n = 0;
	do {
		if (c.has_line)
			mark.line = c.place.line;
		if (n++ % LINE_STEPS == 0) {
			mark.at = c;
			if (!vec_push(&marks, mark)) {
				vec_done(&marks);
				return TACHY_ENOMEM;
			}
		}
	} while (next_entry(table, &c));
	table->marks = marks.at;
	table->n_marks = marks.n;
	return 0;
}

/* The last mark whose entries do not begin behind `at`. */
static const struct line_mark *search_marks(const struct linetable *table, int64_t at)
{
	size_t low = 0, high = table->n_marks;
	while (low + 1 < high) {
		size_t middle = low + (high - low) / 2;
		if (table->marks[middle].at.end <= at)
			low = middle;
		else
			high = middle;
	}
	return &table->marks[low];
}

int linetable_find(struct linetable *table, int64_t at, struct line_place *ret_place)
{
	if (!table->marks) {
		int rc = make_marks(table);
		if (rc < 0)
			return rc;
	}
	const struct line_mark *mark = search_marks(table, at);
	struct cursor c = mark->at;
	int32_t line = mark->line;
	*ret_place = (struct line_place){line, line, -1, -1};
	while (c.end <= at && next_entry(table, &c)) {
		if (c.has_line)
			line = c.place.line;
	}
	if (c.has_line && c.start <= at && at < c.end)
		*ret_place = c.place;
	else
		*ret_place = (struct line_place){line, 0, -1, -1};
	if (ret_place->end_line < ret_place->line)
		ret_place->end_line = table->design == LINES_LOCATIONS ? ret_place->line : 0;
	return 0;
}
