/* SPDX-License-Identifier: MIT
 * The asyncio tasks of a target: read with each tick beside its threads, and turned into one stack a task, in
 * place of the threads' own stacks.
 *
 * A stack begins with the task that nobody waits for: its name as a marker, its coroutines, then the task
 * that it awaits, and so on to the task that waits or runs. Where several tasks await one, the stack shows the
 * first of them and says how many there are.
 */
#ifndef SAMPLER_TARGET_TASKS_H
#define SAMPLER_TARGET_TASKS_H

#include "cpython/asyncio.h"
#include "sampler/target.h"
#include "sampler/task_lane.h"

/* A task that runs: its part of the stack of its thread. */
struct live_task {
	uint32_t task;   /* index into the graph */
	uint32_t thread; /* index into target.threads */
	size_t from, to; /* of that thread's frames, root first */
};

struct tasks_interp {
	raddr interp;
	int64_t id;
	struct asyncio asyncio;
	struct task_graph graph;    /* of the last reading */
	struct map by_frame;        /* a coroutine's own frame -> index of its task */
	VEC(struct live_task) live; /* of the last commit */
	VEC(stack_id) stacks; /* of each task by itself, for what asks: see target_tasks_stack */
	uint64_t looked_ns,
		located_ns; /* when asyncio was last looked for: at a glance, in earnest */
	uint64_t again_ns;  /* how long after that it is looked for anew */
	bool found;         /* asyncio was there once */
	bool read;          /* in the last reading */
};

struct target_tasks {
	enum tachy_async mode;
	VEC(struct tasks_interp *) interps; /* owned; in the order of target.interps */
	struct task_lanes lanes;
	VEC(uint32_t) path; /* scratch: tasks from the leaf to the root */
	VEC(bool)
	reached; /* scratch: some task that has a stack waits, in the end, to let it go on */
	VEC(bool) awaits;     /* scratch: the task awaits another one */
	VEC(uint32_t) passed; /* scratch: number of the last path that led through the task */
	uint32_t n_paths;
	VEC(char) text;     /* scratch */
	uint64_t n_strange; /* tasks of the last tick that cannot be followed */
};

int target_tasks_create(enum tachy_async mode, struct target_tasks **ret_tasks);
void target_tasks_destroy(struct target_tasks *tasks); /* NULL is fine */

/* The part that belongs to target_read: after the threads. TACHY_ETORN: read again. */
int target_tasks_read(struct target *target, bool check, bool salvage);
/* The part that belongs to target_commit: after the threads, before the totals go on. */
int target_tasks_commit(struct target *target, uint64_t time_ns);
int target_tasks_flush(struct target *target);
/* Between ticks: looks for asyncio in interpreters that had none. */
void target_tasks_keep(struct target *target, uint64_t now_ns);

/* Adds what is known of asyncio to a run's counters. */
void target_tasks_count(const struct target_tasks *tasks, struct tachy_stats *stats);

/* The stack of one task without those that await it, and without its marker. */
int target_tasks_stack(struct target *target, const struct tasks_interp *interp, uint32_t task,
		       stack_id *ret_stack);
/* The part of a thread's stack in which the task runs; NULL: it does not. */
const struct live_task *target_tasks_live(const struct tasks_interp *interp, uint32_t task);

#endif
