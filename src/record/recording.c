/* SPDX-License-Identifier: MIT
 * Invariant: what a block says counts only when all of the block was there and its checksums were right.
 * Blocks build on each other, so that the first bad one is the end.
 */
#include "record/recording.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/io.h"
#include "record/block.h"
#include "record/columns.h"
#include "record/counters.h"
#include "record/glossary.h"

#define READ_STEP (1u << 20) /* sizes in a file are believed so far at a time */
#define RATE_MAX  1e9
#define UNIT_MAX_NS 1000000000u

struct recording {
	int fd;                  /* borrowed */
	struct profile *profile; /* borrowed */
	struct block_opener *opener;
	struct bytes data; /* of the block at hand */
	struct glossary glossary;
	struct columns columns;
	struct counters counters;
	struct tachy_stats stats;
	struct recording_state state;
	struct sink *sink; /* of the recording_next at hand */
	int sink_error;
	bool started, ended; /* those sections were met */
	uint64_t duration_ns;
	uint64_t last_ns; /* end of the latest sample, from the start on */
	char version[64];
};

/* ---- bytes -------------------------------------------------------------------------------------- */

/* The parts of a block into `data`, in steps: a size that is a lie costs no more memory than the file has
 * bytes. The number of bytes that were there, or an error. */
static ssize_t read_parts(struct recording *recording, size_t size)
{
	struct bytes *data = &recording->data;
	for (data->n = 0; data->n < size;) {
		size_t step = size - data->n < READ_STEP ? size - data->n : READ_STEP;
		if (!vec_grow((void **)&data->at, &data->cap, data->n + step, 1))
			return TACHY_ENOMEM;
		ssize_t n = io_read_up_to(recording->fd, data->at + data->n, step);
		if (n < 0)
			return n;
		data->n += (size_t)n;
		if ((size_t)n < step)
			break;
	}
	return (ssize_t)data->n;
}

static int end_here(struct recording *recording, enum recording_end end, uint64_t n_left_out)
{
	struct recording_state *state = &recording->state;
	state->end = end;
	state->n_left_out = n_left_out;
	uint8_t rest[4096];
	for (ssize_t n = 1; end == RECORDING_DAMAGED && n > 0;) { /* how much there is */
		n = io_read_up_to(recording->fd, rest, sizeof rest);
		state->n_left_out += n > 0 ? (uint64_t)n : 0;
	}
	if (recording->last_ns > state->covered_ns)
		state->covered_ns = recording->last_ns;
	recording->profile->duration_ns = recording->ended ? recording->duration_ns
							   : state->covered_ns;
	return 0;
}

/* ---- sections ------------------------------------------------------------------------------------- */

static int take_start(struct recording *recording, struct byte_reader *bytes)
{
	struct profile *profile = recording->profile;
	struct byte_reader version = bytes_take_part(bytes);
	uint64_t bits = 0;
	double rate;
	for (unsigned i = 0; i < 8; i++)
		bits |= (uint64_t)bytes_take_u8(bytes) << 8 * i;
	memcpy(&rate, &bits, sizeof rate);
	uint64_t mode = bytes_take_varint(bytes), flags = bytes_take_varint(bytes);
	uint64_t unit_ns = bytes_take_varint(bytes);
	uint64_t unix_ns = bytes_take_varint(bytes), start_ns = bytes_take_varint(bytes);
	if (bytes->bad || recording->started || mode > TACHY_MODE_EXCEPTION ||
	    !(rate >= 0 && rate <= RATE_MAX) || unit_ns < 1 || unit_ns > UNIT_MAX_NS)
		return TACHY_ECORRUPT;
	size_t len = version.n < sizeof recording->version ? version.n
							   : sizeof recording->version - 1;
	if (len)
		memcpy(recording->version, version.at, len);
	profile->rate_hz = rate;
	profile->mode = (enum tachy_mode)mode;
	profile->opcodes = flags & START_OPCODES;
	profile->async_aware = flags & START_ASYNC;
	profile->start_unix_ns = unix_ns;
	profile->start_ns = start_ns;
	columns_init(&recording->columns, start_ns, rate, unit_ns);
	recording->started = true;
	return 0;
}

