/* SPDX-License-Identifier: MIT
 * Python's own names of threads: what threading.Thread calls them. Read as the debugger would say it:
 * sys.modules["threading"]._active = {ident: Thread}, and Thread._name.
 */
#ifndef CPYTHON_NAMES_H
#define CPYTHON_NAMES_H

#include "cpython/layout.h"
#include "os/mem_view.h"

#define NAMES_MAX (1u << 17) /* of one interpreter; more are left out */

/* `thread_ident` equals the thread state's thread_id. `name` is UTF-8 and borrowed for the call. */
typedef void names_callback(void *arg, uint64_t thread_ident, const char *name);

/* Calls back for every named thread of the interpreter at `interp`. The number of names; 0 when
 * nobody imported threading. A thread that cannot be read is left out; an error is returned only when
 * none could be: mem_read's codes, or TACHY_ECORRUPT for what moved meanwhile or makes no sense. */
int names_read(struct mem_view *view, const struct layout *layout, raddr interp,
	       names_callback *callback, void *arg);

#endif
