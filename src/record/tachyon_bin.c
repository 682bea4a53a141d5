/* SPDX-License-Identifier: MIT
 * Records, one after the other: each tells a thread's next sample or samples by how its stack differs from the
 * one before. Invariant: `stack` of a thread holds frame numbers that were compared with the table's size.
 */
#include "record/tachyon_bin.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/hash.h"
#include "record/tachyon_head.h"
#include "record/tachyon_stream.h"

#define RECORDS_A_CALL 1000
#define DEPTH_MAX      65536u /* theirs is 256 */
#define THREADS_MAX    1000000u
/* In wall mode every tick has every thread, however late: it lags and catches up by milliseconds. In the others
 * a thread is away whenever it does not count. */
#define PAUSE_US        UINT64_C(1000000)
#define PAUSE_INTERVALS 4u
#define RUN_MAX_NS      UINT64_C(100000000)

enum { REPEAT, FULL, SUFFIX, POP_PUSH };

struct tachyon_thread {
	uint64_t tid, interpreter;
	uint64_t time_us;
	VEC(uint32_t) frames; /* of its last sample, root first */
	stack_id stack;
	uint32_t index; /* in the profile */
	bool seen;
	struct sample run; /* not handed over yet; n_ticks 0: none */
};

struct tachyon_bin {
	uint8_t *data; /* owned */
	size_t size;
	struct profile *profile; /* borrowed */
	struct tachyon_head head;
	frame_id *frames; /* owned */
	struct tachyon_stream stream;
	struct map thread_by_key;
	VEC(struct tachyon_thread) threads;
	VEC(uint32_t) pushed; /* of the record at hand, leaf first */
	uint64_t pause_us;    /* a longer pause is no part of a weight */
	struct recording_state state;
};

/* ---- threads and runs --------------------------------------------------------------------------------- */

static int new_thread(struct tachyon_bin *bin, uint64_t key, uint64_t tid, uint64_t interpreter,
		      struct tachyon_thread **ret_thread)
{
	struct profile_thread entry = {.interpreter = (int64_t)interpreter, .tid = tid};
	struct tachyon_thread thread = {.tid = tid,
					.interpreter = interpreter,
					.time_us = bin->head.start_us};
	if (bin->threads.n >= THREADS_MAX)
		return TACHY_ECORRUPT;
	int rc = profile_add_thread(bin->profile, &entry, &thread.index);
	if (rc < 0)
		return rc;
	if (!vec_push(&bin->threads, thread) ||
	    !map_put(&bin->thread_by_key, key, bin->threads.n - 1))
		return TACHY_ENOMEM;
	*ret_thread = &bin->threads.at[bin->threads.n - 1];
	return 0;
}

static int find_thread(struct tachyon_bin *bin, uint64_t tid, uint64_t interpreter,
		       struct tachyon_thread **ret_thread)
{
	uint64_t index, key = hash_pair(tid, interpreter);
	for (; map_get(&bin->thread_by_key, key, &index); key++) {
		struct tachyon_thread *thread = &bin->threads.at[index];
		if (thread->tid == tid && thread->interpreter == interpreter) {
			*ret_thread = thread;
			return 0;
		}
	}
	return new_thread(bin, key, tid, interpreter, ret_thread);
}

static int hand_over(struct tachyon_bin *bin, struct tachyon_thread *thread, struct sink *sink)
{
	struct sample sample = thread->run;
	if (!sample.n_ticks)
		return 0;
	thread->run.n_ticks = 0;
	bin->state.n_samples += sample.n_ticks;
	return sink->ops->sample(sink, &sample);
}

static uint32_t states_of(uint8_t status)
{
	uint32_t states = TACHY_STATE_GIL_KNOWN;
	if (status & TACHYON_HAS_GIL)
		states |= TACHY_STATE_GIL;
	if (status & TACHYON_WANTS_GIL)
		states |= TACHY_STATE_GIL_WAITING;
	if (!(status & TACHYON_CPU_UNKNOWN))
		states |= TACHY_STATE_CPU_KNOWN;
	if (status & TACHYON_ON_CPU)
		states |= TACHY_STATE_ON_CPU | TACHY_STATE_CPU_KNOWN;
	if (status & TACHYON_RAISING)
		states |= TACHY_STATE_EXCEPTION;
	if (status & TACHYON_MAIN)
		states |= TACHY_STATE_MAIN;
	return states;
}

