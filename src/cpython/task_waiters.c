/* SPDX-License-Identifier: MIT
 * Sources: Modules/_asynciomodule.c (fut_callback0, fut_callbacks, awaited_by), Lib/asyncio/tasks.py,
 * taskgroups.py; Include/cpython/funcobject.h, classobject.h, cellobject.h, Modules/_functoolsmodule.c for the
 * callables. A callback that looks like none of asyncio's leads nowhere. Bounds: TASK_LOOKS_MAX objects are looked
 * at in one reading, FUTURES_DEPTH futures in a row, CALLBACKS_MAX callbacks of one.
 */
#include "cpython/task_waiters.h"

#include <stdlib.h>

#include "base/error.h"
#include "cpython/task_list.h"

#define FUTURES_DEPTH 16u
#define CALLBACKS_MAX 4096u
#define CELLS_MAX     64u
#define EDGES_MAX     (1u << 20)

static int add_edge(struct task_graph *graph, uint32_t task, uint32_t waiter)
{
	struct task_edge edge = {task, waiter};
	if (task == waiter)
		return 0;
	if (graph->edges.n >= EDGES_MAX) {
		graph->cut = true;
		return 0;
	}
	return vec_push(&graph->edges, edge) ? 0 : TACHY_ENOMEM;
}

/* False when so many objects were looked at that it must be foul play. */
static bool may_look(struct task_reader *reader)
{
	if (reader->n_looks >= TASK_LOOKS_MAX) {
		reader->graph->cut = true;
		return false;
	}
	reader->n_looks++;
	return true;
}

static int pointer_at(struct task_reader *reader, raddr addr, raddr *ret_value)
{
	return object_pointer(reader->view, addr, ret_value);
}

/* ---- told ----------------------------------------------------------------------------------------------- */

/* `arg`: the index of the task that `waiter` waits for. */
static int take_waiter(struct task_reader *reader, raddr waiter, void *arg)
{
	uint64_t i;
	const struct type_entry *type;
	const uint32_t *task = arg;
	if (!may_look(reader))
		return 0;
	if (!map_get(&reader->graph->by_addr, waiter, &i)) {
		int rc = type_kinds_of(reader->kinds, reader->view, reader->layout, waiter, &type);
		if (rc < 0)
			return rc;
		if (type->kind != KIND_TASK && type->kind != KIND_PY_FUTURE)
			return 0;
		rc = task_add(reader, waiter, TASK_NONE);
		if (rc < 0 || !map_get(&reader->graph->by_addr, waiter, &i))
			return rc;
	}
	return add_edge(reader->graph, *task, (uint32_t)i);
}

int task_waiters_told(struct task_reader *reader, uint32_t index)
{
	const struct raw_task *task = &reader->graph->tasks.at[index];
	raddr awaited_by = task->awaited_by;
	const struct type_entry *type;
	if (!awaited_by)
		return 0;
	if (!task->awaited_by_is_set)
		return take_waiter(reader, awaited_by, &index);
	int rc = 0;
	if (task->python) { /* the attribute is None until there is a set */
		rc = type_kinds_of(reader->kinds, reader->view, reader->layout, awaited_by, &type);
		if (rc < 0 || type->kind == KIND_NOTHING)
			return rc;
	}
	return task_each_of_set(reader, awaited_by, take_waiter, &index);
}

/* ---- found ------------------------------------------------------------------------------------------------ */

/* A way from the end of a task to what waits for it: objects still to be looked at. */
struct trail {
	uint32_t task;
	uint32_t n;
	struct {
		raddr future;
		uint32_t depth;
	} futures[CELLS_MAX];
};

/* `object` is what a callback holds: a future that somebody waits for, or one that leads on. */
static int follow(struct task_reader *reader, struct trail *trail, raddr object, uint32_t depth)
{
	struct task_graph *graph = reader->graph;
	const struct type_entry *type;
	uint64_t i;
	int rc = 0;
	if (!object || !may_look(reader))
		return 0;
	if (map_get(reader->by_waiter, object, &i)) {
		for (uint32_t k = (uint32_t)i; rc >= 0 && k != TASK_NONE;
		     k = graph->tasks.at[k].next_same)
			rc = add_edge(graph, trail->task, k);
		return rc;
	}
	if (map_get(&graph->by_addr, object, &i) || map_get(reader->seen_futures, object, &i))
		return 0;
	rc = type_kinds_of(reader->kinds, reader->view, reader->layout, object, &type);
	if (rc < 0)
		return rc;
	if ((type->kind != KIND_FUTURE && type->kind != KIND_PY_FUTURE) || depth >= FUTURES_DEPTH ||
	    trail->n >= CELLS_MAX)
		return 0;
	trail->futures[trail->n].future = object;
	trail->futures[trail->n++].depth = depth + 1;
	return map_put(reader->seen_futures, object, 1) ? 0 : TACHY_ENOMEM;
}

