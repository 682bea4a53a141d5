/* SPDX-License-Identifier: MIT
 * asyncio's tasks of one interpreter at one moment: what each is called, where it stands, and which tasks
 * wait for it.
 */
#ifndef CPYTHON_TASK_H
#define CPYTHON_TASK_H

#include "cpython/asyncio_layout.h"
#include "cpython/coroutine.h"
#include "cpython/object.h"

#define TASKS_MAX      (1u << 16)  /* of one interpreter; more are left out, and it is said */
#define TASK_NAMES_MAX (16u << 20) /* bytes of all their names */
#define TASK_LOOKS_MAX (1u << 20)  /* at callbacks and waiters, in one reading */
#define TASK_NONE      UINT32_MAX

struct raw_task {
	raddr addr;
	bool python;     /* an instance of a Python class, and no C task */
	bool done;       /* or no task at all: not to be counted */
	bool current;    /* the one that its loop runs */
	uint32_t thread; /* index into task_graph.threads; TASK_NONE: its loop does not run */
	raddr loop, coro, name, callback0, callbacks, waiter, awaited_by; /* 0 unknown or none */
	bool awaited_by_is_set;
	struct coroutine coroutine;
	uint32_t first_frame, n_frames; /* in task_graph.frames, root first: of a task that waits */
	uint32_t name_at, name_len;     /* in task_graph.names */
	uint32_t first_waiter,
		n_waiters;  /* in task_graph.waiters: indices of tasks that wait for it */
	uint32_t next_same; /* another task with the same `waiter`; TASK_NONE */
};

struct task_thread {
	raddr addr;       /* of the thread state */
	raddr loop;       /* that runs in it; 0 none */
	raddr running;    /* 3.14+: its current task; 0 none */
	uint32_t current; /* index of that, or TASK_NONE */
};

struct task_edge {
	uint32_t task, waiter;
};

struct task_graph {
	VEC(struct raw_task) tasks;
	VEC(struct task_thread) threads;
	struct raw_frames frames;
	struct text names;
	VEC(struct task_edge) edges; /* sorted, each once */
	VEC(uint32_t) waiters;
	struct map by_addr; /* of tasks -> index */
	uint32_t n_strange; /* members of asyncio's own lists that are no tasks we can follow */
	bool cut;           /* TASKS_MAX or another bound was reached */
};

void task_graph_init(struct task_graph *graph);
void task_graph_done(struct task_graph *graph);
void task_graph_reset(struct task_graph *graph);

/* All that reading takes. */
struct task_reader {
	struct mem_view *view;
	const struct layout *layout;
	struct asyncio_layout *fields;
	bool *has_fields; /* up to 3.13 the first task that is met tells them */
	struct type_kinds *kinds;
	struct map *attributes; /* address of an attribute's name -> which one */
	struct task_graph *graph;
	struct map *by_waiter;    /* future -> index of a task that waits for it */
	struct map *seen_futures; /* on the way from one task */
	uint32_t n_looks;
};

/* Adds the task at `addr`, if it is not there. TACHY_ENOMEM. */
int task_add(struct task_reader *reader, raddr addr, uint32_t thread);
/* Fills in the fields of a task that was added; what is no task, or is done, is marked done. */
int task_read(struct task_reader *reader, uint32_t index);
/* Its frames and its name. */
int task_read_stack(struct task_reader *reader, uint32_t index);

/* The pointers that an instance of a Python class has by these names. */
enum task_attribute {
	ATTRIBUTE_OTHER,
	ATTRIBUTE_CORO,
	ATTRIBUTE_NAME,
	ATTRIBUTE_WAITER,
	ATTRIBUTE_STATE,
	ATTRIBUTE_LOOP,
	ATTRIBUTE_CALLBACKS,
	ATTRIBUTE_AWAITED_BY,
	ATTRIBUTE_PARENT, /* of a TaskGroup */
	ATTRIBUTE_DATA,   /* of a WeakSet */
	N_ATTRIBUTES
};

/* One walk over the attributes of the instance at `addr`; 0 for what is not there. */
int task_attributes(struct task_reader *reader, raddr addr, raddr ret_values[N_ATTRIBUTES]);

#endif
