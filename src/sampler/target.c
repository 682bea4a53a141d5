/* SPDX-License-Identifier: MIT
 * A tick is two steps: target_read looks (and may be repeated when the target moved), target_commit makes
 * the last look count. With a GIL only its holder can change Python frames: when the GIL's switch
 * number, its holder and the thread list are what they were, only the holder is looked at.
 */
#include "sampler/target.h"

#include <stdlib.h>
#include <string.h>

#include "model/mode.h"
#include "sampler/target_interps.h"
#include "sampler/target_tasks.h"
#include "sampler/target_thread.h"
#include "sampler/thread_tid.h"

#define HEADS_NS 10000000u /* how long a new interpreter may go unseen */

bool target_tells_opcodes(const struct attachment *process)
{
	return instruction_possible(&process->runtime.layout);
}

int target_create(const struct attachment *process, struct profile *profile, struct sink *sink,
		  const struct target_options *options, struct target **ret_target)
{
	struct target *target = calloc(1, sizeof *target);
	if (!target)
		return TACHY_ENOMEM;
	target->process = process;
	target->layout = &process->runtime.layout;
	target->profile = profile;
	target->sink = sink;
	target->options = *options;
	map_init(&target->thread_by_addr);
	frame_places_init(&target->places);
	mem_view_init(&target->view, process->mem);
	code_cache_init(&target->codes, target->layout, &profile->stacks);
	instruction_reader_init(&target->instructions, target->layout);
	int rc = 0;
	if (options->async_mode != TACHY_ASYNC_OFF)
		rc = target_tasks_create(options->async_mode, &target->tasks);
	if (rc < 0) {
		target_destroy(target);
		return rc;
	}
	*ret_target = target;
	return 0;
}

int target_enrol(struct target *target)
{
	const struct attachment *process = target->process;
	if (target->enrolled)
		return 0;
	int rc = profile_add_process(target->profile, process->pid, process->command,
				     process->runtime.version, &target->process_index);
	target->enrolled = rc >= 0;
	if (target->enrolled)
		target->profile->processes.at[target->process_index].other_root =
			target->options.other_root;
	return rc;
}

void target_destroy(struct target *target)
{
	if (!target)
		return;
	for (size_t i = 0; i < target->threads.n; i++)
		target_thread_done(&target->threads.at[i]);
	vec_done(&target->threads);
	vec_done(&target->interps);
	vec_done(&target->touched);
	map_done(&target->thread_by_addr);
	frame_places_done(&target->places);
	mem_view_done(&target->view);
	instruction_reader_done(&target->instructions);
	code_cache_done(&target->codes);
	if (target->owned)
		attachment_done(target->owned);
	free(target->owned);
	target_tasks_destroy(target->tasks);
	free(target);
}

/* ---- reading ------------------------------------------------------------------------------- */

void target_note_time(struct target *target, uint64_t now_ns)
{
	if (now_ns - target->heads_ns < HEADS_NS)
		return;
	target->heads_ns = now_ns;
	target->heads_due = true;
}

/* Ids, name and whether it is the main thread: as far as the thread state tells by now. */
static int identify(struct target *target, struct target_thread *thread,
		    const struct thread_state *state)
{
	struct profile *profile = target->profile;
	struct profile_thread *entry = &profile->threads.at[thread->profile_thread];
	const struct interp_state *interp = &target->interps.at[thread->interp].now;
	char name[PROC_COMM_MAX] = "";
	thread->thread_id = state->thread_id;
	thread->native_id = state->native_thread_id;
	thread->tid = thread_tid_find(target, state);
	thread->main = interp->threads_main
			       ? interp->threads_main == state->addr
			       : interp->id == 0 && thread->tid == target->process->pid;
	entry->tid = (uint64_t)thread->tid;
	entry->main = thread->main;
	target->names_due = true;
	thread->named = false;
	if (thread->tid)
		proc_comm(target->process->pid, thread->tid, name, sizeof name);
	return profile_set_thread_name(profile, thread->profile_thread, name);
}

static int new_thread(struct target *target, const struct thread_state *state, size_t interp,
		      struct target_thread **ret_thread)
{
	struct target_thread thread = {.addr = state->addr,
				       .interp = (uint32_t)interp,
				       .interp_id = target->interps.at[interp].now.id,
				       .unique_id = state->unique_id};
	struct profile_thread entry = {.interpreter = target->interps.at[interp].now.id};
	int rc = target_enrol(target);
	entry.process = target->process_index;
	if (rc >= 0)
		rc = profile_add_thread(target->profile, &entry, &thread.profile_thread);
	if (rc >= 0)
		rc = identify(target, &thread, state);
	if (rc < 0)
		return rc;
	if (!vec_push(&target->threads, thread) ||
	    !map_put(&target->thread_by_addr, state->addr, target->threads.n - 1))
		return TACHY_ENOMEM;
	target->counts.threads_seen++;
	*ret_thread = &target->threads.at[target->threads.n - 1];
	return 0;
}

