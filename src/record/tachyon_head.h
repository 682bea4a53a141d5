/* SPDX-License-Identifier: MIT
 * The fixed parts of CPython's binary recordings, and their tables of strings and frames.
 */
#ifndef RECORD_TACHYON_HEAD_H
#define RECORD_TACHYON_HEAD_H

#include "base/load.h"
#include "model/profile.h"
#include "record/tachyon_bin.h"

#define TACHYON_HEAD_SIZE   64
#define TACHYON_FOOTER_SIZE 32
#define TACHYON_STATS_SIZE  56
#define TACHYON_MODE_ALL    3u
#define TACHYON_MODE_RAISING 4u

/* Bits of a sample's status. */
#define TACHYON_HAS_GIL     1u
#define TACHYON_ON_CPU      2u
#define TACHYON_CPU_UNKNOWN 4u
#define TACHYON_WANTS_GIL   8u
#define TACHYON_RAISING     16u
#define TACHYON_MAIN        32u

struct tachyon_head {
	bool swap; /* written on a machine of the other byte order */
	unsigned major, minor, micro;
	uint64_t start_us, interval_us, n_samples;
	uint64_t strings_at, frames_at; /* offsets */
	bool packed;
	int mode; /* theirs; -1 unknown */
	bool opcodes;
	uint32_t n_strings, n_frames;
	bool has_stats;
	double duration_s, rate_hz, lost_percent, missed_percent;
};

/* Errors as tachyon_bin_open's. */
int tachyon_head_take(struct span file, struct tachyon_head *ret_head, struct tachy_error *err);
/* The tables, into the profile: *ret_frames (owned: free()) is the id of each of head->n_frames frames. */
int tachyon_tables_take(struct span file, const struct tachyon_head *head, struct profile *profile,
			tachyon_opcode_name *name, frame_id **ret_frames);

#endif
