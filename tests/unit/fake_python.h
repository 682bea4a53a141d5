/* SPDX-License-Identifier: MIT
 * A Python made by hand: strings, code objects, frames, threads, interpreters and a GIL, laid out in a
 * fake memory as the layout of some version has them. What a version lacks is left out.
 *
 * Line `first_line + at / 4` executes at byte `at` of every code object made here.
 */
#ifndef FAKE_PYTHON_H
#define FAKE_PYTHON_H

#include <stdio.h>

#include "cpython/layout.h"
#include "cpython/opcode.h"
#include "fake_mem.h"

#define PY_HEAP        0x7f1000000000u
#define PY_HEAP_SIZE   (16u << 20)
#define PY_RUNTIME     0x555500000000u
#define PY_CHUNKS      0x7f2000000000u /* data stack chunks, 1 MB apart */
#define PY_CHUNK_SIZE  16384u
#define PY_PID         0x7ffffff0 /* no such process: /proc says nothing about it */
#define PY_FRAMES_MAX  2048u
#define PY_CODE_UNITS  100u
#define PY_ENTRIES_MAX 512u
#define PY_FRAME_SLOTS 3u /* words of locals and stack */
#define PY_TAG         1u /* on f_executable, 3.14+ */
#define PY_FREE_THREADED 0x100u /* added to a minor version: its build without a GIL */

struct py {
	struct fake_mem *fake;
	const struct layout *l;
	raddr heap; /* the next free byte */
	raddr runtime, interp, gil;
	raddr code_type, str_type, bytes_type;
	uint32_t n_chunks, n_codes, n_threads;
};

struct py_code {
	raddr addr;
	raddr name, file, table;
	uint32_t words; /* of a frame of it */
};

struct py_thread {
	raddr addr;
	raddr cframe;     /* 3.11, 3.12 */
	raddr chunk, top; /* 3.11+ */
	raddr base;       /* 3.12+: the entry frame below all others */
	raddr cstack;     /* places of entry frames, which are taken again by later ones */
	uint32_t n_entries;
	struct {
		raddr addr;
		const struct py_code *code; /* NULL: an entry from C */
	} frames[PY_FRAMES_MAX];            /* root first */
	size_t n;
};

/* ---- pieces --------------------------------------------------------------------------------- */

static inline raddr py_alloc(struct py *py, size_t size)
{
	raddr at = py->heap;
	py->heap += (size + 15) & ~(size_t)15;
	return at;
}

static inline void py_set64(struct py *py, raddr base, uint32_t field, uint64_t value)
{
	if (field != LAYOUT_NONE)
		fake_put_u64(py->fake, base + field, value);
}

static inline void py_set32(struct py *py, raddr base, uint32_t field, uint32_t value)
{
	if (field != LAYOUT_NONE)
		fake_put_u32(py->fake, base + field, value);
}

static inline void py_set8(struct py *py, raddr base, uint32_t field, uint8_t value)
{
	if (field != LAYOUT_NONE)
		fake_put_u8(py->fake, base + field, value);
}

static inline raddr py_type(struct py *py, const char *name)
{
	raddr text = py_alloc(py, strlen(name) + 1), type = py_alloc(py, 512);
	fake_put(py->fake, text, name, strlen(name) + 1);
	py_set64(py, type, py->l->object.tp_name, text);
	return type;
}

/* The bytes of a str object at `at`: `kind` bytes a character, in place where compact, else elsewhere. */
static inline void py_str_write(struct py *py, raddr at, uint32_t kind, bool compact, bool ascii,
				const void *chars, size_t n)
{
	const struct layout *l = py->l;
	uint32_t state = kind << l->unicode.kind_shift |
			 (uint32_t)compact << l->unicode.compact_shift |
			 (uint32_t)ascii << l->unicode.ascii_shift;
	if (l->unicode.ready_shift != LAYOUT_NONE)
		state |= 1u << l->unicode.ready_shift;
	raddr data = at + (ascii ? l->unicode.ascii_size : l->unicode.compact_size);
	if (!compact) {
		data = py_alloc(py, n * kind + 4);
		py_set64(py, at, l->unicode.data, data);
	}
	py_set64(py, at, l->object.ob_type, py->str_type);
	py_set64(py, at, l->unicode.length, n);
	py_set32(py, at, l->unicode.state, state);
	if (n)
		fake_put(py->fake, data, chars, n * kind);
}

static inline raddr py_str(struct py *py, const char *text)
{
	raddr at = py_alloc(py, 80 + strlen(text));
	py_str_write(py, at, 1, true, true, text, strlen(text));
	return at;
}