static void note_main(struct tachyon_bin *bin, const struct tachyon_thread *thread)
{
	struct profile_thread *entry = &bin->profile->threads.at[thread->index];
	struct profile_process *process = &bin->profile->processes.at[0];
	if (!entry->main && thread->interpreter == 0 && !process->pid)
		process->pid = (int64_t)thread->tid;
	entry->main = true;
}

/* When a sample was, and what the thread did; before the stack in every record. */
struct moment {
	uint64_t off_us;
	uint8_t status;
};

static struct moment read_moment(struct tachyon_bin *bin)
{
	uint64_t off_us = tachyon_stream_varint(&bin->stream);
	return (struct moment){off_us, tachyon_stream_u8(&bin->stream)};
}

/* One sample of the thread, with its stack as it is now. */
static int add_sample(struct tachyon_bin *bin, struct tachyon_thread *thread, struct moment moment,
		      struct sink *sink)
{
	const struct tachyon_head *head = &bin->head;
	uint64_t time_us = thread->time_us + moment.off_us;
	uint32_t states = states_of(moment.status);
	struct sample *run = &thread->run;
	if (bin->stream.bad || time_us < thread->time_us || time_us > INT64_MAX / 1000)
		return TACHY_ECORRUPT;
	bool paused = !thread->seen || moment.off_us > bin->pause_us;
	uint64_t weight_ns = (paused ? head->interval_us : moment.off_us) * 1000;
	uint64_t from_start_ns = (time_us - head->start_us) * 1000;
	thread->time_us = time_us;
	thread->seen = true;
	if (states & TACHY_STATE_MAIN)
		note_main(bin, thread);
	if (from_start_ns > bin->state.covered_ns)
		bin->state.covered_ns = from_start_ns;
	if (run->n_ticks && !paused && run->stack == thread->stack && run->states == states &&
	    run->weight_ns < RUN_MAX_NS) {
		run->n_ticks++;
		run->weight_ns += weight_ns;
		return 0;
	}
	int rc = hand_over(bin, thread, sink);
	*run = (struct sample){.time_ns = time_us * 1000,
			       .weight_ns = weight_ns,
			       .n_ticks = 1,
			       .thread = thread->index,
			       .stack = thread->stack,
			       .states = states};
	return rc;
}

/* ---- stacks ----------------------------------------------------------------------------------------------- */

/* Keeps `n_kept` frames of the root's side and puts `n_new` from the stream on top of them. */
static int read_stack(struct tachyon_bin *bin, struct tachyon_thread *thread, uint64_t n_kept,
		      uint64_t n_new)
{
	struct stacks *stacks = &bin->profile->stacks;
	if (bin->stream.bad || n_kept > thread->frames.n || n_new > DEPTH_MAX ||
	    n_kept + n_new > DEPTH_MAX)
		return TACHY_ECORRUPT;
	bin->pushed.n = 0;
	for (uint64_t i = 0; i < n_new; i++) {
		uint64_t frame = tachyon_stream_varint(&bin->stream);
		if (bin->stream.bad || frame >= bin->head.n_frames)
			return TACHY_ECORRUPT;
		if (!vec_push(&bin->pushed, (uint32_t)frame))
			return TACHY_ENOMEM;
	}
	thread->frames.n = (size_t)n_kept;
	for (size_t i = bin->pushed.n; i > 0; i--)
		if (!vec_push(&thread->frames, bin->pushed.at[i - 1]))
			return TACHY_ENOMEM;
	thread->stack = STACK_EMPTY;
	int rc = 0;
	for (size_t i = 0; rc >= 0 && i < thread->frames.n; i++)
		rc = stacks_push(stacks, thread->stack, bin->frames[thread->frames.at[i]],
				 &thread->stack);
	return rc;
}

