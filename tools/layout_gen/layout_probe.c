/* SPDX-License-Identifier: MIT
 * Prints a struct layout for the one CPython whose headers it was compiled with.
 *
 * Not part of the program: `generate` (beside this file) compiles it once for each version and
 * build and puts the answers into src/cpython/layout_tables.c and layout_debug_tables.c. It needs
 * the installed internal headers (Py_BUILD_CORE) and no library: it is never linked with Python.
 *
 *   layout_probe layout    the initialisers of struct layout, one group a line or more
 *   layout_probe shape     3.13+: _Py_DebugOffsets -> struct layout, one field a line
 *   layout_probe offsets   3.13+: the bytes of _Py_DebugOffsets itself, as the build would have it
 */
#include <Python.h>
#include <frameobject.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "internal/pycore_code.h"
#include "internal/pycore_gil.h"
#include "internal/pycore_pystate.h"
#if PY_VERSION_HEX >= 0x03090000
#include "internal/pycore_interp.h"
#include "internal/pycore_runtime.h"
#endif
#if PY_VERSION_HEX >= 0x030b0000
#include "internal/pycore_dict.h"
#include "internal/pycore_frame.h"
#endif
#if PY_VERSION_HEX >= 0x030d0000
#include "internal/pycore_ceval.h"
#include "internal/pycore_optimizer.h"
#include "internal/pycore_runtime_init.h"
#include "internal/pycore_tstate.h"
#endif
#if PY_VERSION_HEX >= 0x030e0000
#include "internal/pycore_debug_offsets.h"
#include "internal/pycore_instruments.h"
#include "internal/pycore_interpframe_structs.h"
#endif
#if PY_VERSION_HEX < 0x030b0000
#include <longintrepr.h>
#endif

#include "cpython/layout.h"
#include "cpython/layout_fields.h"

#define MINOR PY_MINOR_VERSION
#ifdef Py_GIL_DISABLED
#define FREE_THREADED 1
#else
#define FREE_THREADED 0
#endif

static struct layout l;

#define SET(field, value)        (l.field = (uint32_t)(value))
#define OFF(field, type, member) SET(field, offsetof(type, member))

static void probe_header(void)
{
	l.major = PY_MAJOR_VERSION;
	l.minor = PY_MINOR_VERSION;
#ifdef Py_DEBUG
	l.debug = true;
#endif
#ifdef Py_TRACE_REFS
	l.trace_refs = true;
#endif
	l.free_threaded = FREE_THREADED;
	l.frames = MINOR <= 10 ? FRAMES_OBJECTS : MINOR <= 12 ? FRAMES_CFRAME : FRAMES_DIRECT;
	l.lines = MINOR <= 9 ? LINES_LNOTAB : MINOR == 10 ? LINES_PEP626 : LINES_LOCATIONS;
	l.gil_design = FREE_THREADED ? GIL_ABSENT : MINOR <= 11 ? GIL_RUNTIME : GIL_INTERPRETER;
#if PY_VERSION_HEX >= 0x030b0000
	SET(code_unit_caches_call, INLINE_CACHE_ENTRIES_CALL);
#endif
}

static void probe_runtime(void)
{
	SET(runtime.size, sizeof(_PyRuntimeState));
	OFF(runtime.core_initialized, _PyRuntimeState, core_initialized);
	OFF(runtime.initialized, _PyRuntimeState, initialized);
#if PY_VERSION_HEX < 0x03090000
	OFF(runtime.finalizing, _PyRuntimeState, finalizing);
	OFF(runtime.gc, _PyRuntimeState, gc);
#else
	OFF(runtime.finalizing, _PyRuntimeState, _finalizing);
#endif
	OFF(runtime.interpreters_head, _PyRuntimeState, interpreters.head);
	OFF(runtime.interpreters_main, _PyRuntimeState, interpreters.main);
#if PY_VERSION_HEX < 0x030c0000
	OFF(runtime.gil, _PyRuntimeState, ceval.gil);
#endif
}

