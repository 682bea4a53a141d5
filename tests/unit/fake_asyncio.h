/* SPDX-License-Identifier: MIT
 * asyncio made by hand in a fake Python: N_FAKE_TASKS tasks, each of which awaits the next one and the last a
 * future, in lists (3.14+) or in a set of weak references. The last task is awaited by all others, through
 * a set where the version has one. One thread; task 0 runs in it, the others are suspended.
 */
#ifndef FAKE_ASYNCIO_H
#define FAKE_ASYNCIO_H

#include "fake_target.h"
#include "sampler/target_tasks.h"

#define N_FAKE_TASKS      4u
#define FAKE_TASK_SIZE    168u /* 3.14+; before, see fake_task_size */
#define FAKE_RUNNING_LOOP 864u /* in the thread state, 3.14+ */
#define FAKE_RUNNING_TASK 872u
#define FAKE_THREAD_TASKS 880u
#define FAKE_THREAD_SIZE  1600u

struct fake_asyncio {
	struct py *py;
	struct asyncio_layout fields;
	struct py_thread thread;
	struct py_code code;
	raddr coroutine_type, task_type, future_type, iter_type, weakref_type, int_type,
		function_type;
	raddr tasks[N_FAKE_TASKS], coroutines[N_FAKE_TASKS], names[N_FAKE_TASKS];
	raddr future, loop, set, table, current;
};

static inline uint32_t fake_task_size(unsigned minor)
{
	static const uint32_t sizes[] = {144, 184, 192, 176, 176, 144};
	return minor >= 14 ? FAKE_TASK_SIZE : sizes[minor - 8];
}

/* What .AsyncioDebug says in this Python. */
static inline void fake_asyncio_debug(const struct py *py, uint64_t words[13])
{
	const uint64_t all[13] = {FAKE_TASK_SIZE,
				  136,
				  96,
				  108,
				  109,
				  128,
				  152,
				  py->l->interp.size,
				  py->l->interp.size - 64,
				  FAKE_THREAD_SIZE,
				  FAKE_RUNNING_LOOP,
				  FAKE_RUNNING_TASK,
				  FAKE_THREAD_TASKS};
	memcpy(words, all, sizeof all);
}

/* A coroutine that is suspended in an await of `awaited`. */
static inline raddr fake_coroutine(struct fake_asyncio *a, raddr awaited, bool running)
{
	struct py *py = a->py;
	const struct layout *l = py->l;
	const bool in_object = l->gen.iframe != LAYOUT_NONE;
	uint32_t head = in_object ? l->gen.iframe : 256u;
	raddr at = py_alloc(py, head + l->frame.size + 16 * 8);
	raddr frame = in_object ? at + head : py_alloc(py, l->frame.size + 16 * 8);
	raddr stack = frame + l->frame.size + PY_FRAME_SLOTS * 8;
	py_set64(py, at, l->object.ob_type, a->coroutine_type);
	py_set64(py, at, l->gen.frame_object, frame);
	py_frame_write(py, frame, &a->code, 0, l->owner.generator);
	py_set_running(py, frame, running);
	fake_put_u64(py->fake, stack, awaited);
	if (!in_object) {
		py_set8(py, frame, l->frame.executing, running);
		py_set8(py, frame, l->frame.state, running ? 0 : 0xff);
		fake_put_u64(py->fake, frame + l->frame.back + 40, stack);
		if (l->minor < 10)
			fake_put_u64(py->fake, frame + l->frame.back + 48, stack + 8);
		else
			fake_put_u32(py->fake, frame + l->frame.back + 56, 1);
		return at;
	}
	const int suspended = l->minor >= 15 ? 2 : -1, executing = l->minor >= 15 ? 4 : 0;
	py_set8(py, at, l->gen.frame_state, (uint8_t)(running ? executing : suspended));
	if (!running && l->minor < 14)
		py_set32(py, frame, l->frame.stackpointer, PY_FRAME_SLOTS + 1);
	else if (!running)
		py_set64(py, frame, l->frame.stackpointer, stack + (l->minor >= 15 ? 16 : 8));
	return at;
}

static inline void fake_asyncio_types(struct fake_asyncio *a)
{
	struct py *py = a->py;
	a->coroutine_type = py_type(py, "coroutine");
	a->task_type = py_type(py, "_asyncio.Task");
	a->future_type = py_type(py, "_asyncio.Future");
	a->iter_type = py_type(py, "_asyncio.FutureIter");
	a->weakref_type = py_type(py, "weakref");
	a->int_type = py_type(py, "int");
	a->function_type = py_type(py, "function");
	py_set64(py, a->task_type, py->l->object.tp_basicsize, fake_task_size(py->l->minor));
}

