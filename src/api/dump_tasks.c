/* SPDX-License-Identifier: MIT
 * The graph of tasks as plain structs: sorted by thread and name, since they come in the order of their
 * addresses, and with indices that follow the order.
 */
#include <stdlib.h>
#include <string.h>

#include "api/dump_work.h"
#include "base/error.h"

struct order {
	const struct task_graph *graph;
	uint32_t task;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Numbers inside of names by their value: Task-9 before Task-10. */
static int compare_names(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t i = 0, k = 0;
	while (i < a_len && k < b_len) {
		if (!is_digit(a[i]) || !is_digit(b[k])) {
			if (a[i] != b[k])
				return (unsigned char)a[i] < (unsigned char)b[k] ? -1 : 1;
			i++;
			k++;
			continue;
		}
		size_t from = i, other = k;
		while (i < a_len && is_digit(a[i]))
			i++;
		while (k < b_len && is_digit(b[k]))
			k++;
		if (i - from != k - other)
			return i - from < k - other ? -1 : 1;
		int by_value = memcmp(a + from, b + other, i - from);
		if (by_value)
			return by_value;
	}
	return i < a_len ? 1 : k < b_len ? -1 : 0;
}

static int compare_tasks(const void *left, const void *right)
{
	const struct order *x = left, *y = right;
	const struct raw_task *a = &x->graph->tasks.at[x->task], *b = &y->graph->tasks.at[y->task];
	const char *names = x->graph->names.chars.at;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	int by_name = compare_names(names + a->name_at, a->name_len, names + b->name_at,
				    b->name_len);
	if (by_name)
		return by_name;
	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

static uint64_t tid_of(const struct target *target, const struct task_graph *graph,
		       const struct raw_task *task)
{
	uint64_t i;
	if (task->thread == TASK_NONE ||
	    !map_get(&target->thread_by_addr, graph->threads.at[task->thread].addr, &i))
		return 0;
	return (uint64_t)target->threads.at[i].tid;
}

static int fill_waiters(struct dump_work *work, const struct task_graph *graph,
			const uint32_t *place, const struct raw_task *from, struct tachy_task *to)
{
	size_t *waiters = arena_alloc(&work->box->arena, from->n_waiters * sizeof *waiters);
	if (!waiters)
		return TACHY_ENOMEM;
	for (uint32_t i = 0; i < from->n_waiters;
	     i++) /* who awaits a task that is shown is shown */
		waiters[i] = place[graph->waiters.at[from->first_waiter + i]];
	to->waiters = waiters;
	to->n_waiters = from->n_waiters;
	return 0;
}

static int fill_task(struct dump_work *work, const struct tasks_interp *interp, uint32_t index,
		     const uint32_t *place, struct tachy_task *to)
{
	const struct task_graph *graph = &interp->graph;
	const struct raw_task *from = &graph->tasks.at[index];
	stack_id stack;
	const char *name = arena_strndup(&work->box->arena, graph->names.chars.at + from->name_at,
					 from->name_len);
	*to = (struct tachy_task){
		.id = from->addr,
		.name = name ? name : "",
		.tid = tid_of(work->target, graph, from),
		.running = target_tasks_live(interp, index) != NULL,
		.python = from->python,
	};
	int rc = target_tasks_stack(work->target, interp, index, &stack);
	if (rc >= 0)
		rc = dump_work_frames(work, stack, &to->frames, &to->n_frames);
	return rc < 0 ? rc : fill_waiters(work, graph, place, from, to);
}

/* The tasks that run, and those that await them, directly or not: `wanted` is set for each. `list` has room
 * for all. */
static void mark_running(const struct tasks_interp *interp, uint32_t *list, bool *wanted)
{
	const struct task_graph *graph = &interp->graph;
	size_t n = 0;
	for (uint32_t i = 0; i < graph->tasks.n; i++) {
		wanted[i] = graph->tasks.at[i].current || target_tasks_live(interp, i);
		if (wanted[i])
			list[n++] = i;
	}
	while (n > 0) {
		const struct raw_task *task = &graph->tasks.at[list[--n]];
		for (uint32_t k = 0; k < task->n_waiters; k++) {
			uint32_t waiter = graph->waiters.at[task->first_waiter + k];
			if (!wanted[waiter])
				list[n++] = waiter;
			wanted[waiter] = true;
		}
	}
}

/* `order`: the tasks to show, sorted; `place`: where in it each stands. */
static size_t sort_tasks(const struct task_graph *graph, const bool *wanted, struct order *order,
			 uint32_t *place)
{
	size_t n = 0;
	for (uint32_t i = 0; i < graph->tasks.n; i++)
		if (!graph->tasks.at[i].done && wanted[i])
			order[n++] = (struct order){graph, i};
	if (n)
		qsort(order, n, sizeof *order, compare_tasks);
	for (size_t i = 0; i < n; i++)
		place[order[i].task] = (uint32_t)i;
	return n;
}

int dump_tasks_fill(struct dump_work *work, const struct tasks_interp *from,
		    struct tachy_interpreter *to)
{
	const struct task_graph *graph = &from->graph;
	size_t all = graph->tasks.n, n = 0;
	struct order *order = malloc((all + 1) * sizeof *order);
	uint32_t *place = calloc(all + 1, sizeof *place);
	struct tachy_task *tasks = arena_alloc(&work->box->arena, all * sizeof *tasks);
	bool *wanted = malloc(all + 1);
	int rc = order && place && tasks && wanted ? 0 : TACHY_ENOMEM;
	if (rc >= 0) {
		memset(wanted, true, all + 1);
		if (work->target->tasks->mode == TACHY_ASYNC_RUNNING)
			mark_running(from, place, wanted);
		n = sort_tasks(graph, wanted, order, place);
	}
	for (size_t i = 0; rc >= 0 && i < n; i++)
		rc = fill_task(work, from, order[i].task, place, &tasks[i]);
	free(order);
	free(place);
	free(wanted);
	to->async = true;
	to->tasks = tasks;
	to->n_tasks = rc < 0 ? 0 : n;
	to->n_strange_tasks = graph->n_strange;
	to->tasks_status = from->asyncio.status;
	to->tasks_cut = graph->cut;
	return rc;
}
