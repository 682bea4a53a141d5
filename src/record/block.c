/* SPDX-License-Identifier: MIT
 * Hides zstd, zlib's CRC-32 and the byte order. Invariant: nothing of a block is believed before its
 * checksums were right, and no size in it is believed beyond BLOCK_SIZE_MAX.
 */
#include "record/block.h"

#include <stdlib.h>
#include <string.h>

#include <zlib.h>
#include <zstd.h>

#include "base/error.h"
#include "base/vec.h"

#define LEVEL 6 /* blocks are small: the ratio is nearly that of 19, the time that of 3 */

#define PIECE_MIN 128u /* of fewer bytes statistics of their own are no gain */

static const uint8_t file_magic[8] = {0x89, 'T', 'A', 'C', 'H', 'Y', 0x0d, 0x0a};
static const uint8_t block_magic[4] = {'T', 'B', 'L', 'K'};

static void put_u32(uint8_t *dest, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		dest[i] = (uint8_t)(value >> 8 * i);
}

static uint32_t take_u32(const uint8_t *src)
{
	return (uint32_t)src[0] | (uint32_t)src[1] << 8 | (uint32_t)src[2] << 16 |
	       (uint32_t)src[3] << 24;
}

static uint32_t sum(uint32_t before, const uint8_t *data, size_t size)
{
	return size ? (uint32_t)crc32(before, data, (uInt)size) : before;
}

void recording_head_put(uint8_t dest[RECORDING_HEAD_SIZE])
{
	memcpy(dest, file_magic, sizeof file_magic);
	memset(dest + 8, 0, 8);
	dest[8] = RECORDING_MAJOR;
	dest[10] = RECORDING_MINOR;
}

int recording_head_check(const uint8_t head[RECORDING_HEAD_SIZE], unsigned *ret_major)
{
	if (memcmp(head, file_magic, sizeof file_magic) != 0)
		return TACHY_ECORRUPT;
	unsigned major = (unsigned)head[8] | (unsigned)head[9] << 8;
	if (major != RECORDING_MAJOR) {
		*ret_major = major;
		return TACHY_EVERSION;
	}
	return 0;
}

/* ---- bodies -------------------------------------------------------------------------------------- */

void block_body_done(struct block_body *body)
{
	bytes_done(&body->bytes);
	body->n_cuts = 0;
}

void block_body_clear(struct block_body *body)
{
	bytes_clear(&body->bytes);
	body->n_cuts = 0;
}

static void cut_at(struct block_body *body, size_t at)
{
	if (body->n_cuts < BLOCK_CUTS_MAX)
		body->cuts[body->n_cuts++] = at;
}

void block_body_cut(struct block_body *body)
{
	cut_at(body, body->bytes.n);
}

void block_body_put_column(struct block_body *body, const struct bytes *column)
{
	bytes_put_text(&body->bytes, (const char *)column->at, column->n);
	body->bytes.failed = body->bytes.failed || column->failed;
}

void block_body_put_section(struct block_body *body, uint64_t section, struct block_body *part)
{
	bytes_put_varint(&body->bytes, section);
	bytes_put_varint(&body->bytes, part->bytes.n);
	for (size_t i = 0; i < part->n_cuts; i++)
		cut_at(body, body->bytes.n + part->cuts[i]);
	bytes_put(&body->bytes, part->bytes.at, part->bytes.n);
	body->bytes.failed = body->bytes.failed || part->bytes.failed;
	block_body_cut(body);
	block_body_clear(part);
}

/* ---- making -------------------------------------------------------------------------------------- */

struct block_packer {
	ZSTD_CCtx *zstd;
};

int block_packer_create(struct block_packer **ret_packer)
{
	struct block_packer *packer = calloc(1, sizeof *packer);
	if (packer)
		packer->zstd = ZSTD_createCCtx();
	if (!packer || !packer->zstd ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(packer->zstd, ZSTD_c_compressionLevel, LEVEL))) {
		block_packer_destroy(packer);
		return TACHY_ENOMEM;
	}
	*ret_packer = packer;
	return 0;
}

void block_packer_destroy(struct block_packer *packer)
{
	if (!packer)
		return;
	ZSTD_freeCCtx(packer->zstd);
	free(packer);
}

static void put_head(uint8_t *dest, const struct block_head *head)
{
	memcpy(dest, block_magic, sizeof block_magic);
	put_u32(dest + 4, head->number);
	put_u32(dest + 8, head->stored_size);
	put_u32(dest + 12, head->full_size);
	put_u32(dest + 16, head->tail_size);
	put_u32(dest + 20, head->checksum);
	put_u32(dest + 24, 0);
	put_u32(dest + 28, sum(0, dest, 28));
}

/* The next piece of the body, and to its end with ZSTD_e_end. Where zstd stops making it smaller: false. */
static bool compress_piece(struct block_packer *packer, ZSTD_inBuffer *in, size_t end,
			   ZSTD_outBuffer *out, ZSTD_EndDirective directive)
{
	in->size = end;
	size_t left = ZSTD_compressStream2(packer->zstd, out, in, directive);
	return !ZSTD_isError(left) && left == 0 && in->pos == end;
}

