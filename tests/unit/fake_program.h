/* SPDX-License-Identifier: MIT
 * A random program in one thread of a fake world, whose stack is known at every tick: calls, calls from C,
 * generators, returns, and frames that go on.
 */
#ifndef FAKE_PROGRAM_H
#define FAKE_PROGRAM_H

#include "fake_world.h"

#define SMALL 12 /* calls or returns between two ticks, mostly */

struct truth {
	struct world w;
	struct py_thread *thread; /* of `w`, which runs the program */
	size_t depth_max;
	int f[PY_FRAMES_MAX]; /* which function each frame executes, and where */
	int32_t at[PY_FRAMES_MAX];
	uint64_t seed;
	size_t n_shown;
};

static inline void descend(struct truth *t)
{
	struct py_thread *thread = t->thread;
	int f = (int)(dice(&t->seed) % 6);
	uint64_t way = dice(&t->seed) % 16;
	if (way == 0)
		py_call_from_c(&t->w.t.py, thread, &t->w.f[f]);
	else if (way == 1 && thread->n)
		py_resume(&t->w.t.py, thread, &t->w.f[f], 0);
	else
		py_call(&t->w.t.py, thread, &t->w.f[f]);
	t->f[thread->n - 1] = f;
	t->at[thread->n - 1] = 8;
}

/* Some frame, mostly near the leaf, goes on to another instruction. */
static inline void move_one(struct truth *t)
{
	struct py_thread *thread = t->thread;
	size_t back = (size_t)(dice(&t->seed) % (dice(&t->seed) % 4 ? 4 : t->depth_max));
	if (back >= thread->n || !thread->frames[thread->n - 1 - back].code)
		return;
	size_t i = thread->n - 1 - back;
	t->at[i] = (int32_t)(dice(&t->seed) % (PY_CODE_UNITS - 4)) * 2 + 4;
	py_frame_at(&t->w.t.py, thread->frames[i].addr, &t->w.f[t->f[i]], t->at[i]);
}

static inline void live_on(struct truth *t)
{
	struct py_thread *thread = t->thread;
	uint64_t n = dice(&t->seed) % (dice(&t->seed) % 16 ? SMALL : t->depth_max);
	switch (dice(&t->seed) % 5) {
	case 0:
	case 1:
		for (; n && thread->n + 2 < t->depth_max; n--)
			descend(t);
		break;
	case 2:
	case 3:
		for (; n && thread->n > 1; n--)
			py_return(&t->w.t.py, thread);
		break;
	default:
		for (; n; n--)
			move_one(t);
	}
	if (!thread->n)
		descend(t);
}

static inline const struct target_thread *shown_thread(const struct world *w,
						       const struct py_thread *thread)
{
	const struct target *target = w->t.target;
	for (size_t i = 0; i < target->threads.n; i++)
		if (target->threads.at[i].addr == thread->addr)
			return &target->threads.at[i];
	abort();
}

static inline const struct target_thread *shown(const struct truth *t)
{
	return shown_thread(&t->w, t->thread);
}

/* What was told, from the leaf down; markers of C code aside. */
static inline void check_stack(struct truth *t, int tick)
{
	const struct py_thread *thread = t->thread;
	const struct target *target = t->w.t.target;
	const struct stacks *stacks = &t->w.t.profile->stacks;
	stack_id stack = shown(t)->stack;
	char name[] = "f0";
	for (size_t i = thread->n; i > 0; i--) {
		struct tachy_frame told;
		if (!thread->frames[i - 1].code)
			continue;
		const struct stack_node *node = stacks_node(stacks, stack);
		for (; node->depth && node->frame == stacks->native;
		     node = stacks_node(stacks, stack))
			stack = node->parent;
		stacks_describe(stacks, node->frame, &told);
		name[1] = (char)('0' + t->f[i - 1]);
		int32_t line = 10 * t->f[i - 1] + t->at[i - 1] / 4;
		if (!node->depth || strcmp(told.function, name) != 0 || told.line != line)
			fail_msg("3.%u, tick %d: frame %zu of %zu is %s:%d, told is %s:%d",
				 target->layout->minor, tick, i, thread->n, name, line,
				 told.function, told.line);
		stack = node->parent;
		t->n_shown++;
	}
	assert_int_equal(stack, STACK_EMPTY);
}

#endif
