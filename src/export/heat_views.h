/* SPDX-License-Identifier: MIT
 * The parts of a profile that a heatmap can be switched to: all samples, those in one state, of one
 * process, of one thread. Only parts that hold something and are not the whole.
 */
#ifndef EXPORT_HEAT_VIEWS_H
#define EXPORT_HEAT_VIEWS_H

#include "export/line_heat.h"

#define HEAT_THREADS_MAX   32 /* threads that get a view: those with the most samples */
#define HEAT_PROCESSES_MAX 16

enum heat_view_kind { HEAT_VIEW_ALL, HEAT_VIEW_STATE, HEAT_VIEW_PROCESS, HEAT_VIEW_THREAD };

struct heat_view {
	enum heat_view_kind kind;
	const char *state; /* static; of HEAT_VIEW_STATE: "on_cpu", ... */
	uint32_t index;    /* of the process or thread in the profile */
	uint64_t n_samples;
	struct heat_filter filter;
};

struct heat_views {
	VEC(struct heat_view) views; /* the first is all samples */
	size_t n_threads_left_out;
};

/* 0 or TACHY_ENOMEM */
int heat_views_init(const struct profile *profile, struct heat_views *ret_views);
void heat_views_done(struct heat_views *views);

#endif
