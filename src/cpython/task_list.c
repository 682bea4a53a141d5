/* SPDX-License-Identifier: MIT
 * Linked lists (Include/internal/pycore_llist.h) run in a circle through their head; a node whose predecessor is
 * not where we came from was being moved: TACHY_ETORN. Sets are tables of (key, hash), Objects/setobject.c.
 */
#include "cpython/task_list.h"

#include "base/error.h"
#include "cpython/dict.h"

#define SET_SLOTS_MAX (1u << 18)
#define SET_SLOT      16u /* setentry: key, hash */
#define LOOPS_MAX     65536u
#define LOOP_KEY      "__asyncio_running_event_loop__"

static int pointer_at(struct task_reader *reader, raddr addr, raddr *ret_value)
{
	return object_pointer(reader->view, addr, ret_value);
}

/* ---- threads and their loops ---------------------------------------------------------------------- */

/* Up to 3.12: in the dict of the thread state (Modules/_asynciomodule.c, set_running_loop), in a holder up to
 * 3.11. A thread without such a dict, or with one that makes no sense, runs no loop. */
static int loop_in_dict(struct task_reader *reader, raddr thread, raddr *ret_loop)
{
	raddr dict_addr, value;
	struct dict dict;
	const struct type_entry *type;
	const struct layout *l = reader->layout;
	if (l->tstate.dict == LAYOUT_NONE)
		return TACHY_ENOENT;
	int rc = pointer_at(reader, thread + l->tstate.dict, &dict_addr);
	if (rc >= 0 && !dict_addr)
		return TACHY_ENOENT;
	if (rc >= 0)
		rc = dict_open(reader->view, l, dict_addr, &dict);
	if (rc >= 0)
		rc = dict_find(reader->view, l, &dict, LOOP_KEY, &value);
	if (rc >= 0)
		rc = type_kinds_of(reader->kinds, reader->view, l, value, &type);
	if (rc < 0)
		return rc;
	if (type->kind == KIND_LOOP_HOLDER) /* PyRunningLoopHolder.rl_loop */
		rc = pointer_at(reader, value + l->object.size, &value);
	if (rc >= 0)
		*ret_loop = value;
	return rc;
}

static int read_loop(struct task_reader *reader, struct task_thread *thread)
{
	const struct asyncio_layout *f = reader->fields;
	const struct layout *l = reader->layout;
	int rc;
	thread->loop = thread->running = 0;
	thread->current = TASK_NONE;
	if (l->minor == 13) /* Include/internal/pycore_tstate.h: right behind the PyThreadState */
		return pointer_at(reader, thread->addr + l->tstate.size, &thread->loop);
	if (l->minor < 13) {
		rc = loop_in_dict(reader, thread->addr, &thread->loop);
		return rc == TACHY_ENOENT || rc == TACHY_ECORRUPT ? 0 : rc;
	}
	rc = pointer_at(reader, thread->addr + f->running_loop, &thread->loop);
	if (rc >= 0)
		rc = pointer_at(reader, thread->addr + f->running_task, &thread->running);
	return rc;
}

int task_list_loops(struct task_reader *reader)
{
	struct task_graph *graph = reader->graph;
	int rc = 0;
	for (size_t i = 0; rc >= 0 && i < graph->threads.n; i++) {
		struct task_thread *thread = &graph->threads.at[i];
		rc = read_loop(reader, thread);
		if (rc >= 0 && thread->running)
			rc = task_add(reader, thread->running, (uint32_t)i);
	}
	return rc;
}

/* ---- linked lists, 3.14+ ---------------------------------------------------------------------------- */

