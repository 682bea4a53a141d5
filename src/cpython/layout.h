/* SPDX-License-Identifier: MIT
 * Where CPython's fields lie: one table of byte offsets per version and build.
 *
 * 3.8 to 3.12 come from layout_tables.c (generated from the headers of each version by
 * tools/layout_gen). From 3.13 on the target describes itself (_Py_DebugOffsets, read by
 * layout_debug.c); what that leaves out comes from the tables of the same minor version.
 * Whatever the source, layout_check() has seen every offset lie inside its struct, so that the
 * decoders need no checks of their own beyond the bounded loads.
 *
 * Offsets are in bytes from the start of the struct named by the group. LAYOUT_NONE: this
 * version or build has no such field.
 */
#ifndef CPYTHON_LAYOUT_H
#define CPYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#define LAYOUT_NONE UINT32_MAX

/* How the frames of a thread hang together. */
enum frame_design {
	FRAMES_OBJECTS, /* 3.8 - 3.10: heap PyFrameObject, linked by f_back, tstate->frame */
	FRAMES_CFRAME,  /* 3.11 - 3.12: _PyInterpreterFrame, tstate->cframe->current_frame */
	FRAMES_DIRECT   /* 3.13+: _PyInterpreterFrame, tstate->current_frame */
};

/* How co_linetable (3.8, 3.9: co_lnotab) is written. */
enum linetable_design {
	LINES_LNOTAB,   /* 3.8 - 3.9: Objects/lnotab_notes.txt, signed line deltas */
	LINES_PEP626,   /* 3.10: (delta, signed line delta) pairs, -128 = no line */
	LINES_LOCATIONS /* 3.11+: Objects/locations.md, with columns */
};

/* Which interpreter owns the GIL's state. */
enum gil_design {
	GIL_RUNTIME,     /* 3.8 - 3.11: _PyRuntime.ceval.gil */
	GIL_INTERPRETER, /* 3.12+: *interp->ceval.gil, often &interp->_gil of main */
	GIL_ABSENT       /* free-threaded */
};

/* clang-format off */
struct layout {
	/* what this table is for */
	uint8_t major, minor;
	bool debug;         /* Py_DEBUG (where it moves fields) */
	bool trace_refs;    /* Py_TRACE_REFS: PyObject starts with two pointers more */
	bool free_threaded; /* Py_GIL_DISABLED, 3.13+ */
	bool from_target;   /* offsets were read from the target's _Py_DebugOffsets */
	bool guessed;       /* newer than we know: the newest known table fills the gaps */
	enum frame_design frames;
	enum linetable_design lines;
	enum gil_design gil_design;
	uint32_t code_unit_caches_call; /* 3.11+: inline cache entries of CALL: 4, then 3 */

	struct { /* _PyRuntimeState */
		uint32_t size;
		uint32_t core_initialized, initialized; /* int */
		uint32_t finalizing;        /* pointer to the finalising thread state, or 0 */
		uint32_t interpreters_head; /* newest interpreter first */
		uint32_t interpreters_main;
		uint32_t gil;               /* struct _gil_runtime_state (GIL_RUNTIME) */
		uint32_t gc;                /* 3.8: struct _gc_runtime_state; later in the interpreter */
	} runtime;

	struct { /* PyInterpreterState */
		uint32_t size;
		uint32_t next;
		uint32_t id;            /* int64_t */
		uint32_t threads_head;  /* newest thread state first */
		uint32_t threads_main;  /* 3.13+ */
		uint32_t modules;       /* dict: sys.modules */
		uint32_t sysdict, builtins;
		uint32_t gc;            /* 3.9+: struct _gc_runtime_state; 3.8: runtime.gc */
		uint32_t gil_ptr;       /* struct _gil_runtime_state * (GIL_INTERPRETER) */
		uint32_t gil;           /* the embedded one */
		uint32_t code_generation; /* 3.14+: uint64_t _code_object_generation */
		uint32_t tlbc_generation; /* free-threaded 3.14+ */
		uint32_t stop_requester; /* free-threaded: the thread that stops all others, or 0 */
		uint32_t finalizing;    /* int: about to end (not the pointer `_finalizing`) */
	} interp;

