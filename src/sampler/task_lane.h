/* SPDX-License-Identifier: MIT
 * The runs of ticks in which a task kept its stack and states. A task that does not change costs its sink
 * nothing, and is handed on when it does, or ends.
 */
#ifndef SAMPLER_TASK_LANE_H
#define SAMPLER_TASK_LANE_H

#include "base/map.h"
#include "model/sink.h"

struct task_lane {
	uint64_t key; /* of the task */
	uint32_t thread; /* in the profile */
	stack_id stack;
	uint32_t states;
	uint64_t run_time_ns, run_ticks, run_weight_ns; /* the target's totals when the run began */
	bool resumes;  /* a flush has ended its run: the next one begins with the next tick */
	uint64_t seen; /* number of the tick that it was last met in */
};

struct task_lanes {
	VEC(struct task_lane) at;
	struct map by_key;
	uint64_t tick;
};

/* The target's totals before a tick, and its time. */
struct task_moment {
	uint64_t time_ns, total_ticks, total_weight_ns;
	enum tachy_mode mode;
	struct sink *sink;
	uint64_t *n_samples; /* counts what the sink is given */
};

void task_lanes_init(struct task_lanes *lanes);
void task_lanes_done(struct task_lanes *lanes);

/* A tick: begin, one call for each task in it, end. Runs that are over go to the sink. */
void task_lanes_begin(struct task_lanes *lanes);
int task_lanes_note(struct task_lanes *lanes, const struct task_moment *moment, uint64_t key,
		    uint32_t thread, stack_id stack, uint32_t states);
int task_lanes_end(struct task_lanes *lanes, const struct task_moment *moment);
/* Gives the sink all runs so far, and lets them go on. */
int task_lanes_flush(struct task_lanes *lanes, const struct task_moment *moment);

#endif
