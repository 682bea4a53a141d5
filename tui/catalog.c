/* SPDX-License-Identifier: MIT
 * Invariant: every id that is stored here is smaller than the number of its kind, or NO_ID.
 */
#include "tui/catalog.h"

#include <string.h>

int catalog_init(struct catalog *catalog)
{
	struct told_stack empty = {0, 0};
	*catalog = (struct catalog){.opcodes = false};
	map_init(&catalog->line_by_key);
	return vec_push(&catalog->stacks, empty) ? 0 : TACHY_ENOMEM;
}

void catalog_done(struct catalog *catalog)
{
	vec_done(&catalog->processes);
	vec_done(&catalog->threads);
	vec_done(&catalog->functions);
	vec_done(&catalog->lines);
	vec_done(&catalog->frames);
	vec_done(&catalog->stacks);
	map_done(&catalog->line_by_key);
}

static int take_thread(struct catalog *catalog, const struct tachy_live_event *event)
{
	struct told_thread thread = {event->thread.name, event->thread.tid,
				     event->thread.interpreter, event->thread.process,
				     event->thread.main};
	if (thread.process >= catalog->processes.n || event->id > catalog->threads.n)
		return TACHY_ECORRUPT;
	if (event->id < catalog->threads.n) {
		catalog->threads.at[event->id] = thread;
		return 0;
	}
	return vec_push(&catalog->threads, thread) ? 0 : TACHY_ENOMEM;
}

/* The line of a function; made when it is new. */
static int line_of(struct catalog *catalog, uint32_t function, int32_t number, uint32_t *ret_line)
{
	uint64_t id, key = (uint64_t)function << 32 | (uint32_t)number;
	if (map_get(&catalog->line_by_key, key, &id)) {
		*ret_line = (uint32_t)id;
		return 0;
	}
	struct told_function *owner = &catalog->functions.at[function];
	struct told_line line = {function, number, owner->lines, NO_ID};
	if (!vec_push(&catalog->lines, line))
		return TACHY_ENOMEM;
	id = catalog->lines.n - 1;
	if (!map_put(&catalog->line_by_key, key, id)) {
		catalog->lines.n--;
		return TACHY_ENOMEM;
	}
	owner->lines = *ret_line = (uint32_t)id;
	return 0;
}

static int take_frame(struct catalog *catalog, const struct tachy_live_event *event)
{
	struct told_frame frame = {event->frame.opcode, event->frame.base_opcode, 0, NO_ID};
	if (event->id != catalog->frames.n || event->frame.function >= catalog->functions.n)
		return TACHY_ECORRUPT;
	int rc = line_of(catalog, event->frame.function, event->frame.line, &frame.line);
	if (rc < 0)
		return rc;
	frame.next = catalog->lines.at[frame.line].frames;
	if (!vec_push(&catalog->frames, frame))
		return TACHY_ENOMEM;
	catalog->lines.at[frame.line].frames = event->id;
	catalog->opcodes = catalog->opcodes || frame.opcode[0];
	return 0;
}

int catalog_take(struct catalog *catalog, const struct tachy_live_event *event)
{
	struct told_process process = {event->process.pid, event->process.command,
				       event->process.version};
	struct told_function function = {event->function.name, event->function.file,
					 event->function.first_line, event->function.kind, NO_ID};
	struct told_stack stack = {event->stack.parent, event->stack.frame};
	switch (event->kind) {
	case TACHY_LIVE_PROCESS:
		if (event->id != catalog->processes.n)
			return TACHY_ECORRUPT;
		return vec_push(&catalog->processes, process) ? 0 : TACHY_ENOMEM;
	case TACHY_LIVE_THREAD:
		return take_thread(catalog, event);
	case TACHY_LIVE_FUNCTION:
		if (event->id != catalog->functions.n)
			return TACHY_ECORRUPT;
		return vec_push(&catalog->functions, function) ? 0 : TACHY_ENOMEM;
	case TACHY_LIVE_FRAME:
		return take_frame(catalog, event);
	case TACHY_LIVE_STACK:
		if (event->id != catalog->stacks.n || stack.parent >= event->id ||
		    stack.frame >= catalog->frames.n)
			return TACHY_ECORRUPT;
		return vec_push(&catalog->stacks, stack) ? 0 : TACHY_ENOMEM;
	case TACHY_LIVE_SAMPLE:
		break;
	}
	return TACHY_ECORRUPT;
}
