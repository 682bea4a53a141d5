/* SPDX-License-Identifier: MIT
 * From 3.13 on a frame points to the first unit of its instruction. In 3.11 and 3.12 a frame that waits
 * for a callee points to the last inline cache entry of its call; where instructions begin can only be
 * found by going through the bytecode from its start, until two readings agreed on a place.
 *
 * Three opcodes take the place of another: Python/instrumentation.c, _Py_GetBaseCodeUnit (3.12:
 * _Py_GetBaseOpcode) tells in which order and from where the other is to be had. Invariant: nothing is
 * read beyond the code object's own bytecode but what its pointers lead to.
 */
#include "cpython/instruction.h"

#include <string.h>

#include "base/error.h"

#define CODE_UNIT         2u
#define WINDOW            128u /* bytes of bytecode that are read together */
#define SCANNED_BYTES_MAX (1u << 20)
#define EXECUTORS_MAX     256u

/* What is remembered of a place: the answer, which reading gave it, and whether another one agreed. */
#define AGREED           (1ull << 63)
#define ANSWER_OF(kept)  ((uint32_t)(kept))
#define READING_OF(kept) ((kept) >> 32 & INT32_MAX)

struct place {
	struct mem_view *view;
	const struct layout *layout;
	raddr code;    /* the code object */
	uint32_t unit; /* index of the code unit */
};

void instruction_reader_init(struct instruction_reader *reader, const struct layout *layout)
{
	reader->layout = layout;
	map_init(&reader->start_by_place);
	map_init(&reader->leaves_by_place);
}

void instruction_reader_done(struct instruction_reader *reader)
{
	map_done(&reader->start_by_place);
	map_done(&reader->leaves_by_place);
}

bool instruction_possible(const struct layout *layout)
{
	return opcode_info(layout->minor, 0) != NULL;
}

static int hot_pointer(struct mem_view *view, raddr addr, raddr *ret_value)
{
	struct span bytes;
	int rc = mem_view_hot(view, addr, 8, &bytes);
	if (rc >= 0)
		*ret_value = load_u64(bytes, 0);
	return rc < 0 ? rc : *ret_value ? 0 : TACHY_ENOENT;
}

static int hot_byte(struct mem_view *view, raddr addr, uint8_t *ret_value)
{
	struct span bytes;
	int rc = mem_view_hot(view, addr, 1, &bytes);
	if (rc >= 0)
		*ret_value = load_u8(bytes, 0);
	return rc;
}

/* Include/cpython/code.h (3.12, 3.13: pairs of opcode and line delta), internal/pycore_instruments.h
 * (3.14+: entries of so many bytes as the first byte says, each beginning with the opcode). */
static int original_of_line(const struct place *place, raddr lines, uint8_t *ret_code)
{
	uint8_t stride = 2;
	if (place->layout->minor < 14)
		return hot_byte(place->view, lines + (uint64_t)place->unit * stride, ret_code);
	int rc = hot_byte(place->view, lines, &stride);
	return rc < 0 ? rc
		      : hot_byte(place->view, lines + 1 + (uint64_t)place->unit * stride, ret_code);
}

static int original_of_monitored(const struct place *place, enum opcode_kind kind,
				 uint8_t *ret_code)
{
	const struct layout *l = place->layout;
	raddr monitoring, table;
	uint32_t field = kind == OPCODE_LINE ? l->monitoring.lines : l->monitoring.instructions;
	if (l->code.monitoring == LAYOUT_NONE || field == LAYOUT_NONE)
		return TACHY_ENOENT;
	int rc = hot_pointer(place->view, place->code + l->code.monitoring, &monitoring);
	if (rc >= 0)
		rc = hot_pointer(place->view, monitoring + field, &table);
	if (rc < 0)
		return rc;
	return kind == OPCODE_LINE ? original_of_line(place, table, ret_code)
				   : hot_byte(place->view, table + place->unit, ret_code);
}