	struct { /* struct _gil_runtime_state */
		uint32_t size;
		uint32_t last_holder;   /* thread state pointer */
		uint32_t locked;        /* int: 1 held, 0 free, -1 uninitialised */
		uint32_t switch_number; /* unsigned long: how often the holder changed */
		uint32_t enabled;       /* free-threaded only */
	} gil;

	struct { /* struct _gc_runtime_state */
		uint32_t size;
		uint32_t collecting; /* int */
		uint32_t frame;      /* 3.15+: the frame that was running when the collection began */
	} gc;

	struct { /* PyThreadState (struct _ts; from 3.13 _PyThreadStateImpl starts with it) */
		uint32_t size;
		uint32_t next, prev, interp;
		uint32_t frame;           /* FRAMES_OBJECTS: PyFrameObject *; else the next two */
		uint32_t cframe;          /* FRAMES_CFRAME: _PyCFrame * */
		uint32_t current_frame;   /* FRAMES_DIRECT */
		uint32_t base_frame;      /* 3.15+ */
		uint32_t thread_id;       /* pthread_t: the thread pointer */
		uint32_t native_thread_id; /* 3.11+: TID */
		uint32_t id;              /* uint64_t, unique */
		uint32_t datastack_chunk, datastack_top, datastack_limit; /* 3.11+ */
		uint32_t exc_state;       /* the embedded _PyErr_StackItem */
		uint32_t exc_info;        /* _PyErr_StackItem * */
		uint32_t current_exception; /* 3.12+: PyObject *; before: curexc_type */
		uint32_t recursion_depth;   /* 3.8 - 3.10: int recursion_depth */
		uint32_t recursion_remaining; /* 3.12+: py_recursion_remaining */
		uint32_t recursion_limit;   /* 3.11: recursion_limit; 3.12+: py_recursion_limit */
		uint32_t status;          /* 3.12+: the _status bit field; bit 4 of it is `active` */
		uint32_t state;           /* 3.13+: int: 0 detached, 1 attached, 2.. suspended */
		uint32_t holds_gil, gil_requested; /* 3.14+, 3.15+: int */
		uint32_t last_profiled_frame, last_profiled_frame_seq; /* 3.15+ */
		uint32_t dict;            /* PyObject *: per-thread dict */
		uint32_t asyncio_running_loop, asyncio_running_task; /* 3.14+, _PyThreadStateImpl */
	} tstate;

	struct { /* _PyErr_StackItem */
		uint32_t exc_value;     /* 3.11+; before: exc_type */
		uint32_t previous_item;
	} exc;

	struct { /* _PyCFrame, 3.11 - 3.12 */
		uint32_t size;
		uint32_t current_frame, previous;
	} cframe;

	struct { /* _PyInterpreterFrame (3.11+) or PyFrameObject (before) */
		uint32_t size;       /* fixed part, locals not counted (offsetof localsplus) */
		uint32_t back;       /* f_back, or previous */
		uint32_t code;       /* f_code, or f_executable (3.13+: tagged from 3.14) */
		uint32_t instr;      /* f_lasti (int; 3.10: in code units), prev_instr, instr_ptr */
		uint32_t owner;      /* char, 3.11+ */
		uint32_t func;       /* 3.11+: f_func, f_funcobj */
		uint32_t locals;     /* localsplus, f_localsplus */
		uint32_t stackpointer; /* 3.14+ pointer; 3.11 - 3.13: int stacktop */
		uint32_t return_offset; /* uint16_t, 3.12+ */
		uint32_t executing;  /* char f_executing, 3.8 - 3.9 */
		uint32_t state;      /* PyFrameState f_state (signed char), 3.10 */
		uint32_t gen;        /* f_gen, 3.8 - 3.10 */
		uint32_t is_entry;   /* bool, 3.11 */
		uint32_t tlbc_index; /* int32_t, free-threaded 3.14+ */
	} frame;

