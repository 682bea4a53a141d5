/* SPDX-License-Identifier: MIT
 * Hides zlib. Memory is taken once, at the beginning: nothing but `out` can fail later.
 */
#include "export/gzip_out.h"

#include <limits.h>
#include <string.h>

#include "base/error.h"

#define WINDOW_BITS_GZIP (15 + 16) /* zlib.h, deflateInit2: 16 more is a gzip header */
#define MEMORY_LEVEL     8
#define CHUNK            4096

int gzip_out_init(struct gzip_out *gzip, struct out *out)
{
	memset(gzip, 0, sizeof *gzip);
	gzip->out = out;
	int status = deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
				  WINDOW_BITS_GZIP, MEMORY_LEVEL, Z_DEFAULT_STRATEGY);
	return status == Z_OK ? 0 : TACHY_ENOMEM;
}

static void compress_some(struct gzip_out *gzip, int flush)
{
	unsigned char chunk[CHUNK];
	do {
		gzip->stream.next_out = chunk;
		gzip->stream.avail_out = sizeof chunk;
		(void)deflate(&gzip->stream, flush);
		out_bytes(gzip->out, (const char *)chunk, sizeof chunk - gzip->stream.avail_out);
	} while (gzip->stream.avail_out == 0);
}

void gzip_out_bytes(struct gzip_out *gzip, const void *data, size_t size)
{
	const unsigned char *at = data;
	while (size > 0) {
		size_t part = size < INT_MAX ? size : INT_MAX;
		gzip->stream.next_in = (unsigned char *)(uintptr_t)at;
		gzip->stream.avail_in = (uInt)part;
		compress_some(gzip, Z_NO_FLUSH);
		at += part;
		size -= part;
	}
}

void gzip_out_end(struct gzip_out *gzip)
{
	gzip->stream.next_in = NULL;
	gzip->stream.avail_in = 0;
	compress_some(gzip, Z_FINISH);
	(void)deflateEnd(&gzip->stream);
}