static int changed_sample(struct tachyon_bin *bin, struct tachyon_thread *thread, uint8_t kind,
			  struct sink *sink)
{
	struct moment moment = read_moment(bin);
	uint64_t n = tachyon_stream_varint(&bin->stream), n_kept = 0, n_new = n;
	if (kind != FULL)
		n_new = tachyon_stream_varint(&bin->stream);
	if (kind == SUFFIX)
		n_kept = n;
	if (kind == POP_PUSH) {
		if (n > thread->frames.n)
			return TACHY_ECORRUPT;
		n_kept = thread->frames.n - n;
	}
	int rc = read_stack(bin, thread, n_kept, n_new);
	return rc < 0 ? rc : add_sample(bin, thread, moment, sink);
}

static int repeated_samples(struct tachyon_bin *bin, struct tachyon_thread *thread,
			    struct sink *sink)
{
	uint64_t n = tachyon_stream_varint(&bin->stream);
	for (; n > 0; n--) {
		int rc = add_sample(bin, thread, read_moment(bin), sink);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int read_record(struct tachyon_bin *bin, struct sink *sink)
{
	struct tachyon_stream *stream = &bin->stream;
	struct tachyon_thread *thread;
	uint64_t tid = tachyon_stream_fixed(stream, 8, bin->head.swap);
	uint64_t interpreter = tachyon_stream_fixed(stream, 4, bin->head.swap);
	uint8_t kind = tachyon_stream_u8(stream);
	if (stream->bad || kind > POP_PUSH)
		return TACHY_ECORRUPT;
	int rc = find_thread(bin, tid, interpreter, &thread);
	if (rc < 0)
		return rc;
	return kind == REPEAT ? repeated_samples(bin, thread, sink)
			      : changed_sample(bin, thread, kind, sink);
}

/* ---- the source ---------------------------------------------------------------------------------------------- */

static int end_here(struct tachyon_bin *bin, struct sink *sink, enum recording_end end)
{
	int rc = 0;
	for (size_t i = 0; rc >= 0 && i < bin->threads.n; i++)
		rc = hand_over(bin, &bin->threads.at[i], sink);
	bin->state.end = end;
	bin->state.n_bytes = end == RECORDING_WHOLE ? bin->size : 0;
	bin->profile->duration_ns = bin->head.has_stats && end == RECORDING_WHOLE
					    ? (uint64_t)(bin->head.duration_s * 1e9)
					    : bin->state.covered_ns;
	return rc;
}

/* 1: more; 0: the end; else an error that is not the file's. */
static int step(struct tachyon_bin *bin, struct sink *sink)
{
	struct tachyon_stream *stream = &bin->stream;
	if (!stream->n && !tachyon_stream_fill(stream)) {
		bool all = !stream->bad && bin->state.n_blocks >= 1;
		return end_here(bin, sink,
				all || !bin->head.n_samples ? RECORDING_WHOLE : RECORDING_DAMAGED);
	}
	int rc = read_record(bin, sink);
	bin->state.n_blocks = 1;
	if (rc == TACHY_ECORRUPT)
		return end_here(bin, sink, RECORDING_DAMAGED);
	return rc < 0 ? rc : 1;
}

int tachyon_bin_next(struct tachyon_bin *bin, struct sink *sink)
{
	int rc = bin->state.end == RECORDING_OPEN ? 1 : 0;
	for (unsigned i = 0; rc > 0 && i < RECORDS_A_CALL; i++)
		rc = step(bin, sink);
	return rc;
}

static enum tachy_mode mode_of(int mode)
{
	if (mode == TACHY_MODE_CPU || mode == TACHY_MODE_GIL)
		return (enum tachy_mode)mode;
	return mode == (int)TACHYON_MODE_RAISING ? TACHY_MODE_EXCEPTION : TACHY_MODE_WALL;
}

static int describe(struct tachyon_bin *bin)
{
	const struct tachyon_head *head = &bin->head;
	struct profile *profile = bin->profile;
	char version[32];
	uint32_t process;
	(void)snprintf(version, sizeof version, "%u.%u.%u", head->major, head->minor, head->micro);
	profile->rate_hz = head->interval_us ? 1e6 / (double)head->interval_us : 0;
	profile->mode = mode_of(head->mode);
	profile->opcodes = head->opcodes;
	profile->start_ns = head->start_us * 1000;
	bin->pause_us = profile->mode == TACHY_MODE_WALL ? PAUSE_US
							 : PAUSE_INTERVALS * head->interval_us;
	return profile_add_process(profile, 0, "", version, &process);
}

static int prepare(struct tachyon_bin *bin, tachyon_opcode_name *name, struct tachy_error *err)
{
	struct span file = {bin->data, bin->size};
	int rc = tachyon_head_take(file, &bin->head, err);
	if (rc < 0)
		return rc;
	if (bin->head.interval_us > 1000000000 || bin->head.start_us > INT64_MAX / 1000)
		return error_set(err, TACHY_ECORRUPT, "its times make no sense");
	struct span samples = {bin->data + TACHYON_HEAD_SIZE,
			       (size_t)bin->head.strings_at - TACHYON_HEAD_SIZE};
	rc = describe(bin);
	if (rc >= 0)
		rc = tachyon_tables_take(file, &bin->head, bin->profile, name, &bin->frames);
	if (rc >= 0)
		rc = tachyon_stream_init(&bin->stream, samples, bin->head.packed);
	if (rc < 0)
		return error_set(err, rc, "its tables cannot be read: %s", error_text(rc));
	return 0;
}

int tachyon_bin_open(uint8_t *data, size_t size, struct profile *profile, tachyon_opcode_name *name,
		     struct tachyon_bin **ret_bin, struct tachy_error *err)
{
	struct tachyon_bin *bin = calloc(1, sizeof *bin);
	if (!bin) {
		free(data);
		return error_set(err, TACHY_ENOMEM, "out of memory");
	}
	bin->data = data;
	bin->size = size;
	bin->profile = profile;
	map_init(&bin->thread_by_key);
	int rc = prepare(bin, name, err);
	if (rc < 0) {
		tachyon_bin_close(bin);
		return rc;
	}
	*ret_bin = bin;
	return 0;
}

void tachyon_bin_close(struct tachyon_bin *bin)
{
	if (!bin)
		return;
	for (size_t i = 0; i < bin->threads.n; i++)
		vec_done(&bin->threads.at[i].frames);
	vec_done(&bin->threads);
	vec_done(&bin->pushed);
	map_done(&bin->thread_by_key);
	tachyon_stream_done(&bin->stream);
	free(bin->frames);
	free(bin->data);
	free(bin);
}

void tachyon_bin_state(const struct tachyon_bin *bin, struct recording_state *ret_state)
{
	*ret_state = bin->state;
}

/* They keep shares; the numbers behind them are theirs to the nearest whole one. */
void tachyon_bin_stats(const struct tachyon_bin *bin, struct tachy_stats *ret_stats)
{
	const struct tachyon_head *head = &bin->head;
	struct tachy_stats stats = {.thread_samples = bin->state.n_samples,
				    .threads_seen = bin->threads.n,
				    .duration_s = (double)bin->state.covered_ns / 1e9};
	if (head->has_stats) {
		double n = head->duration_s * head->rate_hz;
		double wanted = head->missed_percent < 100 ? n / (1 - head->missed_percent / 100)
							   : n;
		stats.duration_s = head->duration_s;
		stats.samples_attempted = (uint64_t)(n + 0.5);
		stats.samples_lost = (uint64_t)(n * head->lost_percent / 100 + 0.5);
		if (stats.samples_lost > stats.samples_attempted)
			stats.samples_lost = stats.samples_attempted;
		stats.samples_captured = stats.samples_attempted - stats.samples_lost;
		stats.samples_late = wanted < 1e18 ? (uint64_t)(wanted - n + 0.5) : 0;
	}
	*ret_stats = stats;
}