	struct { /* values of frame.owner; LAYOUT_NONE where the version has none such */
		uint32_t thread, generator, frame_object, cstack, interpreter;
	} owner;

	struct { /* PyCodeObject */
		uint32_t size;       /* fixed part */
		uint32_t ob_size;    /* 3.11+: number of code units */
		uint32_t filename, name, qualname; /* qualname: 3.11+ */
		uint32_t linetable;  /* co_lnotab, co_linetable: bytes object */
		uint32_t firstlineno; /* int */
		uint32_t bytecode;   /* 3.11+: the array itself; before: pointer co_code (bytes object) */
		uint32_t framesize;  /* 3.11+: int co_framesize, in words (3.11: LAYOUT_NONE) */
		uint32_t nlocalsplus, stacksize; /* int; 3.8 - 3.10: nlocals in place of nlocalsplus */
		uint32_t flags;      /* int co_flags */
		uint32_t argcount;
		uint32_t localsplusnames; /* tuple; before 3.11: co_varnames */
		uint32_t version;    /* 3.12+: uint32_t co_version, unique in its process */
		uint32_t tlbc;       /* free-threaded 3.14+ */
		uint32_t monitoring; /* 3.12+: _PyCoMonitoringData *, or 0 */
		uint32_t executors;  /* 3.13+: _PyExecutorArray *, or 0 */
		uint32_t firsttraceable; /* 3.11+: int, in code units. A frame of owner.thread that
					    stands before it is none that Python shows: its first
					    instructions, or 3.13+ the shim under a hot __init__ */
	} code;

	struct { /* PyObject, PyVarObject, PyTypeObject */
		uint32_t size, ob_type, ob_size, tp_name, tp_flags, tp_basicsize, tp_dictoffset;
	} object;

	struct { /* PyASCIIObject and what follows it */
		uint32_t length, hash, state;
		uint32_t ascii_size, compact_size; /* where the characters start */
		uint32_t utf8, utf8_length, data;  /* PyCompactUnicodeObject, PyUnicodeObject */
		uint32_t kind_shift, compact_shift, ascii_shift; /* bits of the uint32_t `state` */
		uint32_t ready_shift;              /* 3.8 - 3.11 */
	} unicode;

	struct { uint32_t size, ob_size, sval; } bytes;
	struct { uint32_t ob_size, item; } tuple;
	struct { uint32_t ob_size, item; } list;
	struct { uint32_t used, table, mask; } set;
	struct { /* PyDictObject, PyDictKeysObject */
		uint32_t used, keys, values;
		uint32_t keys_size, log2_size, log2_index_bytes, usable, nentries, indices, kind;
	} dict; /* keys_size: 3.8 - 3.10 dk_size (Py_ssize_t); later dk_log2_size (uint8_t) */
	struct { uint32_t tag, digit; } integer; /* tag: lv_tag (3.12+) or ob_size */
	struct { uint32_t size, iframe, frame_state, name, frame_object; } gen; /* frame_object: gi_frame, 3.8-3.10 */
	struct { uint32_t size, previous, chunk_size, top, data; } stack_chunk; /* _PyStackChunk, 3.11+ */
	struct { /* _PyCoMonitoringData, 3.12+: what instrumented instructions stand for */
		uint32_t lines;        /* _PyCoLineInstrumentationData *, or 0 */
		uint32_t instructions; /* uint8_t *: per_instruction_opcodes, or 0 */
	} monitoring;
	struct { /* _PyExecutorArray and _PyExecutorObject, 3.13+ */
		uint32_t size;   /* int: how many there are */
		uint32_t item;   /* the first pointer */
		uint32_t opcode; /* uint8_t of the object: what ENTER_EXECUTOR stands for */
	} executor;
};
/* clang-format on */

/* The table of `major.minor` in this build, or NULL: then the version is not known to us. */
const struct layout *layout_find(unsigned major, unsigned minor, bool debug, bool free_threaded);

/* 0, or TACHY_ECORRUPT: an offset lies outside its struct, or a field every version has is absent.
 * *ret_what names it ("tstate.next"); static storage. */
int layout_check(const struct layout *layout, const char **ret_what);

#endif
