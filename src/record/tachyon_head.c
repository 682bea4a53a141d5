/* SPDX-License-Identifier: MIT
 * Offsets and sizes are compared with the file's size before they are used; numbers of strings and frames
 * with the bytes that they would take.
 */
#include "record/tachyon_head.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"

#define FORMAT_VERSION 1
#define STATS_MARK     "TACHSTAT"
#define NO_OPCODE      255u

static const uint8_t magic_little[TACHYON_MAGIC_SIZE] = {'H', 'C', 'A', 'T'};
static const uint8_t magic_big[TACHYON_MAGIC_SIZE] = {'T', 'A', 'C', 'H'};

bool tachyon_bin_magic(const uint8_t magic[TACHYON_MAGIC_SIZE])
{
	return memcmp(magic, magic_little, TACHYON_MAGIC_SIZE) == 0 ||
	       memcmp(magic, magic_big, TACHYON_MAGIC_SIZE) == 0;
}

static uint64_t load(struct span span, size_t at, unsigned size, bool swap)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < size; i++)
		value |= (uint64_t)load_u8(span, at + i) << 8 * (swap ? size - 1 - i : i);
	return value;
}

static uint32_t get_u32(struct span span, size_t at, bool swap)
{
	return (uint32_t)load(span, at, 4, swap);
}

static double get_f64(struct span span, size_t at, bool swap)
{
	uint64_t bits = load(span, at, 8, swap);
	double value;
	memcpy(&value, &bits, sizeof value);
	return value >= 0 && value < 1e12 ? value : 0;
}

static void take_stats(struct span file, struct tachyon_head *head)
{
	if (file.size < TACHYON_HEAD_SIZE + TACHYON_FOOTER_SIZE + TACHYON_STATS_SIZE)
		return;
	struct span stats = span_sub(file, file.size - TACHYON_FOOTER_SIZE - TACHYON_STATS_SIZE,
				     TACHYON_STATS_SIZE);
	if (!stats.data || memcmp(stats.data + 40, STATS_MARK, 8) != 0)
		return;
	uint32_t has = get_u32(stats, 32, head->swap);
	head->has_stats = true;
	head->duration_s = get_f64(stats, 0, head->swap);
	head->rate_hz = get_f64(stats, 8, head->swap);
	head->lost_percent = has & 1 ? get_f64(stats, 16, head->swap) : 0;
	head->missed_percent = has & 2 ? get_f64(stats, 24, head->swap) : 0;
}

static int check_head(struct span file, const struct tachyon_head *head, struct tachy_error *err)
{
	size_t end = file.size - TACHYON_FOOTER_SIZE;
	if (load(file, end + 8, 8, head->swap) != file.size ||
	    head->strings_at < TACHYON_HEAD_SIZE || head->strings_at > head->frames_at ||
	    head->frames_at > end || head->n_strings > end - head->strings_at ||
	    head->n_frames > (end - head->frames_at) / 7)
		return error_set(err, TACHY_ECORRUPT,
				 "it is a recording of Python's own profiler, and its tables are "
				 "damaged or cut off");
	return 0;
}

int tachyon_head_take(struct span file, struct tachyon_head *ret_head, struct tachy_error *err)
{
	struct tachyon_head head = {.swap = false};
	if (file.size < TACHYON_HEAD_SIZE + TACHYON_FOOTER_SIZE)
		return error_set(err, TACHY_ECORRUPT,
				 "it is a recording of Python's own profiler that breaks off");
	bool swap = head.swap = memcmp(file.data, magic_big, TACHYON_MAGIC_SIZE) == 0;
	uint32_t version = get_u32(file, 4, swap);
	if (version != FORMAT_VERSION)
		return error_set(err, TACHY_EVERSION,
				 "it is a recording of Python's own profiler in its format %u, and "
				 "format %d is known: replay it with that Python",
				 version, FORMAT_VERSION);
	head.major = load_u8(file, 8);
	head.minor = load_u8(file, 9);
	head.micro = load_u8(file, 10);
	head.start_us = load(file, 12, 8, swap);
	head.interval_us = load(file, 20, 8, swap);
	head.n_samples = load(file, 28, 8, swap);
	head.strings_at = load(file, 40, 8, swap);
	head.frames_at = load(file, 48, 8, swap);
	uint32_t packing = get_u32(file, 56, swap), how = get_u32(file, 60, swap);
	if (packing > 1)
		return error_set(err, TACHY_EVERSION,
				 "it is a recording of Python's own profiler with an unknown "
				 "compression");
	head.packed = packing == 1;
	head.mode = (int)(how & 7) - 1;
	head.opcodes = (how & 8) && (how >> 4 & 8);
	size_t footer = file.size - TACHYON_FOOTER_SIZE;
	head.n_strings = get_u32(file, footer, swap);
	head.n_frames = get_u32(file, footer + 4, swap);
	int rc = check_head(file, &head, err);
	if (rc < 0)
		return rc;
	take_stats(file, &head);
	*ret_head = head;
	return 0;
}

