/* SPDX-License-Identifier: MIT
 * The frame cache: `frames` holds the stack as last resolved, ids[] the stack id at each depth, both from
 * the root up. A frame counts as the same only with the same address, code object, instruction and flags,
 * and with a code object verified to be the one it was. From the first difference on it is decoded anew.
 * Invariant: ids.n == frames.n.
 */
#include "sampler/target_thread.h"

#include <string.h>

#include "sampler/anchor.h"
#include "sampler/thread_weigh.h"

#define DEEP 64u /* frames from which on a stack is looked at in two parts */
#define TOP  16u /* frames of it that count as its top */

void target_thread_done(struct target_thread *thread)
{
	vec_done(&thread->frames);
	vec_done(&thread->fresh.frames);
	vec_done(&thread->ids);
	frame_look_done(&thread->look);
	tripwire_done(&thread->tripwire);
	kernel_word_done(&thread->kernel);
}

/* Frame `k` from the root of what is being read; k >= base. */
static struct raw_frame *fresh_frame(const struct target_thread *thread, size_t k)
{
	return &thread->fresh.frames.at[target_thread_depth(thread) - 1 - k];
}

/* How many frames from the root on are as they were. */
static size_t count_common(const struct target_thread *thread)
{
	size_t n = thread->frames.n < target_thread_depth(thread) ? thread->frames.n
								  : target_thread_depth(thread);
	size_t k = thread->base;
	while (k < n && raw_frame_same(&thread->frames.at[k], fresh_frame(thread, k)))
		k++;
	return k;
}

/* Every frame's code object, verified; sets `common`. With an unchanged `generation` (3.14+) no code
 * object has been freed: what looks the same is the same. A frame whose code cannot be read is no frame
 * (yet, or any more): TACHY_ETORN, and *ret_dead is how many frames from the leaf on go with it. */
static int resolve_codes(struct target *target, struct target_thread *thread,
			 const struct interp_state *interp, size_t *ret_dead)
{
	uint64_t generation = interp->code_generation;
	size_t n = target_thread_depth(thread), common = count_common(thread);
	bool vouched = generation && generation == thread->generation;
	thread->common = thread->base;
	if (vouched)
		for (; thread->common < common; thread->common++)
			fresh_frame(thread, thread->common)->code_index =
				thread->frames.at[thread->common].code_index;
	for (size_t k = thread->common; k < n; k++) {
		struct raw_frame *frame = fresh_frame(thread, k);
		if (frame->flags.kind != RAW_PYTHON)
			continue;
		int rc = code_cache_get(&target->codes, &target->view, frame->code, interp->id,
					generation, &frame->code_index);
		if (rc == TACHY_ENOMEM || rc == TACHY_EGONE)
			return rc;
		if (rc < 0) {
			*ret_dead = n - k;
			return TACHY_ETORN;
		}
	}
	for (; thread->common < common; thread->common++)
		if (fresh_frame(thread, thread->common)->code_index !=
		    thread->frames.at[thread->common].code_index)
			break;
	return 0;
}

static void drop_leaf_frames(struct target_thread *thread, size_t n)
{
	struct raw_stack *stack = &thread->fresh;
	stack->frames.n -= n;
	memmove(stack->frames.at, stack->frames.at + n, stack->frames.n * sizeof *stack->frames.at);
	if (thread->common > target_thread_depth(thread))
		thread->common = target_thread_depth(thread);
}

/* Where the marker of a running collection goes: on the frame that it was started from, or on the leaf
 * of the thread that holds the GIL. */
static void place_gc(const struct target *target, const struct target_thread *thread,
		     const struct interp_state *interp, raddr *ret_frame, bool *ret_leaf)
{
	*ret_frame = 0;
	*ret_leaf = false;
	if (target->options.no_gc || !interp->collecting || interp->collector != thread->addr)
		return;
	*ret_frame = interp->gc_frame;
	*ret_leaf = !interp->gc_frame;
}

static bool gc_moved(const struct target *target, const struct target_thread *thread,
		     const struct interp_state *interp)
{
	raddr frame;
	bool leaf;
	place_gc(target, thread, interp, &frame, &leaf);
	return frame != thread->gc_frame;
}

/* Verifies the code objects of the frames taken over. What proves to be another one now is not taken over:
 * base becomes 0 and `fresh` must be walked anew, which the caller does on TACHY_EAGAIN. */
