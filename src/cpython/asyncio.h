/* SPDX-License-Identifier: MIT
 * asyncio in one interpreter: where it keeps its tasks, and one reading of them all. 3.8 to 3.15.
 *
 * 3.14 and newer link the C tasks of each thread in a list. Before, and for tasks written in Python in every
 * version, there are the sets that asyncio.tasks keeps for all_tasks(), and its dict of current tasks.
 */
#ifndef CPYTHON_ASYNCIO_H
#define CPYTHON_ASYNCIO_H

#include <sys/types.h>

#include "cpython/task.h"

struct asyncio {
	const struct layout *layout; /* borrowed */
	raddr interp;
	struct asyncio_layout fields;
	bool has_fields;
	raddr scheduled, eager, current; /* set of weak references, set, dict; 0: not there */
	raddr modules_keys, modules_n;   /* what sys.modules looked like when asyncio was not in it */
	struct type_kinds kinds;
	struct map attributes, by_waiter, seen_futures; /* of task_reader */
	int status; /* of the last asyncio_locate */
};

void asyncio_init(struct asyncio *asyncio, const struct layout *layout, raddr interp);
void asyncio_done(struct asyncio *asyncio);

/* Looks asyncio's data up, or anew. 0 when it is there; TACHY_ENOENT: nobody has imported it; TACHY_EVERSION:
 * its layout is not known; others as mem_read. Many reads, all cold: not to be called in every tick. */
int asyncio_locate(struct asyncio *asyncio, pid_t pid, struct mem_view *view);
/* False as long as nothing was imported since asyncio_locate found no asyncio: two cheap reads. */
bool asyncio_may_be_there(struct asyncio *asyncio, struct mem_view *view);

/* One reading. graph->threads must hold the thread states' addresses in question; all else of `graph` is filled
 * in. `all`: every task; else (3.14+) the running ones and who waits for them, which is cheaper, and before 3.14
 * the same as all. `strict`: a task that makes no sense fails the reading (TACHY_ETORN) instead of being left
 * out. The view plans what is read. */
int asyncio_read(struct asyncio *asyncio, struct mem_view *view, bool all, bool strict,
		 struct task_graph *graph);

#endif