/* Each kind of bytes as blocks of its own within the frame. 0: it does not get smaller. */
static size_t compress_frame(struct block_packer *packer, const struct block_body *body,
			     uint8_t *dest, size_t room)
{
	size_t size = body->bytes.n;
	ZSTD_inBuffer in = {.src = body->bytes.at};
	ZSTD_outBuffer out = {.dst = dest, .size = room};
	if (ZSTD_isError(ZSTD_CCtx_reset(packer->zstd, ZSTD_reset_session_only)) ||
	    ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(packer->zstd, size)))
		return 0;
	for (size_t i = 0; i < body->n_cuts; i++)
		if (body->cuts[i] - in.pos >= PIECE_MIN && size - body->cuts[i] >= PIECE_MIN &&
		    !compress_piece(packer, &in, body->cuts[i], &out, ZSTD_e_flush))
			return 0;
	return compress_piece(packer, &in, size, &out, ZSTD_e_end) ? out.pos : 0;
}

/* What does not get smaller is stored as it is. */
static size_t compress_body(struct block_packer *packer, const struct block_body *body,
			    uint8_t *dest, size_t room)
{
	size_t n = body->bytes.n, size = n ? compress_frame(packer, body, dest, room) : 0;
	if (size > 0 && size < n)
		return size;
	if (n)
		memcpy(dest, body->bytes.at, n);
	return n;
}

int block_pack(struct block_packer *packer, uint32_t number, const struct block_body *body,
	       const struct bytes *tail, struct bytes *block)
{
	bytes_clear(block);
	if (body->bytes.failed || tail->failed)
		return TACHY_ENOMEM;
	if (body->bytes.n > BLOCK_SIZE_MAX || tail->n > BLOCK_SIZE_MAX)
		return TACHY_ELIMIT;
	size_t room = ZSTD_compressBound(body->bytes.n);
	uint8_t empty[BLOCK_HEAD_SIZE] = {0};
	bytes_put(block, empty, sizeof empty);
	if (block->failed ||
	    !vec_grow((void **)&block->at, &block->cap, BLOCK_HEAD_SIZE + room + tail->n, 1))
		return TACHY_ENOMEM;
	uint8_t *parts = block->at + BLOCK_HEAD_SIZE;
	size_t stored = compress_body(packer, body, parts, room);
	if (tail->n)
		memcpy(parts + stored, tail->at, tail->n);
	struct block_head head = {.number = number,
				  .stored_size = (uint32_t)stored,
				  .full_size = (uint32_t)body->bytes.n,
				  .tail_size = (uint32_t)tail->n,
				  .checksum = sum(0, parts, stored + tail->n)};
	put_head(block->at, &head);
	block->n = BLOCK_HEAD_SIZE + stored + tail->n;
	return 0;
}

/* ---- opening ------------------------------------------------------------------------------------- */

struct block_opener {
	ZSTD_DCtx *zstd;
	struct bytes body;
};

int block_opener_create(struct block_opener **ret_opener)
{
	struct block_opener *opener = calloc(1, sizeof *opener);
	if (opener)
		opener->zstd = ZSTD_createDCtx();
	if (!opener || !opener->zstd) {
		block_opener_destroy(opener);
		return TACHY_ENOMEM;
	}
	*ret_opener = opener;
	return 0;
}

void block_opener_destroy(struct block_opener *opener)
{
	if (!opener)
		return;
	ZSTD_freeDCtx(opener->zstd);
	bytes_done(&opener->body);
	free(opener);
}

int block_head_take(const uint8_t head[BLOCK_HEAD_SIZE], struct block_head *ret_head)
{
	if (memcmp(head, block_magic, sizeof block_magic) != 0 ||
	    take_u32(head + 28) != sum(0, head, 28))
		return TACHY_ECORRUPT;
	struct block_head taken = {.number = take_u32(head + 4),
				   .stored_size = take_u32(head + 8),
				   .full_size = take_u32(head + 12),
				   .tail_size = take_u32(head + 16),
				   .checksum = take_u32(head + 20)};
	if (taken.full_size > BLOCK_SIZE_MAX || taken.tail_size > BLOCK_SIZE_MAX ||
	    taken.stored_size > taken.full_size)
		return TACHY_ECORRUPT;
	*ret_head = taken;
	return 0;
}

static int expand(struct block_opener *opener, const struct block_head *head, const uint8_t *data)
{
	struct bytes *body = &opener->body;
	if (!vec_grow((void **)&body->at, &body->cap, head->full_size, 1))
		return TACHY_ENOMEM;
	size_t size = ZSTD_decompressDCtx(opener->zstd, body->at, head->full_size, data,
					  head->stored_size);
	return ZSTD_isError(size) || size != head->full_size ? TACHY_ECORRUPT : 0;
}

int block_open(struct block_opener *opener, const struct block_head *head, const uint8_t *data,
	       struct byte_reader *ret_body, struct byte_reader *ret_tail)
{
	if (sum(0, data, (size_t)head->stored_size + head->tail_size) != head->checksum)
		return TACHY_ECORRUPT;
	struct byte_reader body = {.at = data, .n = head->stored_size};
	if (head->stored_size < head->full_size) {
		int rc = expand(opener, head, data);
		if (rc < 0)
			return rc;
		body = (struct byte_reader){.at = opener->body.at, .n = head->full_size};
	}
	*ret_body = body;
	*ret_tail = (struct byte_reader){.at = data + head->stored_size, .n = head->tail_size};
	return 0;
}
