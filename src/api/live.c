/* SPDX-License-Identifier: MIT
 * The sink that tells samples through a ring with one writer (the sampling thread) and one reader. A name
 * goes into the ring before the first sample that needs it; where the ring is full the sample is counted
 * as dropped, and names that did not fit are told before the next sample that does: ids never have gaps.
 *
 * The counters pass through three slots: one being written, one being read, one on the way.
 */
#include "tachyscope/live.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "api/session_handle.h"
#include "base/error.h"

#define EVENTS_DEFAULT 65536u
#define EVENTS_MAX     (1u << 24)
#define SLOT_FRESH     4u /* in `middle`, beside the slot's number */

/* What the reader was told of a thread. */
struct told_thread {
	str_id name;
	uint64_t tid;
	bool main;
};

struct tachy_live {
	struct sink sink; /* first */
	const struct profile *names;
	struct tachy_live_event *events;
	size_t mask;
	_Alignas(64) atomic_size_t written; /* by the writer; counts for ever */
	_Atomic uint64_t dropped;
	_Alignas(64) atomic_size_t read; /* by the reader */
	_Alignas(64) size_t room_from;   /* writer: `read` as it last saw it */
	/* writer: how much of the names has been told */
	uint32_t n_processes, n_functions, n_frames, n_nodes;
	VEC(struct told_thread) threads;
	struct tachy_stats stats[3];
	unsigned back, front; /* the writer's slot, the reader's */
	atomic_uint middle;
};

/* ---- writing: the sampling thread --------------------------------------------------------------- */

static bool push(struct tachy_live *live, const struct tachy_live_event *event)
{
	size_t at = atomic_load_explicit(&live->written, memory_order_relaxed);
	if (at - live->room_from > live->mask) {
		live->room_from = atomic_load_explicit(&live->read, memory_order_acquire);
		if (at - live->room_from > live->mask)
			return false;
	}
	live->events[at & live->mask] = *event;
	atomic_store_explicit(&live->written, at + 1, memory_order_release);
	return true;
}

static bool tell_processes(struct tachy_live *live)
{
	const struct profile *names = live->names;
	for (; live->n_processes < names->processes.n; live->n_processes++) {
		const struct profile_process *process = &names->processes.at[live->n_processes];
		struct tachy_live_event event = {.kind = TACHY_LIVE_PROCESS,
						 .id = live->n_processes};
		event.process.pid = process->pid;
		event.process.command = strtab_get(names->stacks.strings, process->command);
		event.process.version = strtab_get(names->stacks.strings, process->version);
		if (!push(live, &event))
			return false;
	}
	return true;
}

static bool push_thread(struct tachy_live *live, uint32_t id)
{
	const struct profile_thread *thread = &live->names->threads.at[id];
	struct tachy_live_event event = {.kind = TACHY_LIVE_THREAD, .id = id};
	event.thread.name = strtab_get(live->names->stacks.strings, thread->name);
	event.thread.tid = thread->tid;
	event.thread.interpreter = thread->interpreter;
	event.thread.process = thread->process;
	event.thread.main = thread->main;
	return push(live, &event);
}

/* All new ones, and this one if it has changed. */
static bool tell_threads(struct tachy_live *live, uint32_t id)
{
	const struct profile *names = live->names;
	while (live->threads.n < names->threads.n) {
		const struct profile_thread *thread = &names->threads.at[live->threads.n];
		struct told_thread told = {thread->name, thread->tid, thread->main};
		if (!vec_reserve(&live->threads, live->threads.n + 1) ||
		    !push_thread(live, (uint32_t)live->threads.n))
			return false;
		live->threads.at[live->threads.n++] = told;
	}
	const struct profile_thread *thread = &names->threads.at[id];
	struct told_thread *told = &live->threads.at[id];
	if (told->name == thread->name && told->tid == thread->tid && told->main == thread->main)
		return true;
	if (!push_thread(live, id))
		return false;
	*told = (struct told_thread){thread->name, thread->tid, thread->main};
	return true;
}

static bool tell_functions(struct tachy_live *live)
{
	const struct stacks *stacks = &live->names->stacks;
	for (; live->n_functions < stacks->functions.n; live->n_functions++) {
		const struct function *function = &stacks->functions.at[live->n_functions];
		struct tachy_live_event event = {.kind = TACHY_LIVE_FUNCTION,
						 .id = live->n_functions};
		event.function.name = strtab_get(stacks->strings, function->name);
		event.function.file = strtab_get(stacks->strings, function->file);
		event.function.first_line = function->first_line;
		event.function.kind = (enum tachy_frame_kind)function->kind;
		if (!push(live, &event))
			return false;
	}
	return true;
}

static bool tell_frames(struct tachy_live *live)
{
	const struct stacks *stacks = &live->names->stacks;
	for (; live->n_frames < stacks->frames.n; live->n_frames++) {
		const struct frame *frame = &stacks->frames.at[live->n_frames];
		struct tachy_live_event event = {.kind = TACHY_LIVE_FRAME, .id = live->n_frames};
		event.frame.function = frame->function;
		event.frame.line = frame->at.line;
		event.frame.opcode = strtab_get(stacks->strings, frame->opcode);
		event.frame.base_opcode = strtab_get(stacks->strings, frame->base_opcode);
		if (!push(live, &event))
			return false;
	}
	return true;
}

