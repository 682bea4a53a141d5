/* SPDX-License-Identifier: MIT
 * Invariant: every id kept here is one of the profile's, so that no number of a file ever indexes
 * anything without having been compared with a count first.
 */
#include "record/glossary.h"

#include <string.h>

#include "base/error.h"

int glossary_init(struct glossary *glossary, struct profile *profile)
{
	*glossary = (struct glossary){.profile = profile};
	return vec_push(&glossary->stacks, STACK_EMPTY) ? 0 : TACHY_ENOMEM;
}

void glossary_done(struct glossary *glossary)
{
	vec_done(&glossary->strings);
	vec_done(&glossary->functions);
	vec_done(&glossary->frames);
	vec_done(&glossary->stacks);
	vec_done(&glossary->processes);
	vec_done(&glossary->threads);
}

/* The entry of `list` that the next varint numbers, into *ret. */
#define LOOK_UP(list, number, ret) \
	((number) < (list)->n ? (*(ret) = (list)->at[(number)], 0) : TACHY_ECORRUPT)

static int take_number(struct byte_reader *bytes, size_t n, size_t *ret_number)
{
	uint64_t number = bytes_take_varint(bytes);
	if (bytes->bad || number >= n)
		return TACHY_ECORRUPT;
	*ret_number = (size_t)number;
	return 0;
}

static int take_string(const struct glossary *glossary, struct byte_reader *bytes, str_id *ret_id)
{
	size_t number;
	int rc = take_number(bytes, glossary->strings.n, &number);
	if (rc >= 0)
		*ret_id = glossary->strings.at[number];
	return rc;
}

/* A line, a column or a kind: what does not fit is damage. */
static int take_int(struct byte_reader *bytes, int64_t base, int32_t *ret)
{
	int64_t off = bytes_take_zigzag(bytes);
	if (bytes->bad || off > 2 * (int64_t)INT32_MAX + 1 || off < 2 * (int64_t)INT32_MIN)
		return TACHY_ECORRUPT;
	if (base + off > INT32_MAX || base + off < INT32_MIN)
		return TACHY_ECORRUPT;
	*ret = (int32_t)(base + off);
	return 0;
}

static int new_string(struct glossary *glossary, struct byte_reader *bytes)
{
	struct byte_reader text = bytes_take_part(bytes);
	str_id id;
	if (text.bad || (text.n && memchr(text.at, 0, text.n)))
		return TACHY_ECORRUPT;
	int rc = strtab_add(glossary->profile->stacks.strings, text.n ? (const char *)text.at : "",
			    text.n, &id);
	if (rc < 0)
		return rc;
	return vec_push(&glossary->strings, id) ? 0 : TACHY_ENOMEM;
}

static int new_function(struct glossary *glossary, struct byte_reader *bytes)
{
	struct function function = {0};
	function_id id;
	int rc = take_string(glossary, bytes, &function.name);
	if (rc >= 0)
		rc = take_string(glossary, bytes, &function.file);
	if (rc >= 0)
		rc = take_int(bytes, 0, &function.first_line);
	uint64_t kind = bytes_take_varint(bytes);
	if (rc < 0 || bytes->bad)
		return TACHY_ECORRUPT;
	/* a kind of a later version: what it is called is all that is known of it */
	function.kind = kind <= TACHY_FRAME_TASK ? (uint32_t)kind : TACHY_FRAME_NATIVE;
	rc = stacks_function(&glossary->profile->stacks, &function, &id);
	if (rc < 0)
		return rc;
	return vec_push(&glossary->functions, id) ? 0 : TACHY_ENOMEM;
}

static int take_location(struct byte_reader *bytes, int32_t first_line, struct location *ret_at)
{
	int rc = take_int(bytes, first_line, &ret_at->line);
	if (rc >= 0)
		rc = take_int(bytes, ret_at->line, &ret_at->end_line);
	if (rc >= 0)
		rc = take_int(bytes, 0, &ret_at->column);
	if (rc >= 0)
		rc = take_int(bytes, ret_at->column, &ret_at->end_column);
	return rc;
}

/* `before`: number of the function of the frame before, in this section. */
static int new_frame(struct glossary *glossary, struct byte_reader *bytes, uint64_t *before)
{
	struct stacks *stacks = &glossary->profile->stacks;
	struct frame frame;
	frame_id id;
	memset(&frame, 0, sizeof frame);
	uint64_t number = *before + (uint64_t)bytes_take_zigzag(bytes);
	int rc = LOOK_UP(&glossary->functions, number, &frame.function);
	if (rc >= 0)
		rc = take_location(bytes, stacks->functions.at[frame.function].first_line,
				   &frame.at);
	if (rc >= 0)
		rc = take_string(glossary, bytes, &frame.opcode);
	if (rc >= 0)
		rc = take_string(glossary, bytes, &frame.base_opcode);
	if (rc >= 0)
		rc = stacks_frame(stacks, &frame, &id);
	if (rc < 0)
		return rc;
	*before = number;
	return vec_push(&glossary->frames, id) ? 0 : TACHY_ENOMEM;
}

/* The caller of the next stack told. */
static int take_caller(const struct glossary *glossary, struct byte_reader columns[3],
		       stack_id *ret_id)
{
	uint64_t far = bytes_take_varint(&columns[0]), number = glossary->stacks.n - 1;
	if (far > 0)
		number = (far - 1) << 8 | bytes_take_u8(&columns[1]);
	if (far > UINT32_MAX)
		return TACHY_ECORRUPT;
	return LOOK_UP(&glossary->stacks, number, ret_id);
}