/* Internal/pycore_optimizer.h: the argument of ENTER_EXECUTOR is the executor's index. */
static int original_of_executor(const struct place *place, uint8_t argument, uint8_t *ret_code)
{
	const struct layout *l = place->layout;
	raddr array, executor;
	struct span size;
	if (l->code.executors == LAYOUT_NONE || l->executor.opcode == LAYOUT_NONE)
		return TACHY_ENOENT;
	int rc = hot_pointer(place->view, place->code + l->code.executors, &array);
	if (rc >= 0)
		rc = mem_view_hot(place->view, array + l->executor.size, 4, &size);
	if (rc < 0)
		return rc;
	if (load_u32(size, 0) <= argument || load_u32(size, 0) > EXECUTORS_MAX)
		return TACHY_ECORRUPT;
	rc = hot_pointer(place->view, array + l->executor.item + argument * 8u, &executor);
	return rc < 0 ? rc : hot_byte(place->view, executor + l->executor.opcode, ret_code);
}

/* One of the three kinds, replaced by what it stands for. */
static int original(const struct place *place, enum opcode_kind kind, uint8_t argument,
		    uint8_t *code)
{
	return kind == OPCODE_EXECUTOR ? original_of_executor(place, argument, code)
				       : original_of_monitored(place, kind, code);
}

/* What the code unit `code`, `argument` was before it was specialised, instrumented or compiled; as far as
 * the target tells. */
static uint8_t base_of(const struct place *place, uint8_t code, uint8_t argument)
{
	static const enum opcode_kind order[] = {OPCODE_LINE, OPCODE_INSTRUCTION, OPCODE_EXECUTOR};
	const unsigned minor = place->layout->minor;
	const struct opcode_info *info = opcode_info(minor, code);
	for (size_t i = 0; info && i < sizeof order / sizeof order[0]; i++) {
		uint8_t behind = code;
		if (info->kind != order[i])
			continue;
		if (original(place, order[i], argument, &behind) < 0 || !opcode_info(minor, behind))
			break;
		code = behind;
		info = opcode_info(minor, code);
	}
	return info ? info->base : code;
}

/* The unit that the instruction around `place->unit` begins at; `bytes`: the bytecode up to there. */
static uint32_t find_start(const struct place *place, struct span bytes)
{
	struct place at = *place;
	uint32_t start = 0, next = 0;
	while (next <= place->unit) {
		at.unit = start = next;
		const struct opcode_info *info =
			opcode_info(place->layout->minor,
				    base_of(&at, load_u8(bytes, start * CODE_UNIT),
					    load_u8(bytes, start * CODE_UNIT + 1)));
		next = start + 1 + (info ? info->n_caches : 0);
	}
	return start;
}

/* Bytecode is read a moment after the frame that stands in it, when another code object may have come to lie
 * there: what one reading told is asked again in a later one before it counts for good. */
static bool recall(const struct map *answers, uint64_t key, uint32_t *ret_answer)
{
	uint64_t kept;
	if (!map_get(answers, key, &kept) || !(kept & AGREED))
		return false;
	*ret_answer = ANSWER_OF(kept);
	return true;
}

static bool keep(struct map *answers, uint64_t key, uint32_t answer, uint64_t reading)
{
	uint64_t kept, fresh = (reading & INT32_MAX) << 32 | answer;
	if (map_get(answers, key, &kept) && ANSWER_OF(kept) == answer &&
	    READING_OF(kept) != READING_OF(fresh))
		fresh |= AGREED;
	return map_put(answers, key, fresh);
}

static uint64_t key_of(const struct place *place, uint32_t index)
{
	return (uint64_t)index << 32 | place->unit;
}

/* Moves `place` from an inline cache to the instruction that it belongs to. */
static int go_to_start(struct instruction_reader *reader, struct place *place, uint32_t index,
		       raddr bytecode)
{
	const uint64_t key = key_of(place, index);
	struct span bytes;
	if (recall(&reader->start_by_place, key, &place->unit))
		return 0;
	uint32_t size = (place->unit + 1) * CODE_UNIT;
	if (size > SCANNED_BYTES_MAX)
		return TACHY_ENOENT;
	int rc = mem_view_cold(place->view, bytecode, size, &bytes);
	if (rc < 0)
		return rc;
	place->unit = find_start(place, bytes);
	return keep(&reader->start_by_place, key, place->unit, place->view->reading) ? 0
										     : TACHY_ENOMEM;
}

