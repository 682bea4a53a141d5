/* SPDX-License-Identifier: MIT
 * What is cached between readings is where asyncio.tasks keeps its sets and its dict; Lib/asyncio/tasks.py makes
 * them once, when it is imported, and empties and fills them after. All that a reading touches is planned.
 */
#include "cpython/asyncio.h"

#include <string.h>

#include "base/error.h"
#include "cpython/asyncio_find.h"
#include "cpython/module.h"
#include "cpython/task_list.h"
#include "cpython/task_waiters.h"

#define ATTRIBUTES_REMEMBERED 4096u

void asyncio_init(struct asyncio *asyncio, const struct layout *layout, raddr interp)
{
	*asyncio = (struct asyncio){.layout = layout, .interp = interp, .status = TACHY_ENOENT};
	type_kinds_init(&asyncio->kinds);
	map_init(&asyncio->attributes);
	map_init(&asyncio->by_waiter);
	map_init(&asyncio->seen_futures);
}

void asyncio_done(struct asyncio *asyncio)
{
	type_kinds_done(&asyncio->kinds);
	map_done(&asyncio->attributes);
	map_done(&asyncio->by_waiter);
	map_done(&asyncio->seen_futures);
}

/* ---- where ---------------------------------------------------------------------------------------- */

/* The set that a WeakSet holds (Lib/_weakrefset.py: self.data). */
static int open_weak_set(struct task_reader *reader, raddr addr, raddr *ret_set)
{
	raddr values[N_ATTRIBUTES];
	int rc = task_attributes(reader, addr, values);
	if (rc >= 0)
		*ret_set = values[ATTRIBUTE_DATA];
	return rc;
}

static int locate_sets(struct asyncio *asyncio, struct task_reader *reader, struct dict *names)
{
	raddr weak = 0, set = 0, eager = 0, current = 0;
	struct mem_view *view = reader->view;
	const struct layout *l = asyncio->layout;
	int rc = dict_find(view, l, names, l->minor >= 12 ? "_scheduled_tasks" : "_all_tasks",
			   &weak);
	if (rc >= 0)
		rc = open_weak_set(reader, weak, &set);
	if (rc >= 0 && l->minor >= 12)
		rc = dict_find(view, l, names, "_eager_tasks", &eager);
	if (rc >= 0)
		rc = dict_find(view, l, names, "_current_tasks", &current);
	if (rc < 0)
		return rc;
	asyncio->scheduled = set;
	asyncio->eager = eager;
	asyncio->current = current;
	return 0;
}

/* What of sys.modules changes whenever something is imported. */
static int look_at_modules(struct asyncio *asyncio, struct mem_view *view, raddr *ret_keys,
			   raddr *ret_n)
{
	raddr modules = 0;
	const struct layout *l = asyncio->layout;
	if (l->interp.modules == LAYOUT_NONE || l->dict.keys == LAYOUT_NONE ||
	    l->dict.used == LAYOUT_NONE)
		return TACHY_EVERSION;
	int rc = object_pointer(view, asyncio->interp + l->interp.modules, &modules);
	if (rc >= 0 && !modules)
		rc = TACHY_ENOENT;
	if (rc >= 0)
		rc = object_pointer(view, modules + l->dict.keys, ret_keys);
	return rc < 0 ? rc : object_pointer(view, modules + l->dict.used, ret_n);
}

bool asyncio_may_be_there(struct asyncio *asyncio, struct mem_view *view)
{
	raddr keys = 0, n = 0;
	if (look_at_modules(asyncio, view, &keys, &n) < 0)
		return false;
	return keys != asyncio->modules_keys || n != asyncio->modules_n;
}

static struct task_reader reader_of(struct asyncio *asyncio, struct mem_view *view,
				    struct task_graph *graph)
{
	struct task_reader reader = {.view = view,
				     .layout = asyncio->layout,
				     .fields = &asyncio->fields,
				     .has_fields = &asyncio->has_fields,
				     .kinds = &asyncio->kinds,
				     .attributes = &asyncio->attributes,
				     .graph = graph,
				     .by_waiter = &asyncio->by_waiter,
				     .seen_futures = &asyncio->seen_futures};
	return reader;
}

