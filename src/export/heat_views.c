/* SPDX-License-Identifier: MIT
 * Counts what each part would hold before it becomes a view.
 */
#include "export/heat_views.h"

#include <stdlib.h>

#include "base/error.h"

static const struct {
	const char *name;
	uint32_t mask, wanted;
} states[] = {
	{"on_cpu", TACHY_STATE_ON_CPU, TACHY_STATE_ON_CPU},
	{"off_cpu", TACHY_STATE_CPU_KNOWN | TACHY_STATE_ON_CPU, TACHY_STATE_CPU_KNOWN},
	{"gil", TACHY_STATE_GIL, TACHY_STATE_GIL},
	{"gil_waiting", TACHY_STATE_GIL_WAITING, TACHY_STATE_GIL_WAITING},
	{"exception", TACHY_STATE_EXCEPTION, TACHY_STATE_EXCEPTION},
	{"gc", TACHY_STATE_GC, TACHY_STATE_GC},
};

static int add(struct heat_views *views, const struct profile *profile, struct heat_view view)
{
	if (view.kind != HEAT_VIEW_ALL &&
	    (view.n_samples == 0 || view.n_samples == profile->n_samples))
		return 0;
	return vec_push(&views->views, view) ? 0 : TACHY_ENOMEM;
}

static int add_states(struct heat_views *views, const struct profile *profile)
{
	int rc = 0;
	for (size_t i = 0; i < sizeof states / sizeof states[0] && rc >= 0; i++) {
		struct heat_view view = {.kind = HEAT_VIEW_STATE,
					 .state = states[i].name,
					 .filter = HEAT_FILTER_ALL};
		view.filter.states_mask = states[i].mask;
		view.filter.states_wanted = states[i].wanted;
		for (size_t j = 0; j < profile->counts.n; j++)
			if ((profile->counts.at[j].states & states[i].mask) == states[i].wanted)
				view.n_samples += profile->counts.at[j].n_samples;
		rc = add(views, profile, view);
	}
	return rc;
}

struct part {
	uint32_t index;
	uint64_t n_samples;
};

static int most_first(const void *left, const void *right)
{
	const struct part *a = left, *b = right;
	if (a->n_samples != b->n_samples)
		return a->n_samples < b->n_samples ? 1 : -1;
	return (a->index > b->index) - (a->index < b->index);
}

/* Gives the number of those that hold something. */
static size_t count_parts(const struct profile *profile, enum heat_view_kind kind,
			  struct part *parts, size_t n)
{
	size_t n_used = 0;
	for (uint32_t i = 0; i < n; i++)
		parts[i].index = i;
	for (size_t i = 0; i < profile->counts.n; i++) {
		uint32_t at = profile->counts.at[i].thread;
		if (at < profile->threads.n && kind == HEAT_VIEW_PROCESS)
			at = profile->threads.at[at].process;
		if (at < n)
			parts[at].n_samples += profile->counts.at[i].n_samples;
	}
	qsort(parts, n, sizeof *parts, most_first);
	while (n_used < n && parts[n_used].n_samples > 0)
		n_used++;
	return n_used;
}

static int add_parts(struct heat_views *views, const struct profile *profile,
		     enum heat_view_kind kind, size_t n, size_t max, size_t *ret_left_out)
{
	struct part *parts = calloc(n + 1, sizeof *parts);
	if (!parts)
		return TACHY_ENOMEM;
	size_t n_used = count_parts(profile, kind, parts, n);
	int rc = 0;
	for (size_t i = 0; i < n_used && i < max && rc >= 0; i++) {
		struct heat_view view = {.kind = kind,
					 .index = parts[i].index,
					 .n_samples = parts[i].n_samples,
					 .filter = HEAT_FILTER_ALL};
		if (kind == HEAT_VIEW_THREAD)
			view.filter.thread = view.index;
		else
			view.filter.process = view.index;
		rc = add(views, profile, view);
	}
	*ret_left_out = n_used > max ? n_used - max : 0;
	free(parts);
	return rc;
}

int heat_views_init(const struct profile *profile, struct heat_views *ret_views)
{
	struct heat_views views = {.n_threads_left_out = 0};
	struct heat_view all = {.kind = HEAT_VIEW_ALL,
				.n_samples = profile->n_samples,
				.filter = HEAT_FILTER_ALL};
	size_t n_left_out;
	int rc = add(&views, profile, all);
	if (rc >= 0)
		rc = add_states(&views, profile);
	if (rc >= 0)
		rc = add_parts(&views, profile, HEAT_VIEW_PROCESS, profile->processes.n,
			       HEAT_PROCESSES_MAX, &n_left_out);
	if (rc >= 0)
		rc = add_parts(&views, profile, HEAT_VIEW_THREAD, profile->threads.n,
			       HEAT_THREADS_MAX, &views.n_threads_left_out);
	if (rc < 0)
		heat_views_done(&views);
	else
		*ret_views = views;
	return rc;
}

void heat_views_done(struct heat_views *views)
{
	vec_done(&views->views);
}
