/* SPDX-License-Identifier: MIT
 * Every frame is compared with the patterns once, and every stack knows by its caller's stack what it
 * holds: a sample costs a look-up. Invariant: `stacks` holds an entry for each stack whose number is
 * smaller than its length, and callers have smaller numbers than what they call.
 */
#include "model/filter.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "model/mode.h"
#include "model/pattern.h"

#define MATCHES_INCLUDE 1u
#define MATCHES_EXCLUDE 2u
#define LOOKED_AT       4u
#define HELD_MAX        200000u /* samples */

/* ---- functions ---------------------------------------------------------------------------------- */

static bool any_matches(const char *const *patterns, size_t n, const struct tachy_frame *frame,
			const char *module)
{
	for (size_t i = 0; i < n; i++)
		if (pattern_matches(patterns[i], frame->function, frame->file, module))
			return true;
	return false;
}

static uint8_t frame_matches(struct filter *filter, frame_id id)
{
	const struct tachy_filter *wanted = &filter->wanted;
	struct tachy_frame frame;
	char module[PATTERN_MODULE_MAX];
	uint8_t *known = &filter->frames.at[id];
	if (*known & LOOKED_AT)
		return *known;
	stacks_describe(&filter->names->stacks, id, &frame);
	pattern_module(frame.file, module);
	*known = LOOKED_AT;
	if (any_matches(wanted->include, wanted->n_include, &frame, module))
		*known |= MATCHES_INCLUDE;
	if (any_matches(wanted->exclude, wanted->n_exclude, &frame, module))
		*known |= MATCHES_EXCLUDE;
	return *known;
}

/* Room for everything that has been named by now, and what is new looked at. */
static int learn(struct filter *filter)
{
	const struct stacks *stacks = &filter->names->stacks;
	size_t n_frames = stacks->frames.n, n_stacks = stacks->nodes.n;
	if (!vec_reserve(&filter->frames, n_frames) || !vec_reserve(&filter->stacks, n_stacks))
		return TACHY_ENOMEM;
	for (; filter->frames.n < n_frames; filter->frames.n++)
		filter->frames.at[filter->frames.n] = 0;
	for (; filter->stacks.n < n_stacks; filter->stacks.n++) {
		const struct stack_node *node = &stacks->nodes.at[filter->stacks.n];
		uint8_t matches = 0;
		if (filter->stacks.n > STACK_EMPTY)
			matches = filter->stacks.at[node->parent] |
				  frame_matches(filter, node->frame);
		filter->stacks.at[filter->stacks.n] = matches;
	}
	return 0;
}

static bool takes_stack(const struct filter *filter, stack_id stack)
{
	uint8_t matches = filter->stacks.at[stack];
	if (matches & MATCHES_EXCLUDE)
		return false;
	return !filter->wanted.n_include || (matches & MATCHES_INCLUDE);
}

/* ---- time ----------------------------------------------------------------------------------------- */

/* Of `n` ticks that are `step` apart, the first at `first`: how many come before `edge`. */
static uint64_t ticks_before(double first, double step, uint64_t n, double edge)
{
	if (edge <= first)
		return 0;
	double count = step > 0 ? (edge - first) / step : (double)n;
	if (count >= (double)n)
		return n;
	uint64_t whole = (uint64_t)count;
	return whole + ((double)whole < count);
}

/* The part of the run that lies in the range; false: none of it. */
static bool cut_time(const struct filter *filter, struct sample *sample)
{
	const struct tachy_filter *wanted = &filter->wanted;
	if (wanted->from_s <= 0 && wanted->to_s <= 0)
		return true;
	uint64_t n = sample->n_ticks;
	double first = (double)(int64_t)(sample->time_ns - filter->names->start_ns);
	double step = (double)sample->weight_ns / (double)n;
	uint64_t low = ticks_before(first, step, n, wanted->from_s * 1e9);
	uint64_t high = wanted->to_s > 0 ? ticks_before(first, step, n, wanted->to_s * 1e9) : n;
	if (high <= low)
		return false;
	if (high - low == n)
		return true;
	sample->time_ns += (uint64_t)(step * (double)low);
	sample->n_ticks = high - low;
	sample->weight_ns = (uint64_t)(step * (double)(high - low));
	return true;
}

uint64_t filter_duration(const struct filter *filter, uint64_t duration_ns)
{
	double end = (double)duration_ns, from = filter->wanted.from_s * 1e9;
	if (filter->wanted.to_s > 0 && filter->wanted.to_s * 1e9 < end)
		end = filter->wanted.to_s * 1e9;
	return end > from ? (uint64_t)(end - (from > 0 ? from : 0)) : 0;
}

/* ---- threads --------------------------------------------------------------------------------------- */

