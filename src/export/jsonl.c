/* SPDX-License-Identifier: MIT
 * A line of JSON per sample, by the time of its first tick, each complete in itself; a header before
 * them and a summary behind, so that a reader sees whether it has all.
 */
#include <stdlib.h>

#include "base/error.h"
#include "export/export.h"
#include "export/facts.h"
#include "export/lanes.h"
#include "export/state_names.h"

struct totals {
	uint64_t n_lines, n_ticks, weight_ns;
};

static void begin_line(struct json_out *json, const char *type)
{
	json->comma = false;
	json_open(json, '{');
	json_key_string(json, "type", type);
}

static void end_line(struct json_out *json)
{
	json_close(json, '}');
	out_char(json->out, '\n');
}

static void write_header(const struct profile *profile, const struct tachy_stats *stats,
			 struct json_out *json)
{
	begin_line(json, "header");
	json_key_string(json, "schema", "tachyscope-samples/1");
	facts_json(profile, stats, json);
	end_line(json);
}

static void key_if(struct json_out *json, const char *key, int32_t value, bool known)
{
	if (known)
		json_key_i64(json, key, value);
}

static void write_frame(const struct stacks *stacks, frame_id id, struct json_out *json)
{
	struct tachy_frame frame;
	stacks_describe(stacks, id, &frame);
	json_open(json, '{');
	json_key_string(json, "function", frame.function);
	if (frame.file[0])
		json_key_string(json, "file", frame.file);
	key_if(json, "first_line", frame.first_line, frame.first_line > 0);
	key_if(json, "line", frame.line, frame.line > 0);
	key_if(json, "end_line", frame.end_line, frame.end_line > 0);
	key_if(json, "column", frame.column, frame.column >= 0);
	key_if(json, "end_column", frame.end_column, frame.end_column >= 0);
	if (frame.opcode[0]) {
		json_key_string(json, "opcode", frame.opcode);
		json_key_string(json, "base_opcode", frame.base_opcode);
	}
	if (frame.kind != TACHY_FRAME_PYTHON)
		json_key_string(json, "kind", frame_kind_name(frame.kind));
	json_close(json, '}');
}

static void write_stack(const struct stacks *stacks, stack_id stack, struct json_out *json)
{
	json_key_open(json, "frames", '[');
	for (const struct stack_node *node = stacks_node(stacks, stack); node->depth > 0;
	     node = stacks_node(stacks, node->parent))
		write_frame(stacks, node->frame, json);
	json_close(json, ']');
}

static void write_sample(const struct profile *profile, const struct sample *sample,
			 struct json_out *json)
{
	const struct profile_thread *thread = &profile->threads.at[sample->thread];
	uint64_t start = profile->start_ns;
	begin_line(json, "sample");
	json_key_u64(json, "time_ns", sample->time_ns > start ? sample->time_ns - start : 0);
	json_key_u64(json, "weight_ns", sample->weight_ns);
	json_key_u64(json, "n", sample->n_ticks);
	json_key_i64(json, "pid", lane_pid(profile, sample->thread));
	json_key_u64(json, "tid", thread->tid);
	json_key_string(json, "thread", strtab_get(profile->stacks.strings, thread->name));
	if (thread->interpreter != 0)
		json_key_i64(json, "interpreter", thread->interpreter);
	state_names_json(json, "states", sample->states);
	write_stack(&profile->stacks, sample->stack, json);
	end_line(json);
}

static void write_summary(const struct profile *profile, const struct tachy_stats *stats,
			  const struct totals *totals, struct json_out *json)
{
	begin_line(json, "summary");
	json_key_u64(json, "lines", totals->n_lines);
	json_key_u64(json, "thread_samples", totals->n_ticks);
	json_key_u64(json, "weight_ns", totals->weight_ns);
	json_key_u64(json, "duration_ns", profile->duration_ns);
	if (stats) {
		json_key_u64(json, "samples_captured", stats->samples_captured);
		json_key_u64(json, "samples_lost", stats->samples_lost);
		json_key_u64(json, "samples_late", stats->samples_late);
		json_key_u64(json, "samples_retried", stats->samples_retried);
	}
	end_line(json);
}

static int by_time(const void *left, const void *right)
{
	const struct sample *a = *(const struct sample *const *)left,
			    *b = *(const struct sample *const *)right;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (a > b) - (a < b); /* as they came */
}

int jsonl_write(const struct profile *profile, const struct tachy_stats *stats,
		const struct export_options *options, struct out *out)
{
	VEC(const struct sample *) order = {NULL, 0, 0};
	struct totals totals = {0, 0, 0};
	struct json_out json;
	(void)options; /* a line tells both the thread and the executing line */
	for (size_t i = 0; i < profile->timeline.n; i++)
		if (profile->timeline.at[i].thread < profile->threads.n &&
		    !vec_push(&order, &profile->timeline.at[i])) {
			vec_done(&order);
			return TACHY_ENOMEM;
		}
	if (order.n > 1)
		qsort(order.at, order.n, sizeof *order.at, by_time);
	json_init(&json, out);
	write_header(profile, stats, &json);
	for (size_t i = 0; i < order.n && out->status == 0; i++) {
		write_sample(profile, order.at[i], &json);
		totals.n_lines++;
		totals.n_ticks += order.at[i]->n_ticks;
		totals.weight_ns += order.at[i]->weight_ns;
	}
	write_summary(profile, stats, &totals, &json);
	vec_done(&order);
	return out->status;
}
