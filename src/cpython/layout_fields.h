/* SPDX-License-Identifier: MIT
 * The fields of struct layout, once: layout.c checks by this list, tools/layout_gen prints by it,
 * layout_debug.c moves fields by it, and a test holds that no field is missing from it.
 *
 * LAYOUT_FIELD(group, member, in, width, from, to, need)
 *   in     the CPython struct it lies in (enum layout_struct without LAYOUT_IN_)
 *   width  bytes that are read there (the smallest, where it depends on the version; 0: a position
 *          after which something begins), or one of the LAYOUT_W_*
 *   from, to  minor versions that have it; elsewhere it must be LAYOUT_NONE
 *   need   REQUIRED: without it there are no stacks. EXPECTED: every table has it, but a layout
 *          derived from a target of an unknown patch release may lack it. FT: only the
 *          free-threaded builds have it (and there it is required). FT_EXPECTED: both of these.
 */
#ifndef CPYTHON_LAYOUT_FIELDS_H
#define CPYTHON_LAYOUT_FIELDS_H

#include <stddef.h>

#include "cpython/layout.h"

enum layout_struct {
	LAYOUT_IN_RUNTIME,
	LAYOUT_IN_INTERP,
	LAYOUT_IN_GIL,
	LAYOUT_IN_GC,
	LAYOUT_IN_TSTATE,
	LAYOUT_IN_IMPL, /* _PyThreadStateImpl, past its PyThreadState */
	LAYOUT_IN_EXC,
	LAYOUT_IN_CFRAME,
	LAYOUT_IN_FRAME,
	LAYOUT_IN_CODE,
	LAYOUT_IN_OBJECT, /* PyTypeObject, which begins with PyVarObject */
	LAYOUT_IN_UNICODE,
	LAYOUT_IN_BYTES,
	LAYOUT_IN_TUPLE,
	LAYOUT_IN_LIST,
	LAYOUT_IN_SET,
	LAYOUT_IN_DICT,
	LAYOUT_IN_KEYS,
	LAYOUT_IN_INTEGER,
	LAYOUT_IN_GEN,
	LAYOUT_IN_CHUNK,
	LAYOUT_IN_MONITORING,
	LAYOUT_IN_EXECUTORS,
	LAYOUT_IN_EXECUTOR,
	LAYOUT_IN_NOTHING, /* not an offset */
	LAYOUT_N_STRUCTS
};

/* How far a field must be from being there. */
enum layout_need { LAYOUT_REQUIRED, LAYOUT_EXPECTED, LAYOUT_FT, LAYOUT_FT_EXPECTED };

#define LAYOUT_W_SIZE  0xf0 /* the size of the struct itself */
#define LAYOUT_W_OWNER 0xf1 /* a value of frame.owner */
#define LAYOUT_W_SHIFT 0xf2 /* the number of a bit in a uint32_t */
#define LAYOUT_W_GIL   0xf3 /* an embedded struct _gil_runtime_state */
#define LAYOUT_W_GC    0xf4 /* an embedded struct _gc_runtime_state */

struct layout_field {
	const char *name; /* "tstate.next" */
	uint16_t at;      /* offset in struct layout; the field is a uint32_t */
	uint8_t in;       /* enum layout_struct */
	uint8_t width;
	uint8_t from, to;
	uint8_t need; /* enum layout_need */
};

extern const struct layout_field layout_fields[]; /* LAYOUT_FIELDS as data, in its order */
extern const size_t n_layout_fields;

static inline uint32_t layout_get(const struct layout *layout, const struct layout_field *field)
{
	return *(const uint32_t *)(const void *)((const char *)layout + field->at);
}

static inline void layout_set(struct layout *layout, const struct layout_field *field,
			      uint32_t value)
{
	*(uint32_t *)(void *)((char *)layout + field->at) = value;
}