/* The items of a tuple; of cells, what is in them. */
static int follow_tuple(struct task_reader *reader, struct trail *trail, raddr tuple, bool cells,
			uint32_t depth)
{
	const struct layout *l = reader->layout;
	uint64_t n;
	int rc = tuple ? pointer_at(reader, tuple + l->tuple.ob_size, &n) : TACHY_ENOENT;
	if (rc < 0)
		return rc == TACHY_ENOENT ? 0 : rc;
	for (uint64_t i = 0; rc >= 0 && i < n && i < CELLS_MAX; i++) {
		raddr item;
		rc = pointer_at(reader, tuple + l->tuple.item + i * 8, &item);
		if (rc >= 0 && cells && item) /* PyCellObject.ob_ref */
			rc = pointer_at(reader, item + l->object.size, &item);
		if (rc >= 0)
			rc = follow(reader, trail, item, depth);
	}
	return rc;
}

/* A bound method: of a TaskGroup, which knows the task that it belongs to. */
static int follow_self(struct task_reader *reader, struct trail *trail, raddr self)
{
	raddr values[N_ATTRIBUTES];
	uint64_t i;
	if (map_get(&reader->graph->by_addr, self, &i))
		return 0; /* a task's own wake-up: it waits for this very future */
	int rc = task_attributes(reader, self, values);
	if (rc == TACHY_ENOENT || rc == TACHY_ECORRUPT || rc == TACHY_EVERSION)
		return 0;
	if (rc >= 0 && values[ATTRIBUTE_PARENT] &&
	    map_get(&reader->graph->by_addr, values[ATTRIBUTE_PARENT], &i))
		rc = add_edge(reader->graph, trail->task, (uint32_t)i);
	return rc;
}

/* Include/cpython/funcobject.h: func_closure */
static uint32_t closure_offset(const struct layout *layout)
{
	return layout->object.size + (layout->minor <= 9 ? 4u : 7u) * 8;
}

static int follow_callback(struct task_reader *reader, struct trail *trail, raddr callback,
			   uint32_t depth)
{
	const struct layout *l = reader->layout;
	const struct type_entry *type;
	raddr next = 0;
	if (!callback || !may_look(reader))
		return 0;
	int rc = type_kinds_of(reader->kinds, reader->view, l, callback, &type);
	if (rc < 0)
		return rc;
	switch (type->kind) {
	case KIND_METHOD: /* PyMethodObject: im_func, im_self */
		rc = pointer_at(reader, callback + l->object.size + 8, &next);
		return rc < 0 ? rc : follow_self(reader, trail, next);
	case KIND_FUNCTION:
		rc = pointer_at(reader, callback + closure_offset(l), &next);
		return rc < 0 ? rc : follow_tuple(reader, trail, next, true, depth);
	case KIND_PARTIAL: /* partialobject: fn, args */
		rc = pointer_at(reader, callback + l->object.size + 8, &next);
		return rc < 0 ? rc : follow_tuple(reader, trail, next, false, depth);
	default:
		return 0;
	}
}

/* A list of (callback, context). */
static int follow_list(struct task_reader *reader, struct trail *trail, raddr list, uint32_t depth)
{
	const struct layout *l = reader->layout;
	const struct type_entry *type;
	uint64_t n;
	raddr items, pair, callback;
	int rc = type_kinds_of(reader->kinds, reader->view, l, list, &type);
	if (rc < 0 || type->kind != KIND_LIST)
		return rc;
	rc = pointer_at(reader, list + l->list.ob_size, &n);
	if (rc >= 0)
		rc = pointer_at(reader, list + l->list.item, &items);
	for (uint64_t i = 0; rc >= 0 && i < n && i < CALLBACKS_MAX; i++) {
		rc = pointer_at(reader, items + i * 8, &pair);
		if (rc >= 0)
			rc = pointer_at(reader, pair + l->tuple.item, &callback);
		if (rc >= 0)
			rc = follow_callback(reader, trail, callback, depth);
	}
	return rc;
}

