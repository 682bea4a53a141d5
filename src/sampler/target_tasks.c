/* SPDX-License-Identifier: MIT
 * Suspended tasks change only when a thread of their interpreter holds the GIL; whether one has since the last
 * tick cannot be known for the one that held it last, so that all of them are looked at in every tick - in the
 * same batch as the threads, from places that are planned.
 */
#include "sampler/target_tasks.h"

#include <string.h>

#include "sampler/target_thread.h"
#include "sampler/task_path.h"

#define LOCATE_FIRST_NS 5000000u /* how soon asyncio is noticed after its import */
#define LOCATE_TRIES    3
/* Its sets are looked up anew, since Lib/asyncio/tasks.py makes some of its own first and then takes those of
 * _asyncio: soon after it was found, and then ever more rarely. */
#define LOCATE_SOON_NS  10000000u
#define LOCATE_AGAIN_NS 1000000000u

int target_tasks_create(enum tachy_async mode, struct target_tasks **ret_tasks)
{
	struct target_tasks *tasks = calloc(1, sizeof *tasks);
	if (!tasks)
		return TACHY_ENOMEM;
	tasks->mode = mode;
	task_lanes_init(&tasks->lanes);
	*ret_tasks = tasks;
	return 0;
}

static void interp_free(struct tasks_interp *interp)
{
	asyncio_done(&interp->asyncio);
	task_graph_done(&interp->graph);
	map_done(&interp->by_frame);
	vec_done(&interp->live);
	vec_done(&interp->stacks);
	free(interp);
}

void target_tasks_destroy(struct target_tasks *tasks)
{
	if (!tasks)
		return;
	for (size_t i = 0; i < tasks->interps.n; i++)
		interp_free(tasks->interps.at[i]);
	vec_done(&tasks->interps);
	task_lanes_done(&tasks->lanes);
	vec_done(&tasks->path);
	vec_done(&tasks->reached);
	vec_done(&tasks->awaits);
	vec_done(&tasks->passed);
	vec_done(&tasks->text);
	free(tasks);
}

/* For the interpreter at `index`: a new one, or one in the place of another that has ended. */
static int put_interp(struct target *target, struct target_tasks *tasks, size_t index)
{
	struct tasks_interp *interp = calloc(1, sizeof *interp);
	if (!interp)
		return TACHY_ENOMEM;
	interp->interp = target->interps.at[index].now.addr;
	interp->id = target->interps.at[index].now.id;
	asyncio_init(&interp->asyncio, target->layout, interp->interp);
	task_graph_init(&interp->graph);
	map_init(&interp->by_frame);
	if (index < tasks->interps.n) {
		interp_free(tasks->interps.at[index]);
		tasks->interps.at[index] = interp;
	} else if (!vec_push(&tasks->interps, interp)) {
		interp_free(interp);
		return TACHY_ENOMEM;
	}
	return 0;
}

