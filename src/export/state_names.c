/* SPDX-License-Identifier: MIT
 * Hides two lists of words. New words go behind the old.
 */
#include "export/state_names.h"

#include "export/dump.h"

static const struct state_name names[] = {
	{TACHY_STATE_GIL, "gil"},       {TACHY_STATE_GIL_WAITING, "gil_waiting"},
	{TACHY_STATE_ON_CPU, "on_cpu"}, {TACHY_STATE_EXCEPTION, "exception"},
	{TACHY_STATE_GC, "gc"},         {0, NULL},
};

const struct state_name *state_names(void)
{
	return names;
}

void state_names_json(struct json_out *json, const char *key, uint32_t states)
{
	json_key_open(json, key, '[');
	for (const struct state_name *at = names; at->name; at++)
		if (states & at->bit)
			json_string(json, at->name);
	if (dump_thread_idle(states))
		json_string(json, "idle");
	json_close(json, ']');
}

const char *frame_kind_name(enum tachy_frame_kind kind)
{
	static const char *const kinds[] = {
		[TACHY_FRAME_PYTHON] = "python", [TACHY_FRAME_NATIVE] = "native",
		[TACHY_FRAME_GC] = "gc",         [TACHY_FRAME_CUT] = "cut",
		[TACHY_FRAME_TASK] = "task",
	};
	return (size_t)kind < sizeof kinds / sizeof kinds[0] ? kinds[kind] : "";
}
