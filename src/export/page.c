/* SPDX-License-Identifier: MIT
 * Hides zlib and base64. Invariant: `group` holds the 0 to 2 bytes that do not fill a group of base64
 * yet; the buffers between two stages are of fixed size, so that a profile of any size passes through.
 */
#include "export/page.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/error.h"

#define HOLE         "@PAYLOAD@"
#define PACKED_ROOM  16384
#define WINDOW_RAW   (-15) /* deflate without a header */
#define MEMORY_LEVEL 8
#define LEVEL        6

struct page_writer {
	struct out *page;   /* borrowed */
	struct out json;    /* what the caller writes */
	const char *rest;   /* of the page, behind the hole */
	size_t rest_size;
	z_stream deflate;
	unsigned char group[3];
	size_t n_group;
};

static void put_group(struct page_writer *writer)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *group = writer->group;
	uint32_t bits = (uint32_t)group[0] << 16 | (uint32_t)group[1] << 8 | group[2];
	char text[4];
	for (size_t i = 0; i < 4; i++)
		text[i] = i <= writer->n_group ? digits[bits >> (18 - 6 * i) & 63] : '=';
	out_bytes(writer->page, text, sizeof text);
	memset(writer->group, 0, sizeof writer->group);
	writer->n_group = 0;
}

static void put_packed(struct page_writer *writer, const unsigned char *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		writer->group[writer->n_group++] = data[i];
		if (writer->n_group == sizeof writer->group)
			put_group(writer);
	}
}

/* Packs all that is given, and with `flush` Z_FINISH all that is left. */
static int pack(struct page_writer *writer, const char *data, size_t len, int flush)
{
	unsigned char packed[PACKED_ROOM];
	z_stream *z = &writer->deflate;
	z->next_in = (z_const Bytef *)(uintptr_t)data;
	z->avail_in = (uInt)len; /* at most OUT_ROOM */
	do {
		z->next_out = packed;
		z->avail_out = sizeof packed;
		if (deflate(z, flush) == Z_STREAM_ERROR)
			return TACHY_EINVAL;
		put_packed(writer, packed, sizeof packed - z->avail_out);
	} while (z->avail_out == 0);
	return writer->page->status;
}

static int take_json(void *ctx, const char *data, size_t len)
{
	return pack(ctx, data, len, Z_NO_FLUSH);
}

static const struct page *find(const char *name)
{
	for (size_t i = 0; i < pages_table_n; i++)
		if (strcmp(pages_table[i].name, name) == 0)
			return &pages_table[i];
	return NULL;
}

int page_begin(const char *name, struct out *out, struct page_writer **ret_writer,
	       struct out **ret_json)
{
	const struct page *page = find(name);
	const char *text = page ? (const char *)page->text : NULL;
	const char *hole = page ? memmem(text, page->size, HOLE, strlen(HOLE)) : NULL;
	if (!hole)
		return TACHY_EINVAL;
	struct page_writer *writer = calloc(1, sizeof *writer);
	if (!writer)
		return TACHY_ENOMEM;
	if (deflateInit2(&writer->deflate, LEVEL, Z_DEFLATED, WINDOW_RAW, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(writer);
		return TACHY_ENOMEM;
	}
	writer->page = out;
	writer->rest = hole + strlen(HOLE);
	writer->rest_size = page->size - (size_t)(writer->rest - text);
	out_init_to(&writer->json, take_json, writer);
	out_bytes(out, text, (size_t)(hole - text));
	*ret_writer = writer;
	*ret_json = &writer->json;
	return 0;
}

int page_end(struct page_writer *writer, int rc)
{
	if (rc >= 0)
		rc = out_flush(&writer->json);
	if (rc >= 0)
		rc = pack(writer, "", 0, Z_FINISH);
	if (rc >= 0 && writer->n_group > 0)
		put_group(writer);
	if (rc >= 0)
		out_bytes(writer->page, writer->rest, writer->rest_size);
	(void)deflateEnd(&writer->deflate);
	free(writer);
	return rc;
}