static bool is_put(const struct target *target, size_t index)
{
	const struct interp_state *now = &target->interps.at[index].now;
	const struct target_tasks *tasks = target->tasks;
	return index < tasks->interps.n && tasks->interps.at[index]->interp == now->addr &&
	       tasks->interps.at[index]->id == now->id;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

/* A thread that the walk at hand did not meet has ended: its memory is no thread state any more. */
static bool is_wanted(const struct target *target, const struct target_thread *thread,
		      size_t interp)
{
	return thread->addr && thread->interp == interp &&
	       (!target->walked || thread->seen_walk == target->walk) &&
	       (!target->options.main_thread_only || thread->main);
}

static int list_threads(struct target *target, struct tasks_interp *interp, size_t index)
{
	task_graph_reset(&interp->graph);
	for (size_t i = 0; i < target->threads.n; i++) {
		struct task_thread thread = {.addr = target->threads.at[i].addr,
					     .current = TASK_NONE};
		if (is_wanted(target, &target->threads.at[i], index) &&
		    !vec_push(&interp->graph.threads, thread))
			return TACHY_ENOMEM;
	}
	return 0;
}

static int read_opcode(struct target *target, struct raw_frame *frame)
{
	return instruction_read(&target->instructions, &target->view,
				code_cache_entry(&target->codes, frame->code_index),
				frame->code_index, frame->bytecode, frame->at, &frame->opcode);
}

/* Code objects of the frames that wait. A frame whose code cannot be read, or whose instruction lies outside of
 * it, is none: the copy is torn, or its task is left out. */
static int resolve_codes(struct target *target, struct tasks_interp *interp,
			 const struct interp_state *now, bool strict)
{
	struct task_graph *graph = &interp->graph;
	for (size_t i = 0; i < graph->tasks.n; i++) {
		struct raw_task *task = &graph->tasks.at[i];
		for (uint32_t k = 0; !task->done && k < task->n_frames; k++) {
			struct raw_frame *frame = &graph->frames.list.at[task->first_frame + k];
			int rc = code_cache_get(&target->codes, &target->view, frame->code, now->id,
						now->code_generation, &frame->code_index);
			if (rc == TACHY_ENOMEM || rc == TACHY_EGONE)
				return rc;
			if (rc >= 0 && !frame_in_code(&target->codes, frame))
				rc = TACHY_ETORN;
			if (rc >= 0 && target->options.opcodes)
				rc = read_opcode(target, frame);
			if (rc < 0 && strict)
				return TACHY_ETORN;
			if (rc < 0)
				task->done = true;
		}
	}
	return 0;
}

static int map_frames(struct tasks_interp *interp)
{
	const struct task_graph *graph = &interp->graph;
	map_clear(&interp->by_frame);
	for (uint32_t i = 0; i < graph->tasks.n; i++) {
		const struct raw_task *task = &graph->tasks.at[i];
		if (!task->done && task->coroutine.frame &&
		    !map_put(&interp->by_frame, task->coroutine.frame, i))
			return TACHY_ENOMEM;
	}
	return 0;
}

/* Frames of the thread as they are in the reading at hand, or were when it was last read. */
static size_t count_frames(const struct target_thread *thread, bool fresh)
{
	return fresh ? thread->base + thread->fresh.frames.n : thread->frames.n;
}

static const struct raw_frame *frame_of(const struct target_thread *thread, bool fresh, size_t k)
{
	if (!fresh || k < thread->base)
		return &thread->frames.at[k];
	return &thread->fresh.frames.at[thread->base + thread->fresh.frames.n - 1 - k];
}

static bool was_touched(const struct target *target, size_t thread)
{
	for (size_t i = 0; i < target->touched.n; i++)
		if (target->touched.at[i] == thread)
			return true;
	return false;
}

/* Each task that runs has its part of the stack of a thread: from the frame of its coroutine on, to that of the
 * next task, which it has begun to run itself (eager tasks) or else to the leaf. *ret_fits: no task that waits
 * has one. */
static int find_live(struct target *target, struct tasks_interp *interp, size_t index, bool reading,
		     bool *ret_fits)
{
	interp->live.n = 0;
	*ret_fits = true;
	if (!interp->by_frame.n)
		return 0;
	for (uint32_t i = 0; i < target->threads.n; i++) {
		const struct target_thread *thread = &target->threads.at[i];
		bool fresh = reading && was_touched(target, i);
		size_t n = count_frames(thread, fresh), before = interp->live.n;
		if (!is_wanted(target, thread, index) || thread->status < 0)
			continue;
		for (size_t k = 0; k < n; k++) {
			uint64_t task;
			if (!map_get(&interp->by_frame, frame_of(thread, fresh, k)->addr, &task))
				continue;
			if (interp->graph.tasks.at[task].coroutine.state != COROUTINE_RUNNING) {
				*ret_fits = false;
				continue;
			}
			struct live_task live = {(uint32_t)task, i, k, n};
			if (interp->live.n > before)
				interp->live.at[interp->live.n - 1].to = k;
			if (!vec_push(&interp->live, live))
				return TACHY_ENOMEM;
		}
	}
	return 0;
}

/* Tasks and threads were read one after the other: whether they can be of one moment. */
static int check_fit(struct target *target, struct tasks_interp *interp, size_t index)
{
	bool fits;
	size_t n_running = 0;
	int rc = find_live(target, interp, index, true, &fits);
	for (size_t i = 0; i < interp->graph.tasks.n; i++) {
		const struct raw_task *task = &interp->graph.tasks.at[i];
		n_running += !task->done && task->coroutine.state == COROUTINE_RUNNING;
	}
	if (rc < 0)
		return rc;
	return fits && (target->options.main_thread_only || n_running == interp->live.n)
		       ? 0
		       : TACHY_ETORN;
}

static int read_interp(struct target *target, struct tasks_interp *interp, size_t index, bool check,
		       bool salvage)
{
	bool strict = check && !salvage;
	int rc = list_threads(target, interp, index);
	if (rc < 0 || interp->asyncio.status < 0)
		return rc;
	rc = asyncio_read(&interp->asyncio, &target->view, target->tasks->mode == TACHY_ASYNC_ALL,
			  strict, &interp->graph);
	if (rc >= 0)
		rc = resolve_codes(target, interp, &target->interps.at[index].now, strict);
	if (rc >= 0)
		rc = map_frames(interp);
	if (rc >= 0 && strict)
		rc = check_fit(target, interp, index);
	if (rc == TACHY_ETORN && !strict) { /* nothing of it can be had this time */
		task_graph_reset(&interp->graph);
		rc = 0;
	}
	return rc;
}

int target_tasks_read(struct target *target, bool check, bool salvage)
{
	struct target_tasks *tasks = target->tasks;
	int rc = 0;
	for (size_t i = 0; rc >= 0 && i < target->interps.n; i++)
		rc = is_put(target, i) ? 0 : put_interp(target, tasks, i);
	for (size_t i = 0; rc >= 0 && i < target->interps.n; i++) {
		struct tasks_interp *interp = tasks->interps.at[i];
		interp->read = target->interps.at[i].seen;
		if (interp->read)
			rc = read_interp(target, interp, i, check, salvage);
	}
	return rc;
}

/* ---- committing ------------------------------------------------------------------------------------------ */

static struct task_moment moment_at(struct target *target, uint64_t time_ns)
{
	return (struct task_moment){
		.time_ns = time_ns,
		.total_ticks = target->total_ticks,
		.total_weight_ns = target->total_weight_ns,
		.mode = target->options.mode,
		.sink = target->sink,
		.n_samples = &target->counts.thread_samples,
	};
}

int target_tasks_commit(struct target *target, uint64_t time_ns)
{
	struct target_tasks *tasks = target->tasks;
	const struct task_moment moment = moment_at(target, time_ns);
	bool fits;
	int rc = 0;
	task_lanes_begin(&tasks->lanes);
	tasks->n_strange = 0;
	for (size_t i = 0; rc >= 0 && i < tasks->interps.n; i++) {
		struct tasks_interp *interp = tasks->interps.at[i];
		if (!interp->read)
			continue;
		rc = find_live(target, interp, i, false, &fits);
		if (rc >= 0)
			rc = task_path_note_all(target, interp, &moment);
		tasks->n_strange += interp->graph.n_strange;
	}
	int ended = task_lanes_end(&tasks->lanes, &moment);
	return rc < 0 ? rc : ended;
}

int target_tasks_flush(struct target *target)
{
	const struct task_moment moment = moment_at(target, 0);
	return task_lanes_flush(&target->tasks->lanes, &moment);
}

/* Whether it is time to look for asyncio, or for its sets anew. */
static bool is_due(struct target *target, struct tasks_interp *interp, uint64_t now_ns)
{
	if (now_ns - interp->located_ns >= interp->again_ns)
		return true;
	if (interp->asyncio.status >= 0 || interp->asyncio.status == TACHY_EVERSION ||
	    now_ns - interp->looked_ns < LOCATE_FIRST_NS)
		return false;
	interp->looked_ns = now_ns;
	return asyncio_may_be_there(&interp->asyncio, &target->view);
}

void target_tasks_keep(struct target *target, uint64_t now_ns)
{
	struct target_tasks *tasks = target->tasks;
	for (size_t i = 0; i < tasks->interps.n; i++) {
		struct tasks_interp *interp = tasks->interps.at[i];
		if (!interp->read || !is_due(target, interp, now_ns))
			continue;
		interp->located_ns = now_ns;
		int rc = TACHY_EAGAIN; /* the target runs on meanwhile, and may move what is read */
		for (int n = 0;
		     n < LOCATE_TRIES && rc < 0 && rc != TACHY_ENOENT && rc != TACHY_EVERSION; n++)
			rc = asyncio_locate(&interp->asyncio, target->process->pid, &target->view);
		interp->again_ns *= 2;
		if (rc >= 0 && !interp->found)
			interp->again_ns = LOCATE_SOON_NS;
		if (rc < 0 || interp->again_ns > LOCATE_AGAIN_NS)
			interp->again_ns = LOCATE_AGAIN_NS;
		interp->found |= rc >= 0;
	}
}

void target_tasks_count(const struct target_tasks *tasks, struct tachy_stats *stats)
{
	for (size_t i = 0; i < tasks->interps.n; i++) {
		const struct tasks_interp *interp = tasks->interps.at[i];
		stats->asyncio_found += interp->found;
		stats->asyncio_unreadable += !interp->found &&
					     interp->asyncio.status == TACHY_EVERSION;
	}
	stats->asyncio_not_followed += tasks->n_strange;
}
