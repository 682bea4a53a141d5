/* SPDX-License-Identifier: MIT
 * A path leads from a task to one of those that await it, and on, to a task that nobody awaits; a task that the
 * path has passed already ends it (tasks can await each other in a circle), so that a path is no longer than
 * there are tasks. Of several that await a task the one at the lowest address is taken: the same in every tick.
 */
#include "sampler/task_path.h"

#include <stdio.h>
#include <string.h>

#include "sampler/target_thread.h"

/* A task that waits is neither on the CPU nor has it the GIL. */
#define STATES_WAITING (TACHY_STATE_GIL_KNOWN | TACHY_STATE_CPU_KNOWN)

const struct live_task *target_tasks_live(const struct tasks_interp *interp, uint32_t task)
{
	for (size_t i = 0; i < interp->live.n; i++)
		if (interp->live.at[i].task == task)
			return &interp->live.at[i];
	return NULL;
}

/* The waiter that the path goes on with; TASK_NONE. */
static uint32_t choose_waiter(const struct task_graph *graph, uint32_t index)
{
	const struct raw_task *task = &graph->tasks.at[index];
	uint32_t best = TASK_NONE;
	for (uint32_t i = 0; i < task->n_waiters; i++) {
		uint32_t waiter = graph->waiters.at[task->first_waiter + i];
		if (best == TASK_NONE || graph->tasks.at[waiter].addr < graph->tasks.at[best].addr)
			best = waiter;
	}
	return best;
}

/* Tasks from `leaf` on, into tasks->path. */
static int find_path(struct target_tasks *tasks, const struct task_graph *graph, uint32_t leaf)
{
	tasks->path.n = 0;
	tasks->n_paths++;
	for (uint32_t i = leaf; i != TASK_NONE && tasks->passed.at[i] != tasks->n_paths;
	     i = choose_waiter(graph, i)) {
		tasks->passed.at[i] = tasks->n_paths;
		if (!vec_push(&tasks->path, i))
			return TACHY_ENOMEM;
	}
	return 0;
}

static int push_marker(struct target *target, const struct task_graph *graph,
		       const struct raw_task *task, stack_id *stack)
{
	struct target_tasks *tasks = target->tasks;
	struct stacks *stacks = &target->profile->stacks;
	char more[32] = "";
	frame_id frame;
	if (task->n_waiters > 1)
		(void)snprintf(more, sizeof more, " (%u parents)", task->n_waiters);
	size_t n_more = strlen(more);
	if (!vec_reserve(&tasks->text, task->name_len + n_more + 1))
		return TACHY_ENOMEM;
	memcpy(tasks->text.at, graph->names.chars.at + task->name_at, task->name_len);
	memcpy(tasks->text.at + task->name_len, more, n_more);
	int rc = stacks_marker(stacks, TACHY_FRAME_TASK, tasks->text.at, task->name_len + n_more,
			       &frame);
	return rc < 0 ? rc : stacks_push(stacks, *stack, frame, stack);
}

static int push_waiting(struct target *target, const struct task_graph *graph,
			const struct raw_task *task, stack_id *stack)
{
	struct stacks *stacks = &target->profile->stacks;
	int rc = 0;
	for (uint32_t i = 0; rc >= 0 && i < task->n_frames; i++)
		rc = target_thread_push(target, &graph->frames.list.at[task->first_frame + i], 0,
					stack);
	if (rc >= 0 && task->coroutine.cut)
		rc = stacks_push(stacks, *stack, stacks->cut, stack);
	return rc;
}

/* Whether the frame is of a coroutine, as far as the version tells (3.11+). */
static bool is_coroutine(const struct target *target, const struct raw_frame *frame)
{
	return target->layout->frames != FRAMES_OBJECTS &&
	       frame->flags.owner == target->layout->owner.generator;
}

/* The live part. Of a task below others in the path, its coroutines only: what they call is its own affair. */
static int push_live(struct target *target, const struct live_task *live, bool is_leaf,
		     stack_id *stack)
{
	const struct target_thread *thread = &target->threads.at[live->thread];
	struct stacks *stacks = &target->profile->stacks;
	int rc = 0;
	for (size_t k = live->from; rc >= 0 && k < live->to && k < thread->frames.n; k++) {
		const struct raw_frame *frame = &thread->frames.at[k];
		if (!is_leaf && k > live->from && !is_coroutine(target, frame))
			break;
		rc = target_thread_push(target, frame, is_leaf ? thread->gc_frame : 0, stack);
	}
	if (rc >= 0 && is_leaf && thread->gc_leaf && live->to >= thread->frames.n)
		rc = stacks_push(stacks, *stack, stacks->gc, stack);
	return rc;
}

static int push_task(struct target *target, const struct tasks_interp *interp, uint32_t index,
		     bool is_leaf, stack_id *stack)
{
	const struct raw_task *task = &interp->graph.tasks.at[index];
	const struct live_task *live = target_tasks_live(interp, index);
	return live ? push_live(target, live, is_leaf, stack)
		    : push_waiting(target, &interp->graph, task, stack);
}

int target_tasks_stack(struct target *target, const struct tasks_interp *interp, uint32_t task,
		       stack_id *ret_stack)
{
	*ret_stack = STACK_EMPTY;
	return push_task(target, interp, task, true, ret_stack);
}

