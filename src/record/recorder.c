/* SPDX-License-Identifier: MIT
 * Invariant: a chunk holds the definitions that its samples need, so that it can be written at any moment;
 * the writer takes chunks in the order in which they were filled. The lock is held for a few copies only,
 * never while anything is compressed or written.
 */
#include "record/recorder.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/release.h"
#include "record/columns.h"
#include "record/counters.h"
#include "record/definitions.h"
#include "record/recorder_file.h"
#include "record/section.h"

#define CHUNK_SAMPLES     4096u
#define CHUNK_DEFINITIONS (1u << 20) /* bytes; a deep stack is told in several chunks */
#define NS_PER_S          UINT64_C(1000000000)
#define COUNTERS_NS       NS_PER_S /* as often at most; they grow little */
#define UNIT_NS           1000u    /* of times and weights; the sampler's are whole ones of it */

struct chunk {
	struct chunk *next;
	struct bytes start; /* the section; of the first one only */
	struct told told;
	VEC(struct sample) samples;
	uint64_t n_dropped, dropped_ns; /* since the chunk before */
};

struct recorder {
	struct sink sink; /* first */
	size_t memory_max;
	bool patient;
	enum tachy_mode mode;
	pthread_t thread;
	bool running; /* the thread is */
	/* of the thread that samples */
	const struct profile *profile; /* borrowed */
	struct definitions definitions;
	/* shared */
	pthread_mutex_t lock;
	pthread_cond_t wake, room;                    /* for the writer; for a patient sink */
	struct chunk *filling, *first, *last, *spare; /* owned */
	size_t queued_bytes;
	uint64_t n_dropped, dropped_ns; /* not told to any chunk yet */
	struct recorder_totals totals;
	struct tachy_stats stats;
	bool stats_due, finishing;
	uint64_t duration_ns;
	/* of the writer */
	struct recorder_file file;
	struct columns columns;
	struct counters counters;
	struct block_body body, part;
	struct bytes tail;
	uint64_t counters_ns;   /* when they were told last */
	uint64_t block_samples; /* in the block that was packed last */
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;
	(void)clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* ---- chunks: with the lock held -------------------------------------------------------------------- */

static void free_chunk(struct chunk *chunk)
{
	if (!chunk)
		return;
	bytes_done(&chunk->start);
	told_done(&chunk->told);
	vec_done(&chunk->samples);
	free(chunk);
}

static size_t chunk_bytes(const struct chunk *chunk)
{
	return sizeof *chunk + told_size(&chunk->told) +
	       chunk->samples.n * sizeof *chunk->samples.at;
}

static void enqueue(struct recorder *recorder)
{
	struct chunk *chunk = recorder->filling;
	if (!chunk)
		return;
	recorder->filling = NULL;
	recorder->queued_bytes += chunk_bytes(chunk);
	if (recorder->last)
		recorder->last->next = chunk;
	else
		recorder->first = chunk;
	recorder->last = chunk;
}

/* The chunk to put more into; NULL: too much waits, or out of memory. */
static struct chunk *open_chunk(struct recorder *recorder)
{
	if (recorder->filling)
		return recorder->filling;
	while (recorder->patient && recorder->queued_bytes >= recorder->memory_max &&
	       recorder->totals.error >= 0)
		(void)pthread_cond_wait(&recorder->room, &recorder->lock);
	if (recorder->queued_bytes >= recorder->memory_max)
		return NULL;
	struct chunk *chunk = recorder->spare;
	if (!chunk)
		chunk = calloc(1, sizeof *chunk);
	if (!chunk)
		return NULL;
	recorder->spare = chunk == recorder->spare ? chunk->next : recorder->spare;
	chunk->next = NULL;
	chunk->n_dropped = recorder->n_dropped;
	chunk->dropped_ns = recorder->dropped_ns;
	recorder->n_dropped = recorder->dropped_ns = 0;
	return recorder->filling = chunk;
}

static void close_chunk(struct recorder *recorder)
{
	enqueue(recorder);
	(void)pthread_cond_signal(&recorder->wake);
}

/* The chunk that the sample goes into, with all that it refers to told; NULL: dropped. */
static struct chunk *tell_names(struct recorder *recorder, uint32_t thread)
{
	struct chunk *chunk = open_chunk(recorder);
	while (chunk && definitions_due(&recorder->definitions, thread)) {
		size_t used = told_size(&chunk->told);
		size_t left = used < CHUNK_DEFINITIONS ? CHUNK_DEFINITIONS - used : 0;
		int rc = left ? definitions_put(&recorder->definitions, left, &chunk->told) : 0;
		if (rc < 0)
			return NULL;
		if (rc > 0)
			break;
		close_chunk(recorder);
		chunk = open_chunk(recorder);
	}
	return chunk;
}

/* ---- the sink -------------------------------------------------------------------------------------- */

static void put_start(const struct profile *profile, enum tachy_mode mode, struct bytes *body)
{
	struct bytes part = {0};
	uint64_t rate;
	memcpy(&rate, &profile->rate_hz, sizeof rate);
	bytes_put_text(&part, TACHYSCOPE_VERSION, strlen(TACHYSCOPE_VERSION));
	for (unsigned i = 0; i < 8; i++)
		bytes_put_u8(&part, (uint8_t)(rate >> 8 * i));
	bytes_put_varint(&part, mode);
	bytes_put_varint(&part, (profile->opcodes ? START_OPCODES : 0) |
					(profile->async_aware ? START_ASYNC : 0));
	bytes_put_varint(&part, UNIT_NS);
	bytes_put_varint(&part, profile->start_unix_ns);
	bytes_put_varint(&part, profile->start_ns);
	bytes_put_varint(body, SECTION_START);
	bytes_put_text(body, (const char *)part.at, part.n);
	body->failed = body->failed || part.failed;
	bytes_done(&part);
}

static void *run_writer(void *arg);

/* The writer takes no signals: they are the caller's. */
static int start_writer(struct recorder *recorder)
{
	sigset_t all, before;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	recorder->running = pthread_create(&recorder->thread, NULL, run_writer, recorder) == 0;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return recorder->running ? 0 : TACHY_ENOMEM;
}

static int begin(struct sink *sink, const struct profile *names)
{
	struct recorder *recorder = (struct recorder *)sink;
	int rc = 0;
	recorder->profile = names;
	definitions_init(&recorder->definitions, names);
	columns_init(&recorder->columns, names->start_ns, names->rate_hz, UNIT_NS);
	(void)pthread_mutex_lock(&recorder->lock);
	struct chunk *chunk = open_chunk(recorder);
	if (chunk)
		put_start(names, recorder->mode, &chunk->start);
	if (!chunk || chunk->start.failed)
		rc = TACHY_ENOMEM;
	close_chunk(
		recorder); /* a block of its own: readers want to know before they have a sink */
	(void)pthread_mutex_unlock(&recorder->lock);
	return rc;
}

static int sample(struct sink *sink, const struct sample *sample)
{
	struct recorder *recorder = (struct recorder *)sink;
	(void)pthread_mutex_lock(&recorder->lock);
	struct chunk *chunk = tell_names(recorder, sample->thread);
	if (chunk && vec_push(&chunk->samples, *sample)) {
		recorder->totals.n_samples += sample->n_ticks;
		if (chunk->samples.n >= CHUNK_SAMPLES)
			close_chunk(recorder);
	} else {
		recorder->totals.n_dropped += sample->n_ticks;
		recorder->n_dropped += sample->n_ticks;
		recorder->dropped_ns += sample->weight_ns;
	}
	(void)pthread_mutex_unlock(&recorder->lock);
	return 0;
}

static int end(struct sink *sink)
{
	struct recorder *recorder = (struct recorder *)sink;
	(void)pthread_mutex_lock(&recorder->lock);
	close_chunk(recorder);
	(void)pthread_mutex_unlock(&recorder->lock);
	return 0;
}

static const struct sink_ops ops = {.name = "record", .begin = begin, .sample = sample, .end = end};

/* ---- the writer -------------------------------------------------------------------------------------- */

static void put_part(struct recorder *recorder, enum section section)
{
	block_body_put_section(&recorder->body, section, &recorder->part);
}

static void put_dropped(struct recorder *recorder, uint64_t n, uint64_t ns)
{
	if (!n)
		return;
	bytes_put_varint(&recorder->part.bytes, n);
	bytes_put_varint(&recorder->part.bytes, ns);
	put_part(recorder, SECTION_DROPPED);
}

static void put_clock(struct recorder *recorder)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct tachy_stats stats;
	(void)pthread_mutex_lock(&recorder->lock);
	bool due = recorder->stats_due &&
		   (recorder->finishing || now - recorder->counters_ns >= COUNTERS_NS);
	if (due) {
		stats = recorder->stats;
		recorder->stats_due = false;
		recorder->counters_ns = now;
	}
	(void)pthread_mutex_unlock(&recorder->lock);
	bytes_put_zigzag(&recorder->part.bytes, (int64_t)(now - recorder->profile->start_ns));
	put_part(recorder, SECTION_CLOCK);
	if (due) {
		counters_put(&recorder->counters, &stats, &recorder->part.bytes);
		put_part(recorder, SECTION_COUNTERS);
	}
}