static int hand_over(void *arg, struct sample *sample)
{
	struct recording *recording = arg;
	uint64_t from_start = sample->time_ns - recording->profile->start_ns;
	uint64_t end = from_start + sample->weight_ns;
	sample->stack = recording->glossary.stacks.at[sample->stack];
	sample->thread = recording->glossary.threads.at[sample->thread];
	if ((int64_t)from_start >= 0 && (int64_t)end >= 0 && from_start > recording->last_ns)
		recording->last_ns = from_start;
	recording->state.n_samples += sample->n_ticks;
	recording->sink_error = recording->sink->ops->sample(recording->sink, sample);
	return recording->sink_error;
}

static int take_samples(struct recording *recording, struct byte_reader *bytes,
			struct byte_reader *tail)
{
	const struct glossary *glossary = &recording->glossary;
	if (!recording->started || !recording->sink)
		return TACHY_ECORRUPT;
	return columns_take(&recording->columns, (uint32_t)glossary->threads.n, glossary->stacks.n,
			    bytes, tail, hand_over, recording);
}

static int take_clock(struct recording *recording, struct byte_reader *bytes)
{
	int64_t ns = bytes_take_zigzag(bytes);
	if (bytes->bad)
		return TACHY_ECORRUPT;
	if (ns > 0 && (uint64_t)ns > recording->state.covered_ns)
		recording->state.covered_ns = (uint64_t)ns;
	return 0;
}

static int take_dropped(struct recording *recording, struct byte_reader *bytes)
{
	uint64_t n = bytes_take_varint(bytes), ns = bytes_take_varint(bytes);
	recording->state.n_dropped += n;
	recording->state.dropped_ns += ns;
	return bytes->bad ? TACHY_ECORRUPT : 0;
}

static int take_end(struct recording *recording, struct byte_reader *bytes)
{
	recording->duration_ns = bytes_take_varint(bytes);
	recording->ended = !bytes->bad;
	return bytes->bad ? TACHY_ECORRUPT : 0;
}

static int take_section(struct recording *recording, uint64_t section, struct byte_reader *bytes,
			struct byte_reader *tail)
{
	switch (section) {
	case SECTION_START:
		return take_start(recording, bytes);
	case SECTION_SAMPLES:
		return take_samples(recording, bytes, tail);
	case SECTION_CLOCK:
		return take_clock(recording, bytes);
	case SECTION_DROPPED:
		return take_dropped(recording, bytes);
	case SECTION_COUNTERS:
		return counters_take(&recording->counters, bytes, &recording->stats);
	case SECTION_END:
		return take_end(recording, bytes);
	default:
		if (section > SECTION_END)
			return 0; /* of a later version */
		return glossary_take(&recording->glossary, (enum section)section, bytes);
	}
}

static int take_body(struct recording *recording, struct byte_reader body, struct byte_reader tail)
{
	while (body.n > 0 && !recording->ended) {
		uint64_t section = bytes_take_varint(&body);
		struct byte_reader bytes = bytes_take_part(&body);
		if (bytes.bad)
			return TACHY_ECORRUPT;
		if (!recording->started && section != SECTION_START)
			return TACHY_ECORRUPT;
		int rc = take_section(recording, section, &bytes, &tail);
		if (rc < 0)
			return rc;
	}
	return body.bad ? TACHY_ECORRUPT : 0;
}

/* ---- blocks ---------------------------------------------------------------------------------------- */

/* 1: one is in `data` behind *ret_head; 0: the end, which was noted. */
static int read_block(struct recording *recording, struct block_head *ret_head)
{
	uint8_t head[BLOCK_HEAD_SIZE];
	ssize_t n = io_read_up_to(recording->fd, head, sizeof head);
	if (n < 0)
		return (int)n;
	if ((size_t)n < sizeof head)
		return end_here(recording, RECORDING_UNFINISHED, (uint64_t)n);
	if (block_head_take(head, ret_head) < 0 || ret_head->number != recording->state.n_blocks)
		return end_here(recording, RECORDING_DAMAGED, sizeof head);
	size_t size = (size_t)ret_head->stored_size + ret_head->tail_size;
	n = read_parts(recording, size);
	if (n < 0)
		return (int)n;
	if ((size_t)n < size)
		return end_here(recording, RECORDING_UNFINISHED, sizeof head + (uint64_t)n);
	return 1;
}