static inline raddr py_bytes(struct py *py, const void *bytes, size_t n)
{
	raddr at = py_alloc(py, py->l->bytes.sval + n + 1);
	py_set64(py, at, py->l->object.ob_type, py->bytes_type);
	py_set64(py, at, py->l->bytes.ob_size, n);
	if (n)
		fake_put(py->fake, at + py->l->bytes.sval, bytes, n);
	return at;
}

/* A line table that says: the next line every 4 bytes. */
static inline raddr py_linetable(struct py *py)
{
	uint8_t table[PY_CODE_UNITS * 2];
	size_t n = 0;
	for (size_t i = 0; i < PY_CODE_UNITS * 2 / 4; i++) {
		switch (py->l->lines) {
		case LINES_LNOTAB:
			table[n++] = i ? 4 : 0;
			table[n++] = i != 0;
			break;
		case LINES_PEP626:
			table[n++] = 4;
			table[n++] = i != 0;
			break;
		case LINES_LOCATIONS: /* no columns, two code units */
			table[n++] = 0x80 | 13u << 3 | 1;
			table[n++] = i ? 2 : 0;
			break;
		}
	}
	return py_bytes(py, table, n);
}

/* ---- code objects --------------------------------------------------------------------------- */

static inline uint32_t py_code_size(const struct py *py)
{
	return py->l->code.size + PY_CODE_UNITS * 2 + 64;
}

/* Writes a code object to `at`, over whatever is there. */
static inline struct py_code py_code_write(struct py *py, raddr at, raddr name, raddr file,
					   int32_t first_line, raddr table)
{
	const struct layout *l = py->l;
	struct py_code code = {at, name, file, table, l->frame.size / 8 + PY_FRAME_SLOTS};
	uint8_t nothing[512] = {0};
	fake_put(py->fake, at, nothing, l->code.size);
	py_set64(py, at, l->object.ob_type, py->code_type);
	py_set64(py, at, l->code.filename, file);
	py_set64(py, at, l->code.name, name);
	py_set64(py, at, l->code.qualname, name);
	py_set64(py, at, l->code.linetable, table);
	py_set32(py, at, l->code.firstlineno, (uint32_t)first_line);
	py_set32(py, at, l->code.framesize, code.words);
	py_set32(py, at, l->code.nlocalsplus, 1);
	py_set32(py, at, l->code.stacksize, PY_FRAME_SLOTS - 1);
	py_set32(py, at, l->code.version, ++py->n_codes);
	py_set32(py, at, l->code.firsttraceable, 0);
	if (l->lines == LINES_LOCATIONS) {
		py_set64(py, at, l->code.ob_size, PY_CODE_UNITS);
	} else {
		uint8_t bytecode[PY_CODE_UNITS * 2] = {0};
		py_set64(py, at, l->code.bytecode, py_bytes(py, bytecode, sizeof bytecode));
	}
	return code;
}

static inline struct py_code py_code(struct py *py, const char *name, const char *file,
				     int32_t first_line)
{
	return py_code_write(py, py_alloc(py, py_code_size(py)), py_str(py, name), py_str(py, file),
			     first_line, py_linetable(py));
}

/* ---- threads and frames --------------------------------------------------------------------- */

static inline raddr py_new_chunk(struct py *py, struct py_thread *thread)
{
	raddr chunk = PY_CHUNKS + (raddr)py->n_chunks++ * (1u << 20);
	fake_map(py->fake, chunk, PY_CHUNK_SIZE);
	if (thread->chunk)
		py_set64(py, thread->chunk, py->l->stack_chunk.top,
			 (thread->top - thread->chunk - py->l->stack_chunk.data) / 8);
	py_set64(py, chunk, py->l->stack_chunk.previous, thread->chunk);
	py_set64(py, chunk, py->l->stack_chunk.chunk_size, PY_CHUNK_SIZE);
	return chunk;
}

/* The leaf and the top of the data stack, as the thread state has them. */
static inline void py_publish(struct py *py, const struct py_thread *thread)
{
	const struct layout *l = py->l;
	raddr leaf = thread->n ? thread->frames[thread->n - 1].addr : 0;
	if (!leaf && l->tstate.base_frame != LAYOUT_NONE)
		leaf = thread->base;
	int32_t depth = 0; /* entry frames do not count */
	for (size_t i = 0; i < thread->n; i++)
		depth += thread->frames[i].code != NULL;
	py_set64(py, thread->addr, l->tstate.frame, leaf);
	py_set64(py, thread->addr, l->tstate.current_frame, leaf);
	if (thread->cframe)
		py_set64(py, thread->cframe, l->cframe.current_frame, leaf);
	py_set64(py, thread->addr, l->tstate.datastack_chunk, thread->chunk);
	py_set64(py, thread->addr, l->tstate.datastack_top, thread->top);
	py_set32(py, thread->addr, l->tstate.recursion_depth, (uint32_t)depth);
	py_set32(py, thread->addr, l->tstate.recursion_limit, 5000);
	py_set32(py, thread->addr, l->tstate.recursion_remaining, (uint32_t)(5000 - depth));
}

