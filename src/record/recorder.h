/* SPDX-License-Identifier: MIT
 * The sink that records: samples go into memory at once, and from there into the file by a thread of its
 * own, a block every RECORDER_PERIOD_MS or sooner. What was written stays good whatever happens later: a
 * file that cannot grow any more is cut back to its last whole block, and tried again.
 *
 * Times and weights are kept to the microsecond: what is finer is rounded down, of weights their sum for each
 * thread.
 *
 * A slow disk never makes anybody wait: what does not fit into the memory is dropped, and counted.
 */
#ifndef RECORD_RECORDER_H
#define RECORD_RECORDER_H

#include "model/sink.h"

#define RECORDER_PERIOD_MS  400
#define RECORDER_MEMORY_MAX (32u << 20) /* bytes that wait to be written */

struct recorder;

struct recorder_totals {
	uint64_t n_samples, n_dropped; /* of threads and ticks, as they are counted everywhere */
	uint64_t n_bytes;              /* in the file */
	int error;                     /* 0, or why not all of it is there; */
	int errno_value;               /* in the system's words; 0: it is not the system's */
	bool broken;                   /* and never will be: nobody reads the pipe any more */
};

struct recorder_options {
	int fd;            /* borrowed, of a file, a pipe or a device; written from where it stands */
	size_t memory_max; /* 0: RECORDER_MEMORY_MAX */
	enum tachy_mode mode; /* in which the samples were chosen */
	bool patient;      /* nobody samples meanwhile: wait rather than drop, while the file takes it */
};

/* TACHY_ENOMEM. */
int recorder_create(const struct recorder_options *options, struct recorder **ret_recorder);
/* Good until recorder_destroy. Its begin writes what is known of the run: rate, times. */
struct sink *recorder_sink(struct recorder *recorder);
/* What the counters are, now and then; any thread. */
void recorder_note(struct recorder *recorder, const struct tachy_stats *stats);
/* Any thread, any time. */
void recorder_totals(struct recorder *recorder, struct recorder_totals *ret_totals);
/* After the sink's end: the last block, with the duration and the statistics (may be NULL), and waits until all
 * is written. 0, or why not all of it is. */
int recorder_finish(struct recorder *recorder, const struct tachy_stats *stats);
/* Writes what waits, if recorder_finish was not called. NULL is fine. */
void recorder_destroy(struct recorder *recorder);

#endif