static int read_at(const struct place *place, raddr bytecode, uint32_t size,
		   struct opcode *ret_opcode)
{
	uint32_t offset = place->unit * CODE_UNIT, start = offset & ~(WINDOW - 1);
	struct span bytes;
	int rc = mem_view_hot(place->view, bytecode + start,
			      size - start < WINDOW ? size - start : WINDOW, &bytes);
	if (rc < 0)
		return rc;
	uint8_t code = load_u8(bytes, offset - start),
		argument = load_u8(bytes, offset - start + 1);
	if (!opcode_info(place->layout->minor, code))
		return TACHY_ENOENT;
	*ret_opcode = (struct opcode){code, base_of(place, code, argument)};
	return 0;
}

int instruction_read(struct instruction_reader *reader, struct mem_view *view,
		     const struct code_entry *entry, uint32_t index, raddr bytecode, int64_t at,
		     struct opcode *ret_opcode)
{
	struct place place = {.view = view, .layout = reader->layout, .code = entry->addr};
	struct opcode opcode = {0, 0};
	int rc = 0;
	if (at >= 0 && at + CODE_UNIT <= entry->bytecode_size && bytecode) {
		place.unit = (uint32_t)at / CODE_UNIT;
		if (reader->layout->minor < 13)
			rc = go_to_start(reader, &place, index, bytecode);
		if (rc >= 0)
			rc = read_at(&place, bytecode, entry->bytecode_size, &opcode);
	}
	if (rc == TACHY_EGONE || rc == TACHY_ENOMEM)
		return rc;
	*ret_opcode = opcode;
	return 0;
}

static bool ends_frame(unsigned minor, uint8_t base)
{
	static const char *const names[] = {"RETURN_VALUE", "RETURN_CONST", "YIELD_VALUE"};
	const struct opcode_info *info = opcode_info(minor, base);
	for (size_t i = 0; info && i < sizeof names / sizeof names[0]; i++)
		if (strcmp(info->name, names[i]) == 0)
			return true;
	return false;
}

bool instruction_leaves(struct instruction_reader *reader, struct mem_view *view,
			const struct code_entry *entry, uint32_t index, raddr bytecode, int64_t at)
{
	const unsigned minor = reader->layout->minor;
	struct place place = {.view = view, .layout = reader->layout, .code = entry->addr};
	struct span unit;
	uint32_t leaves;
	if (at < 0 || at + CODE_UNIT > entry->bytecode_size || !bytecode ||
	    !instruction_possible(reader->layout))
		return false;
	place.unit = (uint32_t)at / CODE_UNIT;
	const uint64_t key = key_of(&place, index);
	if (recall(&reader->leaves_by_place, key, &leaves))
		return leaves;
	if ((minor < 13 && go_to_start(reader, &place, index, bytecode) < 0) ||
	    mem_view_cold(view, bytecode + place.unit * CODE_UNIT, CODE_UNIT, &unit) < 0)
		return false;
	leaves = ends_frame(minor, base_of(&place, load_u8(unit, 0), load_u8(unit, 1)));
	(void)keep(&reader->leaves_by_place, key, leaves,
		   view->reading); /* else it is asked for again */
	return leaves;
}

bool instruction_calls_c(const struct layout *layout, struct opcode opcode)
{
	/* Python/bytecodes.c of each version; 3.11: a specialised PRECALL makes the call */
	static const char *const prefixes[] = {
		"BUILTIN_",   "METHOD_DESCRIPTOR_", "NO_KW_", "NON_PY_", "KW_NON_PY", "EX_NON_PY",
		"ISINSTANCE", "LIST_APPEND",        "LEN",    "STR_1",   "TUPLE_1",   "TYPE_1",
	};
	const struct opcode_info *info = opcode.code ? opcode_info(layout->minor, opcode.code)
						     : NULL;
	const char *name = info ? info->name : "";
	name += strncmp(name, "PRE", 3) == 0 ? 3 : 0;
	if (strncmp(name, "CALL_", 5) != 0)
		return false;
	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
		if (strncmp(name + 5, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}
