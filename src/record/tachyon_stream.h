/* SPDX-License-Identifier: MIT
 * Numbers of a byte stream that may be one frame of zstd, unpacked a piece at a time: a file that would
 * unpack to more than the memory holds is no harm.
 */
#ifndef RECORD_TACHYON_STREAM_H
#define RECORD_TACHYON_STREAM_H

#include "base/load.h"

struct tachyon_unpacker;

struct tachyon_stream {
	const uint8_t *at; /* the next byte */
	size_t n;          /* bytes of it at hand */
	bool bad;          /* it ended within a number, or does not unpack */
	struct tachyon_unpacker *unpacker; /* owned; NULL: `at` is all there is */
};

/* `bytes` is borrowed. TACHY_ENOMEM. */
int tachyon_stream_init(struct tachyon_stream *stream, struct span bytes, bool packed);
void tachyon_stream_done(struct tachyon_stream *stream);
/* Makes bytes come to hand. False: there are no more. */
bool tachyon_stream_fill(struct tachyon_stream *stream);

static inline uint8_t tachyon_stream_u8(struct tachyon_stream *stream)
{
	if (!stream->n && !tachyon_stream_fill(stream)) {
		stream->bad = true;
		return 0;
	}
	stream->n--;
	return *stream->at++;
}

/* `size` bytes, low ones first, or high ones. */
static inline uint64_t tachyon_stream_fixed(struct tachyon_stream *stream, unsigned size, bool swap)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < size; i++)
		value |= (uint64_t)tachyon_stream_u8(stream) << 8 * (swap ? size - 1 - i : i);
	return value;
}

static inline uint64_t tachyon_stream_varint(struct tachyon_stream *stream)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = tachyon_stream_u8(stream);
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	stream->bad = true;
	return 0;
}

#endif