static int new_stack(struct glossary *glossary, struct byte_reader columns[3])
{
	frame_id frame;
	stack_id caller, id;
	int rc = take_caller(glossary, columns, &caller);
	uint64_t number = bytes_take_varint(&columns[2]);
	if (rc < 0 || columns[0].bad || columns[1].bad || columns[2].bad)
		return TACHY_ECORRUPT;
	rc = LOOK_UP(&glossary->frames, number, &frame);
	if (rc >= 0)
		rc = stacks_push(&glossary->profile->stacks, caller, frame, &id);
	if (rc < 0)
		return rc;
	return vec_push(&glossary->stacks, id) ? 0 : TACHY_ENOMEM;
}

static int take_stacks(struct glossary *glossary, uint64_t n, struct byte_reader *bytes)
{
	struct byte_reader columns[3];
	int rc = 0;
	for (size_t i = 0; i < 3; i++)
		columns[i] = bytes_take_part(bytes);
	for (; n > 0 && rc >= 0; n--)
		rc = new_stack(glossary, columns);
	return rc;
}

static int new_process(struct glossary *glossary, struct byte_reader *bytes)
{
	const struct strtab *strings = glossary->profile->stacks.strings;
	str_id command, version;
	uint32_t index;
	int64_t pid = bytes_take_zigzag(bytes);
	int rc = take_string(glossary, bytes, &command);
	if (rc >= 0)
		rc = take_string(glossary, bytes, &version);
	if (rc >= 0)
		rc = profile_add_process(glossary->profile, pid, strtab_get(strings, command),
					 strtab_get(strings, version), &index);
	if (rc < 0)
		return rc;
	return vec_push(&glossary->processes, index) ? 0 : TACHY_ENOMEM;
}

static int take_identity(const struct glossary *glossary, struct byte_reader *bytes,
			 struct profile_thread *thread)
{
	thread->tid = bytes_take_varint(bytes);
	int rc = take_string(glossary, bytes, &thread->name);
	thread->main = bytes_take_varint(bytes) & THREAD_MAIN;
	return bytes->bad ? TACHY_ECORRUPT : rc;
}

static int new_thread(struct glossary *glossary, struct byte_reader *bytes)
{
	struct profile_thread thread = {0};
	uint32_t index;
	size_t process;
	int rc = take_number(bytes, glossary->processes.n, &process);
	if (rc < 0)
		return rc;
	thread.process = glossary->processes.at[process];
	thread.interpreter = bytes_take_zigzag(bytes);
	rc = take_identity(glossary, bytes, &thread);
	if (rc >= 0)
		rc = profile_add_thread(glossary->profile, &thread, &index);
	if (rc < 0)
		return rc;
	return vec_push(&glossary->threads, index) ? 0 : TACHY_ENOMEM;
}

static int change_thread(struct glossary *glossary, struct byte_reader *bytes)
{
	size_t number;
	int rc = take_number(bytes, glossary->threads.n, &number);
	if (rc < 0)
		return rc;
	struct profile_thread *entry = &glossary->profile->threads.at[glossary->threads.at[number]];
	struct profile_thread thread = *entry;
	rc = take_identity(glossary, bytes, &thread);
	if (rc >= 0)
		*entry = thread;
	return rc;
}

static int take_item(struct glossary *glossary, enum section section, struct byte_reader *bytes,
		     uint64_t *before)
{
	switch (section) {
	case SECTION_STRINGS:
		return new_string(glossary, bytes);
	case SECTION_FUNCTIONS:
		return new_function(glossary, bytes);
	case SECTION_FRAMES:
		return new_frame(glossary, bytes, before);
	case SECTION_PROCESSES:
		return new_process(glossary, bytes);
	case SECTION_THREADS:
		return new_thread(glossary, bytes);
	case SECTION_CHANGES:
		return change_thread(glossary, bytes);
	default:
		return TACHY_EINVAL;
	}
}

static size_t count_of(const struct glossary *glossary, enum section section)
{
	switch (section) {
	case SECTION_STRINGS:
		return glossary->strings.n;
	case SECTION_FUNCTIONS:
		return glossary->functions.n;
	case SECTION_FRAMES:
		return glossary->frames.n;
	case SECTION_STACKS:
		return glossary->stacks.n;
	case SECTION_PROCESSES:
		return glossary->processes.n;
	default:
		return glossary->threads.n;
	}
}

int glossary_take(struct glossary *glossary, enum section section, struct byte_reader *bytes)
{
	uint64_t before = 0;
	if (section < SECTION_STRINGS || section > SECTION_CHANGES)
		return 0;
	uint64_t n = bytes_take_varint(bytes);
	if (bytes->bad || n > bytes->n) /* each takes a byte at least */
		return TACHY_ECORRUPT;
	if (n > GLOSSARY_MAX - count_of(glossary, section))
		return TACHY_ELIMIT;
	if (section == SECTION_STACKS)
		return take_stacks(glossary, n, bytes);
	for (; n > 0; n--) {
		int rc = take_item(glossary, section, bytes, &before);
		if (rc >= 0 && bytes->bad)
			rc = TACHY_ECORRUPT;
		if (rc < 0)
			return rc;
	}
	return 0;
}