static void put_block(struct recorder *recorder)
{
	int rc = recorder_file_put(&recorder->file, &recorder->body, &recorder->tail);
	if (rc < 0) { /* later blocks mean nothing without this one */
		recorder->file.error = rc;
		recorder->file.broken = recorder->file.waiting = true;
	}
}

static uint64_t count_samples(const struct chunk *chunk)
{
	uint64_t n = 0;
	for (size_t i = 0; i < chunk->samples.n; i++)
		n += chunk->samples.at[i].n_ticks;
	return n;
}

static void write_chunk(struct recorder *recorder, const struct chunk *chunk)
{
	block_body_clear(&recorder->body);
	bytes_clear(&recorder->tail);
	bytes_put(&recorder->body.bytes, chunk->start.at, chunk->start.n);
	told_write(&chunk->told, &recorder->body, &recorder->part);
	put_dropped(recorder, chunk->n_dropped, chunk->dropped_ns);
	if (chunk->samples.n) {
		if (columns_put(&recorder->columns, chunk->samples.at, chunk->samples.n,
				&recorder->part, &recorder->tail) < 0)
			recorder->body.bytes.failed = true;
		put_part(recorder, SECTION_SAMPLES);
	}
	put_clock(recorder);
	recorder->block_samples = count_samples(chunk);
	put_block(recorder);
}

