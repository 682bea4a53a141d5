/* SPDX-License-Identifier: MIT
 * Invariant: a prediction uses nothing but the samples before and the period, by modular arithmetic, so
 * that both sides make the same one of any bytes.
 */
#include "record/columns.h"

#include "base/error.h"

/* The first two say little, and much the same all the time. */
enum { THREADS, STATES, TICKS, WEIGHTS, TIMES, STACKS, OLD_FAR, OLD_LOW, N_COLUMNS };

#define STACK_SAME  0u /* as in the thread's sample before */
#define STACK_OLD   1u /* how far below the highest is in two columns of its own */
#define STACK_NEW   1u /* + how far above the highest */

#define TIME_SAME   0u /* as the sample before */
#define TIME_OTHER  1u /* + length of the difference from the expected one */
#define WEIGHT_SAME 0u
#define WEIGHT_NEW  1u /* + length */
#define PERIOD_MAX  1e15 /* units */
#define NS_PER_S    1e9
#define GRID_PARTS  16u /* of a unit */
#define GRID_INERTIA 8  /* a tick moves the grid by this part of how far it is from it */
#define GAP_PERIODS 8u /* a longer pause of a thread tells nothing of its next weight */

/* ---- bits ---------------------------------------------------------------------------------------- */

struct bit_writer {
	struct bytes *bytes;
	uint64_t word;
	unsigned n; /* bits of `word`, < 8 between calls */
};

static unsigned length_of(uint64_t value)
{
	unsigned n = 0;
	for (; value; value >>= 1)
		n++;
	return n;
}

static void put_bits(struct bit_writer *writer, uint64_t value, unsigned n)
{
	for (; n > 0;) {
		unsigned step = n < 32 ? n : 32;
		writer->word |= (value & ((UINT64_C(1) << step) - 1)) << writer->n;
		writer->n += step;
		for (; writer->n >= 8; writer->n -= 8, writer->word >>= 8)
			bytes_put_u8(writer->bytes, (uint8_t)writer->word);
		value >>= step;
		n -= step;
	}
}

/* All but the highest bit, which the length tells. */
static void put_digits(struct bit_writer *writer, uint64_t value)
{
	unsigned n = length_of(value);
	if (n > 1)
		put_bits(writer, value, n - 1);
}

static void put_rest(struct bit_writer *writer)
{
	if (writer->n)
		bytes_put_u8(writer->bytes, (uint8_t)writer->word);
}

struct bit_reader {
	struct byte_reader *bytes;
	uint64_t word;
	unsigned n;
};

static uint64_t take_bits(struct bit_reader *reader, unsigned n)
{
	uint64_t value = 0;
	for (unsigned done = 0; done < n;) {
		unsigned step = n - done < 32 ? n - done : 32;
		for (; reader->n < step; reader->n += 8)
			reader->word |= (uint64_t)bytes_take_u8(reader->bytes) << reader->n;
		value |= (reader->word & ((UINT64_C(1) << step) - 1)) << done;
		reader->word >>= step;
		reader->n -= step;
		done += step;
	}
	return value;
}

static uint64_t take_digits(struct bit_reader *reader, unsigned length)
{
	if (length == 0)
		return 0;
	return length == 1 ? 1 : UINT64_C(1) << (length - 1) | take_bits(reader, length - 1);
}

/* A sample's time and weight, in units. */
struct span {
	uint64_t time, weight;
};

/* What makes no whole unit of weight goes to the thread's next sample. */
static struct span to_units(const struct columns *columns, struct column_thread *thread,
			    const struct sample *sample)
{
	uint64_t weight_ns = sample->weight_ns + thread->rest_ns;
	thread->rest_ns = weight_ns % columns->unit_ns;
	return (struct span){sample->time_ns / columns->unit_ns, weight_ns / columns->unit_ns};
}

/* ---- what is expected ------------------------------------------------------------------------------ */

static uint64_t tick_of(const struct columns *columns)
{
	return columns->period ? columns->period : columns->tick;
}

/* The middle of the grid's cell that `time` is in. */
static uint64_t nearest_middle(const struct columns *columns, uint64_t time)
{
	uint64_t width = columns->period * GRID_PARTS;
	int64_t off = (int64_t)(time * GRID_PARTS - columns->grid + width / 2);
	if ((uint64_t)off < width) /* mostly */
		return columns->grid;
	int64_t n = off / (int64_t)width - (off % (int64_t)width < 0);
	return columns->grid + (uint64_t)n * width;
}

/* The tick after the thread's last one. Ticks are spread around the points of a grid, and so each tells more
 * of the grid than of the next tick. */
static uint64_t expected_time(const struct columns *columns, const struct column_thread *thread)
{
	uint64_t before = thread->end ? thread->end : columns->time;
	if (!columns->period)
		return before + columns->tick;
	return nearest_middle(columns, before) / GRID_PARTS + columns->period;
}