/* Whether the interpreter is in C code that works for this frame, or it waits for a Python callee. */
static inline void py_set_running(struct py *py, raddr frame, bool running)
{
	const struct layout *l = py->l;
	if (l->frames == FRAMES_OBJECTS) {
		py_set8(py, frame, l->frame.executing, 1);
		py_set8(py, frame, l->frame.state, 0);
		return;
	}
	if (l->minor < 14)
		py_set32(py, frame, l->frame.stackpointer, running ? UINT32_MAX : 1);
	else
		py_set64(py, frame, l->frame.stackpointer, running ? 0 : frame + l->frame.size);
	if (l->frame.return_offset != LAYOUT_NONE)
		fake_put_u16(py->fake, frame + l->frame.return_offset, running ? 0 : 4);
}

/* The number of an opcode of this version; 0: it has none of that name. */
static inline uint8_t py_opcode(const struct py *py, const char *name)
{
	for (unsigned code = 0; code < 256; code++) {
		const struct opcode_info *info = opcode_info(py->l->minor, (uint8_t)code);
		if (info && strcmp(info->name, name) == 0)
			return (uint8_t)code;
	}
	return 0;
}

/* The frame executes byte `at` of its code. */
static inline void py_frame_at(struct py *py, raddr frame, const struct py_code *code, int32_t at)
{
	const struct layout *l = py->l;
	if (l->frames == FRAMES_OBJECTS)
		py_set32(py, frame, l->frame.instr,
			 (uint32_t)(l->lines == LINES_PEP626 ? at / 2 : at));
	else
		py_set64(py, frame, l->frame.instr,
			 code->addr + l->code.bytecode + (raddr)(int64_t)at);
}

static inline void py_frame_write(struct py *py, raddr at, const struct py_code *code, raddr back,
				  uint32_t owner)
{
	const struct layout *l = py->l;
	uint8_t nothing[512] = {0};
	fake_put(py->fake, at, nothing, l->frame.size);
	py_set64(py, at, l->frame.back, back);
	if (owner != LAYOUT_NONE)
		py_set8(py, at, l->frame.owner, (uint8_t)owner);
	if (!code)
		return;
	py_set64(py, at, l->frame.code, code->addr | (l->minor >= 14 ? PY_TAG : 0));
	py_frame_at(py, at, code, 8);
	py_set_running(py, at, true);
}

/* Free-threaded 3.14+: a copy of the code object's bytecode for the threads of number `index`. The array is
 * made with the first; `index` is 1 to 3. */
static inline raddr py_code_copy(struct py *py, const struct py_code *code, uint32_t index)
{
	size_t left;
	raddr array, copy = py_alloc(py, PY_CODE_UNITS * 2);
	memcpy(&array, fake_at(py->fake, code->addr + py->l->code.tlbc, &left), sizeof array);
	if (!array) {
		array = py_alloc(py, 8 + 4 * 8);
		fake_put_u64(py->fake, array, 4);
		fake_put_u64(py->fake, array + 8, code->addr + py->l->code.bytecode);
		py_set64(py, code->addr, py->l->code.tlbc, array);
	}
	fake_put_u64(py->fake, array + 8 + index * 8u, copy);
	return copy;
}

/* The frame executes byte `at` of such a copy. */
static inline void py_frame_at_copy(struct py *py, raddr frame, raddr copy, uint32_t index,
				    int32_t at)
{
	py_set32(py, frame, py->l->frame.tlbc_index, index);
	py_set64(py, frame, py->l->frame.instr, copy + (raddr)(int64_t)at);
}

static inline raddr py_leaf(const struct py_thread *thread)
{
	return thread->n ? thread->frames[thread->n - 1].addr : 0;
}

/* What the next frame is called by. */
static inline raddr py_caller(const struct py_thread *thread)
{
	return thread->n ? py_leaf(thread) : thread->base;
}

