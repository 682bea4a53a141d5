/* SPDX-License-Identifier: MIT
 * The binary form of CPython's own sampling profiler (format version 1), which
 * `python3.15 -m profiling.sampling replay` reads. Its layout is told where it is read: src/record/tachyon_head.c.
 *
 * What it has no room for is left out: weights (each tick is a sample of its own, the ticks of a run evenly
 * spread over it), names, processes, garbage collection states, opcodes, and all but the 256 topmost frames.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "export/export.h"

#define HEAD_SIZE 64
#define DEPTH_MAX 256
#define NO_OPCODE 255u
#define MAGIC     0x54414348u

enum { RECORD_REPEAT, RECORD_FULL };

/* Bits of a sample's status. */
enum {
	STATUS_GIL = 1,
	STATUS_CPU = 2,
	STATUS_CPU_UNKNOWN = 4,
	STATUS_WANTS_GIL = 8,
	STATUS_RAISING = 16,
	STATUS_MAIN = 32
};

struct writer {
	const struct profile *profile;
	struct out *out;
	struct bytes bytes;
	VEC(uint64_t) times_us; /* of each thread's last sample, 0: none */
	VEC(size_t) order;      /* of the timeline, by time */
	uint64_t n_written;
	bool counts_only; /* nothing is written: where things will lie is wanted */
	uint64_t start_us;
};

static void put_fixed(struct bytes *bytes, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		bytes_put_u8(bytes, (uint8_t)(value >> 8 * i));
}

static void put_f64(struct bytes *bytes, double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	put_fixed(bytes, bits, 8);
}

static void flush(struct writer *writer)
{
	if (!writer->counts_only)
		out_bytes(writer->out, (const char *)writer->bytes.at, writer->bytes.n);
	writer->n_written += writer->bytes.n;
	writer->bytes.n = 0; /* `failed` stays */
}

static uint8_t status_of(uint32_t states)
{
	uint8_t status = 0;
	if (states & TACHY_STATE_GIL)
		status |= STATUS_GIL;
	if (states & TACHY_STATE_GIL_WAITING)
		status |= STATUS_WANTS_GIL;
	if (states & TACHY_STATE_ON_CPU)
		status |= STATUS_CPU;
	if (!(states & TACHY_STATE_CPU_KNOWN))
		status |= STATUS_CPU_UNKNOWN;
	if (states & TACHY_STATE_EXCEPTION)
		status |= STATUS_RAISING;
	if (states & TACHY_STATE_MAIN)
		status |= STATUS_MAIN;
	return status;
}

/* Microseconds since the thread's last sample, at least 0: they cannot tell a step back. */
static uint64_t step_us(struct writer *writer, uint32_t thread, uint64_t time_ns)
{
	uint64_t *last = &writer->times_us.at[thread], now = time_ns / 1000;
	uint64_t step = now > *last ? now - *last : 0;
	*last += step;
	return step;
}

static void put_identity(struct writer *writer, uint32_t thread, uint8_t kind)
{
	const struct profile_thread *entry = &writer->profile->threads.at[thread];
	put_fixed(&writer->bytes, entry->tid, 8);
	put_fixed(&writer->bytes, (uint64_t)entry->interpreter, 4);
	bytes_put_u8(&writer->bytes, kind);
}

static void put_stack(struct writer *writer, stack_id stack)
{
	const struct stacks *stacks = &writer->profile->stacks;
	const struct stack_node *node = stacks_node(stacks, stack);
	uint32_t depth = node->depth < DEPTH_MAX ? node->depth : DEPTH_MAX;
	bytes_put_varint(&writer->bytes, depth);
	for (uint32_t i = 0; i < depth; i++, node = stacks_node(stacks, node->parent))
		bytes_put_varint(&writer->bytes, node->frame);
}