/* A thread state is made by the thread that starts another one. Until the new thread runs it has no ids (3.12 and
 * later: Python/pystate.c, bind_tstate) or those of its maker (3.11: init_threadstate; before: new_threadstate;
 * Modules/_threadmodule.c, thread_run, sets its own). */
static bool is_unborn(const struct target *target, const struct thread_state *state, size_t interp)
{
	bool no_native_id = target->layout->tstate.native_thread_id != LAYOUT_NONE &&
			    !state->native_thread_id;
	if (state->top && state->top != state->base_frame)
		return false;
	if (!state->thread_id || no_native_id)
		return true;
	for (size_t i = 0; i < target->threads.n; i++) {
		const struct target_thread *other = &target->threads.at[i];
		if (other->addr && other->addr != state->addr && other->interp == interp &&
		    other->thread_id == state->thread_id)
			return true;
	}
	return false;
}

#define UNBORN 1

/* The thread behind a thread state's address, or UNBORN; a new one when the address was taken over by another. */
static int thread_slot(struct target *target, const struct thread_state *state, size_t interp,
		       struct target_thread **ret_thread)
{
	uint64_t i;
	if (map_get(&target->thread_by_addr, state->addr, &i)) {
		struct target_thread *thread = &target->threads.at[i];
		bool same = thread->interp == interp && thread->addr == state->addr &&
			    thread->interp_id == target->interps.at[interp].now.id &&
			    thread->unique_id == state->unique_id;
		if (same && thread->thread_id == state->thread_id &&
		    thread->native_id == state->native_thread_id) {
			*ret_thread = thread;
			return 0;
		}
		thread->addr = 0; /* ended; removed when a walk is committed */
		target->walk_due = true;
	}
	if (is_unborn(target, state, interp)) {
		target->unborn = true;
		return UNBORN;
	}
	return new_thread(target, state, interp, ret_thread);
}

/* A frame that has handled its exception leaves None behind in some versions (3.11 and before). */
static bool handles_exception(struct target *target, const struct thread_state *state)
{
	if (!state->handled || state->handled == target->none)
		return false;
	if (target->none || !object_is(&target->view, target->layout, state->handled, "NoneType"))
		return true;
	target->none = state->handled;
	return false;
}

static uint32_t thread_states(struct target *target, const struct target_thread *thread,
			      const struct thread_state *state, const struct interp_state *interp)
{
	uint32_t states = thread->main ? TACHY_STATE_MAIN : 0;
	bool attaches = target->layout->gil_design == GIL_ABSENT;
	bool holds = attaches ? state->attached
			      : interp->gil.locked && interp->gil.holder == thread->addr;
	if (attaches || interp->gil.known || state->holds_gil_known)
		states |= TACHY_STATE_GIL_KNOWN;
	if (holds)
		states |= TACHY_STATE_GIL;
	else if (state->gil_requested)
		states |= TACHY_STATE_GIL_WAITING;
	if (state->raising || handles_exception(target, state))
		states |= TACHY_STATE_EXCEPTION;
	if (holds && interp->collecting && interp->collector == thread->addr)
		states |= TACHY_STATE_GC;
	return states;
}

/* Whether a look at its stack is worth the while in this mode. What the kernel says is another matter. */
static bool counts_at_all(enum tachy_mode mode, uint32_t states)
{
	if (mode == TACHY_MODE_GIL && !(states & TACHY_STATE_GIL_KNOWN))
		return true;
	return mode == TACHY_MODE_CPU || mode_counts(mode, states);
}

static int touch(struct target *target, const struct target_thread *thread)
{
	uint32_t index = (uint32_t)(thread - target->threads.at);
	return vec_push(&target->touched, index) ? 0 : TACHY_ENOMEM;
}

/* Where the leaf of a thread may be assumed to be; NULL: it must be read. Who holds the GIL is on the move. */
static const struct thread_leaf *assumed_leaf(const struct target *target, size_t interp,
					      raddr addr)
{
	uint64_t i;
	const struct gil_state *gil = &target->interps.at[interp].now.gil;
	if (target->layout->frames != FRAMES_CFRAME || !gil->known || gil->holder == addr ||
	    !map_get(&target->thread_by_addr, addr, &i))
		return NULL;
	return &target->threads.at[i].leaf;
}

/* One thread of the list; its own failure is its own (thread->status), but for a torn copy that can be
 * taken again. */