static int base_codes(struct target *target, struct target_thread *thread,
		      const struct interp_state *interp)
{
	uint64_t generation = interp->code_generation;
	raddr verified = 0;
	if (generation && generation == thread->generation)
		return 0;
	for (size_t k = 0; k < thread->base; k++) {
		const struct raw_frame *frame = &thread->frames.at[k];
		uint32_t index;
		if (frame->flags.kind != RAW_PYTHON || frame->code == verified)
			continue;
		int rc = code_cache_get(&target->codes, &target->view, frame->code, interp->id,
					generation, &index);
		if (rc < 0 || index != frame->code_index)
			return rc == TACHY_ENOMEM ? rc : TACHY_EAGAIN;
		verified = frame->code;
	}
	return 0;
}

/* Walks down to the marked frame only. False when there is none that can be trusted. */
static bool walk_to_anchor(struct target *target, struct target_thread *thread,
			   const struct thread_state *state, struct frame_walk_options options)
{
	options.stop_at = options.lowest = anchor_trust(thread, state, &thread->base);
	return options.stop_at &&
	       frame_walk(&target->view, target->layout, state, &options, &thread->fresh) >= 0 &&
	       thread->fresh.stopped;
}

/* Walks down to the frame that the tripwire vouches for. */
static bool walk_to_wire(struct target *target, struct target_thread *thread,
			 const struct thread_state *state, struct frame_walk_options options)
{
	size_t depth = tripwire_trusted(&thread->tripwire);
	if (!depth || depth > thread->frames.n || thread->cut)
		return false;
	thread->base = depth - 1;
	options.stop_at = options.lowest = thread->frames.at[thread->base].addr;
	return frame_walk(&target->view, target->layout, state, &options, &thread->fresh) >= 0 &&
	       thread->fresh.stopped && tripwire_whole(&thread->tripwire);
}

/* A deep stack mostly changes at its top: walks the top, then looks whether the rest is where and what it
 * was. */
static bool walk_top(struct target *target, struct target_thread *thread,
		     const struct thread_state *state, struct frame_walk_options options)
{
	if (thread->frames.n < DEEP || thread->cut)
		return false;
	thread->base = thread->frames.n - TOP;
	options.stop_at = thread->frames.at[thread->base].addr;
	return frame_walk(&target->view, target->layout, state, &options, &thread->fresh) >= 0 &&
	       thread->fresh.stopped &&
	       frame_all_same(&target->view, target->layout, thread->frames.at, thread->base);
}

/* The frames that are not as they were into `fresh`, what they stand on into `base`. */
static int walk(struct target *target, struct target_thread *thread,
		const struct thread_state *state, const struct interp_state *interp)
{
	struct frame_walk_options options = {.entries = target->options.native};
	if (thread->frames.n && !thread->cut)
		options.root_back = thread->frames.at[0].back;
	if (!gc_moved(target, thread,
		      interp)) { /* else the ids of the frames below change as well */
		if (target->options.anchor && walk_to_anchor(target, thread, state, options))
			return 0;
		if (walk_to_wire(target, thread, state, options))
			return 0;
		int rc = TACHY_EAGAIN;
		if (walk_top(target, thread, state, options))
			rc = base_codes(target, thread, interp);
		if (rc != TACHY_EAGAIN)
			return rc;
	}
	thread->base = 0;
	return frame_walk(&target->view, target->layout, state, &options, &thread->fresh);
}

static bool is_leaving(struct target *target, const struct raw_frame *frame)
{
	return frame->flags.kind == RAW_PYTHON &&
	       instruction_leaves(&target->instructions, &target->view,
				  code_cache_entry(&target->codes, frame->code_index),
				  frame->code_index, frame->bytecode, frame->at);
}

/* Frames of the leaf's side without the signs of life. What is as it was when it was last looked at needs
 * no other look, but for the frame that the first new one stands on. */
static size_t count_dead(struct target *target, struct target_thread *thread, bool strict)
{
	size_t n_changed = target_thread_depth(thread) - thread->common, n = thread->fresh.frames.n;
	struct raw_frame *frames = thread->fresh.frames.at;
	if (n_changed < n)
		n = n_changed + 1;
	/* up to 3.13 a leaf saves its stack pointer at its end only, or for a callee that came or went */
	bool tells = n && target->layout->minor < 14 && !frames[0].flags.running;
	for (size_t i = tells ? 0 : 1; i < n; i++)
		frames[i].leaving = is_leaving(target, &frames[i]);
	return frame_count_dead(target->layout, &target->codes, &thread->fresh, n, strict);
}