static bool is_wanted(const struct filter *filter, const struct profile_thread *thread)
{
	const struct tachy_filter *wanted = &filter->wanted;
	const char *name = strtab_get(filter->names->stacks.strings, thread->name);
	char tid[24];
	(void)snprintf(tid, sizeof tid, "%llu", (unsigned long long)thread->tid);
	for (size_t i = 0; i < wanted->n_threads; i++)
		if (strcmp(wanted->threads[i], tid) == 0 ||
		    fnmatch(wanted->threads[i], name, 0) == 0)
			return true;
	return false;
}

static struct filter_thread *look_at_thread(struct filter *filter, const struct sample *sample)
{
	const struct profile_thread *now = &filter->names->threads.at[sample->thread];
	while (filter->threads.n <= sample->thread)
		if (!vec_push(&filter->threads, ((struct filter_thread){.seen = false})))
			return NULL;
	struct filter_thread *thread = &filter->threads.at[sample->thread];
	if (thread->seen && thread->name == now->name)
		return thread;
	if (!thread->seen)
		thread->begin_ns = sample->time_ns;
	thread->seen = true;
	thread->name = now->name;
	thread->takes = is_wanted(filter, now);
	return thread;
}

static int pass(struct filter *filter, const struct sample *sample)
{
	return filter->next->ops->sample(filter->next, sample);
}

/* The samples of a thread that has just got a name that is wanted; those that nobody waits for any more go. */
static int release(struct filter *filter, uint32_t thread, uint64_t now_ns)
{
	size_t n = 0;
	int rc = 0;
	for (size_t i = 0; i < filter->held.n; i++) {
		const struct sample sample = filter->held.at[i];
		if (filter->threads.at[sample.thread].grown)
			continue;
		if (sample.thread == thread && rc >= 0)
			rc = pass(filter, &sample);
		else if (now_ns < sample.time_ns + 2 * FILTER_YOUNG_NS)
			filter->held.at[n++] = sample;
	}
	filter->held.n = n;
	return rc;
}

static int hold(struct filter *filter, const struct sample *sample)
{
	if (filter->held.n >= HELD_MAX)
		(void)release(filter, UINT32_MAX, sample->time_ns);
	if (filter->held.n >= HELD_MAX)
		return 0;
	return vec_push(&filter->held, *sample) ? 0 : TACHY_ENOMEM;
}

static int pass_by_thread(struct filter *filter, const struct sample *sample)
{
	if (!filter->wanted.n_threads)
		return pass(filter, sample);
	bool was_taken = sample->thread < filter->threads.n &&
			 filter->threads.at[sample->thread].takes;
	struct filter_thread *thread = look_at_thread(filter, sample);
	if (!thread)
		return TACHY_ENOMEM;
	if (sample->time_ns - thread->begin_ns >= FILTER_YOUNG_NS)
		thread->grown = true;
	if (!thread->takes)
		return thread->grown ? 0 : hold(filter, sample);
	int rc = was_taken || !filter->held.n ? 0
					      : release(filter, sample->thread, sample->time_ns);
	return rc < 0 ? rc : pass(filter, sample);
}

/* ---- the sink --------------------------------------------------------------------------------------- */

static int begin(struct sink *sink, const struct profile *names)
{
	struct filter *filter = (struct filter *)sink;
	filter->names = names;
	return filter->next->ops->begin ? filter->next->ops->begin(filter->next, names) : 0;
}

static int sample(struct sink *sink, const struct sample *given)
{
	struct filter *filter = (struct filter *)sink;
	struct sample sample = *given;
	filter->n_seen++;
	filter->n_cpu_known += (sample.states & TACHY_STATE_CPU_KNOWN) != 0;
	if (!mode_counts(filter->mode, sample.states) || !cut_time(filter, &sample))
		return 0;
	if (filter->wanted.n_include || filter->wanted.n_exclude) {
		int rc = learn(filter);
		if (rc < 0)
			return rc;
		if (!takes_stack(filter, sample.stack))
			return 0;
	}
	return pass_by_thread(filter, &sample);
}

/* A thread may have got its name after its last sample. */
static int end(struct sink *sink)
{
	struct filter *filter = (struct filter *)sink;
	int rc = 0;
	for (size_t i = 0; rc >= 0 && i < filter->held.n; i++) {
		const struct sample sample = filter->held.at[i];
		if (!filter->threads.at[sample.thread].grown &&
		    is_wanted(filter, &filter->names->threads.at[sample.thread]))
			rc = pass(filter, &sample);
	}
	filter->held.n = 0;
	int ended = filter->next->ops->end ? filter->next->ops->end(filter->next) : 0;
	return rc < 0 ? rc : ended;
}

static const struct sink_ops ops = {.name = "filter", .begin = begin, .sample = sample, .end = end};

void filter_init(struct filter *filter, struct sink *next, const struct tachy_filter *wanted,
		 enum tachy_mode mode)
{
	*filter = (struct filter){.sink = {&ops}, .next = next, .mode = mode};
	if (wanted)
		filter->wanted = *wanted;
}

void filter_done(struct filter *filter)
{
	vec_done(&filter->frames);
	vec_done(&filter->stacks);
	vec_done(&filter->threads);
	vec_done(&filter->held);
}
