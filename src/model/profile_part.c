/* SPDX-License-Identifier: MIT
 * Hides that threads get other numbers when those of other processes are left out.
 */
#include "model/profile_part.h"

#include <stdlib.h>

#include "base/error.h"

#define NOT_HERE UINT32_MAX

/* Thread numbers of the part by those of the whole. NULL: no memory. */
static uint32_t *take_threads(const struct profile *profile, uint32_t process, struct profile *part)
{
	uint32_t *numbers = malloc((profile->threads.n + 1) * sizeof *numbers);
	for (size_t i = 0; numbers && i < profile->threads.n; i++) {
		struct profile_thread thread = profile->threads.at[i];
		numbers[i] = NOT_HERE;
		if (thread.process != process)
			continue;
		thread.process = 0;
		numbers[i] = (uint32_t)part->threads.n;
		if (!vec_push(&part->threads, thread)) {
			free(numbers);
			return NULL;
		}
	}
	return numbers;
}

static bool take_counts(const struct profile *profile, const uint32_t *numbers,
			struct profile *part)
{
	uint32_t *places = malloc((profile->counts.n + 1) * sizeof *places);
	bool good = places != NULL;
	for (size_t i = 0; good && i < profile->counts.n; i++) {
		struct profile_count count = profile->counts.at[i];
		places[i] = STRIP_NONE;
		if (count.thread >= profile->threads.n || numbers[count.thread] == NOT_HERE)
			continue;
		count.thread = numbers[count.thread];
		places[i] = (uint32_t)part->counts.n;
		good = vec_push(&part->counts, count);
		part->n_samples += count.n_samples;
		part->weight_ns += count.weight_ns;
	}
	good = good && time_strip_copy(&profile->strip, places, &part->strip) >= 0;
	free(places);
	return good;
}

static bool take_timeline(const struct profile *profile, const uint32_t *numbers,
			  struct profile *part)
{
	for (size_t i = 0; i < profile->timeline.n; i++) {
		struct sample sample = profile->timeline.at[i];
		if (sample.thread >= profile->threads.n || numbers[sample.thread] == NOT_HERE)
			continue;
		sample.thread = numbers[sample.thread];
		if (!vec_push(&part->timeline, sample))
			return false;
	}
	return true;
}

int profile_part_init(const struct profile *profile, uint32_t process, struct profile *ret_part)
{
	struct profile part = *profile;
	part.processes.at = NULL;
	part.threads.at = NULL;
	part.counts.at = NULL;
	part.timeline.at = NULL;
	part.processes.n = part.processes.cap = part.threads.n = part.threads.cap = 0;
	part.counts.n = part.counts.cap = part.timeline.n = part.timeline.cap = 0;
	part.strip = (struct time_strip){.width_ns = 0};
	part.n_samples = part.weight_ns = 0;
	uint32_t *numbers = take_threads(profile, process, &part);
	bool good = numbers && vec_push(&part.processes, profile->processes.at[process]) &&
		    take_counts(profile, numbers, &part) && take_timeline(profile, numbers, &part);
	free(numbers);
	if (!good) {
		profile_part_done(&part);
		return TACHY_ENOMEM;
	}
	*ret_part = part;
	return 0;
}

void profile_part_done(struct profile *part)
{
	vec_done(&part->processes);
	vec_done(&part->threads);
	vec_done(&part->counts);
	vec_done(&part->timeline);
	time_strip_done(&part->strip);
}