/* The first tick with its stack, the others as a repetition of it. */
static void put_run(struct writer *writer, const struct sample *sample)
{
	uint8_t status = status_of(sample->states);
	double step_ns = (double)sample->weight_ns / (double)sample->n_ticks;
	put_identity(writer, sample->thread, RECORD_FULL);
	bytes_put_varint(&writer->bytes, step_us(writer, sample->thread, sample->time_ns));
	bytes_put_u8(&writer->bytes, status);
	put_stack(writer, sample->stack);
	if (sample->n_ticks > 1) {
		put_identity(writer, sample->thread, RECORD_REPEAT);
		bytes_put_varint(&writer->bytes, sample->n_ticks - 1);
	}
	for (uint64_t i = 1; i < sample->n_ticks; i++) {
		uint64_t time_ns = sample->time_ns + (uint64_t)(step_ns * (double)i);
		bytes_put_varint(&writer->bytes, step_us(writer, sample->thread, time_ns));
		bytes_put_u8(&writer->bytes, status);
		if (writer->bytes.n > 65536)
			flush(writer);
	}
	flush(writer);
}

/* Runs are told by their ends; theirs go by their beginnings. */
static int by_time(const void *a, const void *b, void *timeline)
{
	const struct sample *at = timeline;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	if (at[x].time_ns != at[y].time_ns)
		return at[x].time_ns < at[y].time_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int prepare(struct writer *writer)
{
	const struct profile *profile = writer->profile;
	writer->start_us = profile->start_ns / 1000;
	for (size_t i = 0; i < profile->timeline.n; i++)
		if (!vec_push(&writer->order, i))
			return TACHY_ENOMEM;
	for (size_t i = 0; i < profile->threads.n; i++)
		if (!vec_push(&writer->times_us, writer->start_us))
			return TACHY_ENOMEM;
	if (writer->order.n)
		qsort_r(writer->order.at, writer->order.n, sizeof *writer->order.at, by_time,
			profile->timeline.at);
	return 0;
}

static void put_strings(struct writer *writer)
{
	const struct strtab *strings = writer->profile->stacks.strings;
	for (size_t i = 0; i < strtab_count(strings); i++) {
		const char *text = strtab_get(strings, (str_id)i);
		bytes_put_text(&writer->bytes, text, strlen(text));
	}
	bytes_put_text(&writer->bytes, "~", 1); /* the file of markers */
	flush(writer);
}

static void put_frames(struct writer *writer)
{
	const struct stacks *stacks = &writer->profile->stacks;
	size_t markers_file = strtab_count(stacks->strings);
	for (size_t i = 0; i < stacks->frames.n; i++) {
		const struct frame *frame = &stacks->frames.at[i];
		const struct function *function = &stacks->functions.at[frame->function];
		const struct location *at = &frame->at;
		bool marker = function->kind != TACHY_FRAME_PYTHON;
		bytes_put_varint(&writer->bytes, marker ? markers_file : function->file);
		bytes_put_varint(&writer->bytes, function->name);
		bytes_put_zigzag(&writer->bytes, at->line);
		bytes_put_zigzag(&writer->bytes, (int64_t)at->end_line - at->line);
		bytes_put_zigzag(&writer->bytes, at->column);
		bytes_put_zigzag(&writer->bytes, (int64_t)at->end_column - at->column);
		bytes_put_u8(&writer->bytes, NO_OPCODE);
	}
	flush(writer);
}

static void put_stats(struct writer *writer, const struct tachy_stats *stats)
{
	double seconds = (double)writer->profile->duration_ns / 1e9;
	double n = stats ? (double)stats->samples_attempted : 0;
	double late = stats ? (double)stats->samples_late : 0;
	double lost = stats ? (double)stats->samples_lost : 0;
	put_f64(&writer->bytes, seconds);
	put_f64(&writer->bytes, seconds > 0 ? n / seconds : 0);
	put_f64(&writer->bytes, n > 0 ? 100 * lost / n : 0);
	put_f64(&writer->bytes, n + late > 0 ? 100 * late / (n + late) : 0);
	put_fixed(&writer->bytes, stats ? 3 : 0, 4);
	put_fixed(&writer->bytes, 0, 4);
	bytes_put(&writer->bytes, "TACHSTAT", 8);
	put_fixed(&writer->bytes, 1, 4);
	put_fixed(&writer->bytes, 56, 4);
	flush(writer);
}

static unsigned long number_of(const char **text)
{
	char *end;
	unsigned long value = strtoul(*text, &end, 10);
	*text = *end == '.' ? end + 1 : end;
	return value;
}

/* Version of the Python that was sampled, as three bytes. */
static void put_version(struct writer *writer)
{
	const struct profile *profile = writer->profile;
	const char *text = profile->processes.n ? strtab_get(profile->stacks.strings,
							     profile->processes.at[0].version)
						: "";
	for (int i = 0; i < 3; i++)
		bytes_put_u8(&writer->bytes, (uint8_t)number_of(&text));
	bytes_put_u8(&writer->bytes, 0);
}

static uint32_t mode_word(const struct profile *profile)
{
	uint32_t mode = profile->mode == TACHY_MODE_EXCEPTION ? 4 : (uint32_t)profile->mode;
	uint32_t all_threads = 1;
	return (mode + 1) | 1u << 3 | all_threads << 4;
}

static uint64_t interval_us(const struct profile *profile)
{
	double us = profile->rate_hz > 0 ? 1e6 / profile->rate_hz : 1;
	return us >= 1 && us < 1e15 ? (uint64_t)(us + 0.5) : 1;
}

/* Where the tables lie is told before them: a first pass counts. */
static void put_head(struct writer *writer, uint64_t strings_at, uint64_t frames_at)
{
	const struct profile *profile = writer->profile;
	put_fixed(&writer->bytes, MAGIC, 4);
	put_fixed(&writer->bytes, 1, 4);
	put_version(writer);
	put_fixed(&writer->bytes, writer->start_us, 8);
	put_fixed(&writer->bytes, interval_us(profile), 8);
	put_fixed(&writer->bytes, profile->n_samples, 8);
	put_fixed(&writer->bytes, profile->threads.n, 4);
	put_fixed(&writer->bytes, strings_at, 8);
	put_fixed(&writer->bytes, frames_at, 8);
	put_fixed(&writer->bytes, 0, 4); /* not compressed */
	put_fixed(&writer->bytes, mode_word(profile), 4);
	flush(writer);
}

static void put_samples(struct writer *writer)
{
	for (size_t i = 0; i < writer->times_us.n; i++)
		writer->times_us.at[i] = writer->start_us;
	for (size_t i = 0; i < writer->order.n; i++)
		put_run(writer, &writer->profile->timeline.at[writer->order.at[i]]);
}

static void put_footer(struct writer *writer)
{
	const struct stacks *stacks = &writer->profile->stacks;
	put_fixed(&writer->bytes, strtab_count(stacks->strings) + 1, 4);
	put_fixed(&writer->bytes, stacks->frames.n, 4);
	put_fixed(&writer->bytes, writer->n_written + 32, 8);
	put_fixed(&writer->bytes, 0, 8);
	put_fixed(&writer->bytes, 0, 8);
	flush(writer);
}

static int write_file(struct writer *writer, const struct tachy_stats *stats)
{
	writer->n_written = HEAD_SIZE;
	writer->counts_only = true;
	put_samples(writer);
	uint64_t strings_at = writer->n_written;
	put_strings(writer);
	uint64_t frames_at = writer->n_written;
	writer->n_written = 0;
	writer->counts_only = false;
	put_head(writer, strings_at, frames_at);
	put_samples(writer);
	put_strings(writer);
	put_frames(writer);
	put_stats(writer, stats);
	put_footer(writer);
	return writer->bytes.failed ? TACHY_ENOMEM : 0;
}

int tachyon_binary_write(const struct profile *profile, const struct tachy_stats *stats,
			 const struct export_options *options, struct out *out)
{
	struct writer writer = {.profile = profile, .out = out};
	(void)options;
	int rc = prepare(&writer);
	if (rc >= 0)
		rc = write_file(&writer, stats);
	bytes_done(&writer.bytes);
	vec_done(&writer.times_us);
	vec_done(&writer.order);
	return rc;
}