static void write_end(struct recorder *recorder)
{
	block_body_clear(&recorder->body);
	bytes_clear(&recorder->tail);
	put_dropped(recorder, recorder->n_dropped, recorder->dropped_ns);
	put_clock(recorder);
	bytes_put_varint(&recorder->part.bytes, recorder->duration_ns);
	put_part(recorder, SECTION_END);
	recorder->block_samples = 0;
	put_block(recorder);
}

/* Waits for a chunk, at most a period. With the lock held. NULL: nothing came. */
static struct chunk *dequeue(struct recorder *recorder)
{
	if (!recorder->first && !recorder->finishing) {
		uint64_t until = clock_ns(CLOCK_MONOTONIC) + RECORDER_PERIOD_MS * UINT64_C(1000000);
		struct timespec at = {(time_t)(until / NS_PER_S), (long)(until % NS_PER_S)};
		(void)pthread_cond_timedwait(&recorder->wake, &recorder->lock, &at);
	}
	if (!recorder->first)
		enqueue(recorder);
	struct chunk *chunk = recorder->first;
	if (chunk) {
		recorder->first = chunk->next;
		recorder->last = recorder->first ? recorder->last : NULL;
	}
	return chunk;
}

static void note_file(struct recorder *recorder)
{
	const struct recorder_file *file = &recorder->file;
	recorder->totals.n_bytes = file->n_bytes;
	recorder->totals.error = file->error;
	recorder->totals.errno_value = file->errno_value;
	recorder->totals.broken = file->broken;
	(void)pthread_cond_signal(&recorder->room);
}

static void recycle(struct recorder *recorder, struct chunk *chunk)
{
	recorder->queued_bytes -= chunk_bytes(chunk);
	note_file(recorder);
	bytes_clear(&chunk->start);
	told_clear(&chunk->told);
	chunk->samples.n = 0;
	if (recorder->spare && recorder->spare->next) { /* two are enough */
		free_chunk(chunk);
		return;
	}
	chunk->next = recorder->spare;
	recorder->spare = chunk;
}

/* Until the file takes more, or for a period. False: it does not. *ret_last: nothing is to come any more. */
static bool await_file(struct recorder *recorder, bool *ret_last)
{
	const struct timespec nap = {0, RECORDER_PERIOD_MS * 1000000L};
	(void)pthread_mutex_lock(&recorder->lock);
	*ret_last = recorder->finishing;
	(void)pthread_mutex_unlock(&recorder->lock);
	if (recorder_file_ready(&recorder->file))
		return true;
	(void)pthread_mutex_lock(&recorder->lock);
	note_file(recorder);
	(void)pthread_mutex_unlock(&recorder->lock);
	if (!*ret_last)
		(void)nanosleep(&nap, NULL);
	return false;
}