static void probe_interp(void)
{
	SET(interp.size, sizeof(PyInterpreterState));
	OFF(interp.next, PyInterpreterState, next);
	OFF(interp.id, PyInterpreterState, id);
	OFF(interp.finalizing, PyInterpreterState, finalizing);
#ifdef Py_GIL_DISABLED
	OFF(interp.stop_requester, PyInterpreterState, stoptheworld.requester);
#endif
	OFF(interp.sysdict, PyInterpreterState, sysdict);
	OFF(interp.builtins, PyInterpreterState, builtins);
#if PY_VERSION_HEX < 0x030b0000
	OFF(interp.threads_head, PyInterpreterState, tstate_head);
#else
	OFF(interp.threads_head, PyInterpreterState, threads.head);
#endif
#if PY_VERSION_HEX < 0x030c0000
	OFF(interp.modules, PyInterpreterState, modules);
#else
	OFF(interp.modules, PyInterpreterState, imports.modules);
	OFF(interp.gil_ptr, PyInterpreterState, ceval.gil);
	OFF(interp.gil, PyInterpreterState, _gil);
#endif
#if PY_VERSION_HEX >= 0x03090000
	OFF(interp.gc, PyInterpreterState, gc);
#endif
#if PY_VERSION_HEX >= 0x030d0000
	OFF(interp.threads_main, PyInterpreterState, threads.main);
#endif
#if PY_VERSION_HEX >= 0x030e0000
	OFF(interp.code_generation, PyInterpreterState, _code_object_generation);
#ifdef Py_GIL_DISABLED
	OFF(interp.tlbc_generation, PyInterpreterState, tlbc_indices.tlbc_generation);
#endif
#endif
}

static void probe_gil_gc(void)
{
	SET(gil.size, sizeof(struct _gil_runtime_state));
	OFF(gil.last_holder, struct _gil_runtime_state, last_holder);
	OFF(gil.locked, struct _gil_runtime_state, locked);
	OFF(gil.switch_number, struct _gil_runtime_state, switch_number);
#ifdef Py_GIL_DISABLED
	OFF(gil.enabled, struct _gil_runtime_state, enabled);
#endif
	SET(gc.size, sizeof(struct _gc_runtime_state));
	OFF(gc.collecting, struct _gc_runtime_state, collecting);
#if PY_VERSION_HEX >= 0x030f0000
	OFF(gc.frame, struct _gc_runtime_state, frame);
#endif
}

static void probe_tstate(void)
{
	SET(tstate.size, sizeof(PyThreadState));
	OFF(tstate.next, PyThreadState, next);
	OFF(tstate.prev, PyThreadState, prev);
	OFF(tstate.interp, PyThreadState, interp);
	OFF(tstate.thread_id, PyThreadState, thread_id);
	OFF(tstate.id, PyThreadState, id);
	OFF(tstate.exc_state, PyThreadState, exc_state);
	OFF(tstate.exc_info, PyThreadState, exc_info);
	OFF(tstate.dict, PyThreadState, dict);
#if PY_VERSION_HEX < 0x030b0000
	OFF(tstate.frame, PyThreadState, frame);
	OFF(tstate.recursion_depth, PyThreadState, recursion_depth);
#else
	OFF(tstate.native_thread_id, PyThreadState, native_thread_id);
	OFF(tstate.datastack_chunk, PyThreadState, datastack_chunk);
	OFF(tstate.datastack_top, PyThreadState, datastack_top);
	OFF(tstate.datastack_limit, PyThreadState, datastack_limit);
#endif
#if PY_VERSION_HEX < 0x030c0000
	OFF(tstate.current_exception, PyThreadState, curexc_type);
#else
	OFF(tstate.current_exception, PyThreadState, current_exception);
	OFF(tstate.recursion_remaining, PyThreadState, py_recursion_remaining);
	OFF(tstate.recursion_limit, PyThreadState, py_recursion_limit);
	OFF(tstate.status, PyThreadState, _status);
#endif
#if MINOR == 11
	OFF(tstate.recursion_remaining, PyThreadState, recursion_remaining);
	OFF(tstate.recursion_limit, PyThreadState, recursion_limit);
#endif
#if MINOR == 11 || MINOR == 12
	OFF(tstate.cframe, PyThreadState, cframe);
	SET(cframe.size, sizeof(_PyCFrame));
	OFF(cframe.current_frame, _PyCFrame, current_frame);
	OFF(cframe.previous, _PyCFrame, previous);
#endif
}