static inline void fake_task(struct fake_asyncio *a, uint32_t i)
{
	struct py *py = a->py;
	const struct asyncio_layout *f = &a->fields;
	raddr iter = py_alloc(py, 64), at = a->tasks[i];
	raddr waiter = i + 1 < N_FAKE_TASKS ? a->tasks[i + 1] : a->future;
	char name[16];
	snprintf(name, sizeof name, "task %u", i);
	a->names[i] = py_str(py, name);
	py_set64(py, iter, py->l->object.ob_type, a->iter_type);
	fake_put_u64(py->fake, iter + py->l->object.size, waiter);
	a->coroutines[i] = fake_coroutine(a, iter, i == 0);
	py_set64(py, at, py->l->object.ob_type, a->task_type);
	py_set64(py, at, f->loop, a->loop);
	py_set64(py, at, f->coro, a->coroutines[i]);
	py_set64(py, at, f->name, a->names[i]);
	py_set64(py, at, f->waiter, i ? waiter : a->tasks[1]);
	if (f->awaited_by != LAYOUT_NONE && i) {
		bool is_set = i + 1 == N_FAKE_TASKS;
		py_set64(py, at, f->awaited_by, is_set ? a->set : a->tasks[i - 1]);
		py_set8(py, at, f->awaited_by_is_set, is_set);
		py_set8(py, at, f->is_task, 1);
	}
}

/* A set of `n` members; each is the object, or a weak reference to it. */
static inline void fake_set(struct fake_asyncio *a, const raddr *members, uint32_t n, bool weak)
{
	struct py *py = a->py;
	a->set = py_alloc(py, 256);
	a->table = py_alloc(py, 8 * 16);
	py_set64(py, a->set, py->l->set.table, a->table);
	py_set64(py, a->set, py->l->set.mask, 7);
	for (uint32_t i = 0; i < n; i++) {
		raddr member = members[i];
		if (weak) {
			member = py_alloc(py, 64);
			py_set64(py, member, py->l->object.ob_type, a->weakref_type);
			fake_put_u64(py->fake, member + py->l->object.size, members[i]);
		}
		fake_put_u64(py->fake, a->table + (i * 2 + 1) % 8 * 16, member);
	}
}

static inline void fake_link(struct fake_asyncio *a, raddr from, raddr to)
{
	fake_put_u64(a->py->fake, from, to);
	fake_put_u64(a->py->fake, to + 8, from);
}

static inline void fake_asyncio_init(struct fake_asyncio *a, struct py *py)
{
	memset(a, 0, sizeof *a);
	a->py = py;
	fake_asyncio_types(a);
	a->code = py_code(py, "work", "work.py", 1);
	uint64_t words[13];
	fake_asyncio_debug(py, words);
	struct span bytes = {(const uint8_t *)words, sizeof words};
	int rc = py->l->minor >= 14
			 ? asyncio_layout_by_debug(py->l, bytes, &a->fields)
			 : asyncio_layout_by_size(py->l, fake_task_size(py->l->minor), &a->fields);
	if (rc < 0)
		abort();
	py_thread_start(py, &a->thread, py_alloc(py, 4096));
	a->loop = py_alloc(py, 64);
	a->future = py_alloc(py, 256);
	py_set64(py, a->future, py->l->object.ob_type, a->future_type);
	for (uint32_t i = 0; i < N_FAKE_TASKS; i++)
		a->tasks[i] = py_alloc(py, 256);
	fake_set(a, a->tasks, py->l->minor >= 14 ? N_FAKE_TASKS - 1 : N_FAKE_TASKS,
		 py->l->minor < 14);
	for (uint32_t i = 0; i < N_FAKE_TASKS; i++)
		fake_task(a, i);
	raddr thread = a->thread.addr;
	if (py->l->minor >= 14) {
		raddr last = thread + FAKE_THREAD_TASKS;
		for (uint32_t i = 0; i < N_FAKE_TASKS; i++) {
			fake_link(a, last, a->tasks[i] + a->fields.node);
			last = a->tasks[i] + a->fields.node;
		}
		fake_link(a, last, thread + FAKE_THREAD_TASKS);
		fake_put_u64(py->fake, thread + FAKE_RUNNING_LOOP, a->loop);
		fake_put_u64(py->fake, thread + FAKE_RUNNING_TASK, a->tasks[0]);
		raddr rest = py->interp + a->fields.tasks_of_interp;
		fake_link(a, rest, rest);
	}
	/* the task that runs: C code of the loop has resumed its coroutine */
	py_call(py, &a->thread, &a->code);
	py_enter_c(py, &a->thread);
	raddr frame = py->l->gen.iframe != LAYOUT_NONE ? a->coroutines[0] + py->l->gen.iframe : 0;
	py_resume(py, &a->thread, &a->code, frame);
	if (!frame)
		py_set64(py, a->coroutines[0], py->l->gen.frame_object, py_leaf(&a->thread));
	py_set_gil(py, a->thread.addr, true, 7);
}

/* As asyncio_locate would find it. */
static inline void fake_asyncio_locate(const struct fake_asyncio *a, struct asyncio *asyncio)
{
	asyncio->status = 0;
	asyncio->fields = a->fields;
	asyncio->has_fields = true;
	asyncio->scheduled = a->py->l->minor >= 14 ? 0 : a->set;
}

#endif
