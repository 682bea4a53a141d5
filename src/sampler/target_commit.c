/* SPDX-License-Identifier: MIT
 * What a reading changes: each thread's run of ticks with one stack and one set of states goes on, or ends
 * and is handed to the sink. Invariant: every tick since a thread was first committed is in exactly one run.
 */
#include "model/mode.h"
#include "sampler/anchor.h"
#include "sampler/target.h"
#include "sampler/target_interps.h"
#include "sampler/target_tasks.h"
#include "sampler/target_thread.h"

/* When the run began; one that a flush has cut goes on from the tick after the flush. */
static uint64_t run_begin_ns(const struct target *target, const struct target_thread *thread)
{
	bool resumed = thread->run_ticks == target->flushed_ticks;
	return resumed ? target->resumed_ns : thread->run_time_ns;
}

/* Hands the run so far to the sink and begins it anew. */
static int end_run(struct target *target, struct target_thread *thread, uint32_t states)
{
	uint64_t n = target->total_ticks - thread->run_ticks;
	int rc = 0;
	bool counts = !target->tasks && mode_counts(target->options.mode, states);
	if (thread->running && n && counts) {
		struct sample sample = {.time_ns = run_begin_ns(target, thread),
					.weight_ns = target->total_weight_ns -
						     thread->run_weight_ns,
					.n_ticks = n,
					.thread = thread->profile_thread,
					.stack = thread->stack,
					.states = states};
		rc = target->sink->ops->sample(target->sink, &sample);
		target->counts.thread_samples += n;
	}
	thread->run_ticks = target->total_ticks;
	thread->run_weight_ns = target->total_weight_ns;
	return rc;
}

/* Asks the kernel who runs, where that is wanted. Before the threads are looked at: to one that is stopped
 * it would be said of all that they do not. */
void target_ask_kernel(struct target *target, uint64_t now_ns)
{
	if (!target->options.cpu_states)
		return;
	for (size_t i = 0; i < target->threads.n; i++) {
		struct target_thread *thread = &target->threads.at[i];
		target->counts.kernel_calls -= thread->kernel.n_asked;
		thread->kernel_states =
			kernel_word_ask(&thread->kernel, target->process->pid, thread->tid,
					target->interps.at[thread->interp].now.gil.addr, now_ns);
		target->counts.kernel_calls += thread->kernel.n_asked;
	}
}

/* Of both sources; who holds the GIL waits for it no more. */
static uint32_t all_states(const struct target *target, const struct target_thread *thread)
{
	if (!target->options.cpu_states)
		return thread->states;
	uint32_t states = thread->states | thread->kernel_states;
	if (states & TACHY_STATE_GIL)
		states &= ~(uint32_t)TACHY_STATE_GIL_WAITING;
	return states;
}

/* A thread that was not read keeps its stack; whether it runs can change all the same. */
static int commit_unread(struct target *target, struct target_thread *thread, uint64_t time_ns)
{
	uint32_t states = all_states(target, thread);
	if (!thread->running || states == thread->run_states)
		return 0;
	int rc = end_run(target, thread, thread->run_states);
	thread->run_states = states;
	thread->run_time_ns = time_ns;
	return rc;
}

static int commit_others(struct target *target, uint64_t time_ns)
{
	int rc = 0;
	for (size_t i = 0; i < target->threads.n; i++) {
		struct target_thread *thread = &target->threads.at[i];
		int sunk = thread->committed_tick == target->total_ticks + 1
				   ? 0
				   : commit_unread(target, thread, time_ns);
		rc = sunk < 0 ? sunk : rc;
	}
	return rc;
}

static int commit_thread(struct target *target, struct target_thread *thread, uint64_t time_ns)
{
	struct target_thread before = *thread;
	thread->committed_tick = target->total_ticks + 1;
	uint32_t states = all_states(target, thread);
	int rc = thread->status;
	bool counts = rc >= 0 && !thread->left_out;
	if (counts)
		rc = target_thread_resolve(target, thread, &target->interps.at[thread->interp].now);
	if (counts && rc >= 0 && target->options.anchor)
		anchor_update(target, thread);
	bool same = counts && rc >= 0 && before.running && thread->stack == before.stack &&
		    states == thread->run_states;
	if (same)
		return 0;
	stack_id stack = thread->stack;
	thread->stack = before.stack;
	int sunk = end_run(target, thread, thread->run_states);
	thread->stack = stack;
	thread->run_states = states;
	thread->run_time_ns = time_ns;
	thread->running = counts && rc >= 0;
	return sunk;
}

static void remove_thread(struct target *target, size_t i)
{
	struct target_thread *thread = &target->threads.at[i];
	target_thread_done(thread);
	*thread = target->threads.at[--target->threads.n];
	if (i < target->threads.n && thread->addr)
		map_put(&target->thread_by_addr, thread->addr, i);
}

/* Threads that the last walk of the lists did not meet have ended. */
static int remove_ended(struct target *target)
{
	int rc = 0;
	for (size_t i = target->threads.n; i > 0; i--) {
		struct target_thread *thread = &target->threads.at[i - 1];
		if (thread->addr && thread->seen_walk == target->walk)
			continue;
		int sunk = end_run(target, thread, thread->run_states);
		rc = sunk < 0 ? sunk : rc;
		if (thread->addr)
			map_remove(&target->thread_by_addr, thread->addr);
		remove_thread(target, i - 1);
	}
	return rc;
}

int target_commit(struct target *target, uint64_t time_ns, uint64_t weight_ns)
{
	int rc = 0;
	if (target->total_ticks == target->flushed_ticks)
		target->resumed_ns = time_ns;
	for (size_t i = 0; i < target->touched.n; i++) {
		int sunk = commit_thread(target, &target->threads.at[target->touched.at[i]],
					 time_ns);
		rc = sunk < 0 ? sunk : rc;
	}
	if (target->options.cpu_states) {
		int sunk = commit_others(target, time_ns);
		rc = sunk < 0 ? sunk : rc;
	}
	if (target->walked) {
		int sunk = remove_ended(target);
		rc = sunk < 0 ? sunk : rc;
		target->walk_due = target->unborn; /* to see when it does */
	}
	if (target->tasks) {
		int sunk = target_tasks_commit(target, time_ns);
		rc = sunk < 0 ? sunk : rc;
	}
	target_interps_settle(target);
	target->total_ticks++;
	target->total_weight_ns += weight_ns;
	return rc;
}

int target_flush(struct target *target)
{
	int rc = 0;
	for (size_t i = 0; i < target->threads.n; i++) {
		struct target_thread *thread = &target->threads.at[i];
		int sunk = end_run(target, thread, thread->run_states);
		rc = sunk < 0 ? sunk : rc;
	}
	if (target->tasks) {
		int sunk = target_tasks_flush(target);
		rc = sunk < 0 ? sunk : rc;
	}
	target->flushed_ticks = target->total_ticks;
	return rc;
}