static void probe_tstate_newer(void)
{
#if PY_VERSION_HEX >= 0x030d0000
	OFF(tstate.current_frame, PyThreadState, current_frame);
	OFF(tstate.state, PyThreadState, state);
#endif
#if PY_VERSION_HEX >= 0x030e0000
	OFF(tstate.holds_gil, PyThreadState, holds_gil);
	OFF(tstate.asyncio_running_loop, _PyThreadStateImpl, asyncio_running_loop);
	OFF(tstate.asyncio_running_task, _PyThreadStateImpl, asyncio_running_task);
#endif
#if PY_VERSION_HEX >= 0x030f0000
	OFF(tstate.base_frame, PyThreadState, base_frame);
	OFF(tstate.gil_requested, PyThreadState, gil_requested);
	OFF(tstate.last_profiled_frame, PyThreadState, last_profiled_frame);
	OFF(tstate.last_profiled_frame_seq, PyThreadState, last_profiled_frame_seq);
#endif
#if PY_VERSION_HEX < 0x030b0000
	OFF(exc.exc_value, _PyErr_StackItem, exc_type);
#else
	OFF(exc.exc_value, _PyErr_StackItem, exc_value);
	SET(stack_chunk.size, sizeof(_PyStackChunk));
	OFF(stack_chunk.previous, _PyStackChunk, previous);
	OFF(stack_chunk.chunk_size, _PyStackChunk, size);
	OFF(stack_chunk.top, _PyStackChunk, top);
	OFF(stack_chunk.data, _PyStackChunk, data);
#endif
	OFF(exc.previous_item, _PyErr_StackItem, previous_item);
}

#if PY_VERSION_HEX < 0x030b0000
static void probe_frame(void)
{
	OFF(frame.size, PyFrameObject, f_localsplus);
	OFF(frame.locals, PyFrameObject, f_localsplus);
	OFF(frame.back, PyFrameObject, f_back);
	OFF(frame.code, PyFrameObject, f_code);
	OFF(frame.instr, PyFrameObject, f_lasti);
	OFF(frame.gen, PyFrameObject, f_gen);
#if MINOR == 10
	OFF(frame.state, PyFrameObject, f_state);
#else
	OFF(frame.executing, PyFrameObject, f_executing);
#endif
	OFF(gen.frame_object, PyGenObject, gi_frame);
}
#else
static void probe_frame(void)
{
	OFF(frame.size, _PyInterpreterFrame, localsplus);
	OFF(frame.locals, _PyInterpreterFrame, localsplus);
	OFF(frame.back, _PyInterpreterFrame, previous);
	OFF(frame.owner, _PyInterpreterFrame, owner);
	OFF(gen.iframe, PyGenObject, gi_iframe);
	OFF(gen.frame_state, PyGenObject, gi_frame_state);
#if MINOR == 11
	OFF(frame.func, _PyInterpreterFrame, f_func);
	OFF(frame.is_entry, _PyInterpreterFrame, is_entry);
#else
	OFF(frame.func, _PyInterpreterFrame, f_funcobj);
	OFF(frame.return_offset, _PyInterpreterFrame, return_offset);
#endif
#if PY_VERSION_HEX < 0x030d0000
	OFF(frame.code, _PyInterpreterFrame, f_code);
	OFF(frame.instr, _PyInterpreterFrame, prev_instr);
#else
	OFF(frame.code, _PyInterpreterFrame, f_executable);
	OFF(frame.instr, _PyInterpreterFrame, instr_ptr);
#endif
#if PY_VERSION_HEX < 0x030e0000
	OFF(frame.stackpointer, _PyInterpreterFrame, stacktop);
#else
	OFF(frame.stackpointer, _PyInterpreterFrame, stackpointer);
#ifdef Py_GIL_DISABLED
	OFF(frame.tlbc_index, _PyInterpreterFrame, tlbc_index);
#endif
#endif
	SET(owner.thread, FRAME_OWNED_BY_THREAD);
	SET(owner.generator, FRAME_OWNED_BY_GENERATOR);
	SET(owner.frame_object, FRAME_OWNED_BY_FRAME_OBJECT);
#if MINOR >= 12 && MINOR <= 14
	SET(owner.cstack, FRAME_OWNED_BY_CSTACK);
#endif
#if MINOR >= 14
	SET(owner.interpreter, FRAME_OWNED_BY_INTERPRETER);
#endif
}
#endif

