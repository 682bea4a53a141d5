/* SPDX-License-Identifier: MIT
 * Piece by piece under the lock, in an order that keeps every id good: what is copied later can only have
 * grown, so that whatever an earlier piece refers to is there. Only counts change after they were made; a
 * piece of them is whole, and all pieces are a few milliseconds apart.
 */
#include "model/profile_copy.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/mode.h"

#define PIECE_BYTES   65536u /* about 10 microseconds */
#define PIECE_STRINGS 2048u

/* struct profile's vectors are of different types with the same shape. */
struct shape {
	void *at;
	size_t n, cap;
};

/* 1: there is more, 0: complete as of now. */
static int copy_piece(struct shape *to, const struct shape *from, size_t size)
{
	size_t left = from->n - to->n, n = PIECE_BYTES / size;
	if (n > left)
		n = left;
	if (n == 0)
		return 0;
	if (!vec_grow(&to->at, &to->cap, to->n + n, size))
		return TACHY_ENOMEM;
	memcpy((char *)to->at + to->n * size, (const char *)from->at + to->n * size, n * size);
	to->n += n;
	return n < left;
}

static int copy_vector(void *to, const void *from, size_t size, pthread_mutex_t *lock)
{
	struct shape target, source;
	int rc;
	memcpy(&target, to, sizeof target);
	do {
		pthread_mutex_lock(lock);
		memcpy(&source, from, sizeof source);
		rc = copy_piece(&target, &source, size);
		pthread_mutex_unlock(lock);
	} while (rc > 0);
	memcpy(to, &target, sizeof target);
	return rc;
}

#define COPY(field) copy_vector(&copy->field, &profile->field, sizeof *copy->field.at, lock)

static int copy_strings(struct profile *copy, const struct profile *profile, pthread_mutex_t *lock)
{
	int rc;
	do {
		pthread_mutex_lock(lock);
		rc = strtab_borrow(profile->stacks.strings, PIECE_STRINGS, &copy->stacks.strings);
		pthread_mutex_unlock(lock);
	} while (rc > 0);
	return rc;
}

static void copy_facts(struct profile *copy, const struct profile *profile, pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
	copy->keeps_strip = profile->keeps_strip;
	copy->keeps_timeline = profile->keeps_timeline;
	copy->timeline_max = profile->timeline_max;
	copy->timeline_cut = profile->timeline_cut;
	copy->rate_hz = profile->rate_hz;
	copy->opcodes = profile->opcodes;
	copy->async_aware = profile->async_aware;
	copy->start_unix_ns = profile->start_unix_ns;
	copy->start_ns = profile->start_ns;
	copy->duration_ns = profile->duration_ns;
	copy->stacks.native = profile->stacks.native;
	copy->stacks.gc = profile->stacks.gc;
	copy->stacks.cut = profile->stacks.cut;
	pthread_mutex_unlock(lock);
}

/* Rows grow, and change places when buckets get longer: then from the first one again. */
static int copy_rows(struct time_strip *copy, const struct time_strip *strip, pthread_mutex_t *lock)
{
	struct shape target, source;
	int rc;
	do {
		pthread_mutex_lock(lock);
		if (copy->width_ns != strip->width_ns)
			copy->rows.n = 0;
		copy->start_ns = strip->start_ns;
		copy->width_ns = strip->width_ns;
		copy->end_ns = strip->end_ns;
		memcpy(&target, &copy->rows, sizeof target);
		memcpy(&source, &strip->rows, sizeof source);
		rc = copy_piece(&target, &source, sizeof *copy->rows.at);
		memcpy(&copy->rows, &target, sizeof target);
		pthread_mutex_unlock(lock);
	} while (rc > 0);
	return rc;
}

static int copy_all(struct profile *copy, const struct profile *profile, pthread_mutex_t *lock)
{
	copy_facts(copy, profile, lock);
	int rc = copy_rows(&copy->strip, &profile->strip, lock);
	if (rc >= 0)
		rc = COPY(counts);
	if (rc >= 0)
		rc = COPY(timeline);
	if (rc >= 0)
		rc = COPY(threads);
	if (rc >= 0)
		rc = COPY(processes);
	if (rc >= 0)
		rc = COPY(stacks.nodes);
	if (rc >= 0)
		rc = COPY(stacks.frames);
	if (rc >= 0)
		rc = COPY(stacks.functions);
	return rc < 0 ? rc : copy_strings(copy, profile, lock);
}

/* What the strip has of each count, which may be some samples older, so that all pages tell the same. */
static void sum_strip(struct profile *copy)
{
	for (size_t i = 0; i < copy->counts.n; i++)
		copy->counts.at[i].n_samples = copy->counts.at[i].weight_ns = 0;
	for (size_t i = 0; i < copy->strip.rows.n; i++) {
		const struct strip_row *row = &copy->strip.rows.at[i];
		copy->counts.at[row->count].n_samples += row->n_samples;
		copy->counts.at[row->count].weight_ns += row->weight_ns;
	}
}

/* The rows of counts that stay. */
static int renumber_strip(struct profile *copy, const uint32_t *numbers)
{
	struct time_strip strip;
	int rc = time_strip_copy(&copy->strip, numbers, &strip);
	time_strip_done(&copy->strip);
	if (rc >= 0)
		copy->strip = strip;
	return rc;
}

static int keep_mode(struct profile *copy, enum tachy_mode mode)
{
	uint32_t *numbers = malloc((copy->counts.n + 1) * sizeof *numbers);
	size_t n = 0;
	if (!numbers)
		return TACHY_ENOMEM;
	for (size_t i = 0; i < copy->counts.n; i++) {
		const struct profile_count *count = &copy->counts.at[i];
		numbers[i] = STRIP_NONE;
		if (!mode_counts(mode, count->states) || !count->n_samples)
			continue;
		copy->n_samples += count->n_samples;
		copy->weight_ns += count->weight_ns;
		numbers[i] = (uint32_t)n;
		copy->counts.at[n++] = *count;
	}
	copy->counts.n = n;
	n = 0;
	for (size_t i = 0; i < copy->timeline.n; i++)
		if (mode_counts(mode, copy->timeline.at[i].states))
			copy->timeline.at[n++] = copy->timeline.at[i];
	copy->timeline.n = n;
	copy->mode = mode;
	int rc = renumber_strip(copy, numbers);
	free(numbers);
	return rc;
}

int profile_copy(const struct profile *profile, pthread_mutex_t *lock, enum tachy_mode mode,
		 struct profile **ret_copy)
{
	struct profile *copy = calloc(1, sizeof *copy);
	if (!copy)
		return TACHY_ENOMEM;
	map_init(&copy->count_by_key);
	map_init(&copy->stacks.function_by_hash);
	map_init(&copy->stacks.frame_by_hash);
	map_init(&copy->stacks.node_by_key);
	int rc = copy_all(copy, profile, lock);
	if (rc >= 0 && copy->keeps_strip)
		sum_strip(copy);
	if (rc >= 0)
		rc = keep_mode(copy, mode);
	if (rc < 0) {
		profile_destroy(copy);
		return rc;
	}
	*ret_copy = copy;
	return 0;
}
