/* SPDX-License-Identifier: MIT
 * The envelope of a recording: a head for the file, and blocks with a checksum each, their first part
 * compressed. What is inside a block is said in FORMAT.md; here it is bytes.
 */
#ifndef RECORD_BLOCK_H
#define RECORD_BLOCK_H

#include "base/bytes.h"

#define RECORDING_HEAD_SIZE 16
#define RECORDING_MAJOR     2 /* others are refused */
#define RECORDING_MINOR     0 /* newer ones are read: what is not known is passed over */

#define BLOCK_HEAD_SIZE 32
#define BLOCK_SIZE_MAX  (64u << 20) /* of each part, compressed or not */

struct block_head {
	uint32_t number;      /* 0, 1, 2, ... */
	uint32_t stored_size; /* bytes of the compressed part in the file */
	uint32_t full_size;   /* the same, uncompressed; equal: it is stored as it is */
	uint32_t tail_size;   /* bytes behind it that are not compressed */
	uint32_t checksum;    /* CRC-32 of the two parts as they are in the file */
};

void recording_head_put(uint8_t dest[RECORDING_HEAD_SIZE]);
/* 0; TACHY_ECORRUPT: no recording; TACHY_EVERSION: of another format, *ret_major. */
int recording_head_check(const uint8_t head[RECORDING_HEAD_SIZE], unsigned *ret_major);

/* The body of a block being made, and where in it bytes of another kind begin: kinds are compressed with
 * statistics of their own. Zero-initialised is empty. */
#define BLOCK_CUTS_MAX 64 /* more are left out */
struct block_body {
	struct bytes bytes;
	size_t cuts[BLOCK_CUTS_MAX]; /* growing */
	size_t n_cuts;
};

void block_body_done(struct block_body *body);
void block_body_clear(struct block_body *body); /* keeps the memory */
void block_body_cut(struct block_body *body);   /* here */
/* Appends a column: its length, its bytes. */
void block_body_put_column(struct block_body *body, const struct bytes *column);
/* Appends a section made of `part`, with the cuts in it, and empties that. */
void block_body_put_section(struct block_body *body, uint64_t section, struct block_body *part);

struct block_packer; /* the compressor and its memory */
int block_packer_create(struct block_packer **ret_packer); /* 0 or TACHY_ENOMEM */
void block_packer_destroy(struct block_packer *packer);    /* NULL is fine */
/* Head, compressed `body` and `tail` into `block`, which is emptied before. TACHY_ENOMEM; TACHY_ELIMIT:
 * a part is larger than BLOCK_SIZE_MAX. */
int block_pack(struct block_packer *packer, uint32_t number, const struct block_body *body,
	       const struct bytes *tail, struct bytes *block);

struct block_opener;
int block_opener_create(struct block_opener **ret_opener);
void block_opener_destroy(struct block_opener *opener);
/* The head by its own checksum and bounds. TACHY_ECORRUPT. */
int block_head_take(const uint8_t head[BLOCK_HEAD_SIZE], struct block_head *ret_head);
/* What followed the head: stored_size + tail_size bytes. *ret_body is borrowed from the opener until the
 * next call or from `data`, *ret_tail from `data`. TACHY_ECORRUPT or TACHY_ENOMEM. */
int block_open(struct block_opener *opener, const struct block_head *head, const uint8_t *data,
	       struct byte_reader *ret_body, struct byte_reader *ret_tail);

#endif
