/* SPDX-License-Identifier: MIT
 * The flame graph page: its JSON in columns, which deflate makes small and a browser reads fast. What
 * each column means is told beside its reader, web/src/flamegraph/model.ts.
 */
#include "export/flame_html.h"

#include <string.h>

#include "base/error.h"
#include "base/release.h"
#include "export/diff_profile.h"
#include "export/flame_data.h"
#include "export/json_out.h"
#include "export/page.h"

struct writer {
	struct json_out json;
	const struct flame_input *input;
	struct flame_data data;
	struct map string_by_id;
	VEC(str_id) strings; /* as they are met; 0 is "" */
	bool out_of_memory;
};

/* A string by its number in "strings", which is written last. */
static void put_string(struct writer *writer, str_id id)
{
	uint64_t number;
	if (!map_get(&writer->string_by_id, id, &number)) {
		number = writer->strings.n;
		if (!vec_push(&writer->strings, id) || !map_put(&writer->string_by_id, id, number))
			writer->out_of_memory = true;
	}
	json_u64(&writer->json, number);
}

#define COLUMN(writer, name, vec, put) \
	do { \
		json_key_open(&(writer)->json, name, '['); \
		for (size_t i = 0; i < (vec).n; i++) \
			put; \
		json_close(&(writer)->json, ']'); \
	} while (0)

static const char *mode_name(enum tachy_mode mode)
{
	static const char *const names[] = {[TACHY_MODE_WALL] = "wall",
					    [TACHY_MODE_CPU] = "cpu",
					    [TACHY_MODE_GIL] = "gil",
					    [TACHY_MODE_EXCEPTION] = "exception"};
	return names[mode];
}

static void write_run(struct writer *writer, const char *key, const struct profile *profile,
		      const struct tachy_stats *stats, uint64_t n_samples, uint64_t weight_ns)
{
	struct json_out *json = &writer->json;
	json_key_open(json, key, '{');
	json_key_string(json, "mode", mode_name(profile->mode));
	json_key(json, "rate_hz");
	json_fixed(json, profile->rate_hz, 3);
	json_key_u64(json, "start_unix_ms", profile->start_unix_ns / 1000000);
	json_key_u64(json, "duration_ns", profile->duration_ns);
	json_key_u64(json, "n_samples", n_samples);
	json_key_u64(json, "weight_ns", weight_ns);
	json_key_bool(json, "opcodes", profile->opcodes);
	json_key_bool(json, "async_aware", profile->async_aware);
	if (stats) {
		json_key_u64(json, "ticks", stats->samples_captured);
		json_key_u64(json, "lost", stats->samples_lost);
		json_key_u64(json, "late", stats->samples_late);
		json_key_u64(json, "salvaged", stats->salvaged);
	}
	json_close(json, '}');
}

