/* SPDX-License-Identifier: MIT
 * A target over a Python made by hand, and a sink that adds up what it is given.
 */
#ifndef FAKE_TARGET_H
#define FAKE_TARGET_H

#include "fake_python.h"
#include "sampler/target.h"

struct fake_sink {
	struct sink sink; /* first */
	struct profile *profile;
	uint64_t n_samples; /* calls */
	int fail;           /* what the next calls give */
};

static inline int fake_sink_sample(struct sink *sink, const struct sample *sample)
{
	struct fake_sink *fake = (struct fake_sink *)sink;
	fake->n_samples++;
	return fake->fail ? fake->fail : profile_count_sample(fake->profile, sample);
}

static const struct sink_ops fake_sink_ops = {.name = "fake", .sample = fake_sink_sample};

struct fake_target {
	struct py py;
	struct attachment attachment;
	struct profile *profile;
	struct fake_sink sink;
	struct target *target;
	uint64_t now_ns, lost_ns; /* lost_ns: time of ticks that were not committed */
};

static inline void fake_target_open(struct fake_target *w, unsigned minor,
				    const struct target_options *options)
{
	memset(w, 0, sizeof *w);
	py_init(&w->py, fake_mem_create(), minor);
	w->attachment = (struct attachment){.pid = PY_PID, .mem = &w->py.fake->mem, .ns_depth = 1};
	w->attachment.runtime.addr = w->py.runtime;
	w->attachment.runtime.layout = *w->py.l;
	snprintf(w->attachment.runtime.version, sizeof w->attachment.runtime.version, "3.%u.0",
		 minor);
	if (profile_create(&w->profile) < 0)
		abort();
	w->sink = (struct fake_sink){.sink.ops = &fake_sink_ops, .profile = w->profile};
	if (target_create(&w->attachment, w->profile, &w->sink.sink, options, &w->target) < 0)
		abort();
	w->now_ns = 1000000;
}

static inline void fake_target_close(struct fake_target *w)
{
	target_destroy(w->target);
	profile_destroy(w->profile);
	mem_close(&w->py.fake->mem);
}

/* Looks once, without making it count. */
static inline int fake_target_read(struct fake_target *w, bool check, bool salvage)
{
	target_watch_switches(w->target);
	int rc = mem_view_begin(&w->target->view);
	w->target->heads_due = true; /* as if time had passed since the last tick */
	return rc < 0 ? rc : target_read(w->target, check, salvage);
}

/* The tick after `step_ns`; what is torn gets a second and a third look, as what is seen for the first time
 * is doubted. A tick that fails is lost; the next one stands for its time too. */
static inline int fake_target_tick(struct fake_target *w, uint64_t step_ns, bool check,
				   bool salvage)
{
	w->now_ns += step_ns;
	int rc = fake_target_read(w, check, salvage);
	for (int i = 0; i < 2 && rc == TACHY_ETORN; i++) {
		rc = mem_view_again(&w->target->view);
		rc = rc < 0 ? rc : target_read(w->target, check, salvage);
	}
	if (rc < 0) {
		w->lost_ns += step_ns;
		return rc;
	}
	rc = target_commit(w->target, w->now_ns, step_ns + w->lost_ns);
	w->lost_ns = 0;
	return rc;
}

/* "f0;f1;f2" of a stack, root first. */
static inline const char *fake_target_words(const struct profile *profile, stack_id stack,
					    char *text, size_t size)
{
	const struct stack_node *node = stacks_node(&profile->stacks, stack);
	size_t depth = node->depth, used = 0;
	text[0] = '\0';
	for (size_t level = 1; level <= depth; level++) {
		stack_id at = stack;
		struct tachy_frame frame;
		while (stacks_node(&profile->stacks, at)->depth > level)
			at = stacks_node(&profile->stacks, at)->parent;
		stacks_describe(&profile->stacks, stacks_node(&profile->stacks, at)->frame, &frame);
		int n = snprintf(text + used, size - used, "%s%s", level > 1 ? ";" : "",
				 frame.function);
		if (n < 0 || (size_t)n >= size - used)
			break;
		used += (size_t)n;
	}
	return text;
}

struct fake_total {
	uint64_t n, weight_ns;
};

/* All that was counted for the thread (UINT32_MAX: any) with this stack (NULL: any). */
static inline struct fake_total fake_target_total(const struct fake_target *w, uint32_t thread,
						  const char *words)
{
	struct fake_total total = {0, 0};
	char text[512];
	for (size_t i = 0; i < w->profile->counts.n; i++) {
		const struct profile_count *count = &w->profile->counts.at[i];
		if (thread != UINT32_MAX && count->thread != thread)
			continue;
		if (words && strcmp(fake_target_words(w->profile, count->stack, text, sizeof text),
				    words) != 0)
			continue;
		total.n += count->n_samples;
		total.weight_ns += count->weight_ns;
	}
	return total;
}

#endif
