/* SPDX-License-Identifier: MIT
 * A recording being read, block by block, as the source of a pipe: names into a profile, samples into a
 * sink. Memory holds one block and the names.
 */
#ifndef RECORD_RECORDING_H
#define RECORD_RECORDING_H

#include "model/sink.h"

/* How a recording ends. */
enum recording_end {
	RECORDING_OPEN,       /* not read to its end yet */
	RECORDING_WHOLE,      /* with its last block */
	RECORDING_UNFINISHED, /* without it: the recorder was killed, or the disk was full */
	RECORDING_DAMAGED     /* in a block that is not as it was written */
};

struct recording_state {
	enum recording_end end;
	uint64_t n_bytes;     /* read, up to the end of the last good block */
	uint64_t n_left_out;  /* bytes behind them that were there to be read */
	uint32_t n_blocks;    /* good ones */
	uint64_t n_samples;   /* handed to the sink */
	uint64_t n_dropped;   /* samples that the recorder could not keep up with */
	uint64_t dropped_ns;  /* their weight */
	uint64_t covered_ns;  /* from the start on, that the good blocks tell of */
};

struct recording;

/* Reads the head and the first block from `fd` (borrowed), which need not be seekable, and sets mode, rate, flags
 * and start of `profile`, which must be new and outlive the recording. `err`: a sentence without the file's
 * name. TACHY_ECORRUPT: no recording, or its first block is missing; TACHY_EVERSION, TACHY_ENOMEM, TACHY_EIO. */
int recording_open(int fd, struct profile *profile, struct recording **ret_recording,
		   struct tachy_error *err);
/* The same, when the first `n` bytes of `fd` have been read already; at most RECORDING_PEEK_MAX. */
#define RECORDING_PEEK_MAX 16
int recording_open_after(int fd, const uint8_t *peeked, size_t n, struct profile *profile,
			 struct recording **ret_recording, struct tachy_error *err);
void recording_close(struct recording *recording); /* NULL is fine */

/* The version of the tachyscope that wrote it. Borrowed. */
const char *recording_version(const struct recording *recording);
/* The next block. 1: there may be more; 0: that was the end, recording_state tells which one; negative: what
 * the sink gave, TACHY_ENOMEM, TACHY_EIO. The profile's duration is set at the end. */
int recording_next(struct recording *recording, struct sink *sink);
void recording_state(const struct recording *recording, struct recording_state *ret_state);
/* As far as they were recorded. */
void recording_stats(const struct recording *recording, struct tachy_stats *ret_stats);

#endif
