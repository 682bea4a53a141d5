/* SPDX-License-Identifier: MIT
 * Hides that the bytes are compressed.
 */
#include "record/tachyon_stream.h"

#include <stdlib.h>

#include <zstd.h>

#include "tachyscope/error.h"

#define ROOM 65536

struct tachyon_unpacker {
	ZSTD_DCtx *zstd;
	ZSTD_inBuffer in;
	uint8_t out[ROOM];
};

int tachyon_stream_init(struct tachyon_stream *stream, struct span bytes, bool packed)
{
	*stream = (struct tachyon_stream){.at = bytes.data, .n = bytes.size};
	if (!packed)
		return 0;
	struct tachyon_unpacker *unpacker = malloc(sizeof *unpacker);
	if (!unpacker)
		return TACHY_ENOMEM;
	unpacker->zstd = ZSTD_createDCtx();
	if (!unpacker->zstd) {
		free(unpacker);
		return TACHY_ENOMEM;
	}
	unpacker->in = (ZSTD_inBuffer){bytes.data, bytes.size, 0};
	stream->n = 0;
	stream->unpacker = unpacker;
	return 0;
}

void tachyon_stream_done(struct tachyon_stream *stream)
{
	if (stream->unpacker) {
		ZSTD_freeDCtx(stream->unpacker->zstd);
		free(stream->unpacker);
	}
	*stream = (struct tachyon_stream){.n = 0};
}

bool tachyon_stream_fill(struct tachyon_stream *stream)
{
	struct tachyon_unpacker *unpacker = stream->unpacker;
	if (!unpacker || stream->bad)
		return false;
	ZSTD_outBuffer out = {unpacker->out, ROOM, 0};
	for (bool moved = true; moved && out.pos == 0;) {
		size_t before = unpacker->in.pos;
		size_t rc = ZSTD_decompressStream(unpacker->zstd, &out, &unpacker->in);
		if (ZSTD_isError(rc)) {
			stream->bad = true;
			return false;
		}
		moved = unpacker->in.pos > before;
	}
	stream->at = unpacker->out;
	stream->n = out.pos;
	return out.pos > 0;
}
