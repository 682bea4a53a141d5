/* SPDX-License-Identifier: MIT
 * Where the fields of asyncio's C tasks and futures lie. 3.14 and newer say it themselves: the module has a
 * section .AsyncioDebug for debuggers. Before, it follows from the size of the Task type, since what differs
 * between releases lies before the fields that matter, or behind all of them.
 */
#ifndef CPYTHON_ASYNCIO_LAYOUT_H
#define CPYTHON_ASYNCIO_LAYOUT_H

#include "base/load.h"
#include "cpython/layout.h"

#define ASYNCIO_DEBUG_SIZE 104u /* bytes of .AsyncioDebug; all of it are uint64_t */

/* LAYOUT_NONE: there is no such field, or nobody says where it is. */
struct asyncio_layout {
	uint32_t task_size; /* bytes of a task that are looked at */
	uint32_t loop, callback0, callbacks; /* of a future; the first callback lies by itself */
	uint32_t state;                      /* int: 0 while it is pending */
	uint32_t waiter, coro, name;         /* of a task; waiter: the future it waits for */
	uint32_t awaited_by, awaited_by_is_set, is_task; /* 3.14+ */
	uint32_t node;                       /* 3.14+: in the list of its thread */
	uint32_t tasks_of_interp, tasks_of_thread; /* 3.14+: heads of such lists */
	uint32_t running_loop, running_task; /* of a thread: 3.13+, 3.14+ */
};

/* 3.8 to 3.13. `task_size`: tp_basicsize of _asyncio.Task. TACHY_EVERSION: no such version;
 * TACHY_ECORRUPT: no task can be that large. */
int asyncio_layout_by_size(const struct layout *layout, uint64_t task_size,
			   struct asyncio_layout *ret_fields);
/* 3.14+: from the bytes of .AsyncioDebug. TACHY_ECORRUPT: they do not fit the interpreter. */
int asyncio_layout_by_debug(const struct layout *layout, struct span bytes,
			    struct asyncio_layout *ret_fields);

#endif