static int read_list(struct task_reader *reader, raddr head, uint32_t thread)
{
	const struct asyncio_layout *f = reader->fields;
	raddr before = head, node;
	struct span bytes;
	int rc = pointer_at(reader, head, &node);
	for (uint32_t n = 0; rc >= 0 && node && node != head; n++) {
		if (n >= TASKS_MAX) {
			reader->graph->cut = true;
			return 0;
		}
		/* the whole task at once: its fields are asked for next */
		raddr task = node - f->node;
		rc = mem_view_hot(reader->view, task, f->task_size, &bytes);
		if (rc < 0)
			return rc == TACHY_EFAULT ? TACHY_ETORN : rc;
		if (load_u64(bytes, f->node + 8) != before)
			return TACHY_ETORN;
		rc = task_add(reader, task, thread);
		before = node;
		node = load_u64(bytes, f->node);
	}
	return rc;
}

int task_list_linked(struct task_reader *reader, raddr interp)
{
	const struct asyncio_layout *f = reader->fields;
	struct task_graph *graph = reader->graph;
	int rc = 0;
	for (size_t i = 0; rc >= 0 && i < graph->threads.n; i++)
		rc = read_list(reader, graph->threads.at[i].addr + f->tasks_of_thread, (uint32_t)i);
	if (rc >= 0) /* of threads that have ended */
		rc = read_list(reader, interp + f->tasks_of_interp, TASK_NONE);
	return rc;
}

/* ---- sets --------------------------------------------------------------------------------------------- */

int task_each_of_set(struct task_reader *reader, raddr addr, task_member *visit, void *arg)
{
	const struct layout *l = reader->layout;
	struct span table;
	raddr slots;
	uint64_t mask;
	if (l->set.table == LAYOUT_NONE || l->set.mask == LAYOUT_NONE)
		return TACHY_EVERSION;
	int rc = pointer_at(reader, addr + l->set.table, &slots);
	if (rc >= 0)
		rc = pointer_at(reader, addr + l->set.mask, &mask);
	if (rc < 0)
		return rc;
	if (mask >= SET_SLOTS_MAX || (mask & (mask + 1)))
		return TACHY_ECORRUPT;
	uint32_t n = (uint32_t)mask + 1;
	rc = mem_view_hot(reader->view, slots, n * SET_SLOT, &table);
	for (uint32_t i = 0; rc >= 0 && i < n; i++) {
		raddr key = load_u64(table, (size_t)i * SET_SLOT);
		if (key)
			rc = visit(reader, key, arg);
	}
	return rc;
}

static int add_member(struct task_reader *reader, raddr member, void *arg)
{
	const struct type_entry *type;
	raddr task = member;
	(void)arg;
	int rc = type_kinds_of(reader->kinds, reader->view, reader->layout, member, &type);
	if (rc >= 0 && type->kind == KIND_WEAKREF) {
		/* PyWeakReference.wr_object; None when it is dead */
		rc = pointer_at(reader, member + reader->layout->object.size, &task);
		if (rc >= 0)
			rc = type_kinds_of(reader->kinds, reader->view, reader->layout, task,
					   &type);
	}
	if (rc < 0)
		return rc;
	return type->kind == KIND_NOTHING ? 0 : task_add(reader, task, TASK_NONE);
}

int task_list_set(struct task_reader *reader, raddr set)
{
	return task_each_of_set(reader, set, add_member, NULL);
}

/* ---- current tasks -------------------------------------------------------------------------------------- */

int task_list_current(struct task_reader *reader, raddr current)
{
	struct task_graph *graph = reader->graph;
	struct dict dict;
	int rc = dict_open(reader->view, reader->layout, current, &dict);
	for (uint32_t i = 0; rc >= 0 && i < dict.n && i < LOOPS_MAX; i++) {
		raddr loop, task;
		rc = dict_entry(reader->view, &dict, i, &loop, &task);
		if (rc < 0 || !loop || !task)
			continue;
		for (size_t k = 0; rc >= 0 && k < graph->threads.n; k++) {
			if (graph->threads.at[k].loop != loop)
				continue;
			graph->threads.at[k].running = task;
			rc = task_add(reader, task, (uint32_t)k);
		}
	}
	return rc;
}