static void *run_writer(void *arg)
{
	struct recorder *recorder = arg;
	for (bool more = true; more;) {
		bool last, ready = await_file(recorder, &last);
		(void)pthread_mutex_lock(&recorder->lock);
		more = !last || (ready && (recorder->first || recorder->filling));
		struct chunk *chunk = ready && more ? dequeue(recorder) : NULL;
		(void)pthread_mutex_unlock(&recorder->lock);
		if (!chunk)
			continue;
		write_chunk(recorder, chunk);
		(void)pthread_mutex_lock(&recorder->lock);
		recycle(recorder, chunk);
		(void)pthread_mutex_unlock(&recorder->lock);
	}
	if (recorder_file_ready(&recorder->file) && recorder->profile)
		write_end(recorder);
	return NULL;
}

/* ---- life -------------------------------------------------------------------------------------------- */

static int init_locks(struct recorder *recorder)
{
	pthread_condattr_t attributes;
	if (pthread_condattr_init(&attributes) != 0)
		return TACHY_ENOMEM;
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	int failed = pthread_cond_init(&recorder->wake, &attributes);
	(void)pthread_condattr_destroy(&attributes);
	if (failed)
		return TACHY_ENOMEM;
	(void)pthread_cond_init(&recorder->room, NULL); /* cannot fail without attributes */
	(void)pthread_mutex_init(&recorder->lock, NULL);
	return 0;
}

int recorder_create(const struct recorder_options *options, struct recorder **ret_recorder)
{
	struct recorder *recorder = calloc(1, sizeof *recorder);
	if (!recorder)
		return TACHY_ENOMEM;
	recorder->sink.ops = &ops;
	recorder->patient = options->patient;
	recorder->mode = options->mode;
	recorder->memory_max = options->memory_max ? options->memory_max : RECORDER_MEMORY_MAX;
	int rc = init_locks(recorder);
	if (rc < 0) {
		free(recorder);
		return rc;
	}
	rc = recorder_file_init(&recorder->file, options->fd);
	if (rc >= 0)
		rc = start_writer(recorder);
	if (rc < 0) {
		recorder_destroy(recorder);
		return rc;
	}
	*ret_recorder = recorder;
	return 0;
}

struct sink *recorder_sink(struct recorder *recorder)
{
	return &recorder->sink;
}

void recorder_note(struct recorder *recorder, const struct tachy_stats *stats)
{
	(void)pthread_mutex_lock(&recorder->lock);
	recorder->stats = *stats;
	recorder->stats_due = true;
	(void)pthread_mutex_unlock(&recorder->lock);
}

void recorder_totals(struct recorder *recorder, struct recorder_totals *ret_totals)
{
	(void)pthread_mutex_lock(&recorder->lock);
	*ret_totals = recorder->totals;
	(void)pthread_mutex_unlock(&recorder->lock);
}

static void join_writer(struct recorder *recorder)
{
	(void)pthread_mutex_lock(&recorder->lock);
	recorder->finishing = true;
	(void)pthread_cond_signal(&recorder->wake);
	(void)pthread_mutex_unlock(&recorder->lock);
	(void)pthread_join(recorder->thread, NULL);
	recorder->running = false;
}

/* What waits and will not be written. */
static void drop_rest(struct recorder *recorder)
{
	uint64_t n = recorder->file.waiting ? recorder->block_samples : 0;
	enqueue(recorder);
	for (struct chunk *chunk = recorder->first; chunk; chunk = chunk->next)
		n += count_samples(chunk);
	recorder->totals.n_samples -= n;
	recorder->totals.n_dropped += n;
}

int recorder_finish(struct recorder *recorder, const struct tachy_stats *stats)
{
	if (!recorder->running)
		return TACHY_EINVAL;
	if (stats)
		recorder_note(recorder, stats);
	recorder->duration_ns = recorder->profile ? recorder->profile->duration_ns : 0;
	join_writer(recorder);
	drop_rest(recorder);
	note_file(recorder);
	return recorder->totals.error;
}

void recorder_destroy(struct recorder *recorder)
{
	if (!recorder)
		return;
	if (recorder->running)
		join_writer(recorder);
	free_chunk(recorder->filling);
	for (struct chunk *list = recorder->first, *next; list; list = next) {
		next = list->next;
		free_chunk(list);
	}
	for (struct chunk *list = recorder->spare, *next; list; list = next) {
		next = list->next;
		free_chunk(list);
	}
	recorder_file_done(&recorder->file);
	definitions_done(&recorder->definitions);
	columns_done(&recorder->columns);
	block_body_done(&recorder->body);
	bytes_done(&recorder->tail);
	block_body_done(&recorder->part);
	(void)pthread_cond_destroy(&recorder->wake);
	(void)pthread_cond_destroy(&recorder->room);
	(void)pthread_mutex_destroy(&recorder->lock);
	free(recorder);
}