static int follow_future(struct task_reader *reader, struct trail *trail, raddr future,
			 uint32_t depth)
{
	const struct layout *l = reader->layout;
	const struct type_entry *type;
	raddr values[N_ATTRIBUTES], callback0 = 0, callbacks = 0;
	int rc = type_kinds_of(reader->kinds, reader->view, l, future, &type);
	if (rc < 0)
		return rc;
	if (type->kind == KIND_PY_FUTURE) {
		rc = task_attributes(reader, future, values);
		callbacks = rc >= 0 ? values[ATTRIBUTE_CALLBACKS] : 0;
	} else { /* FutureObj_HEAD: loop, callback0, its context, callbacks */
		rc = pointer_at(reader, future + l->object.size + 8, &callback0);
		if (rc >= 0)
			rc = pointer_at(reader, future + l->object.size + 24, &callbacks);
	}
	if (rc >= 0)
		rc = follow_callback(reader, trail, callback0, depth);
	return rc < 0 || !callbacks ? rc : follow_list(reader, trail, callbacks, depth);
}

static int find_of(struct task_reader *reader, uint32_t index)
{
	const struct raw_task *task = &reader->graph->tasks.at[index];
	struct trail trail = {.task = index, .n = 0};
	uint64_t i;
	map_clear(reader->seen_futures);
	int rc = 0;
	/* those that wait for the task itself */
	if (map_get(reader->by_waiter, task->addr, &i))
		for (uint32_t k = (uint32_t)i; rc >= 0 && k != TASK_NONE;
		     k = reader->graph->tasks.at[k].next_same)
			rc = add_edge(reader->graph, index, k);
	if (reader->layout->minor >= 14 && !task->python)
		return rc;
	if (rc >= 0)
		rc = follow_callback(reader, &trail, task->callback0, 0);
	if (rc >= 0 && task->callbacks)
		rc = follow_list(reader, &trail, task->callbacks, 0);
	for (uint32_t n = 0; rc >= 0 && n < trail.n; n++)
		rc = follow_future(reader, &trail, trail.futures[n].future, trail.futures[n].depth);
	return rc;
}

int task_waiters_found(struct task_reader *reader)
{
	struct task_graph *graph = reader->graph;
	map_clear(reader->by_waiter);
	for (uint32_t i = 0; i < graph->tasks.n; i++) {
		struct raw_task *task = &graph->tasks.at[i];
		uint64_t other;
		if (task->done || !task->waiter)
			continue;
		if (map_get(reader->by_waiter, task->waiter, &other))
			task->next_same = (uint32_t)other;
		if (!map_put(reader->by_waiter, task->waiter, i))
			return TACHY_ENOMEM;
	}
	int rc = 0;
	for (uint32_t i = 0; rc >= 0 && i < graph->tasks.n; i++)
		if (!graph->tasks.at[i].done)
			rc = find_of(reader, i);
	return rc;
}

/* ---- settled ------------------------------------------------------------------------------------------------ */

static int compare_edges(const void *a, const void *b)
{
	const struct task_edge *x = a, *y = b;
	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return x->waiter < y->waiter ? -1 : x->waiter > y->waiter;
}

int task_waiters_settle(struct task_graph *graph)
{
	if (graph->edges.n)
		qsort(graph->edges.at, graph->edges.n, sizeof *graph->edges.at, compare_edges);
	graph->waiters.n = 0;
	for (size_t i = 0; i < graph->edges.n; i++) {
		const struct task_edge *edge = &graph->edges.at[i];
		struct raw_task *task = &graph->tasks.at[edge->task];
		if (i && compare_edges(edge, edge - 1) == 0)
			continue;
		if (task->done || graph->tasks.at[edge->waiter].done)
			continue;
		if (!task->n_waiters)
			task->first_waiter = (uint32_t)graph->waiters.n;
		if (!vec_push(&graph->waiters, edge->waiter))
			return TACHY_ENOMEM;
		task->n_waiters++;
	}
	return 0;
}