/* 3.8 - 3.10: every Python frame has entered a recursive call, so that there are never more. */
static bool has_more_than_counted(const struct layout *layout, const struct thread_state *state,
				  size_t depth)
{
	return layout->frames == FRAMES_OBJECTS && state->py_depth > 0 &&
	       depth > (size_t)state->py_depth;
}

static bool has_frames(const struct thread_state *state)
{
	return state->top && state->top != state->base_frame;
}

/* As walk(); where the newest C frame is not filled in yet (3.11, 3.12), by the one below it. */
static int walk_filled(struct target *target, struct target_thread *thread,
		       const struct thread_state *state, const struct interp_state *interp)
{
	struct thread_state before = *state;
	int rc = walk(target, thread, state, interp);
	if (target->layout->frames != FRAMES_CFRAME ||
	    (rc >= 0 && !frame_lost_callers(target->layout, &thread->fresh)) ||
	    thread_top_before(&target->view, target->layout, state, &before.top) < 0)
		return rc;
	return walk(target, thread, &before, interp);
}

/* The instructions of the frames that are new, and of the leaf: the bytecode of one that loops may have
 * been rewritten under it. A caller keeps the form in which it made its call. Of the leaf only, where no more
 * is wanted than to know whether it is in C code. */
static int read_opcodes(struct target *target, struct target_thread *thread)
{
	size_t n = target_thread_depth(thread);
	int rc = 0;
	bool all = target->options.opcodes;
	if (!(all || target->options.native) || !instruction_possible(target->layout) ||
	    !thread->fresh.frames.n)
		return 0;
	for (size_t k = thread->base; all && k < thread->common; k++)
		fresh_frame(thread, k)->opcode = thread->frames.at[k].opcode;
	for (size_t k = all && thread->common < n ? thread->common : n - 1; rc >= 0 && k < n; k++) {
		struct raw_frame *frame = fresh_frame(thread, k);
		if (frame->flags.kind == RAW_PYTHON)
			rc = instruction_read(&target->instructions, &target->view,
					      code_cache_entry(&target->codes, frame->code_index),
					      frame->code_index, frame->bytecode, frame->at,
					      &frame->opcode);
	}
	struct opcode leaf = fresh_frame(thread, n - 1)->opcode;
	if (rc >= 0 && all && thread->common == n && n > thread->base) {
		struct opcode before = thread->frames.at[n - 1].opcode;
		thread->common -= before.code != leaf.code || before.base != leaf.base;
	}
	return rc;
}

static int read_chain(struct target *target, struct target_thread *thread,
		      const struct thread_state *state, const struct interp_state *interp,
		      bool check, bool salvage)
{
	int rc = walk_filled(target, thread, state, interp);
	if (rc < 0)
		return rc;
	if (thread->fresh.status < 0 && check && !salvage)
		return TACHY_ETORN;
	if (check && !salvage &&
	    has_more_than_counted(target->layout, state, target_thread_depth(thread)))
		return TACHY_ETORN;
	if (check && has_frames(state) && !target_thread_depth(thread))
		return TACHY_ETORN; /* a leaf of zeros: a chunk that was just mapped */
	if (!check && frame_lost_callers(target->layout, &thread->fresh))
		return TACHY_ETORN; /* it stands between two states: let it go on */
	size_t dead = 0;
	rc = resolve_codes(target, thread, interp, &dead);
	if (rc >= 0 && check)
		dead = count_dead(target, thread, !salvage);
	if (!dead)
		return rc;
	if (check && !salvage)
		return TACHY_ETORN;
	drop_leaf_frames(thread, dead);
	target->counts.salvaged++;
	return target_thread_depth(thread) ? 0 : TACHY_ETORN; /* nothing saved is no empty stack */
}

/* A chain that broke, such as in a generator that was just suspended, tells nothing of its callers; what
 * they were, and that they live, is known all the same. */
static int salvage_callers(struct target *target, struct target_thread *thread,
			   const struct thread_state *state, const struct interp_state *interp)
{
	size_t dead = 0;
	thread->base = thread->common = 0;
	int rc = thread->cut ? TACHY_ETORN
			     : frame_rebuild(&target->view, target->layout, state,
					     thread->frames.at, thread->frames.n, &thread->fresh);
	if (rc >= 0)
		rc = resolve_codes(target, thread, interp, &dead);
	if (rc >= 0)
		dead = count_dead(target, thread, false);
	if (rc < 0 && !dead)
		return rc;
	drop_leaf_frames(thread, dead);
	target->counts.salvaged++;
	return target_thread_depth(thread) ? 0 : TACHY_ETORN;
}

