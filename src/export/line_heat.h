/* SPDX-License-Identifier: MIT
 * Own and total of every source line, file, function, place in a line and call, over all samples or
 * those of one thread, process or state. What is several times in one stack (recursion) counts once
 * for that stack.
 */
#ifndef EXPORT_LINE_HEAT_H
#define EXPORT_LINE_HEAT_H

#include "export/heat_index.h"

struct heat {
	uint64_t own, total; /* thread samples: it was running; it or what it called */
	uint64_t own_ns, total_ns;
};

enum heat_by {
	HEAT_FILES,     /* index.files */
	HEAT_FUNCTIONS, /* function_id */
	HEAT_LINES,     /* index.lines */
	HEAT_SPOTS,     /* frame_id: columns and instruction */
	HEAT_CALLS,     /* index.calls */
	HEAT_CALLERS,   /* index.callers */
	HEAT_N_BY
};

/* Which samples count. HEAT_NONE: of any thread, of any process. */
struct heat_filter {
	uint32_t thread, process;
	uint32_t states_mask, states_wanted; /* (states & mask) == wanted */
};
#define HEAT_FILTER_ALL ((struct heat_filter){HEAT_NONE, HEAT_NONE, 0, 0})

struct line_heat {
	struct heat *by[HEAT_N_BY]; /* n[] long */
	size_t n[HEAT_N_BY];
	uint64_t n_samples, weight_ns; /* that passed the filter */
};

/* 0 or TACHY_ENOMEM. The stack without frames is the own time of the last file of the index. */
int line_heat_init(const struct heat_index *index, const struct heat_filter *filter,
		   struct line_heat *ret_heat);
void line_heat_done(struct line_heat *heat);

#endif
