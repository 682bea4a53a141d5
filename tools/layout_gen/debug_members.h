/* SPDX-License-Identifier: MIT
 * Which member of _Py_DebugOffsets is which field of struct layout. Part of layout_probe.c: it
 * needs CPython's headers, and is compiled once for each version from 3.13 on.
 */
#ifndef LAYOUT_GEN_DEBUG_MEMBERS_H
#define LAYOUT_GEN_DEBUG_MEMBERS_H

#include <stddef.h>

struct given {
	size_t at;
	const char *field, *how;
};

#define GIVEN(member, field, how) \
	{ \
		offsetof(_Py_DebugOffsets, member), #field, "DEBUG_" #how \
	}

/* What is left out of this list: what struct layout has no field for (type_object.tp_repr,
 * code_object.localspluskinds, sizes nobody uses, llist_node, debugger_support), and
 * interpreter_frame.size and code_object.size, which count one element of the array at the end
 * where struct layout counts none. */
/* clang-format off */
static const struct given given[] = {
	GIVEN(runtime_state.size, runtime.size, PLAIN),
	GIVEN(runtime_state.finalizing, runtime.finalizing, PLAIN),
	GIVEN(runtime_state.interpreters_head, runtime.interpreters_head, PLAIN),
	GIVEN(interpreter_state.size, interp.size, PLAIN),
	GIVEN(interpreter_state.id, interp.id, PLAIN),
	GIVEN(interpreter_state.next, interp.next, PLAIN),
	GIVEN(interpreter_state.threads_head, interp.threads_head, PLAIN),
	GIVEN(interpreter_state.gc, interp.gc, PLAIN),
	GIVEN(interpreter_state.imports_modules, interp.modules, PLAIN),
	GIVEN(interpreter_state.sysdict, interp.sysdict, PLAIN),
	GIVEN(interpreter_state.builtins, interp.builtins, PLAIN),
	GIVEN(interpreter_state.ceval_gil, interp.gil_ptr, PLAIN),
	GIVEN(interpreter_state.gil_runtime_state, interp.gil, PLAIN),
	GIVEN(interpreter_state.gil_runtime_state_enabled, gil.enabled, FT),
	GIVEN(interpreter_state.gil_runtime_state_locked, gil.locked, GIL),
	GIVEN(interpreter_state.gil_runtime_state_holder, gil.last_holder, GIL),
	GIVEN(thread_state.size, tstate.size, PLAIN),
	GIVEN(thread_state.prev, tstate.prev, PLAIN),
	GIVEN(thread_state.next, tstate.next, PLAIN),
	GIVEN(thread_state.interp, tstate.interp, PLAIN),
	GIVEN(thread_state.current_frame, tstate.current_frame, PLAIN),
	GIVEN(thread_state.thread_id, tstate.thread_id, PLAIN),
	GIVEN(thread_state.native_thread_id, tstate.native_thread_id, PLAIN),
	GIVEN(thread_state.datastack_chunk, tstate.datastack_chunk, PLAIN),
	GIVEN(thread_state.status, tstate.status, PLAIN),
	GIVEN(interpreter_frame.previous, frame.back, PLAIN),
	GIVEN(interpreter_frame.executable, frame.code, PLAIN),
	GIVEN(interpreter_frame.instr_ptr, frame.instr, PLAIN),
	GIVEN(interpreter_frame.localsplus, frame.locals, PLAIN),
	GIVEN(interpreter_frame.localsplus, frame.size, PLAIN),
	GIVEN(interpreter_frame.owner, frame.owner, PLAIN),
	GIVEN(code_object.filename, code.filename, PLAIN),
	GIVEN(code_object.name, code.name, PLAIN),
	GIVEN(code_object.qualname, code.qualname, PLAIN),
	GIVEN(code_object.linetable, code.linetable, PLAIN),
	GIVEN(code_object.firstlineno, code.firstlineno, PLAIN),
	GIVEN(code_object.argcount, code.argcount, PLAIN),
	GIVEN(code_object.localsplusnames, code.localsplusnames, PLAIN),
	GIVEN(code_object.co_code_adaptive, code.bytecode, PLAIN),
	GIVEN(code_object.co_code_adaptive, code.size, PLAIN),
	GIVEN(pyobject.size, object.size, PLAIN),
	GIVEN(pyobject.ob_type, object.ob_type, PLAIN),
	GIVEN(type_object.tp_name, object.tp_name, PLAIN),
	GIVEN(type_object.tp_flags, object.tp_flags, PLAIN),
	GIVEN(tuple_object.ob_item, tuple.item, PLAIN),
	GIVEN(tuple_object.ob_size, tuple.ob_size, PLAIN),
	GIVEN(list_object.ob_item, list.item, PLAIN),
	GIVEN(list_object.ob_size, list.ob_size, PLAIN),
	GIVEN(dict_object.ma_keys, dict.keys, PLAIN),
	GIVEN(dict_object.ma_values, dict.values, PLAIN),
	GIVEN(long_object.lv_tag, integer.tag, PLAIN),
	GIVEN(long_object.ob_digit, integer.digit, PLAIN),
	GIVEN(bytes_object.size, bytes.size, PLAIN),
	GIVEN(bytes_object.ob_size, bytes.ob_size, PLAIN),
	GIVEN(bytes_object.ob_sval, bytes.sval, PLAIN),
	GIVEN(unicode_object.state, unicode.state, PLAIN),
	GIVEN(unicode_object.length, unicode.length, PLAIN),
	GIVEN(unicode_object.asciiobject_size, unicode.ascii_size, PLAIN),
	GIVEN(gc.size, gc.size, PLAIN),
	GIVEN(gc.collecting, gc.collecting, PLAIN),
#if PY_VERSION_HEX >= 0x030e0000
	GIVEN(interpreter_state.threads_main, interp.threads_main, PLAIN),
	GIVEN(interpreter_state.code_object_generation, interp.code_generation, PLAIN),
	GIVEN(interpreter_state.tlbc_generation, interp.tlbc_generation, FT),
	GIVEN(interpreter_frame.stackpointer, frame.stackpointer, PLAIN),
	GIVEN(interpreter_frame.tlbc_index, frame.tlbc_index, FT),
	GIVEN(code_object.co_tlbc, code.tlbc, FT),
	GIVEN(set_object.used, set.used, PLAIN),
	GIVEN(set_object.table, set.table, PLAIN),
	GIVEN(set_object.mask, set.mask, PLAIN),
	GIVEN(gen_object.size, gen.size, PLAIN),
	GIVEN(gen_object.gi_name, gen.name, PLAIN),
	GIVEN(gen_object.gi_iframe, gen.iframe, PLAIN),
	GIVEN(gen_object.gi_frame_state, gen.frame_state, PLAIN),
#endif
#if PY_VERSION_HEX >= 0x030f0000
	GIVEN(thread_state.base_frame, tstate.base_frame, PLAIN),
	GIVEN(thread_state.last_profiled_frame, tstate.last_profiled_frame, PLAIN),
	GIVEN(thread_state.last_profiled_frame_seq, tstate.last_profiled_frame_seq, PLAIN),
	GIVEN(thread_state.holds_gil, tstate.holds_gil, PLAIN),
	GIVEN(thread_state.gil_requested, tstate.gil_requested, PLAIN),
	GIVEN(thread_state.current_exception, tstate.current_exception, PLAIN),
	GIVEN(thread_state.exc_state, tstate.exc_state, PLAIN),
	GIVEN(err_stackitem.exc_value, exc.exc_value, PLAIN),
	GIVEN(type_object.tp_basicsize, object.tp_basicsize, PLAIN),
	GIVEN(type_object.tp_dictoffset, object.tp_dictoffset, PLAIN),
	GIVEN(unicode_object.compactunicodeobject_size, unicode.compact_size, PLAIN),
	GIVEN(gc.frame, gc.frame, PLAIN),
#endif
};
/* clang-format on */

#endif