/* Where the size of a struct stands in struct layout; NULL: a layout does not know it. */
const struct layout_field *layout_size_field(enum layout_struct in);

/* Bytes that are read at the field's offset; 0 for what is no offset. */
uint32_t layout_width(const struct layout *layout, const struct layout_field *field);

/* The field says where something lies, rather than how large it is or what it means. */
static inline bool layout_is_offset(const struct layout_field *field)
{
	return field->width != LAYOUT_W_SIZE && field->width != LAYOUT_W_OWNER &&
	       field->width != LAYOUT_W_SHIFT;
}

/* clang-format off */
#define LAYOUT_FIELDS(X)                                                   \
	X(runtime, size, RUNTIME, LAYOUT_W_SIZE, 8, 255, REQUIRED)         \
	X(runtime, core_initialized, RUNTIME, 4, 8, 255, EXPECTED)         \
	X(runtime, initialized, RUNTIME, 4, 8, 255, EXPECTED)              \
	X(runtime, finalizing, RUNTIME, 8, 8, 255, REQUIRED)               \
	X(runtime, interpreters_head, RUNTIME, 8, 8, 255, REQUIRED)        \
	X(runtime, interpreters_main, RUNTIME, 8, 8, 255, EXPECTED)        \
	X(runtime, gil, RUNTIME, LAYOUT_W_GIL, 8, 11, EXPECTED)            \
	X(runtime, gc, RUNTIME, LAYOUT_W_GC, 8, 8, EXPECTED)               \
	X(interp, size, INTERP, LAYOUT_W_SIZE, 8, 255, REQUIRED)           \
	X(interp, next, INTERP, 8, 8, 255, REQUIRED)                       \
	X(interp, id, INTERP, 8, 8, 255, REQUIRED)                         \
	X(interp, threads_head, INTERP, 8, 8, 255, REQUIRED)               \
	X(interp, threads_main, INTERP, 8, 13, 255, EXPECTED)              \
	X(interp, modules, INTERP, 8, 8, 255, EXPECTED)                    \
	X(interp, sysdict, INTERP, 8, 8, 255, EXPECTED)                    \
	X(interp, builtins, INTERP, 8, 8, 255, EXPECTED)                   \
	X(interp, gc, INTERP, LAYOUT_W_GC, 9, 255, EXPECTED)               \
	X(interp, gil_ptr, INTERP, 8, 12, 255, EXPECTED)                   \
	X(interp, gil, INTERP, LAYOUT_W_GIL, 12, 255, EXPECTED)            \
	X(interp, code_generation, INTERP, 8, 14, 255, EXPECTED)           \
	X(interp, tlbc_generation, INTERP, 4, 14, 255, FT)                 \
	X(interp, stop_requester, INTERP, 8, 13, 255, FT_EXPECTED)         \
	X(interp, finalizing, INTERP, 4, 8, 255, EXPECTED)                 \
	X(gil, size, GIL, LAYOUT_W_SIZE, 8, 255, EXPECTED)                 \
	X(gil, last_holder, GIL, 8, 8, 255, EXPECTED)                      \
	X(gil, locked, GIL, 4, 8, 255, EXPECTED)                           \
	X(gil, switch_number, GIL, 8, 8, 255, EXPECTED)                    \
	X(gil, enabled, GIL, 4, 13, 255, FT)                               \
	X(gc, size, GC, LAYOUT_W_SIZE, 8, 255, EXPECTED)                   \
	X(gc, collecting, GC, 4, 8, 255, EXPECTED)                         \
	X(gc, frame, GC, 8, 15, 255, EXPECTED)                             \
	X(tstate, size, TSTATE, LAYOUT_W_SIZE, 8, 255, REQUIRED)           \
	X(tstate, next, TSTATE, 8, 8, 255, REQUIRED)                       \
	X(tstate, prev, TSTATE, 8, 8, 255, REQUIRED)                       \
	X(tstate, interp, TSTATE, 8, 8, 255, REQUIRED)                     \
	X(tstate, frame, TSTATE, 8, 8, 10, REQUIRED)                       \
	X(tstate, cframe, TSTATE, 8, 11, 12, REQUIRED)                     \
	X(tstate, current_frame, TSTATE, 8, 13, 255, REQUIRED)             \
	X(tstate, base_frame, TSTATE, 8, 15, 255, EXPECTED)                \
	X(tstate, thread_id, TSTATE, 8, 8, 255, REQUIRED)                  \
	X(tstate, native_thread_id, TSTATE, 8, 11, 255, REQUIRED)          \
	X(tstate, id, TSTATE, 8, 8, 255, EXPECTED)                         \
	X(tstate, datastack_chunk, TSTATE, 8, 11, 255, REQUIRED)           \
	X(tstate, datastack_top, TSTATE, 8, 11, 255, EXPECTED)             \
	X(tstate, datastack_limit, TSTATE, 8, 11, 255, EXPECTED)           \
	X(tstate, exc_state, TSTATE, 16, 8, 255, EXPECTED)                 \
	X(tstate, exc_info, TSTATE, 8, 8, 255, EXPECTED)                   \
	X(tstate, current_exception, TSTATE, 8, 8, 255, EXPECTED)          \
	X(tstate, recursion_depth, TSTATE, 4, 8, 10, EXPECTED)             \
	X(tstate, recursion_remaining, TSTATE, 4, 11, 255, EXPECTED)       \
	X(tstate, recursion_limit, TSTATE, 4, 11, 255, EXPECTED)           \
	X(tstate, status, TSTATE, 4, 12, 255, EXPECTED)                    \
	X(tstate, state, TSTATE, 4, 13, 255, EXPECTED)                     \
	X(tstate, holds_gil, TSTATE, 4, 14, 255, EXPECTED)                 \
	X(tstate, gil_requested, TSTATE, 4, 15, 255, EXPECTED)             \
	X(tstate, last_profiled_frame, TSTATE, 8, 15, 255, EXPECTED)       \
	X(tstate, last_profiled_frame_seq, TSTATE, 8, 15, 255, EXPECTED)   \
	X(tstate, dict, TSTATE, 8, 8, 255, EXPECTED)                       \
	X(tstate, asyncio_running_loop, IMPL, 8, 14, 255, EXPECTED)        \
	X(tstate, asyncio_running_task, IMPL, 8, 14, 255, EXPECTED)        \
	X(exc, exc_value, EXC, 8, 8, 255, EXPECTED)                        \
	X(exc, previous_item, EXC, 8, 8, 255, EXPECTED)                    \
	X(cframe, size, CFRAME, LAYOUT_W_SIZE, 11, 12, REQUIRED)           \
	X(cframe, current_frame, CFRAME, 8, 11, 12, REQUIRED)              \
	X(cframe, previous, CFRAME, 8, 11, 12, REQUIRED)                   \
	X(frame, size, FRAME, LAYOUT_W_SIZE, 8, 255, REQUIRED)             \
	X(frame, back, FRAME, 8, 8, 255, REQUIRED)                         \
	X(frame, code, FRAME, 8, 8, 255, REQUIRED)                         \
	X(frame, instr, FRAME, 4, 8, 255, REQUIRED)                        \
	X(frame, owner, FRAME, 1, 11, 255, REQUIRED)                       \
	X(frame, func, FRAME, 8, 11, 255, EXPECTED)                        \
	X(frame, locals, FRAME, 0, 8, 255, REQUIRED)                       \
	X(frame, stackpointer, FRAME, 4, 11, 255, EXPECTED)                \
	X(frame, return_offset, FRAME, 2, 12, 255, EXPECTED)               \
	X(frame, executing, FRAME, 1, 8, 9, EXPECTED)                      \
	X(frame, state, FRAME, 1, 10, 10, EXPECTED)                        \
	X(frame, gen, FRAME, 8, 8, 10, EXPECTED)                           \
	X(frame, is_entry, FRAME, 1, 11, 11, REQUIRED)                     \
	X(frame, tlbc_index, FRAME, 4, 14, 255, FT)                        \
	X(owner, thread, NOTHING, LAYOUT_W_OWNER, 11, 255, REQUIRED)       \
	X(owner, generator, NOTHING, LAYOUT_W_OWNER, 11, 255, REQUIRED)    \
	X(owner, frame_object, NOTHING, LAYOUT_W_OWNER, 11, 255, REQUIRED) \
	X(owner, cstack, NOTHING, LAYOUT_W_OWNER, 12, 14, REQUIRED)        \
	X(owner, interpreter, NOTHING, LAYOUT_W_OWNER, 14, 255, REQUIRED)  \
	X(code, size, CODE, LAYOUT_W_SIZE, 8, 255, REQUIRED)               \
	X(code, ob_size, CODE, 8, 11, 255, REQUIRED)                       \
	X(code, filename, CODE, 8, 8, 255, REQUIRED)                       \
	X(code, name, CODE, 8, 8, 255, REQUIRED)                           \
	X(code, qualname, CODE, 8, 11, 255, REQUIRED)                      \
	X(code, linetable, CODE, 8, 8, 255, REQUIRED)                      \
	X(code, firstlineno, CODE, 4, 8, 255, REQUIRED)                    \
	X(code, bytecode, CODE, 0, 8, 255, REQUIRED)                       \
	X(code, framesize, CODE, 4, 12, 255, EXPECTED)                     \
	X(code, nlocalsplus, CODE, 4, 8, 255, EXPECTED)                    \
	X(code, stacksize, CODE, 4, 8, 255, EXPECTED)                      \
	X(code, flags, CODE, 4, 8, 255, EXPECTED)                          \
	X(code, argcount, CODE, 4, 8, 255, EXPECTED)                       \
	X(code, localsplusnames, CODE, 8, 8, 255, EXPECTED)                \
	X(code, version, CODE, 4, 12, 255, EXPECTED)                       \
	X(code, tlbc, CODE, 8, 14, 255, FT)                                \
	X(code, monitoring, CODE, 8, 12, 255, EXPECTED)                    \
	X(code, executors, CODE, 8, 13, 255, EXPECTED)                     \
	X(code, firsttraceable, CODE, 4, 11, 255, EXPECTED)                \
	X(object, size, NOTHING, LAYOUT_W_SIZE, 8, 255, REQUIRED)          \
	X(object, ob_type, OBJECT, 8, 8, 255, REQUIRED)                    \
	X(object, ob_size, OBJECT, 8, 8, 255, REQUIRED)                    \
	X(object, tp_name, OBJECT, 8, 8, 255, REQUIRED)                    \
	X(object, tp_flags, OBJECT, 8, 8, 255, REQUIRED)                   \
	X(object, tp_basicsize, OBJECT, 8, 8, 255, EXPECTED)               \
	X(object, tp_dictoffset, OBJECT, 8, 8, 255, EXPECTED)              \
	X(unicode, length, UNICODE, 8, 8, 255, REQUIRED)                   \
	X(unicode, hash, UNICODE, 8, 8, 255, EXPECTED)                     \
	X(unicode, state, UNICODE, 4, 8, 255, REQUIRED)                    \
	X(unicode, ascii_size, NOTHING, LAYOUT_W_SIZE, 8, 255, REQUIRED)   \
	X(unicode, compact_size, NOTHING, LAYOUT_W_SIZE, 8, 255, REQUIRED) \
	X(unicode, utf8, UNICODE, 8, 8, 255, EXPECTED)                     \
	X(unicode, utf8_length, UNICODE, 8, 8, 255, EXPECTED)              \
	X(unicode, data, UNICODE, 8, 8, 255, EXPECTED)                     \
	X(unicode, kind_shift, NOTHING, LAYOUT_W_SHIFT, 8, 255, REQUIRED)  \
	X(unicode, compact_shift, NOTHING, LAYOUT_W_SHIFT, 8, 255, REQUIRED) \
	X(unicode, ascii_shift, NOTHING, LAYOUT_W_SHIFT, 8, 255, REQUIRED) \
	X(unicode, ready_shift, NOTHING, LAYOUT_W_SHIFT, 8, 11, REQUIRED)  \
	X(bytes, size, BYTES, LAYOUT_W_SIZE, 8, 255, REQUIRED)             \
	X(bytes, ob_size, BYTES, 8, 8, 255, REQUIRED)                      \
	X(bytes, sval, BYTES, 1, 8, 255, REQUIRED)                         \
	X(tuple, ob_size, TUPLE, 8, 8, 255, EXPECTED)                      \
	X(tuple, item, TUPLE, 8, 8, 255, EXPECTED)                         \
	X(list, ob_size, LIST, 8, 8, 255, EXPECTED)                        \
	X(list, item, LIST, 8, 8, 255, EXPECTED)                           \
	X(set, used, SET, 8, 8, 255, EXPECTED)                             \
	X(set, table, SET, 8, 8, 255, EXPECTED)                            \
	X(set, mask, SET, 8, 8, 255, EXPECTED)                             \
	X(dict, used, DICT, 8, 8, 255, EXPECTED)                           \
	X(dict, keys, DICT, 8, 8, 255, EXPECTED)                           \
	X(dict, values, DICT, 8, 8, 255, EXPECTED)                         \
	X(dict, keys_size, KEYS, 0, 8, 255, EXPECTED)                      \
	X(dict, log2_size, KEYS, 1, 11, 255, EXPECTED)                     \
	X(dict, log2_index_bytes, KEYS, 1, 11, 255, EXPECTED)              \
	X(dict, usable, KEYS, 8, 8, 255, EXPECTED)                         \
	X(dict, nentries, KEYS, 8, 8, 255, EXPECTED)                       \
	X(dict, indices, KEYS, 0, 8, 255, EXPECTED)                        \
	X(dict, kind, KEYS, 1, 11, 255, EXPECTED)                          \
	X(integer, tag, INTEGER, 8, 8, 255, EXPECTED)                      \
	X(integer, digit, INTEGER, 4, 8, 255, EXPECTED)                    \
	X(gen, size, GEN, LAYOUT_W_SIZE, 8, 255, EXPECTED)                 \
	X(gen, iframe, GEN, 0, 11, 255, EXPECTED)                          \
	X(gen, frame_state, GEN, 1, 11, 255, EXPECTED)                     \
	X(gen, name, GEN, 8, 8, 255, EXPECTED)                             \
	X(gen, frame_object, GEN, 8, 8, 10, EXPECTED)                      \
	X(stack_chunk, size, CHUNK, LAYOUT_W_SIZE, 11, 255, REQUIRED)      \
	X(stack_chunk, previous, CHUNK, 8, 11, 255, REQUIRED)              \
	X(stack_chunk, chunk_size, CHUNK, 8, 11, 255, REQUIRED)            \
	X(stack_chunk, top, CHUNK, 8, 11, 255, REQUIRED)                   \
	X(stack_chunk, data, CHUNK, 0, 11, 255, REQUIRED)                  \
	X(monitoring, lines, MONITORING, 8, 12, 255, EXPECTED)             \
	X(monitoring, instructions, MONITORING, 8, 12, 255, EXPECTED)      \
	X(executor, size, EXECUTORS, 4, 13, 255, EXPECTED)                 \
	X(executor, item, EXECUTORS, 8, 13, 255, EXPECTED)                 \
	X(executor, opcode, EXECUTOR, 1, 13, 255, EXPECTED)
/* clang-format on */

#endif