/* In a copy that took a while frames need not belong together: has it doubted, or leaves them out. */
static int weigh(struct target *target, struct target_thread *thread,
		 const struct thread_state *state, const struct interp_state *interp)
{
	struct joint *joint = &target->joint;
	size_t n_apart = thread_count_apart(target, thread, state, interp);
	joint->doubted = joint->doubted || n_apart;
	if (!n_apart || !joint->solid)
		return 0;
	joint->doubted = false;
	drop_leaf_frames(thread, n_apart);
	if (!thread_is_own(thread))
		return salvage_callers(target, thread, state, interp);
	target->counts.salvaged++;
	return target_thread_depth(thread) ? 0 : TACHY_ETORN;
}

/* Frames above the root that C code called: what lies between them and their callers is in the C stack. */
static bool has_entries(const struct target_thread *thread)
{
	for (size_t k = 1; k < thread->frames.n; k++)
		if (thread->frames.at[k].flags.from_c)
			return true;
	return false;
}

/* The leaf of the next tick, where it may be assumed to be this one. */
static void note_leaf(const struct target *target, struct target_thread *thread,
		      const struct thread_state *state)
{
	bool fills = frame_leaf_fills(target->layout, &target->codes, state, &thread->fresh);
	thread->leaf = (struct thread_leaf){
		.top = fills ? state->top : 0,
		.cframe = state->cframe,
		.chunk = state->chunk,
		.chunk_top = state->chunk_top,
		.py_depth = state->py_depth,
	};
}

/* The stack without what lies in the C stack, for a thread that has not got the GIL: hundreds of them that have
 * woken since the last tick would need a page of the C stack each. False when it is not proved to be right. */
static bool read_assumed(struct target *target, struct target_thread *thread,
			 const struct thread_state *state, const struct interp_state *interp,
			 bool check)
{
	size_t dead = 0;
	if (!thread->frames.n || thread->frames.n >= DEEP || thread->cut || !interp->gil.known ||
	    interp->gil.holder == thread->addr || !(state->top_assumed || has_entries(thread)))
		return false;
	struct frame_walk_options options = {
		.entries = target->options.native,
		.root_back = thread->frames.at[0].back,
		.known = thread->frames.at,
		.n_known = thread->frames.n,
	};
	thread->base = 0;
	if (frame_walk(&target->view, target->layout, state, &options, &thread->fresh) < 0 ||
	    !thread->fresh.counted || thread->fresh.late ||
	    resolve_codes(target, thread, interp, &dead) < 0 ||
	    !frame_assumed_holds(target->layout, &target->codes, state, &thread->fresh) ||
	    (check && count_dead(target, thread, true)))
		return false;
	if (!state->top_assumed)
		note_leaf(target, thread, state);
	return true;
}

/* As the memory says, word by word. */
static int read_real(struct target *target, struct target_thread *thread,
		     const struct thread_state *assumed, const struct interp_state *interp,
		     bool check, bool salvage)
{
	struct thread_state state = *assumed;
	int rc = state.top_assumed ? thread_read_top(&target->view, target->layout, &state) : 0;
	if (rc < 0)
		return rc;
	rc = read_chain(target, thread, &state, interp, check, salvage);
	bool broke = rc == TACHY_ETORN || (rc >= 0 && thread->fresh.status < 0);
	if (broke && check && salvage && thread->frames.n) {
		int saved = salvage_callers(target, thread, &state, interp);
		rc = saved >= 0 || rc >= 0 ? saved : rc;
	}
	bool moved = check && thread_could_move(target, thread, interp);
	if (rc >= 0 && moved && !salvage && thread->fresh.late)
		rc = TACHY_ETORN;
	if (rc >= 0 && moved)
		rc = weigh(target, thread, &state, interp);
	if (rc >= 0)
		note_leaf(target, thread, &state);
	return rc;
}