/* ---- tables --------------------------------------------------------------------------------------- */

/* A NUL ends a string early: none of ours can hold one. */
static int take_strings(struct byte_reader *bytes, uint32_t n, struct strtab *strings, str_id *ids)
{
	for (uint32_t i = 0; i < n; i++) {
		struct byte_reader text = bytes_take_part(bytes);
		if (text.bad)
			return TACHY_ECORRUPT;
		const char *at = text.n ? (const char *)text.at : "";
		int rc = strtab_add(strings, at, strnlen(at, text.n), &ids[i]);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* As an int32_t; what does not fit is as unknown as they say it with `none`. */
static int32_t fit(int64_t value, int32_t none)
{
	return value > INT32_MAX || value < none ? none : (int32_t)value;
}

static int64_t add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int set_opcode(struct frame *frame, unsigned minor, uint8_t code, tachyon_opcode_name *name,
		      struct strtab *strings)
{
	const char *base = NULL;
	const char *text = name && code != NO_OPCODE ? name(minor, code, &base) : NULL;
	if (!text)
		return 0;
	int rc = strtab_add(strings, text, strlen(text), &frame->opcode);
	if (rc >= 0 && base)
		rc = strtab_add(strings, base, strlen(base), &frame->base_opcode);
	return rc;
}

/* <GC> and <native>, which have no line in a file that is called "~". */
static bool is_marker(const struct stacks *stacks, const char *file, const char *function,
		      frame_id *ret_id)
{
	if (strcmp(file, "~") != 0)
		return false;
	if (strcmp(function, "<GC>") == 0)
		*ret_id = stacks->gc;
	else if (strcmp(function, "<native>") == 0)
		*ret_id = stacks->native;
	else
		return false;
	return true;
}

static int take_frame(struct byte_reader *bytes, const struct tachyon_head *head, const str_id *ids,
		      struct stacks *stacks, tachyon_opcode_name *name, frame_id *ret_id)
{
	struct function function;
	struct frame frame;
	memset(&function, 0, sizeof function);
	memset(&frame, 0, sizeof frame);
	uint64_t file = bytes_take_varint(bytes), called = bytes_take_varint(bytes);
	int64_t line = bytes_take_zigzag(bytes), end_line = add(line, bytes_take_zigzag(bytes));
	int64_t column = bytes_take_zigzag(bytes),
		end_column = add(column, bytes_take_zigzag(bytes));
	uint8_t code = bytes_take_u8(bytes);
	if (bytes->bad || file >= head->n_strings || called >= head->n_strings)
		return TACHY_ECORRUPT;
	function.file = ids[file];
	function.name = ids[called];
	function.kind = TACHY_FRAME_PYTHON;
	if (is_marker(stacks, strtab_get(stacks->strings, function.file),
		      strtab_get(stacks->strings, function.name), ret_id))
		return 0;
	frame.at = (struct location){fit(line, 0), fit(end_line, 0), fit(column, -1),
				     fit(end_column, -1)};
	int rc = set_opcode(&frame, head->minor, code, name, stacks->strings);
	if (rc >= 0)
		rc = stacks_function(stacks, &function, &frame.function);
	return rc < 0 ? rc : stacks_frame(stacks, &frame, ret_id);
}

int tachyon_tables_take(struct span file, const struct tachyon_head *head, struct profile *profile,
			tachyon_opcode_name *name, frame_id **ret_frames)
{
	struct byte_reader strings = {.at = file.data + head->strings_at,
				      .n = (size_t)(head->frames_at - head->strings_at)};
	struct byte_reader bytes = {.at = file.data + head->frames_at,
				    .n = file.size - TACHYON_FOOTER_SIZE - (size_t)head->frames_at};
	str_id *ids = calloc((size_t)head->n_strings + 1, sizeof *ids);
	frame_id *frames = calloc((size_t)head->n_frames + 1, sizeof *frames);
	int rc = ids && frames ? 0 : TACHY_ENOMEM;
	if (rc >= 0)
		rc = take_strings(&strings, head->n_strings, profile->stacks.strings, ids);
	for (uint32_t i = 0; rc >= 0 && i < head->n_frames; i++)
		rc = take_frame(&bytes, head, ids, &profile->stacks, name, &frames[i]);
	free(ids);
	if (rc < 0) {
		free(frames);
		return rc;
	}
	*ret_frames = frames;
	return 0;
}