static void move_grid(struct columns *columns, uint64_t time)
{
	if (!columns->period)
		return;
	uint64_t middle = nearest_middle(columns, time);
	int64_t off = (int64_t)(time * GRID_PARTS - middle);
	columns->grid = middle + (uint64_t)(off / GRID_INERTIA);
}

/* Weights are the time since the tick before: with no pause, that of a single tick follows from the times, and
 * of more the last one is where the grid lets expect it. */
static uint64_t expected_weight(const struct columns *columns, const struct column_thread *thread,
				uint64_t time, uint64_t n_ticks)
{
	uint64_t gap = time - thread->end, tick = tick_of(columns), lead = 0;
	if (!thread->end || gap > GAP_PERIODS * tick)
		gap = tick;
	if (n_ticks > 1 && columns->period)
		lead = nearest_middle(columns, time) / GRID_PARTS - time;
	return gap + lead + (n_ticks - 1) * tick;
}

static void remember(struct columns *columns, struct column_thread *thread,
		     const struct sample *sample, const struct span *span)
{
	uint64_t first = thread->end && span->time - thread->end < span->weight
				 ? span->time - thread->end
				 : span->weight / sample->n_ticks;
	thread->end = span->time + span->weight - first;
	thread->stack = sample->stack;
	thread->states = sample->states;
	columns->thread = sample->thread;
	if (sample->stack > columns->highest)
		columns->highest = sample->stack;
	columns->time = span->time;
	move_grid(columns, span->time);
	columns->weight = span->weight;
	columns->tick = span->weight / sample->n_ticks;
}

static struct column_thread *thread_of(struct columns *columns, uint32_t index)
{
	while (columns->threads.n <= index)
		if (!vec_push(&columns->threads, ((struct column_thread){0, 0, 0, 0})))
			return NULL;
	return &columns->threads.at[index];
}

void columns_init(struct columns *columns, uint64_t start_ns, double rate_hz, uint64_t unit_ns)
{
	double period = rate_hz > 0 ? NS_PER_S / rate_hz / (double)unit_ns : 0;
	*columns = (struct columns){.unit_ns = unit_ns,
				    .time = start_ns / unit_ns,
				    .grid = start_ns / unit_ns * GRID_PARTS,
				    .period = period < PERIOD_MAX ? (uint64_t)(period + 0.5) : 0};
}

void columns_done(struct columns *columns)
{
	vec_done(&columns->threads);
	for (size_t i = 0; i < N_COLUMNS; i++)
		bytes_done(&columns->scratch[i]);
}

/* ---- both ways --------------------------------------------------------------------------------------- */

/* Stacks get their numbers when they are first seen, so that new ones are a little above the highest. Of the
 * others the low byte is noise, and would spoil the statistics of the rest. */
static void put_stack(struct columns *columns, const struct column_thread *thread, stack_id stack)
{
	struct bytes *to = columns->scratch;
	if (stack == thread->stack && thread->end) {
		bytes_put_varint(&to[STACKS], STACK_SAME);
	} else if (stack > columns->highest) {
		bytes_put_varint(&to[STACKS], (uint64_t)STACK_NEW + stack - columns->highest);
	} else {
		uint32_t below = columns->highest - stack;
		bytes_put_varint(&to[STACKS], STACK_OLD);
		bytes_put_varint(&to[OLD_FAR], below >> 8);
		bytes_put_u8(&to[OLD_LOW], (uint8_t)below);
	}
}

/* What is no stack number becomes UINT64_MAX. */
static uint64_t take_stack(const struct columns *columns, const struct column_thread *thread,
			   struct byte_reader *from)
{
	uint64_t kind = bytes_take_varint(&from[STACKS]);
	if (kind == STACK_SAME)
		return thread->stack;
	if (kind > STACK_OLD)
		return kind - STACK_NEW <= UINT32_MAX ? columns->highest + (kind - STACK_NEW)
						      : UINT64_MAX;
	uint64_t far = bytes_take_varint(&from[OLD_FAR]), low = bytes_take_u8(&from[OLD_LOW]);
	if (far > UINT32_MAX || (far << 8 | low) > columns->highest)
		return UINT64_MAX;
	return columns->highest - (far << 8 | low);
}