int target_thread_read(struct target *target, struct target_thread *thread,
		       const struct thread_state *state, const struct interp_state *interp,
		       bool check, bool salvage)
{
	int rc = 0;
	if (!read_assumed(target, thread, state, interp, check))
		rc = read_real(target, thread, state, interp, check, salvage);
	else if (check && thread_could_move(target, thread, interp))
		rc = weigh(target, thread, state, interp);
	return rc < 0 ? rc : read_opcodes(target, thread);
}

int target_thread_push(struct target *target, const struct raw_frame *frame, raddr gc_frame,
		       stack_id *stack)
{
	struct stacks *stacks = &target->profile->stacks;
	frame_id id = stacks->native;
	if (frame->flags.kind == RAW_PYTHON) {
		if (code_cache_entry(&target->codes, frame->code_index)->shim)
			return 0;
		struct opcode none = {0, 0};
		int rc = code_cache_frame(&target->codes, frame->code_index, frame->at,
					  target->options.opcodes ? frame->opcode : none, &id);
		if (rc < 0)
			return rc;
	}
	int rc = stacks_push(stacks, *stack, id, stack);
	if (rc >= 0 && gc_frame && frame->addr == gc_frame)
		rc = stacks_push(stacks, *stack, stacks->gc, stack);
	return rc;
}

/* Takes frames and ids from depth `common` on from what was read. */
static int take_frames(struct target *target, struct target_thread *thread, size_t common,
		       raddr gc_frame, stack_id *ret_stack)
{
	struct stacks *stacks = &target->profile->stacks;
	size_t n = target_thread_depth(thread);
	stack_id stack = common ? thread->ids.at[common - 1] : STACK_EMPTY;
	int rc = 0;
	if (!vec_reserve(&thread->ids, n) || !vec_reserve(&thread->frames, n))
		return TACHY_ENOMEM;
	if (!common && thread->fresh.cut)
		rc = stacks_push(stacks, stack, stacks->cut, &stack);
	for (size_t k = common; rc >= 0 && k < n; k++) {
		thread->frames.at[k] = *fresh_frame(thread, k);
		rc = target_thread_push(target, &thread->frames.at[k], gc_frame, &stack);
		thread->ids.at[k] = stack;
	}
	thread->frames.n = thread->ids.n = rc >= 0 ? n : 0;
	*ret_stack = stack;
	return rc;
}

static void count_reuse(struct target *target, size_t n, size_t common)
{
	struct target_counts *counts = &target->counts;
	if (n && common == n)
		counts->frame_hits++;
	else if (common)
		counts->frame_partial++;
	else
		counts->frame_misses++;
	counts->frames_cached += common;
	counts->frames_read += n - common;
}

/* Whether the marker of C code goes on the leaf; that of a collection says as much. */
static bool is_in_c(const struct target *target, const struct target_thread *thread, raddr gc_frame)
{
	size_t n = target_thread_depth(thread);
	if (!target->options.native || !thread->fresh.frames.n)
		return false;
	const struct raw_frame *leaf = fresh_frame(thread, n - 1);
	return leaf->flags.kind == RAW_PYTHON && leaf->addr != gc_frame &&
	       instruction_calls_c(target->layout, leaf->opcode);
}

int target_thread_resolve(struct target *target, struct target_thread *thread,
			  const struct interp_state *interp)
{
	raddr gc_frame;
	bool gc_leaf;
	place_gc(target, thread, interp, &gc_frame, &gc_leaf);
	size_t n = target_thread_depth(thread), common = thread->common;
	if (gc_frame != thread->gc_frame || thread->cut != thread->fresh.cut)
		common = 0; /* base is 0 then, see walk() */
	count_reuse(target, n, common);
	stack_id stack;
	int rc = take_frames(target, thread, common, gc_frame, &stack);
	if (rc >= 0 && gc_leaf)
		rc = stacks_push(&target->profile->stacks, stack, target->profile->stacks.gc,
				 &stack);
	if (rc >= 0 && is_in_c(target, thread, gc_frame))
		rc = stacks_push(&target->profile->stacks, stack, target->profile->stacks.native,
				 &stack);
	if (rc < 0) {
		thread->frames.n = thread->ids.n = 0;
		return rc;
	}
	thread->cut = thread->fresh.cut;
	thread->generation = interp->code_generation;
	thread->gc_frame = gc_frame;
	thread->gc_leaf = gc_leaf;
	thread->stack = stack;
	if (!target->options.no_tripwire)
		tripwire_update(&thread->tripwire, target->layout, thread->tid, thread->frames.at,
				n, common);
	return 0;
}