static void probe_code(void)
{
	OFF(code.filename, PyCodeObject, co_filename);
	OFF(code.name, PyCodeObject, co_name);
	OFF(code.firstlineno, PyCodeObject, co_firstlineno);
	OFF(code.stacksize, PyCodeObject, co_stacksize);
	OFF(code.flags, PyCodeObject, co_flags);
	OFF(code.argcount, PyCodeObject, co_argcount);
#if MINOR <= 9
	OFF(code.linetable, PyCodeObject, co_lnotab);
#else
	OFF(code.linetable, PyCodeObject, co_linetable);
#endif
#if MINOR <= 10
	SET(code.size, sizeof(PyCodeObject));
	OFF(code.bytecode, PyCodeObject, co_code);
	OFF(code.nlocalsplus, PyCodeObject, co_nlocals);
	OFF(code.localsplusnames, PyCodeObject, co_varnames);
#else
	OFF(code.size, PyCodeObject, co_code_adaptive);
	OFF(code.bytecode, PyCodeObject, co_code_adaptive);
	OFF(code.ob_size, PyCodeObject, ob_base.ob_size);
	OFF(code.qualname, PyCodeObject, co_qualname);
	OFF(code.firsttraceable, PyCodeObject, _co_firsttraceable);
	OFF(code.nlocalsplus, PyCodeObject, co_nlocalsplus);
	OFF(code.localsplusnames, PyCodeObject, co_localsplusnames);
#endif
#if MINOR >= 12
	OFF(code.framesize, PyCodeObject, co_framesize);
	OFF(code.version, PyCodeObject, co_version);
#endif
#if MINOR >= 14 && defined(Py_GIL_DISABLED)
	OFF(code.tlbc, PyCodeObject, co_tlbc);
#endif
#if MINOR >= 12
	OFF(code.monitoring, PyCodeObject, _co_monitoring);
	OFF(monitoring.lines, _PyCoMonitoringData, lines);
	OFF(monitoring.instructions, _PyCoMonitoringData, per_instruction_opcodes);
#endif
#if MINOR >= 13
	OFF(code.executors, PyCodeObject, co_executors);
	OFF(executor.size, _PyExecutorArray, size);
	OFF(executor.item, _PyExecutorArray, executors);
	OFF(executor.opcode, _PyExecutorObject, vm_data.opcode);
#endif
}

