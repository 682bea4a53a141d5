/* SPDX-License-Identifier: MIT
 * The aggregate: one count per (thread, stack, states), found by a key that packs the three.
 * Invariant: n_samples and weight_ns are the sums over `counts`.
 */
#include "model/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"

int profile_create(struct profile **ret_profile)
{
	struct profile *profile = calloc(1, sizeof *profile);
	if (!profile)
		return TACHY_ENOMEM;
	map_init(&profile->count_by_key);
	int rc = stacks_init(&profile->stacks);
	if (rc < 0) {
		free(profile);
		return rc;
	}
	*ret_profile = profile;
	return 0;
}

void profile_destroy(struct profile *profile)
{
	if (!profile)
		return;
	stacks_done(&profile->stacks);
	vec_done(&profile->processes);
	vec_done(&profile->threads);
	vec_done(&profile->counts);
	vec_done(&profile->timeline);
	time_strip_done(&profile->strip);
	map_done(&profile->count_by_key);
	free(profile);
}

int profile_add_process(struct profile *profile, int64_t pid, const char *command,
			const char *version, uint32_t *ret_index)
{
	struct profile_process process = {.pid = pid};
	int rc = strtab_add(profile->stacks.strings, command, strlen(command), &process.command);
	if (rc >= 0)
		rc = strtab_add(profile->stacks.strings, version, strlen(version),
				&process.version);
	if (rc < 0)
		return rc;
	if (!vec_push(&profile->processes, process))
		return TACHY_ENOMEM;
	*ret_index = (uint32_t)(profile->processes.n - 1);
	return 0;
}

int profile_add_thread(struct profile *profile, const struct profile_thread *thread,
		       uint32_t *ret_index)
{
	if (!vec_push(&profile->threads, *thread))
		return TACHY_ENOMEM;
	*ret_index = (uint32_t)(profile->threads.n - 1);
	return 0;
}

int profile_set_thread_name(struct profile *profile, uint32_t thread, const char *name)
{
	str_id id;
	int rc = strtab_add(profile->stacks.strings, name, strlen(name), &id);
	if (rc >= 0)
		profile->threads.at[thread].name = id;
	return rc;
}

static bool same_cell(const struct profile_count *count, const struct sample *sample)
{
	return count->thread == sample->thread && count->stack == sample->stack &&
	       count->states == sample->states;
}

/* Whether there is one; if not, *ret_value is the key that it would have. */
static bool look_up(const struct profile *profile, const struct sample *sample, uint64_t *ret_value)
{
	uint64_t index,
		key = hash_pair((uint64_t)sample->thread << 32 | sample->stack, sample->states);
	for (; map_get(&profile->count_by_key, key, &index); key++)
		if (same_cell(&profile->counts.at[index], sample)) {
			*ret_value = index;
			return true;
		}
	*ret_value = key;
	return false;
}

bool profile_find_count(const struct profile *profile, const struct sample *sample,
			uint32_t *ret_count)
{
	uint64_t index;
	bool found = look_up(profile, sample, &index);
	if (found)
		*ret_count = (uint32_t)index;
	return found;
}

/* The index of the sample's cell; that of a new, empty one when there is none yet. */
static int find_cell(struct profile *profile, const struct sample *sample, uint32_t *ret_index)
{
	uint64_t value;
	if (!look_up(profile, sample, &value)) {
		struct profile_count fresh = {sample->thread, sample->stack, sample->states, 0, 0};
		if (profile->counts.n >= UINT32_MAX || !vec_push(&profile->counts, fresh))
			return TACHY_ENOMEM;
		if (!map_put(&profile->count_by_key, value, profile->counts.n - 1)) {
			profile->counts.n--;
			return TACHY_ENOMEM;
		}
		value = profile->counts.n - 1;
	}
	*ret_index = (uint32_t)value;
	return 0;
}

void profile_keep(struct profile *profile, enum tachy_timeline timeline)
{
	profile->keeps_strip = timeline >= TACHY_TIMELINE_STRIP;
	profile->keeps_timeline = timeline == TACHY_TIMELINE_SAMPLES;
}

bool profile_keeps(const struct profile *profile, enum tachy_timeline timeline)
{
	if (timeline == TACHY_TIMELINE_SAMPLES)
		return profile->keeps_timeline;
	return timeline == TACHY_TIMELINE_NONE || profile->keeps_strip;
}

static bool keep_time(struct profile *profile, const struct sample *sample)
{
	if (!profile->keeps_timeline)
		return true;
	if (profile->timeline_max && profile->timeline.n >= profile->timeline_max) {
		profile->timeline_cut = true;
		return true;
	}
	return vec_push(&profile->timeline, *sample);
}

static int keep_strip(struct profile *profile, const struct sample *sample, uint32_t count)
{
	if (!profile->keeps_strip)
		return 0;
	if (!profile->strip.width_ns)
		time_strip_begin(&profile->strip,
				 profile->start_ns ? profile->start_ns : sample->time_ns,
				 profile->rate_hz);
	return time_strip_add(&profile->strip, sample, count);
}

int profile_count_sample(struct profile *profile, const struct sample *sample)
{
	size_t n = profile->timeline.n;
	uint32_t index;
	int rc = find_cell(profile, sample, &index);
	if (rc >= 0)
		rc = keep_time(profile, sample) ? keep_strip(profile, sample, index) : TACHY_ENOMEM;
	if (rc < 0) {
		profile->timeline.n = n;
		return rc;
	}
	struct profile_count *count = &profile->counts.at[index];
	count->n_samples += sample->n_ticks;
	count->weight_ns += sample->weight_ns;
	profile->n_samples += sample->n_ticks;
	profile->weight_ns += sample->weight_ns;
	return 0;
}