static bool tell_stacks(struct tachy_live *live)
{
	const struct stacks *stacks = &live->names->stacks;
	for (; live->n_nodes < stacks->nodes.n; live->n_nodes++) {
		const struct stack_node *node = &stacks->nodes.at[live->n_nodes];
		struct tachy_live_event event = {.kind = TACHY_LIVE_STACK, .id = live->n_nodes};
		event.stack.parent = node->parent;
		event.stack.frame = node->frame;
		if (!push(live, &event))
			return false;
	}
	return true;
}

static int tell_sample(struct sink *sink, const struct sample *sample)
{
	struct tachy_live *live = (struct tachy_live *)sink;
	struct tachy_live_event event = {.kind = TACHY_LIVE_SAMPLE, .id = sample->thread};
	event.sample.time_ns = sample->time_ns;
	event.sample.weight_ns = sample->weight_ns;
	event.sample.n_ticks = sample->n_ticks;
	event.sample.stack = sample->stack;
	event.sample.states = sample->states;
	if (!tell_processes(live) || !tell_threads(live, sample->thread) || !tell_functions(live) ||
	    !tell_frames(live) || !tell_stacks(live) || !push(live, &event))
		atomic_fetch_add_explicit(&live->dropped, sample->n_ticks, memory_order_relaxed);
	return 0;
}

static int begin(struct sink *sink, const struct profile *names)
{
	((struct tachy_live *)sink)->names = names;
	return 0;
}

static const struct sink_ops ops = {.name = "live", .begin = begin, .sample = tell_sample};

static void watch(void *arg, const struct tachy_stats *stats)
{
	struct tachy_live *live = arg;
	live->stats[live->back] = *stats;
	live->back = atomic_exchange(&live->middle, live->back | SLOT_FRESH) & ~SLOT_FRESH;
}

/* ---- reading ------------------------------------------------------------------------------------ */

size_t tachy_live_read(struct tachy_live *live, struct tachy_live_event *events, size_t n)
{
	size_t from = atomic_load_explicit(&live->read, memory_order_relaxed);
	size_t left = atomic_load_explicit(&live->written, memory_order_acquire) - from;
	if (n > left)
		n = left;
	for (size_t i = 0; i < n; i++)
		events[i] = live->events[(from + i) & live->mask];
	atomic_store_explicit(&live->read, from + n, memory_order_release);
	return n;
}

uint64_t tachy_live_dropped(const struct tachy_live *live)
{
	return atomic_load_explicit(&live->dropped, memory_order_relaxed);
}

void tachy_live_stats(struct tachy_live *live, struct tachy_stats *ret_stats)
{
	if (atomic_load(&live->middle) & SLOT_FRESH)
		live->front = atomic_exchange(&live->middle, live->front) & ~SLOT_FRESH;
	*ret_stats = live->stats[live->front];
	sampler_add_usage(ret_stats);
}

/* ---- making ------------------------------------------------------------------------------------- */

static int create(size_t n_events, struct tachy_live **ret_live)
{
	size_t room = 64;
	while (room < n_events)
		room *= 2;
	struct tachy_live *live = aligned_alloc(64, sizeof *live);
	struct tachy_live_event *events = malloc(room * sizeof *events);
	if (!live || !events) {
		free(live);
		free(events);
		return TACHY_ENOMEM;
	}
	*live = (struct tachy_live){.sink = {&ops},
				    .events = events,
				    .mask = room - 1,
				    .n_nodes = 1,
				    .back = 0,
				    .front = 1};
	atomic_init(&live->written, 0);
	atomic_init(&live->read, 0);
	atomic_init(&live->dropped, 0);
	atomic_init(&live->middle, 2);
	*ret_live = live;
	return 0;
}

void live_destroy(struct tachy_live *live)
{
	if (!live)
		return;
	vec_done(&live->threads);
	free(live->events);
	free(live);
}

int tachy_session_live(struct tachy_session *session, size_t n_events, struct tachy_live **ret_live,
		       struct tachy_error *err)
{
	struct tachy_live *live;
	if (session->live || session->has_targets || n_events > EVENTS_MAX)
		return error_set(err, TACHY_EINVAL,
				 "a session can be watched by one, before it has targets, through "
				 "at most %u events",
				 EVENTS_MAX);
	int rc = create(n_events ? n_events : EVENTS_DEFAULT, &live);
	if (rc >= 0 && fan_join(&session->sinks, &live->sink) < 0) {
		live_destroy(live);
		rc = TACHY_ENOMEM;
	}
	if (rc < 0)
		return error_set(err, rc, "out of memory");
	session->live = live;
	session->sampler.watcher = watch;
	session->sampler.watcher_arg = live;
	*ret_live = live;
	return 0;
}