static inline void py_push(struct py *py, struct py_thread *thread, raddr frame,
			   const struct py_code *code)
{
	if (thread->n == PY_FRAMES_MAX)
		abort();
	thread->frames[thread->n].addr = frame;
	thread->frames[thread->n++].code = code;
	py_publish(py, thread);
}

/* Python calls Python; into a new chunk when the old one is full. */
static inline raddr py_call(struct py *py, struct py_thread *thread, const struct py_code *code)
{
	raddr back = py_caller(thread), frame;
	if (thread->n && thread->frames[thread->n - 1].code)
		py_set_running(py, back, false);
	if (py->l->frames == FRAMES_OBJECTS) {
		frame = py_alloc(py, py->l->frame.size + PY_FRAME_SLOTS * 8);
	} else {
		if (!thread->chunk ||
		    thread->top + code->words * 8 > thread->chunk + PY_CHUNK_SIZE) {
			raddr chunk = py_new_chunk(py, thread);
			/* the first word of the first chunk is left free: Python/pystate.c */
			thread->top = chunk + py->l->stack_chunk.data + (thread->chunk ? 0 : 8);
			thread->chunk = chunk;
		}
		frame = thread->top;
		thread->top += code->words * 8;
	}
	py_frame_write(py, frame, code, back, py->l->owner.thread);
	py_push(py, thread, frame, code);
	return frame;
}

/* On the C stack: the deeper the later; what is entered anew overwrites what was there. */
static inline raddr py_entry_frame(struct py *py, struct py_thread *thread, raddr back)
{
	const struct layout *l = py->l;
	uint32_t owner = l->owner.cstack != LAYOUT_NONE && l->minor < 14 ? l->owner.cstack
									 : l->owner.interpreter;
	if (owner == LAYOUT_NONE)
		return 0;
	if (!thread->cstack)
		thread->cstack = py_alloc(py, PY_ENTRIES_MAX * (l->frame.size + 8u));
	if (thread->n_entries == PY_ENTRIES_MAX)
		abort();
	raddr frame = thread->cstack + thread->n_entries++ * (l->frame.size + 8u);
	py_frame_write(py, frame, NULL, back, owner);
	return frame;
}

/* C code, called by the leaf, is about to call Python: an entry frame on the C stack from 3.12 on. */
static inline void py_enter_c(struct py *py, struct py_thread *thread)
{
	if (!thread->n || !thread->base)
		return;
	py_push(py, thread, py_entry_frame(py, thread, py_leaf(thread)), NULL);
}

/* Python called by C: 3.11 says so in the frame itself. */
static inline raddr py_call_from_c(struct py *py, struct py_thread *thread,
				   const struct py_code *code)
{
	raddr caller = py_leaf(thread);
	py_enter_c(py, thread);
	raddr frame = py_call(py, thread, code);
	py_set8(py, frame, py->l->frame.is_entry, 1);
	if (caller && py->l->frame.is_entry != LAYOUT_NONE)
		py_set_running(py, caller, true);
	return frame;
}

#define PY_GENERATOR_HEAD 128u /* at least gen.iframe of every version */

/* A generator's frame, in an object of its own on the heap. */
static inline raddr py_resume(struct py *py, struct py_thread *thread, const struct py_code *code,
			      raddr frame)
{
	raddr back = py_caller(thread);
	if (!frame)
		frame = py_alloc(py, PY_GENERATOR_HEAD + py->l->frame.size + PY_FRAME_SLOTS * 8) +
			PY_GENERATOR_HEAD;
	if (thread->n && thread->frames[thread->n - 1].code)
		py_set_running(py, back, false);
	py_frame_write(py, frame, code, back, py->l->owner.generator);
	if (py->l->gen.iframe != LAYOUT_NONE) /* FRAME_EXECUTING */
		py_set8(py, frame - py->l->gen.iframe, py->l->gen.frame_state,
			py->l->minor >= 15 ? 4 : 0);
	py_push(py, thread, frame, code);
	return frame;
}

/* The leaf returns. Its bytes stay, as they do in a real data stack. */
static inline void py_return(struct py *py, struct py_thread *thread)
{
	raddr leaf = py_leaf(thread);
	const struct layout *l = py->l;
	if (leaf >= thread->chunk && thread->chunk && leaf < thread->chunk + PY_CHUNK_SIZE)
		thread->top = leaf;
	if (l->frames == FRAMES_OBJECTS) {
		py_set8(py, leaf, l->frame.executing, 0);
		py_set8(py, leaf, l->frame.state, 1);
	}
	thread->n--;
	while (thread->n && !thread->frames[thread->n - 1].code) { /* and out of C code */
		thread->n--;
		thread->n_entries--;
	}
	if (thread->n)
		py_set_running(py, py_leaf(thread), true);
	py_publish(py, thread);
}