static void probe_objects(void)
{
	SET(object.size, sizeof(PyObject));
	OFF(object.ob_type, PyObject, ob_type);
	OFF(object.ob_size, PyVarObject, ob_size);
	OFF(object.tp_name, PyTypeObject, tp_name);
	OFF(object.tp_flags, PyTypeObject, tp_flags);
	OFF(object.tp_basicsize, PyTypeObject, tp_basicsize);
	OFF(object.tp_dictoffset, PyTypeObject, tp_dictoffset);
	SET(bytes.size, sizeof(PyBytesObject));
	OFF(bytes.ob_size, PyBytesObject, ob_base.ob_size);
	OFF(bytes.sval, PyBytesObject, ob_sval);
	OFF(tuple.ob_size, PyTupleObject, ob_base.ob_size);
	OFF(tuple.item, PyTupleObject, ob_item);
	OFF(list.ob_size, PyListObject, ob_base.ob_size);
	OFF(list.item, PyListObject, ob_item);
	OFF(set.used, PySetObject, used);
	OFF(set.table, PySetObject, table);
	OFF(set.mask, PySetObject, mask);
#if MINOR <= 11
	OFF(integer.tag, PyLongObject, ob_base.ob_size);
	OFF(integer.digit, PyLongObject, ob_digit);
#else
	OFF(integer.tag, PyLongObject, long_value.lv_tag);
	OFF(integer.digit, PyLongObject, long_value.ob_digit);
#endif
	SET(gen.size, sizeof(PyGenObject));
	OFF(gen.name, PyGenObject, gi_name);
}

/* Where a value of all ones in a bit field shows up in the uint32_t that holds it. */
#define BIT_FIELD_SHIFT(ret, object, member) \
	do { \
		uint32_t raw_; \
		memset(&(object), 0, sizeof(object)); \
		(object).member = 1; \
		memcpy(&raw_, (const char *)&(object).state, sizeof raw_); \
		(ret) = (uint32_t)__builtin_ctz(raw_); \
	} while (0)

static void probe_unicode(void)
{
	PyASCIIObject text;

	OFF(unicode.length, PyASCIIObject, length);
	OFF(unicode.hash, PyASCIIObject, hash);
	OFF(unicode.state, PyASCIIObject, state);
	SET(unicode.ascii_size, sizeof(PyASCIIObject));
	SET(unicode.compact_size, sizeof(PyCompactUnicodeObject));
	OFF(unicode.utf8, PyCompactUnicodeObject, utf8);
	OFF(unicode.utf8_length, PyCompactUnicodeObject, utf8_length);
	OFF(unicode.data, PyUnicodeObject, data);
	BIT_FIELD_SHIFT(l.unicode.kind_shift, text, state.kind);
	BIT_FIELD_SHIFT(l.unicode.compact_shift, text, state.compact);
	BIT_FIELD_SHIFT(l.unicode.ascii_shift, text, state.ascii);
#if MINOR <= 11
	BIT_FIELD_SHIFT(l.unicode.ready_shift, text, state.ready);
#endif
}

#if MINOR <= 10
/* Private to Objects/ in these versions, in no installed header: the shape as `generate --verify`
 * sees it in running interpreters (a dict whose size, usable and entries are known). */
struct keys {
	Py_ssize_t refcnt, size;
	void *lookup;
	Py_ssize_t usable, nentries;
	char indices[];
};
static void probe_dict_keys(void)
{
	OFF(dict.keys_size, struct keys, size);
	OFF(dict.usable, struct keys, usable);
	OFF(dict.nentries, struct keys, nentries);
	OFF(dict.indices, struct keys, indices);
}
#else
static void probe_dict_keys(void)
{
	OFF(dict.keys_size, struct _dictkeysobject, dk_log2_size);
	OFF(dict.log2_size, struct _dictkeysobject, dk_log2_size);
	OFF(dict.log2_index_bytes, struct _dictkeysobject, dk_log2_index_bytes);
	OFF(dict.kind, struct _dictkeysobject, dk_kind);
	OFF(dict.usable, struct _dictkeysobject, dk_usable);
	OFF(dict.nentries, struct _dictkeysobject, dk_nentries);
	OFF(dict.indices, struct _dictkeysobject, dk_indices);
}
#endif

static void probe_dict(void)
{
	OFF(dict.used, PyDictObject, ma_used);
	OFF(dict.keys, PyDictObject, ma_keys);
	OFF(dict.values, PyDictObject, ma_values);
	probe_dict_keys();
}

