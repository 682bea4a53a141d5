/* SPDX-License-Identifier: MIT
 * Finds the Python in a process: where its _PyRuntime lies, which version and build it is, which
 * layout fits it. Names of files play no part in the answer.
 */
#ifndef CPYTHON_FIND_H
#define CPYTHON_FIND_H

#include <sys/types.h>

#include "base/error.h"
#include "cpython/layout.h"
#include "os/mem.h"

/* By which sign _PyRuntime was found; for tests and for --stats. */
enum runtime_sign {
	RUNTIME_SIGN_NONE,
	RUNTIME_SIGN_DYNAMIC, /* the dynamic symbol, read from memory */
	RUNTIME_SIGN_SECTION, /* the section .PyRuntime of the file */
	RUNTIME_SIGN_SYMBOL,  /* a symbol of the file */
	RUNTIME_SIGN_COOKIE,  /* "xdebugpy" in writable memory, 3.13+ */
	RUNTIME_SIGN_POINTERS /* pointers that hold together in writable memory, before 3.13 */
};

struct runtime {
	raddr addr;           /* of _PyRuntime */
	struct layout layout; /* checked; fits */
	uint32_t version_hex; /* PY_VERSION_HEX; the micro part 0 and the rest 0 when not known */
	bool micro_known;
	char version[24];     /* "3.9.18", "3.15.0rc1"; "3.9" when no more is known */
	char remark[256];     /* worth telling the user once; "" none */
	enum runtime_sign sign;
	raddr module_base;    /* where the ELF image that holds it begins; 0 unknown */
};

/* Reads only. On failure *ret_runtime is untouched and `err` (may be NULL) holds one sentence.
 *     TACHY_ENOPYTHON   no CPython in it, and nothing says that one is on its way
 *     TACHY_EVERSION    a Python that is too old, or PyPy
 *     TACHY_ENOTREADY   still being loaded or initialised: ask again in a moment
 *     TACHY_EFINALIZING shutting down
 *     TACHY_EGONE, TACHY_EPERM, TACHY_ENOMEM, ... */
int runtime_find(pid_t pid, struct mem *mem, struct runtime *ret_runtime, struct tachy_error *err);

/* Sets the sentence for a process that cannot be read at all, where `code` is what mem_open_process or
 * a function of proc.h gave. The result may be another code: a kernel thread is TACHY_ENOPYTHON. */
int runtime_explain(pid_t pid, int code, struct tachy_error *err);

/* "xdebugpy", the first bytes of _PyRuntime from 3.13 on (Include/internal/pycore_debug_offsets.h) */
#define RUNTIME_COOKIE "xdebugpy"

#endif
