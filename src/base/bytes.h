/* SPDX-License-Identifier: MIT
 * Byte strings being made and being read: little-endian base-128 numbers ("varints"; signed ones
 * zigzagged), and runs of bytes. Both sides keep their first failure, so that one look at the end is
 * enough: a builder whose memory ran out, a reader that was asked for more than there is.
 */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VARINT_MAX 10 /* bytes of the longest */

static inline uint64_t zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

/* Zero-initialised is empty. */
struct bytes {
	uint8_t *at; /* owned: bytes_done */
	size_t n, cap;
	bool failed; /* out of memory: some of it is missing */
};

void bytes_done(struct bytes *bytes);
void bytes_clear(struct bytes *bytes); /* keeps the memory */
void bytes_put(struct bytes *bytes, const void *data, size_t size);
void bytes_put_u8(struct bytes *bytes, uint8_t value);
void bytes_put_varint(struct bytes *bytes, uint64_t value);
void bytes_put_zigzag(struct bytes *bytes, int64_t value);
/* Its length as a varint, then the text. */
void bytes_put_text(struct bytes *bytes, const char *text, size_t len);

/* A zero, or an empty run, where the bytes do not reach or make no varint; `bad` then. */
struct byte_reader {
	const uint8_t *at; /* borrowed */
	size_t n;          /* left */
	bool bad;
};

uint8_t bytes_take_u8(struct byte_reader *reader);
uint64_t bytes_take_varint(struct byte_reader *reader);
int64_t bytes_take_zigzag(struct byte_reader *reader);
/* The next `size` bytes, borrowed; NULL when there are fewer. */
const uint8_t *bytes_take(struct byte_reader *reader, size_t size);
/* A part of the bytes, as long as the varint before it says. */
struct byte_reader bytes_take_part(struct byte_reader *reader);

#endif