static void probe(void)
{
	memset(&l, 0xff, sizeof l); /* LAYOUT_NONE everywhere */
	memset(&l, 0, offsetof(struct layout, code_unit_caches_call));
	probe_header();
	probe_runtime();
	probe_interp();
	probe_gil_gc();
	probe_tstate();
	probe_tstate_newer();
	probe_frame();
	probe_code();
	probe_objects();
	probe_unicode();
	probe_dict();
}

static void print_value(const char *group, const char *member, uint32_t value)
{
	static const char *open_group = "";

	if (strcmp(open_group, group) != 0) {
		printf("%s.%s =", *open_group ? "\n" : "", group);
		open_group = group;
	}
	if (value == LAYOUT_NONE)
		printf(" %s=LAYOUT_NONE", member);
	else
		printf(" %s=%u", member, (unsigned)value);
}

static int print_layout(void)
{
	static const char *const frames[] = {"FRAMES_OBJECTS", "FRAMES_CFRAME", "FRAMES_DIRECT"};
	static const char *const lines[] = {"LINES_LNOTAB", "LINES_PEP626", "LINES_LOCATIONS"};
	static const char *const gils[] = {"GIL_RUNTIME", "GIL_INTERPRETER", "GIL_ABSENT"};
	size_t n = 0;

	probe();
	printf("version_hex %#010lx\n", (unsigned long)PY_VERSION_HEX);
	printf("header major=%d minor=%d debug=%d trace_refs=%d free_threaded=%d frames=%s "
	       "lines=%s "
	       "gil_design=%s code_unit_caches_call=",
	       l.major, l.minor, l.debug, l.trace_refs, l.free_threaded, frames[l.frames],
	       lines[l.lines], gils[l.gil_design]);
	if (l.code_unit_caches_call == LAYOUT_NONE)
		printf("LAYOUT_NONE\n");
	else
		printf("%u\n", (unsigned)l.code_unit_caches_call);
#define PRINT(group, member, in, width, from, to, need) \
	print_value(#group, #member, l.group.member); \
	n++;
	LAYOUT_FIELDS(PRINT)
#undef PRINT
	printf("\n");
	if (n != (sizeof l - offsetof(struct layout, runtime)) / sizeof(uint32_t)) {
		fprintf(stderr, "layout_fields.h does not list every field of layout.h\n");
		return 1;
	}
	return 0;
}

#if PY_VERSION_HEX >= 0x030d0000
#include "debug_members.h"

static int print_shape(void)
{
	printf("size %zu\n", sizeof(_Py_DebugOffsets));
	for (size_t i = 0; i < sizeof given / sizeof given[0]; i++)
		printf("%zu %s %s\n", given[i].at, given[i].field, given[i].how);
	return 0;
}

/* Linked with unresolved symbols ignored: the initialiser names variables of the interpreter, but
 * the debug offsets among it are constants. */
static int print_offsets(void)
{
#if PY_VERSION_HEX >= 0x030e0000
	static const _Py_DebugOffsets offsets = _Py_DebugOffsets_INIT(_Py_Debug_Cookie);
	const void *bytes = &offsets;
#else
	static _PyRuntimeState runtime = _PyRuntimeState_INIT(runtime, _Py_Debug_Cookie);
	const void *bytes = &runtime.debug_offsets;
#endif
	return fwrite(bytes, 1, sizeof(_Py_DebugOffsets), stdout) != sizeof(_Py_DebugOffsets);
}
#else
static int print_shape(void)
{
	return 1;
}
static int print_offsets(void)
{
	return 1;
}
#endif

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "layout") == 0)
		return print_layout();
	if (argc == 2 && strcmp(argv[1], "shape") == 0)
		return print_shape();
	if (argc == 2 && strcmp(argv[1], "offsets") == 0)
		return print_offsets();
	fprintf(stderr, "usage: layout_probe layout|shape|offsets\n");
	return 2;
}
