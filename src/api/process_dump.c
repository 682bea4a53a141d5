/* SPDX-License-Identifier: MIT
 * One look at all stacks: the sampler's own reading, once, turned into plain structs in one arena.
 */
#include <stdlib.h>
#include <string.h>

#include "api/dump_work.h"
#include "api/handles.h"
#include "api/process_handle.h"
#include "base/error.h"
#include "sampler/snapshot.h"
#include "sampler/target_names.h"
#include "sampler/target_tasks.h"

/* A dump needs no counts. */
static int ignore_sample(struct sink *sink, const struct sample *sample)
{
	(void)sink;
	(void)sample;
	return 0;
}

static const struct sink_ops ignore_ops = {.name = "ignore", .sample = ignore_sample};

const char *dump_work_string(struct dump_work *work, const char *text)
{
	const char *copy = arena_strndup(&work->box->arena, text, strlen(text));
	return copy ? copy : "";
}

/* Leaf first, out of the prefix tree. */
int dump_work_frames(struct dump_work *work, stack_id stack, const struct tachy_frame **ret_frames,
		     size_t *ret_n)
{
	const struct stacks *stacks = &work->target->profile->stacks;
	size_t n = stacks_node(stacks, stack)->depth;
	struct tachy_frame *frames = arena_alloc(&work->box->arena, n * sizeof *frames);
	if (!frames)
		return TACHY_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct stack_node *node = stacks_node(stacks, stack);
		stacks_describe(stacks, node->frame, &frames[i]);
		frames[i].function = dump_work_string(work, frames[i].function);
		frames[i].file = dump_work_string(work, frames[i].file);
		frames[i].opcode = dump_work_string(work, frames[i].opcode);
		frames[i].base_opcode = dump_work_string(work, frames[i].base_opcode);
		stack = node->parent;
	}
	*ret_frames = frames;
	*ret_n = n;
	return 0;
}

/* By the kernel's word, asked once. Who holds the GIL waits for it no more. */
static uint32_t all_states(const struct target *target, const struct target_thread *thread)
{
	struct kernel_word word = {.open = false};
	uint32_t states = thread->states |
			  kernel_word_ask(&word, target->process->pid, thread->tid,
					  target->interps.at[thread->interp].now.gil.addr, 1);
	kernel_word_done(&word);
	if (states & TACHY_STATE_GIL)
		states &= ~(uint32_t)TACHY_STATE_GIL_WAITING;
	return states;
}

static int fill_thread(struct dump_work *work, const struct target_thread *from,
		       struct tachy_thread *to)
{
	const struct profile *profile = work->target->profile;
	const struct profile_thread *entry = &profile->threads.at[from->profile_thread];
	*to = (struct tachy_thread){
		.tid = entry->tid,
		.name = dump_work_string(work, strtab_get(profile->stacks.strings, entry->name)),
		.states = all_states(work->target, from),
		.status = from->status,
		.cut = from->cut,
	};
	return dump_work_frames(work, from->status < 0 ? STACK_EMPTY : from->stack, &to->frames,
				&to->n_frames);
}

static bool is_wanted(const struct dump_work *work, const struct target_thread *thread,
		      size_t interp)
{
	return thread->interp == interp &&
	       (!work->target->options.main_thread_only || thread->main);
}

/* Oldest first: the target lists its threads newest first, and so do we. */
static int fill_interpreter(struct dump_work *work, size_t index, struct tachy_interpreter *interp)
{
	const struct target *target = work->target;
	size_t n = 0;
	for (size_t i = 0; i < target->threads.n; i++)
		n += is_wanted(work, &target->threads.at[i], index);
	struct tachy_thread *threads = arena_alloc(&work->box->arena, n * sizeof *threads);
	if (!threads)
		return TACHY_ENOMEM;
	int rc = 0;
	size_t k = n;
	for (size_t i = 0; rc >= 0 && i < target->threads.n; i++)
		if (is_wanted(work, &target->threads.at[i], index))
			rc = fill_thread(work, &target->threads.at[i], &threads[--k]);
	*interp = (struct tachy_interpreter){.id = target->interps.at[index].now.id,
					     .threads = threads,
					     .n_threads = n};
	if (rc >= 0 && target->tasks && index < target->tasks->interps.n)
		rc = dump_tasks_fill(work, target->tasks->interps.at[index], interp);
	return rc;
}