/* A thread state, at the head of the list. `at` 0: a new place. */
static inline void py_thread_start(struct py *py, struct py_thread *thread, raddr at)
{
	const struct layout *l = py->l;
	uint8_t nothing[1024] = {0};
	*thread = (struct py_thread){.addr = at ? at : py_alloc(py, l->tstate.size)};
	fake_put(py->fake, thread->addr, nothing, l->tstate.size);
	if (l->frames == FRAMES_CFRAME) {
		thread->cframe = py_alloc(py, l->cframe.size);
		py_set64(py, thread->addr, l->tstate.cframe, thread->cframe);
	}
	uint32_t number = py->n_threads++;
	size_t left;
	uint64_t head;
	memcpy(&head, fake_at(py->fake, py->interp + l->interp.threads_head, &left), sizeof head);
	py_set64(py, thread->addr, l->tstate.next, head);
	py_set64(py, thread->addr, l->tstate.interp, py->interp);
	py_set64(py, thread->addr, l->tstate.thread_id, 0x7fff00000000u + number * 0x1000u);
	py_set64(py, thread->addr, l->tstate.native_thread_id, PY_PID + number);
	py_set64(py, thread->addr, l->tstate.id, number + 1);
	py_set64(py, py->interp, l->interp.threads_head, thread->addr);
	thread->base = py_entry_frame(py, thread, 0);
	py_set64(py, thread->addr, l->tstate.base_frame, thread->base);
	if (!head)
		py_set64(py, py->interp, l->interp.threads_main, thread->addr);
	py_publish(py, thread);
}

/* Takes the thread state out of the list; its bytes stay. `newer`: the one that leads to it, or NULL. */
static inline void py_thread_end(struct py *py, const struct py_thread *thread,
				 const struct py_thread *newer)
{
	size_t left;
	uint64_t next;
	memcpy(&next, fake_at(py->fake, thread->addr + py->l->tstate.next, &left), sizeof next);
	if (newer)
		py_set64(py, newer->addr, py->l->tstate.next, next);
	else
		py_set64(py, py->interp, py->l->interp.threads_head, next);
}

static inline void py_set_gil(struct py *py, raddr holder, bool locked, uint64_t switch_number)
{
	if (!py->gil)
		return;
	py_set64(py, py->gil, py->l->gil.last_holder, holder);
	py_set32(py, py->gil, py->l->gil.locked, locked);
	py_set64(py, py->gil, py->l->gil.switch_number, switch_number);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static inline raddr py_add_interp(struct py *py, int64_t id, raddr next)
{
	const struct layout *l = py->l;
	raddr interp = py_alloc(py, l->interp.size);
	py_set64(py, interp, l->interp.next, next);
	py_set64(py, interp, l->interp.id, (uint64_t)id);
	py_set64(py, interp, l->interp.code_generation, 1);
	if (l->gil_design == GIL_INTERPRETER)
		py_set64(py, interp, l->interp.gil_ptr, interp + l->interp.gil);
	return interp;
}

/* One interpreter, no thread. */
static inline void py_init(struct py *py, struct fake_mem *fake, unsigned minor)
{
	*py = (struct py){.fake = fake,
			  .l = layout_find(3, minor & ~PY_FREE_THREADED, false,
					   (minor & PY_FREE_THREADED) != 0),
			  .heap = PY_HEAP,
			  .runtime = PY_RUNTIME};
	if (!py->l)
		abort();
	fake_map(fake, PY_HEAP, PY_HEAP_SIZE);
	fake_map(fake, PY_RUNTIME, py->l->runtime.size);
	py->code_type = py_type(py, "code");
	py->str_type = py_type(py, "str");
	py->bytes_type = py_type(py, "bytes");
	py->interp = py_add_interp(py, 0, 0);
	py_set64(py, PY_RUNTIME, py->l->runtime.interpreters_head, py->interp);
	py_set64(py, PY_RUNTIME, py->l->runtime.interpreters_main, py->interp);
	py_set32(py, PY_RUNTIME, py->l->runtime.initialized, 1);
	py_set32(py, PY_RUNTIME, py->l->runtime.core_initialized, 1);
	if (py->l->gil_design == GIL_RUNTIME)
		py->gil = PY_RUNTIME + py->l->runtime.gil;
	else if (py->l->gil_design == GIL_INTERPRETER)
		py->gil = py->interp + py->l->interp.gil;
	py_set_gil(py, 0, false, 0);
}

#endif