/* The thread that the task's samples are of: its loop's, else the interpreter's main one. */
static const struct target_thread *thread_of(const struct target *target,
					     const struct tasks_interp *interp, uint32_t index)
{
	const struct raw_task *task = &interp->graph.tasks.at[index];
	const struct target_thread *any = NULL;
	uint64_t i;
	if (task->thread != TASK_NONE &&
	    map_get(&target->thread_by_addr, interp->graph.threads.at[task->thread].addr, &i))
		return &target->threads.at[i];
	if (target->options.main_thread_only)
		return NULL;
	for (i = 0; i < target->threads.n; i++) {
		const struct target_thread *thread = &target->threads.at[i];
		if (!thread->addr || target->interps.at[thread->interp].now.addr != interp->interp)
			continue;
		if (thread->main)
			return thread;
		any = any ? any : thread;
	}
	return any;
}

static int note_path(struct target *target, struct tasks_interp *interp, uint32_t leaf,
		     const struct task_moment *moment)
{
	struct target_tasks *tasks = target->tasks;
	const struct live_task *live = target_tasks_live(interp, leaf);
	const struct target_thread *thread = live ? &target->threads.at[live->thread]
						  : thread_of(target, interp, leaf);
	stack_id stack = STACK_EMPTY;
	if (!thread)
		return 0;
	int rc = find_path(tasks, &interp->graph, leaf);
	for (size_t i = tasks->path.n; rc >= 0 && i > 0; i--) {
		uint32_t task = tasks->path.at[i - 1];
		rc = push_marker(target, &interp->graph, &interp->graph.tasks.at[task], &stack);
		if (rc >= 0)
			rc = push_task(target, interp, task, i == 1, &stack);
	}
	bool runs = interp->graph.tasks.at[leaf].current || (live && live->to >= thread->frames.n);
	uint32_t states = runs ? thread->run_states
			       : STATES_WAITING | (thread->states & TACHY_STATE_MAIN);
	return rc < 0 ? rc
		      : task_lanes_note(&tasks->lanes, moment, interp->graph.tasks.at[leaf].addr,
					thread->profile_thread, stack, states);
}

/* `passed` of every task 0, `awaits` by the edges. */
static int prepare(struct target_tasks *tasks, const struct task_graph *graph)
{
	size_t n = graph->tasks.n;
	if (!vec_reserve(&tasks->passed, n) || !vec_reserve(&tasks->awaits, n) ||
	    !vec_reserve(&tasks->reached, n) || !vec_reserve(&tasks->path, n))
		return TACHY_ENOMEM;
	if (n) {
		memset(tasks->passed.at, 0, n * sizeof *tasks->passed.at);
		memset(tasks->awaits.at, 0, n * sizeof *tasks->awaits.at);
		memset(tasks->reached.at, 0, n * sizeof *tasks->reached.at);
	}
	tasks->n_paths = 0;
	for (size_t i = 0; i < graph->waiters.n; i++)
		tasks->awaits.at[graph->waiters.at[i]] = true;
	return 0;
}

static int note_running(struct target *target, struct tasks_interp *interp,
			const struct task_moment *moment)
{
	int rc = 0;
	for (size_t i = 0; rc >= 0 && i < interp->graph.threads.n; i++)
		if (interp->graph.threads.at[i].current != TASK_NONE)
			rc = note_path(target, interp, interp->graph.threads.at[i].current, moment);
	return rc;
}

/* Marks the task, and all that await it, directly or not. */
static void reach(struct target_tasks *tasks, const struct task_graph *graph, uint32_t index)
{
	size_t n = 0;
	uint32_t *list = tasks->path.at; /* has room for every task: each goes in once */
	if (!tasks->reached.at[index])
		list[n++] = index;
	tasks->reached.at[index] = true;
	while (n > 0) {
		const struct raw_task *task = &graph->tasks.at[list[--n]];
		for (uint32_t k = 0; k < task->n_waiters; k++) {
			uint32_t waiter = graph->waiters.at[task->first_waiter + k];
			if (!tasks->reached.at[waiter])
				list[n++] = waiter;
			tasks->reached.at[waiter] = true;
		}
	}
}

/* Tasks that await no other, and those that run; then one of each circle in which tasks await each other, and of
 * what awaits only such. */
static int note_leaves(struct target *target, struct tasks_interp *interp,
		       const struct task_moment *moment)
{
	struct target_tasks *tasks = target->tasks;
	const struct task_graph *graph = &interp->graph;
	int rc = 0;
	for (int circles = 0; circles < 2; circles++)
		for (uint32_t i = 0; rc >= 0 && i < graph->tasks.n; i++) {
			bool counts = circles ? !tasks->reached.at[i]
					      : !tasks->awaits.at[i] ||
							graph->tasks.at[i].current ||
							target_tasks_live(interp, i);
			if (graph->tasks.at[i].done || !counts)
				continue;
			rc = note_path(target, interp, i, moment);
			reach(tasks, graph, i);
		}
	return rc;
}

int task_path_note_all(struct target *target, struct tasks_interp *interp,
		       const struct task_moment *moment)
{
	int rc = prepare(target->tasks, &interp->graph);
	if (rc < 0)
		return rc;
	return target->tasks->mode == TACHY_ASYNC_ALL ? note_leaves(target, interp, moment)
						      : note_running(target, interp, moment);
}