static int by_id(const void *a, const void *b)
{
	int64_t x = ((const struct tachy_interpreter *)a)->id;
	int64_t y = ((const struct tachy_interpreter *)b)->id;
	return (x > y) - (x < y);
}

static int fill_dump(struct dump_work *work)
{
	const struct target *target = work->target;
	struct tachy_dump *dump = &work->box->dump;
	size_t n = target->interps.n, n_seen = 0;
	struct tachy_interpreter *interps = arena_alloc(&work->box->arena, n * sizeof *interps);
	if (!interps)
		return TACHY_ENOMEM;
	int rc = 0;
	for (size_t i = 0; rc >= 0 && i < n; i++)
		if (target->interps.at[i].seen)
			rc = fill_interpreter(work, i, &interps[n_seen++]);
	if (rc >= 0)
		qsort(interps, n_seen, sizeof *interps, by_id);
	dump->pid = target->process->pid;
	dump->version = dump_work_string(work, target->process->runtime.version);
	dump->free_threaded = target->layout->free_threaded;
	dump->interpreters = interps;
	dump->n_interpreters = n_seen;
	return rc;
}

/* One snapshot; a copy is enough where the target is not to be stopped, since it is checked. */
static int look_once(struct target *target, bool stop, struct tachy_error *err)
{
	struct snapshot snapshot;
	int rc = snapshot_init(&snapshot, target,
			       stop ? TACHY_SNAPSHOT_STOP : TACHY_SNAPSHOT_PARALLEL, true, NULL,
			       err);
	if (rc < 0)
		return rc;
	rc = snapshot_take(&snapshot);
	if (rc >= 0)
		rc = target_commit(target, 0, 0);
	if (rc >= 0 && target->tasks) { /* where they are is known only from the interpreters on */
		target_tasks_keep(target, UINT64_MAX);
		rc = snapshot_take(&snapshot);
		if (rc >= 0)
			rc = target_commit(target, 1, 0);
	}
	snapshot_done(&snapshot);
	if (rc >= 0)
		target_refresh_names(target);
	return rc < 0 ? error_set(err, rc, "cannot read the stacks of process %d: %s",
				  (int)target->process->pid, error_text(rc))
		      : 0;
}

static int build(struct target *target, bool stop, struct dump_box *box, struct tachy_error *err)
{
	struct dump_work work = {target, box};
	int rc = look_once(target, stop, err);
	if (rc < 0)
		return rc;
	rc = fill_dump(&work);
	return rc < 0 ? error_set(err, rc, "out of memory") : 0;
}

static int dump_with_profile(struct tachy_process *process,
			     const struct tachy_dump_options *options, struct profile *profile,
			     struct tachy_dump **ret_dump, struct tachy_error *err)
{
	struct sink sink = {&ignore_ops};
	struct target *target;
	struct target_options wanted = {.main_thread_only = options->main_thread_only,
					.no_gc = options->no_gc,
					.native = options->native,
					.opcodes = options->opcodes,
					.async_mode = options->async_mode};
	struct dump_box *box = calloc(1, sizeof *box);
	if (!box)
		return error_set(err, TACHY_ENOMEM, "out of memory");
	arena_init(&box->arena);
	box->pid = process->attachment.pid;
	int rc = target_create(&process->attachment, profile, &sink, &wanted, &target);
	if (rc < 0) {
		error_set(err, rc, "out of memory");
	} else {
		rc = build(target, options->stop, box, err);
		target_destroy(target);
	}
	if (rc < 0) {
		tachy_dump_free(&box->dump);
		return rc;
	}
	*ret_dump = &box->dump;
	return 0;
}

int tachy_process_dump(struct tachy_process *process, const struct tachy_dump_options *options,
		       struct tachy_dump **ret_dump, struct tachy_error *err)
{
	struct profile *profile;
	if (!options || options->size < sizeof *options)
		return error_set(err, TACHY_EINVAL, "tachy_dump_options.size is not set");
	if (options->opcodes && process_no_opcodes(process, err) < 0)
		return TACHY_EVERSION;
	int rc = profile_create(&profile);
	if (rc < 0)
		return error_set(err, rc, "out of memory");
	rc = dump_with_profile(process, options, profile, ret_dump, err);
	profile_destroy(profile);
	return rc;
}