static int put_one(struct columns *columns, const struct sample *sample, struct bit_writer *tail)
{
	struct bytes *to = columns->scratch;
	struct column_thread *thread = thread_of(columns, sample->thread);
	if (!thread)
		return TACHY_ENOMEM;
	bytes_put_zigzag(&to[THREADS], (int64_t)sample->thread - (int64_t)columns->thread);
	bytes_put_varint(&to[TICKS], sample->n_ticks);
	put_stack(columns, thread, sample->stack);
	bytes_put_varint(&to[STATES], sample->states ^ thread->states);
	struct span span = to_units(columns, thread, sample);
	if (span.time == columns->time) {
		bytes_put_u8(&to[TIMES], TIME_SAME);
	} else {
		uint64_t off = zigzag((int64_t)(span.time - expected_time(columns, thread)));
		bytes_put_u8(&to[TIMES], (uint8_t)(TIME_OTHER + length_of(off)));
		put_digits(tail, off);
	}
	uint64_t want = expected_weight(columns, thread, span.time, sample->n_ticks);
	if (span.weight == columns->weight && span.weight != want) {
		bytes_put_u8(&to[WEIGHTS], WEIGHT_SAME);
	} else {
		uint64_t off = zigzag((int64_t)(span.weight - want));
		bytes_put_u8(&to[WEIGHTS], (uint8_t)(WEIGHT_NEW + length_of(off)));
		put_digits(tail, off);
	}
	remember(columns, thread, sample, &span);
	return 0;
}

int columns_put(struct columns *columns, const struct sample *samples, size_t n,
		struct block_body *body, struct bytes *tail)
{
	struct bit_writer bits = {.bytes = tail};
	for (size_t i = 0; i < N_COLUMNS; i++)
		bytes_clear(&columns->scratch[i]);
	for (size_t i = 0; i < n; i++)
		if (put_one(columns, &samples[i], &bits) < 0)
			return TACHY_ENOMEM;
	put_rest(&bits);
	bytes_put_varint(&body->bytes, n);
	for (size_t i = 0; i < N_COLUMNS; i++) {
		block_body_put_column(body, &columns->scratch[i]);
		if (i >= WEIGHTS)
			block_body_cut(body);
	}
	return body->bytes.failed || tail->failed ? TACHY_ENOMEM : 0;
}

static int take_one(struct columns *columns, struct byte_reader *from, struct bit_reader *tail,
		    uint32_t n_threads, struct sample *ret_sample)
{
	struct sample sample = {0};
	uint64_t index = columns->thread + (uint64_t)bytes_take_zigzag(&from[THREADS]);
	if (index >= n_threads)
		return TACHY_ECORRUPT;
	sample.thread = (uint32_t)index;
	struct column_thread *thread = thread_of(columns, sample.thread);
	if (!thread)
		return TACHY_ENOMEM;
	sample.n_ticks = bytes_take_varint(&from[TICKS]);
	uint64_t stack = take_stack(columns, thread, from);
	uint64_t states = bytes_take_varint(&from[STATES]);
	unsigned time = bytes_take_u8(&from[TIMES]), weight = bytes_take_u8(&from[WEIGHTS]);
	if (!sample.n_ticks || stack > UINT32_MAX || states > UINT32_MAX ||
	    time > TIME_OTHER + 64 || weight > WEIGHT_NEW + 64)
		return TACHY_ECORRUPT;
	sample.stack = (stack_id)stack;
	sample.states = (uint32_t)states ^ thread->states;
	struct span span = {columns->time, columns->weight};
	if (time != TIME_SAME)
		span.time = expected_time(columns, thread) +
			    (uint64_t)unzigzag(take_digits(tail, time - TIME_OTHER));
	if (weight != WEIGHT_SAME)
		span.weight = expected_weight(columns, thread, span.time, sample.n_ticks) +
			      (uint64_t)unzigzag(take_digits(tail, weight - WEIGHT_NEW));
	remember(columns, thread, &sample, &span);
	sample.time_ns = span.time * columns->unit_ns;
	sample.weight_ns = span.weight * columns->unit_ns;
	*ret_sample = sample;
	return 0;
}

static bool any_bad(const struct byte_reader *from)
{
	bool bad = false;
	for (size_t i = 0; i < N_COLUMNS; i++)
		bad |= from[i].bad;
	return bad;
}

int columns_take(struct columns *columns, uint32_t n_threads, uint64_t n_stacks,
		 struct byte_reader *body, struct byte_reader *tail,
		 int (*take)(void *arg, struct sample *sample), void *arg)
{
	struct byte_reader from[N_COLUMNS];
	struct bit_reader bits = {.bytes = tail};
	uint64_t n = bytes_take_varint(body);
	for (size_t i = 0; i < N_COLUMNS; i++)
		from[i] = bytes_take_part(body);
	for (; n > 0; n--) {
		struct sample sample;
		int rc = take_one(columns, from, &bits, n_threads, &sample);
		if (rc >= 0 && (any_bad(from) || tail->bad || sample.stack >= n_stacks))
			rc = TACHY_ECORRUPT;
		if (rc >= 0)
			rc = take(arg, &sample);
		if (rc < 0)
			return rc;
	}
	return 0;
}