int recording_next(struct recording *recording, struct sink *sink)
{
	struct block_head head;
	struct byte_reader body, tail;
	if (recording->state.end != RECORDING_OPEN)
		return 0;
	int rc = read_block(recording, &head);
	if (rc <= 0)
		return rc;
	uint64_t size = BLOCK_HEAD_SIZE + (uint64_t)recording->data.n;
	recording->sink = sink;
	recording->sink_error = 0;
	rc = block_open(recording->opener, &head, recording->data.at, &body, &tail);
	if (rc >= 0)
		rc = take_body(recording, body, tail);
	if (recording->sink_error < 0 || rc == TACHY_ENOMEM)
		return rc;
	if (rc < 0)
		return end_here(recording, RECORDING_DAMAGED, size);
	recording->state.n_bytes += size;
	recording->state.n_blocks++;
	return recording->ended ? end_here(recording, RECORDING_WHOLE, 0) : 1;
}

static int check_file_head(struct recording *recording, const uint8_t *head, size_t n,
			   struct tachy_error *err)
{
	unsigned major = 0;
	int rc = n < RECORDING_HEAD_SIZE ? TACHY_ECORRUPT : recording_head_check(head, &major);
	if (rc == TACHY_EVERSION)
		return error_set(err, rc,
				 "it is a recording of format %u, and this tachyscope reads "
				 "format %d: use the version that wrote it, or a newer one",
				 major, RECORDING_MAJOR);
	if (rc < 0)
		return error_set(err, rc, n == 0 ? "it is empty" : "it is no recording");
	recording->state.n_bytes = RECORDING_HEAD_SIZE;
	return 0;
}

/* The block that tells how the run was started. */
static int read_first(struct recording *recording, struct tachy_error *err)
{
	int rc = recording_next(recording, NULL); /* no samples are in it */
	if (rc == TACHY_ENOMEM)
		return error_set(err, rc, "out of memory");
	if (rc < 0)
		return error_set(err, rc, "it cannot be read: %s", error_text(rc));
	if (!recording->started && recording->state.end == RECORDING_UNFINISHED)
		return error_set(err, TACHY_ECORRUPT,
				 "the recording ends before its first block: nothing was kept");
	if (!recording->started)
		return error_set(err, TACHY_ECORRUPT,
				 "the first block of the recording is damaged");
	return 0;
}

static int prepare(struct recording *recording, const uint8_t *peeked, size_t n,
		   struct tachy_error *err)
{
	int rc = glossary_init(&recording->glossary, recording->profile);
	if (rc >= 0)
		rc = block_opener_create(&recording->opener);
	if (rc < 0)
		return error_set(err, rc, "out of memory");
	rc = check_file_head(recording, peeked, n, err);
	return rc < 0 ? rc : read_first(recording, err);
}

int recording_open(int fd, struct profile *profile, struct recording **ret_recording,
		   struct tachy_error *err)
{
	uint8_t head[RECORDING_HEAD_SIZE];
	ssize_t n = io_read_up_to(fd, head, sizeof head);
	if (n < 0)
		return error_set(err, (int)n, "it cannot be read: %s", error_text((int)n));
	return recording_open_after(fd, head, (size_t)n, profile, ret_recording, err);
}

int recording_open_after(int fd, const uint8_t *peeked, size_t n, struct profile *profile,
			 struct recording **ret_recording, struct tachy_error *err)
{
	struct recording *recording = calloc(1, sizeof *recording);
	if (!recording)
		return error_set(err, TACHY_ENOMEM, "out of memory");
	recording->fd = fd;
	recording->profile = profile;
	int rc = prepare(recording, peeked, n, err);
	if (rc < 0) {
		recording_close(recording);
		return rc;
	}
	*ret_recording = recording;
	return 0;
}

void recording_close(struct recording *recording)
{
	if (!recording)
		return;
	block_opener_destroy(recording->opener);
	bytes_done(&recording->data);
	glossary_done(&recording->glossary);
	columns_done(&recording->columns);
	free(recording);
}

const char *recording_version(const struct recording *recording)
{
	return recording->version;
}

void recording_state(const struct recording *recording, struct recording_state *ret_state)
{
	*ret_state = recording->state;
}

void recording_stats(const struct recording *recording, struct tachy_stats *ret_stats)
{
	*ret_stats = recording->stats;
}
