/* SPDX-License-Identifier: MIT
 * Blocks into a file, one after the other, whole or not at all.
 */
#ifndef RECORD_RECORDER_FILE_H
#define RECORD_RECORDER_FILE_H

#include <sys/types.h>

#include "record/block.h"

struct recorder_file {
	int fd; /* borrowed */
	bool can_cut;     /* an ordinary file: a block that does not fit is taken back */
	off_t good_end;   /* behind the last whole block, where it can be cut */
	uint64_t n_bytes;
	uint32_t n_blocks;
	struct block_packer *packer;
	struct bytes block; /* packed */
	bool waiting;       /* `block` is not written yet */
	int error;          /* of the last attempt; 0 good */
	int errno_value;    /* the same, as the system told it */
	bool broken;        /* for good */
};

/* Writes the head of the file. Errors of the file stay in `error`; TACHY_ENOMEM is returned. */
int recorder_file_init(struct recorder_file *file, int fd);
void recorder_file_done(struct recorder_file *file);
/* Tries what is waiting again. True: nothing waits, the file takes another block. */
bool recorder_file_ready(struct recorder_file *file);
/* Only when ready. TACHY_ENOMEM, TACHY_ELIMIT: it could not be packed; errors of the file stay in `error`. */
int recorder_file_put(struct recorder_file *file, const struct block_body *body,
		      const struct bytes *tail);

#endif
