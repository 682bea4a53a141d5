/* SPDX-License-Identifier: MIT
 * Invariant: a reader that went bad has no bytes left, so that loops over it end.
 */
#include "base/bytes.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

void bytes_done(struct bytes *bytes)
{
	free(bytes->at);
	*bytes = (struct bytes){0};
}

void bytes_clear(struct bytes *bytes)
{
	bytes->n = 0;
	bytes->failed = false;
}

static uint8_t *make_room(struct bytes *bytes, size_t size)
{
	if (bytes->failed || size > SIZE_MAX - bytes->n ||
	    !vec_grow((void **)&bytes->at, &bytes->cap, bytes->n + size, 1)) {
		bytes->failed = true;
		return NULL;
	}
	return bytes->at + bytes->n;
}

void bytes_put(struct bytes *bytes, const void *data, size_t size)
{
	uint8_t *room = size ? make_room(bytes, size) : NULL;
	if (!room)
		return;
	memcpy(room, data, size);
	bytes->n += size;
}

void bytes_put_u8(struct bytes *bytes, uint8_t value)
{
	bytes_put(bytes, &value, 1);
}

void bytes_put_varint(struct bytes *bytes, uint64_t value)
{
	uint8_t *room = make_room(bytes, VARINT_MAX);
	if (!room)
		return;
	size_t n = 0;
	for (; value >= 0x80; value >>= 7)
		room[n++] = (uint8_t)(value | 0x80);
	room[n++] = (uint8_t)value;
	bytes->n += n;
}

void bytes_put_zigzag(struct bytes *bytes, int64_t value)
{
	bytes_put_varint(bytes, zigzag(value));
}

void bytes_put_text(struct bytes *bytes, const char *text, size_t len)
{
	bytes_put_varint(bytes, len);
	bytes_put(bytes, text, len);
}

static void spoil(struct byte_reader *reader)
{
	reader->bad = true;
	reader->n = 0;
}

const uint8_t *bytes_take(struct byte_reader *reader, size_t size)
{
	if (size > reader->n) {
		spoil(reader);
		return NULL;
	}
	const uint8_t *at = reader->at;
	reader->at += size;
	reader->n -= size;
	return at;
}

uint8_t bytes_take_u8(struct byte_reader *reader)
{
	const uint8_t *at = bytes_take(reader, 1);
	return at ? *at : 0;
}

uint64_t bytes_take_varint(struct byte_reader *reader)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		if (!reader->n)
			break;
		uint8_t byte = *reader->at++;
		reader->n--;
		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	spoil(reader);
	return 0;
}

int64_t bytes_take_zigzag(struct byte_reader *reader)
{
	return unzigzag(bytes_take_varint(reader));
}

struct byte_reader bytes_take_part(struct byte_reader *reader)
{
	uint64_t size = bytes_take_varint(reader);
	struct byte_reader part = {.bad = true};
	if (size > reader->n) {
		spoil(reader);
		return part;
	}
	part = (struct byte_reader){.at = reader->at, .n = (size_t)size};
	reader->at += size;
	reader->n -= (size_t)size;
	return part;
}
