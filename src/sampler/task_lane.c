/* SPDX-License-Identifier: MIT
 * Invariant: by_key holds the index of every lane. Lanes that a tick did not meet are ended and removed in
 * task_lanes_end.
 */
#include "sampler/task_lane.h"

#include <string.h>

#include "base/error.h"
#include "model/mode.h"

void task_lanes_init(struct task_lanes *lanes)
{
	memset(lanes, 0, sizeof *lanes);
	map_init(&lanes->by_key);
}

void task_lanes_done(struct task_lanes *lanes)
{
	vec_done(&lanes->at);
	map_done(&lanes->by_key);
}

/* Hands the run so far to the sink and begins it anew. */
static int end_run(struct task_lane *lane, const struct task_moment *moment)
{
	uint64_t n = moment->total_ticks - lane->run_ticks;
	int rc = 0;
	if (n && mode_counts(moment->mode, lane->states)) {
		struct sample sample = {.time_ns = lane->run_time_ns,
					.weight_ns = moment->total_weight_ns - lane->run_weight_ns,
					.n_ticks = n,
					.thread = lane->thread,
					.stack = lane->stack,
					.states = lane->states};
		rc = moment->sink->ops->sample(moment->sink, &sample);
		*moment->n_samples += n;
	}
	lane->run_ticks = moment->total_ticks;
	lane->run_weight_ns = moment->total_weight_ns;
	return rc;
}

void task_lanes_begin(struct task_lanes *lanes)
{
	lanes->tick++;
}

int task_lanes_note(struct task_lanes *lanes, const struct task_moment *moment, uint64_t key,
		    uint32_t thread, stack_id stack, uint32_t states)
{
	struct task_lane fresh = {.key = key,
				  .thread = thread,
				  .stack = stack,
				  .states = states,
				  .run_time_ns = moment->time_ns,
				  .run_ticks = moment->total_ticks,
				  .run_weight_ns = moment->total_weight_ns,
				  .seen = lanes->tick};
	uint64_t i;
	if (!map_get(&lanes->by_key, key, &i)) {
		bool added = vec_push(&lanes->at, fresh) &&
			     map_put(&lanes->by_key, key, lanes->at.n - 1);
		return added ? 0 : TACHY_ENOMEM;
	}
	struct task_lane *lane = &lanes->at.at[i];
	lane->seen = lanes->tick;
	if (lane->resumes)
		lane->run_time_ns = moment->time_ns;
	lane->resumes = false;
	if (lane->thread == thread && lane->stack == stack && lane->states == states)
		return 0;
	int rc = end_run(lane, moment);
	*lane = fresh;
	return rc;
}

int task_lanes_end(struct task_lanes *lanes, const struct task_moment *moment)
{
	int rc = 0;
	for (size_t i = lanes->at.n; i > 0; i--) {
		struct task_lane *lane = &lanes->at.at[i - 1];
		if (lane->seen == lanes->tick)
			continue;
		int sunk = end_run(lane, moment);
		rc = sunk < 0 ? sunk : rc;
		map_remove(&lanes->by_key, lane->key);
		*lane = lanes->at.at[--lanes->at.n];
		if (i - 1 < lanes->at.n && !map_put(&lanes->by_key, lane->key, i - 1))
			rc = TACHY_ENOMEM;
	}
	return rc;
}

int task_lanes_flush(struct task_lanes *lanes, const struct task_moment *moment)
{
	int rc = 0;
	for (size_t i = 0; i < lanes->at.n; i++) {
		int sunk = end_run(&lanes->at.at[i], moment);
		rc = sunk < 0 ? sunk : rc;
		lanes->at.at[i].resumes = true;
	}
	return rc;
}
