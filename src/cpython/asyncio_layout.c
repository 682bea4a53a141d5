/* SPDX-License-Identifier: MIT
 * Modules/_asynciomodule.c of each version: FutureObj_HEAD, TaskObj and, from 3.14 on,
 * struct _Py_AsyncioModuleDebugOffsets. What is returned lies inside of the structs that it is read from.
 */
#include "cpython/asyncio_layout.h"

#include <string.h>

#include "base/error.h"

#define TASK_SIZE_MIN 96u
#define TASK_SIZE_MAX 1024u
#define STATE_SIZE_MAX (16u << 20) /* of an interpreter or thread state */

static struct asyncio_layout none(void)
{
	struct asyncio_layout fields;
	memset(&fields, 0xff, sizeof fields); /* LAYOUT_NONE */
	return fields;
}

static void set_future(const struct layout *layout, struct asyncio_layout *fields)
{
	fields->loop = layout->object.size;
	fields->callback0 = layout->object.size + 8;
	fields->callbacks = layout->object.size + 24; /* callback0's context lies between */
}

/* From the end of a task: where task_fut_waiter lies, and how far before that the state. */
static const struct {
	uint8_t minor, waiter_from_end, state_before_waiter;
} ends[] = {
	{8, 40, 32}, {9, 40, 64}, {10, 40, 64}, {11, 48, 40}, {12, 48, 40}, {13, 32, 16},
};

int asyncio_layout_by_size(const struct layout *layout, uint64_t task_size,
			   struct asyncio_layout *ret_fields)
{
	struct asyncio_layout fields = none();
	if (task_size < TASK_SIZE_MIN || task_size > TASK_SIZE_MAX)
		return TACHY_ECORRUPT;
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		if (ends[i].minor != layout->minor)
			continue;
		set_future(layout, &fields);
		fields.task_size = (uint32_t)task_size;
		fields.waiter = (uint32_t)task_size - ends[i].waiter_from_end;
		fields.state = fields.waiter - ends[i].state_before_waiter;
		fields.coro = fields.waiter + 8;
		fields.name = fields.waiter + 16;
		/* Include/internal/pycore_tstate.h: right behind the PyThreadState */
		if (layout->minor == 13)
			fields.running_loop = layout->tstate.size;
		*ret_fields = fields;
		return 0;
	}
	return TACHY_EVERSION;
}

/* The words of struct _Py_AsyncioModuleDebugOffsets, in order. */
enum {
	WORD_TASK_SIZE,
	WORD_TASK_NAME,
	WORD_AWAITED_BY,
	WORD_IS_TASK,
	WORD_IS_SET,
	WORD_CORO,
	WORD_NODE,
	WORD_INTERP_SIZE,
	WORD_INTERP_TASKS,
	WORD_THREAD_SIZE,
	WORD_RUNNING_LOOP,
	WORD_RUNNING_TASK,
	WORD_THREAD_TASKS,
	N_WORDS
};

/* Word `i` is the offset of `width` bytes in a struct whose size is word `whole`. */
static bool lies_in(const uint64_t *words, int i, uint64_t width, int whole)
{
	return words[i] % (width < 8 ? width : 8) == 0 && words[i] < words[whole] &&
	       width <= words[whole] - words[i];
}

static bool fits(const struct layout *layout, const uint64_t *words)
{
	return words[WORD_TASK_SIZE] >= TASK_SIZE_MIN && words[WORD_TASK_SIZE] <= TASK_SIZE_MAX &&
	       words[WORD_INTERP_SIZE] == layout->interp.size &&
	       words[WORD_THREAD_SIZE] >= layout->tstate.size &&
	       words[WORD_THREAD_SIZE] <= STATE_SIZE_MAX &&
	       lies_in(words, WORD_TASK_NAME, 8, WORD_TASK_SIZE) &&
	       lies_in(words, WORD_AWAITED_BY, 8, WORD_TASK_SIZE) &&
	       lies_in(words, WORD_IS_TASK, 1, WORD_TASK_SIZE) &&
	       lies_in(words, WORD_IS_SET, 1, WORD_TASK_SIZE) &&
	       lies_in(words, WORD_CORO, 8, WORD_TASK_SIZE) && words[WORD_CORO] >= 8 &&
	       lies_in(words, WORD_NODE, 16, WORD_TASK_SIZE) &&
	       lies_in(words, WORD_INTERP_TASKS, 16, WORD_INTERP_SIZE) &&
	       lies_in(words, WORD_RUNNING_LOOP, 8, WORD_THREAD_SIZE) &&
	       lies_in(words, WORD_RUNNING_TASK, 8, WORD_THREAD_SIZE) &&
	       lies_in(words, WORD_THREAD_TASKS, 16, WORD_THREAD_SIZE);
}

int asyncio_layout_by_debug(const struct layout *layout, struct span bytes,
			    struct asyncio_layout *ret_fields)
{
	uint64_t words[N_WORDS];
	struct asyncio_layout fields = none();
	if (layout->minor < 14)
		return TACHY_EVERSION;
	if (!span_has(bytes, 0, sizeof words))
		return TACHY_ECORRUPT;
	memcpy(words, bytes.data, sizeof words);
	if (!fits(layout, words))
		return TACHY_ECORRUPT;
	set_future(layout, &fields);
	fields.task_size = (uint32_t)words[WORD_TASK_SIZE];
	fields.name = (uint32_t)words[WORD_TASK_NAME];
	fields.coro = (uint32_t)words[WORD_CORO];
	fields.waiter = fields.coro - 8; /* not told, but next to it in all of them */
	fields.awaited_by = (uint32_t)words[WORD_AWAITED_BY];
	fields.awaited_by_is_set = (uint32_t)words[WORD_IS_SET];
	fields.is_task = (uint32_t)words[WORD_IS_TASK];
	fields.node = (uint32_t)words[WORD_NODE];
	fields.tasks_of_interp = (uint32_t)words[WORD_INTERP_TASKS];
	fields.tasks_of_thread = (uint32_t)words[WORD_THREAD_TASKS];
	fields.running_loop = (uint32_t)words[WORD_RUNNING_LOOP];
	fields.running_task = (uint32_t)words[WORD_RUNNING_TASK];
	*ret_fields = fields;
	return 0;
}