static void write_processes(struct writer *writer)
{
	const struct profile *profile = writer->input->profile;
	struct json_out *json = &writer->json;
	json_key_open(json, "processes", '[');
	for (size_t i = 0; i < profile->processes.n; i++) {
		const struct profile_process *process = &profile->processes.at[i];
		const struct strtab *strings = profile->stacks.strings;
		json_open(json, '{');
		json_key_i64(json, "pid", process->pid);
		json_key_string(json, "command", strtab_get(strings, process->command));
		json_key_string(json, "python", strtab_get(strings, process->version));
		json_key_bool(json, "base", i >= writer->input->n_processes);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void write_threads(struct writer *writer)
{
	const struct profile *profile = writer->input->profile;
	struct json_out *json = &writer->json;
	json_key_open(json, "threads", '[');
	for (size_t i = 0; i < profile->threads.n; i++) {
		const struct profile_thread *thread = &profile->threads.at[i];
		json_open(json, '{');
		json_key_u64(json, "process", thread->process);
		json_key_u64(json, "tid", thread->tid);
		json_key_string(json, "name", strtab_get(profile->stacks.strings, thread->name));
		json_key_bool(json, "main", thread->main);
		json_key_i64(json, "interpreter", thread->interpreter);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void write_functions(struct writer *writer)
{
	const struct flame_data *data = &writer->data;
	const struct function *functions = writer->input->profile->stacks.functions.at;
	struct json_out *json = &writer->json;
#define FUNCTION functions[data->functions.at[i]]
	json_key_open(json, "functions", '{');
	COLUMN(writer, "name", data->functions, put_string(writer, FUNCTION.name));
	COLUMN(writer, "file", data->functions, put_string(writer, FUNCTION.file));
	COLUMN(writer, "line", data->functions, json_i64(json, FUNCTION.first_line));
	COLUMN(writer, "kind", data->functions, json_u64(json, FUNCTION.kind));
	json_close(json, '}');
#undef FUNCTION
}

static void write_tree(struct writer *writer)
{
	const struct flame_data *data = &writer->data;
	struct json_out *json = &writer->json;
	json_key_open(json, "frames", '{');
	COLUMN(writer, "function", data->frames, json_u64(json, data->frames.at[i].function));
	COLUMN(writer, "line", data->frames, json_i64(json, data->frames.at[i].line));
	if (data->opcodes) {
		COLUMN(writer, "opcode", data->frames,
		       put_string(writer, data->frames.at[i].opcode));
		COLUMN(writer, "base_opcode", data->frames,
		       put_string(writer, data->frames.at[i].base_opcode));
	}
	json_close(json, '}');
	json_key_open(json, "nodes", '{');
	COLUMN(writer, "parent", data->nodes, json_u64(json, data->nodes.at[i].parent));
	COLUMN(writer, "frame", data->nodes, json_u64(json, data->nodes.at[i].frame));
	json_close(json, '}');
}

/* Weights in microseconds; what one rounds away the next one gets, so that sums stay true. */
static void write_weights(struct writer *writer)
{
	const struct buckets *buckets = &writer->data.buckets;
	uint64_t sum_ns = 0, written_us = 0;
	json_key_open(&writer->json, "weight_us", '[');
	for (size_t i = 0; i < buckets->rows.n; i++) {
		sum_ns += buckets->rows.at[i].weight_ns;
		uint64_t upto_us = sum_ns / 1000 + (sum_ns % 1000 >= 500);
		json_u64(&writer->json, upto_us - written_us);
		written_us = upto_us;
	}
	json_close(&writer->json, ']');
}

static void write_samples(struct writer *writer)
{
	const struct flame_data *data = &writer->data;
	struct json_out *json = &writer->json;
#define ROW data->buckets.rows.at[i]
	json_key_open(json, "samples", '{');
	COLUMN(writer, "bucket", data->buckets.rows, json_u64(json, ROW.bucket));
	COLUMN(writer, "thread", data->buckets.rows, json_u64(json, ROW.thread));
	COLUMN(writer, "node", data->buckets.rows, json_u64(json, ROW.stack));
	COLUMN(writer, "states", data->buckets.rows, json_u64(json, ROW.states));
	COLUMN(writer, "count", data->buckets.rows, json_u64(json, ROW.n_samples));
	write_weights(writer);
	json_close(json, '}');
#undef ROW
}

static int write_sources(struct writer *writer)
{
	struct json_out *json = &writer->json;
	struct source_lines lines;
	const char *file = NULL;
	int rc = source_lines_init_profile(&writer->input->profile->stacks, writer->input->sources,
					   &lines);
	if (rc < 0)
		return rc;
	json_key_open(json, "sources", '[');
	for (size_t i = 0; i < lines.lines.n; i++) {
		const struct source_line *line = &lines.lines.at[i];
		char text[SOURCE_LINE_MAX + 1];
		if (!line->text)
			continue;
		memcpy(text, line->text, line->len);
		text[line->len] = '\0';
		json_open(json, '[');
		json_string(json, file && strcmp(file, line->file) == 0 ? "" : line->file);
		json_i64(json, line->line);
		json_string(json, text);
		json_close(json, ']');
		file = line->file;
	}
	json_close(json, ']');
	source_lines_done(&lines);
	return 0;
}

static int write_data(struct writer *writer)
{
	const struct flame_input *input = writer->input;
	struct json_out *json = &writer->json;
	json_open(json, '{');
	json_key_string(json, "schema", "tachyscope-flamegraph/1");
	json_key_string(json, "version", TACHYSCOPE_VERSION);
	write_run(writer, "run", input->profile, input->stats, input->n_samples, input->weight_ns);
	if (input->base)
		write_run(writer, "base", input->base, input->base_stats, input->base->n_samples,
			  input->base->weight_ns);
	write_processes(writer);
	write_threads(writer);
	write_functions(writer);
	write_tree(writer);
	json_key_open(json, "buckets", '{');
	json_key_u64(json, "n", writer->data.buckets.n);
	json_key_u64(json, "width_ns", writer->data.buckets.width_ns);
	json_close(json, '}');
	write_samples(writer);
	int rc = write_sources(writer);
	COLUMN(writer, "strings", writer->strings,
	       json_string(json,
			   strtab_get(input->profile->stacks.strings, writer->strings.at[i])));
	json_close(json, '}');
	return rc < 0 ? rc : writer->out_of_memory ? TACHY_ENOMEM : 0;
}

int flame_html_write(const struct flame_input *input, struct out *out)
{
	struct writer writer = {.input = input};
	struct page_writer *page;
	struct out *hole;
	str_id empty = 0;
	int rc = flame_data_init(input->profile, &writer.data);
	if (rc < 0)
		return rc;
	map_init(&writer.string_by_id);
	rc = vec_push(&writer.strings, empty) && map_put(&writer.string_by_id, empty, 0)
		     ? page_begin("flamegraph", out, &page, &hole)
		     : TACHY_ENOMEM;
	if (rc >= 0) {
		json_init(&writer.json, hole);
		rc = page_end(page, write_data(&writer));
	}
	vec_done(&writer.strings);
	map_done(&writer.string_by_id);
	flame_data_done(&writer.data);
	return rc < 0 ? rc : out->status;
}

int flamegraph_write(const struct profile *profile, const struct tachy_stats *stats,
		     const struct export_options *options, struct out *out)
{
	struct flame_input input = {.profile = profile,
				    .stats = stats,
				    .n_processes = profile->processes.n,
				    .n_samples = profile->n_samples,
				    .weight_ns = profile->weight_ns,
				    .sources = &options->sources};
	return flame_html_write(&input, out);
}

int diff_flamegraph_write(const struct profile *profile, const struct tachy_stats *stats,
			  const struct export_options *options, struct out *out)
{
	struct diff_profile diff;
	int rc = diff_profile_init(profile, options->base, &diff);
	if (rc < 0)
		return rc;
	struct flame_input input = {.profile = diff.both,
				    .stats = stats,
				    .base = options->base,
				    .base_stats = options->base_stats,
				    .n_processes = diff.n_processes,
				    .n_samples = profile->n_samples,
				    .weight_ns = profile->weight_ns,
				    .sources = &options->sources};
	rc = flame_html_write(&input, out);
	diff_profile_done(&diff);
	return rc;
}
