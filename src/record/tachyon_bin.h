/* SPDX-License-Identifier: MIT
 * The recordings of CPython's own sampling profiler (`python3.15 -m profiling.sampling run --binary`, format
 * version 1), as the source of a pipe. The whole file is in memory: its tables are at its end.
 *
 * What these files do not tell: names of threads, command and pid of the process (the main thread's id
 * stands in where one is marked), the wall-clock time, and where functions begin. A sample's weight is the
 * time since the thread's sample before, or the wanted interval when that is long ago.
 */
#ifndef RECORD_TACHYON_BIN_H
#define RECORD_TACHYON_BIN_H

#include "model/sink.h"
#include "record/recording.h"

#define TACHYON_MAGIC_SIZE 4

struct tachyon_bin;

/* Whether a file that begins with these bytes may be one. */
bool tachyon_bin_magic(const uint8_t magic[TACHYON_MAGIC_SIZE]);

/* What an opcode of that version of Python is called, and what it was specialised from; NULL: not known. */
typedef const char *tachyon_opcode_name(unsigned minor, uint8_t code, const char **ret_base);

/* `data` (owned from here on, also when this fails: free()) is the whole file. `profile` must be new and
 * outlive it. `name` may be NULL. TACHY_ECORRUPT, TACHY_EVERSION, TACHY_ENOMEM, with a sentence. */
int tachyon_bin_open(uint8_t *data, size_t size, struct profile *profile, tachyon_opcode_name *name,
		     struct tachyon_bin **ret_bin, struct tachy_error *err);
void tachyon_bin_close(struct tachyon_bin *bin); /* NULL is fine */
/* As recording_next, recording_state and recording_stats. */
int tachyon_bin_next(struct tachyon_bin *bin, struct sink *sink);
void tachyon_bin_state(const struct tachyon_bin *bin, struct recording_state *ret_state);
void tachyon_bin_stats(const struct tachyon_bin *bin, struct tachy_stats *ret_stats);

#endif