static int locate(struct asyncio *asyncio, pid_t pid, struct mem_view *view)
{
	struct dict names;
	struct task_reader reader = reader_of(asyncio, view, NULL);
	raddr keys = 0, n = 0;
	int rc = look_at_modules(asyncio, view, &keys, &n);
	if (rc >= 0)
		rc = module_open(view, asyncio->layout, asyncio->interp, "asyncio.tasks", &names);
	if (rc == TACHY_ENOENT) { /* unless something was imported meanwhile */
		asyncio->modules_keys = keys;
		asyncio->modules_n = n;
		if (asyncio_may_be_there(asyncio, view))
			return TACHY_EAGAIN;
	}
	if (rc >= 0)
		rc = locate_sets(asyncio, &reader, &names);
	if (rc >= 0 && asyncio->layout->minor >= 14 && !asyncio->has_fields) {
		rc = asyncio_find(pid, view->mem, asyncio->layout, &asyncio->fields);
		asyncio->has_fields = rc >= 0;
		if (rc == TACHY_ENOENT) /* it was imported, and yet does not say where things lie */
			rc = TACHY_EVERSION;
	}
	return rc;
}

int asyncio_locate(struct asyncio *asyncio, pid_t pid, struct mem_view *view)
{
	asyncio->status = locate(asyncio, pid, view);
	return asyncio->status;
}

/* ---- one reading ---------------------------------------------------------------------------------------- */

static int list_tasks(struct asyncio *asyncio, struct task_reader *reader, bool all)
{
	int rc = task_list_loops(reader);
	if (rc >= 0 && all && asyncio->layout->minor >= 14)
		rc = task_list_linked(reader, asyncio->interp);
	if (rc >= 0 && asyncio->current)
		rc = task_list_current(reader, asyncio->current);
	if (rc >= 0 && asyncio->scheduled)
		rc = task_list_set(reader, asyncio->scheduled);
	if (rc >= 0 && asyncio->eager)
		rc = task_list_set(reader, asyncio->eager);
	return rc;
}

/* Errors that the caller must know at once; all others are of one task. */
static bool is_fatal(int rc)
{
	return rc == TACHY_ENOMEM || rc == TACHY_EGONE || rc == TACHY_EPERM;
}

static int read_tasks(struct task_reader *reader, bool strict)
{
	struct task_graph *graph = reader->graph;
	for (uint32_t i = 0; i < graph->tasks.n; i++) { /* waiters may be added on the way */
		int rc = task_read(reader, i);
		if (rc >= 0 && !graph->tasks.at[i].done)
			rc = task_waiters_told(reader, i);
		if (is_fatal(rc) || (rc < 0 && strict))
			return rc;
	}
	return 0;
}

static int read_stacks(struct task_reader *reader, bool strict)
{
	struct task_graph *graph = reader->graph;
	for (uint32_t i = 0; i < graph->tasks.n; i++) {
		if (graph->tasks.at[i].done)
			continue;
		int rc = task_read_stack(reader, i);
		if (is_fatal(rc) || (rc < 0 && strict))
			return rc;
		if (rc < 0)
			graph->tasks.at[i].done = true;
	}
	return 0;
}

/* The thread of each task whose loop is known to run in one; the task that each loop is at. */
static void join_threads(struct task_graph *graph)
{
	uint64_t index;
	for (size_t k = 0; k < graph->threads.n; k++) {
		struct task_thread *thread = &graph->threads.at[k];
		if (!thread->running || !map_get(&graph->by_addr, thread->running, &index) ||
		    graph->tasks.at[index].done)
			continue;
		thread->current = (uint32_t)index;
		graph->tasks.at[index].current = true;
	}
	for (size_t i = 0; i < graph->tasks.n; i++) {
		struct raw_task *task = &graph->tasks.at[i];
		for (uint32_t k = 0;
		     task->thread == TASK_NONE && task->loop && k < graph->threads.n; k++)
			if (graph->threads.at[k].loop == task->loop)
				task->thread = k;
	}
}

static int read_all(struct asyncio *asyncio, struct task_reader *reader, bool all, bool strict)
{
	int rc = list_tasks(asyncio, reader, all);
	if (rc >= 0)
		rc = read_tasks(reader, strict);
	if (rc >= 0) {
		rc = task_waiters_found(reader);
		if (rc < 0 && !is_fatal(rc) && !strict)
			rc = 0;
	}
	if (rc >= 0)
		rc = read_stacks(reader, strict);
	if (rc >= 0)
		rc = task_waiters_settle(reader->graph);
	if (rc >= 0)
		join_threads(reader->graph);
	return rc;
}

int asyncio_read(struct asyncio *asyncio, struct mem_view *view, bool all, bool strict,
		 struct task_graph *graph)
{
	struct task_reader reader = reader_of(asyncio, view, graph);
	if (asyncio->attributes.n > ATTRIBUTES_REMEMBERED)
		map_clear(&asyncio->attributes);
	view->learns_cold = true;
	int rc = read_all(asyncio, &reader, all, strict);
	view->learns_cold = false;
	if (rc < 0 && !is_fatal(rc))
		rc = TACHY_ETORN;
	return rc;
}