static int read_thread(struct target *target, size_t interp, raddr addr, bool check, bool salvage,
		       raddr *ret_next)
{
	struct thread_state state;
	struct target_thread *thread;
	int rc = thread_read(&target->view, target->layout, addr,
			     assumed_leaf(target, interp, addr), &state);
	if (rc < 0)
		return rc;
	*ret_next = state.next;
	if (state.interp != target->interps.at[interp].now.addr)
		return TACHY_ETORN; /* it is being made, or has just ended */
	rc = thread_slot(target, &state, interp, &thread);
	if (rc < 0 || rc == UNBORN)
		return rc < 0 ? rc : 0;
	if (target->walked && thread->seen_walk == target->walk)
		return TACHY_ETORN; /* the list leads back to it */
	thread->seen_walk = target->walk;
	if (target->options.main_thread_only && !thread->main)
		return 0;
	const struct interp_state *now = &target->interps.at[interp].now;
	thread->states = thread_states(target, thread, &state, now);
	thread->status = 0;
	/* a task's part of a stack is needed to find the others, whether the thread counts or not */
	thread->left_out = !target->tasks && !counts_at_all(target->options.mode, thread->states);
	if (thread->left_out)
		return touch(target, thread);
	check = check && !target_keeps_still(target, now, addr);
	thread->status = target_thread_read(target, thread, &state, now, check, salvage);
	bool again = thread->status < 0 && check && !salvage;
	if (thread->status == TACHY_ETORN && !check) /* stands still between two states */
		again = true;
	if (thread->status == TACHY_ENOMEM || thread->status == TACHY_EGONE || again)
		return thread->status;
	thread->marker = state.marker;
	thread->marker_seq = state.marker_seq;
	return touch(target, thread);
}

static int read_list(struct target *target, size_t interp, bool check, bool salvage)
{
	raddr addr = target->interps.at[interp].now.threads_head;
	for (uint32_t n = 0; addr && n < THREADS_MAX; n++) {
		raddr next = 0;
		int rc = read_thread(target, interp, addr, check, salvage, &next);
		if (rc < 0)
			return rc;
		addr = next;
	}
	return 0;
}

static int read_holder(struct target *target, size_t interp, bool check, bool salvage)
{
	uint64_t i;
	raddr next;
	raddr holder = target->interps.at[interp].now.gil.holder;
	if (!map_get(&target->thread_by_addr, holder, &i) ||
	    target->threads.at[i].interp != interp || target->threads.at[i].addr != holder)
		return 0; /* of another interpreter, or ended */
	return read_thread(target, interp, holder, check, salvage, &next);
}

/* Of no thread anything could be had. */
static bool nothing_read(const struct target *target)
{
	for (size_t i = 0; i < target->touched.n; i++)
		if (target->threads.at[target->touched.at[i]].status >= 0)
			return false;
	return target->touched.n && target->touched.n == target->threads.n;
}

raddr target_switches_at(const struct target *target)
{
	const struct gil_state *gil = target->interps.n ? &target->interps.at[0].now.gil : NULL;
	if (target->threads.n < 2 || !gil || !gil->known || !gil->counts_switches)
		return 0;
	return gil_switch_number_addr(target->layout, gil);
}

void target_watch_switches(struct target *target)
{
	struct mem_view *view = &target->view;
	raddr addr = target_switches_at(target);
	mem_view_set_first(view, addr);
	if (addr && (!view->n_tails || view->tail_addr[view->n_tails - 1] != addr))
		mem_view_set_tails(view, &addr, 1);
}

/* The GIL that went from one thread to another in the middle of the batch, or that may have. */
static raddr find_passed_gil(const struct target *target)
{
	const struct mem_view *view = &target->view;
	raddr addr = target_switches_at(target);
	uint64_t last;
	if (!addr)
		return 0;
	const struct gil_state *gil = &target->interps.at[0].now.gil;
	bool kept = view->n_tails && view->tail_addr[view->n_tails - 1] == addr &&
		    view->first_addr == addr && mem_view_tail(view, view->n_tails - 1, &last) &&
		    last == gil->switch_number;
	return kept ? 0 : gil->addr;
}

int target_read(struct target *target, bool check, bool salvage)
{
	target->touched.n = 0;
	target->unborn = false;
	target->joint.doubted = false;
	target->joint.n_words = 0;
	int rc = target_interps_read(target);
	if (rc < 0)
		return rc;
	target->passed_gil = find_passed_gil(target);
	target->walked = target->walk_due;
	for (size_t i = 0; i < target->interps.n; i++)
		if (target->interps.at[i].seen &&
		    !target_interp_only_holder(&target->interps.at[i]))
			target->walked = true;
	target->walk += target->walked;
	target->walk_due = target->walked; /* until it has been committed */
	for (size_t i = 0; i < target->interps.n; i++) {
		if (!target->interps.at[i].seen)
			continue;
		rc = target->walked ? read_list(target, i, check, salvage)
				    : read_holder(target, i, check, salvage);
		if (rc < 0)
			return rc;
	}
	if (nothing_read(target))
		return TACHY_ETORN;
	return target->tasks ? target_tasks_read(target, check, salvage) : 0;
}
