/* SPDX-License-Identifier: MIT
 * Invariant: a proof counts only when the last words were read from the very places that the stack at
 * hand names.
 */
#include "sampler/joint.h"

size_t joint_count_apart(const struct layout *layout, const struct raw_stack *stack)
{
	for (size_t i = stack->frames.n; i-- > 0;)
		if (stack->frames.at[i].flags.owner == layout->owner.generator)
			return i + 1;
	return 0;
}

/* The Python frame nearest to the root's side of the generators; a generator that is the root, itself. */
static const struct raw_frame *caller_of(const struct raw_stack *stack, size_t n_apart)
{
	size_t i = n_apart;
	while (i < stack->frames.n && stack->frames.at[i].flags.kind != RAW_PYTHON)
		i++;
	return &stack->frames.at[i < stack->frames.n ? i : n_apart - 1];
}

static void add(struct joint *joint, raddr addr, uint64_t value, uint64_t mask)
{
	if (joint->n_words < JOINT_WORDS_MAX)
		joint->words[joint->n_words++] = (struct joint_word){addr, value & mask, mask};
}

static uint64_t instruction(const struct raw_frame *frame)
{
	return frame->bytecode + (uint64_t)frame->at;
}

/* A generator that is suspended forgets by whom it was resumed (Python/ceval.c, `previous`). */
static void list_words(struct joint *joint, const struct layout *layout,
		       const struct thread_state *thread, const struct raw_stack *stack,
		       size_t n_apart)
{
	const struct raw_frame *caller = caller_of(stack, n_apart), *leaf = &stack->frames.at[0];
	size_t n = 0;
	joint->n_words = 0;
	for (size_t i = 0; i < n_apart && n < JOINT_GENERATORS_MAX; i++) {
		const struct raw_frame *frame = &stack->frames.at[i];
		if (frame->flags.owner != layout->owner.generator)
			continue;
		add(joint, frame->addr + layout->frame.back, frame->back, UINT64_MAX);
		if (i > 0) /* the leaf goes on all the time */
			add(joint, frame->addr + layout->frame.instr, instruction(frame),
			    UINT64_MAX);
		n++;
	}
	add(joint, caller->addr + layout->frame.code, caller->code, ~FRAME_CODE_TAGS);
	add(joint, caller->addr + layout->frame.instr, instruction(caller), UINT64_MAX);
	add(joint, thread->top_at, thread->top, UINT64_MAX);
	add(joint, leaf->addr + layout->frame.code, leaf->code, ~FRAME_CODE_TAGS);
}

static bool is_proved(const struct joint *joint, const struct mem_view *view)
{
	for (size_t i = 0; i < joint->n_words; i++) {
		const struct joint_word *word = &joint->words[i];
		uint64_t value;
		if (view->tail_addr[i] != word->addr || !mem_view_tail(view, i, &value) ||
		    (value & word->mask) != word->value)
			return false;
	}
	return true;
}

size_t joint_weigh(struct joint *joint, const struct layout *layout, const struct mem_view *view,
		   const struct thread_state *thread, const struct raw_stack *stack)
{
	size_t n_apart = joint_count_apart(layout, stack);
	if (!n_apart)
		return 0;
	list_words(joint, layout, thread, stack, n_apart);
	if (is_proved(joint, view))
		return 0;
	joint->doubted = true;
	return n_apart;
}

void joint_watch(const struct joint *joint, raddr last, struct mem_view *view)
{
	raddr addrs[JOINT_WORDS_MAX + 1];
	for (size_t i = 0; i < joint->n_words; i++)
		addrs[i] = joint->words[i].addr;
	addrs[joint->n_words] = last;
	mem_view_set_tails(view, addrs, joint->n_words + (last != 0));
}
