/* SPDX-License-Identifier: MIT
 * The heatmap page: web/src/heatmap with everything that it shows as JSON (web/src/heatmap/data.ts says
 * what each number is). Files, lines, functions and places are numbered once; each view is lists of those
 * numbers with what was counted for them, so that switching needs no second look at the stacks.
 */
#include <string.h>

#include "base/error.h"
#include "export/export.h"
#include "export/heat_views.h"
#include "export/heatmap_sources.h"
#include "export/page.h"
#include "export/run_json.h"
#include "export/source_origin.h"

#define NS_PER_US 1000u

static void write_names(const struct heat_index *index, struct json_out *json)
{
	const struct stacks *stacks = &index->profile->stacks;
	json_key_open(json, "files", '['); /* [path, origin, process] */
	for (size_t i = 0; i < index->files.n; i++) {
		const struct heat_file *file = &index->files.at[i];
		const char *path = strtab_get(stacks->strings, file->path);
		bool no_frame = i == index->files.n - 1;
		json_open(json, '[');
		json_string(json, no_frame ? EXPORT_NO_FRAME : path);
		json_string(json,
			    file->marker ? "marker" : source_origin_name(source_origin_of(path)));
		json_i64(json, file->process == HEAT_NONE ? -1 : (int64_t)file->process);
		json_close(json, ']');
	}
	json_close(json, ']');
	json_key_open(json, "functions", '['); /* [name, file, first line] */
	for (size_t i = 0; i < stacks->functions.n; i++) {
		const struct function *function = &stacks->functions.at[i];
		json_open(json, '[');
		json_string(json, strtab_get(stacks->strings, function->name));
		json_u64(json, index->file_of_function[i]);
		json_i64(json, function->first_line);
		json_close(json, ']');
	}
	json_close(json, ']');
}

static void write_lines(const struct heat_index *index, struct json_out *json)
{
	json_key_open(json, "lines", '['); /* file, line, ... */
	for (size_t i = 0; i < index->lines.n; i++) {
		json_u64(json, index->lines.at[i].file);
		json_i64(json, index->lines.at[i].line);
	}
	json_close(json, ']');
}

/* The names of the instructions, each once: [id, name]. */
static int write_opcodes(const struct heat_index *index, struct json_out *json)
{
	const struct stacks *stacks = &index->profile->stacks;
	struct map seen;
	uint64_t unused;
	int rc = 0;
	map_init(&seen);
	json_key_open(json, "opcodes", '[');
	for (size_t i = 0; i < 2 * stacks->frames.n && rc >= 0; i++) {
		const struct frame *frame = &stacks->frames.at[i / 2];
		str_id id = i % 2 ? frame->base_opcode : frame->opcode;
		if (id == 0 || map_get(&seen, id, &unused))
			continue;
		rc = map_put(&seen, id, 0) ? 0 : TACHY_ENOMEM;
		json_open(json, '[');
		json_u64(json, id);
		json_string(json, strtab_get(stacks->strings, id));
		json_close(json, ']');
	}
	json_close(json, ']');
	map_done(&seen);
	return rc;
}

static void write_spots(const struct heat_index *index, struct json_out *json)
{
	const struct stacks *stacks = &index->profile->stacks;
	json_key_open(json, "spots", '['); /* seven numbers each */
	for (size_t i = 0; i < stacks->frames.n; i++) {
		const struct frame *frame = &stacks->frames.at[i];
		json_u64(json, frame->function);
		json_i64(json, index->line_of_frame[i] == HEAT_NONE
				       ? -1
				       : (int64_t)index->line_of_frame[i]);
		json_i64(json, frame->at.end_line);
		json_i64(json, frame->at.column);
		json_i64(json, frame->at.end_column);
		json_u64(json, frame->opcode);
		json_u64(json, frame->base_opcode);
	}
	json_close(json, ']');
}

/* How much is told of each number in a view. */
enum told {
	TOLD_TOTAL, /* index, total, ... */
	TOLD_OWN,   /* index, own, total, ... */
	TOLD_TIME,  /* index, own, total, own us, total us, ... */
};

static void write_heat(const struct line_heat *heat, enum heat_by by, const char *name,
		       enum told told, struct json_out *json)
{
	json_key_open(json, name, '[');
	for (size_t i = 0; i < heat->n[by]; i++) {
		const struct heat *one = &heat->by[by][i];
		if (one->total == 0)
			continue;
		json_u64(json, i);
		if (told >= TOLD_OWN)
			json_u64(json, one->own);
		json_u64(json, one->total);
		if (told < TOLD_TIME)
			continue;
		json_u64(json, one->own_ns / NS_PER_US);
		json_u64(json, one->total_ns / NS_PER_US);
	}
	json_close(json, ']');
}

static int write_view(const struct heat_index *index, const struct heat_view *view,
		      struct json_out *json)
{
	static const char *const kinds[] = {"all", "state", "process", "thread"};
	struct line_heat heat;
	int rc = line_heat_init(index, &view->filter, &heat);
	if (rc < 0)
		return rc;
	json_open(json, '{');
	json_key_string(json, "kind", kinds[view->kind]);
	if (view->kind == HEAT_VIEW_STATE)
		json_key_string(json, "state", view->state);
	json_key_u64(json, "index", view->index);
	json_key_u64(json, "n_samples", heat.n_samples);
	json_key_u64(json, "weight_us", heat.weight_ns / NS_PER_US);
	write_heat(&heat, HEAT_FILES, "files", TOLD_TIME, json);
	write_heat(&heat, HEAT_FUNCTIONS, "functions", TOLD_OWN, json);
	write_heat(&heat, HEAT_LINES, "lines", TOLD_TIME, json);
	write_heat(&heat, HEAT_SPOTS, "spots", TOLD_OWN, json);
	write_heat(&heat, HEAT_CALLS, "calls", TOLD_TOTAL, json);
	write_heat(&heat, HEAT_CALLERS, "callers", TOLD_TOTAL, json);
	json_close(json, '}');
	line_heat_done(&heat);
	return 0;
}

static int write_views(const struct heat_index *index, struct json_out *json)
{
	struct heat_views views;
	int rc = heat_views_init(index->profile, &views);
	if (rc < 0)
		return rc;
	json_key_open(json, "views", '[');
	for (size_t i = 0; i < views.views.n && rc >= 0; i++)
		rc = write_view(index, &views.views.at[i], json);
	json_close(json, ']');
	json_key_u64(json, "threads_left_out", views.n_threads_left_out);
	heat_views_done(&views);
	return rc;
}

static void write_edges(const struct heat_index *index, struct json_out *json)
{
	json_key_open(json, "calls", '['); /* line, function, ... */
	for (size_t i = 0; i < index->calls.n; i++) {
		json_u64(json, index->calls.at[i].from);
		json_u64(json, index->calls.at[i].to);
	}
	json_close(json, ']');
	json_key_open(json, "callers", '['); /* line, the line that called it, ... */
	for (size_t i = 0; i < index->callers.n; i++) {
		json_u64(json, index->callers.at[i].from);
		json_u64(json, index->callers.at[i].to);
	}
	json_close(json, ']');
}

static int write_sources(const struct heat_index *index, const struct export_options *options,
			 struct json_out *json)
{
	struct line_heat heat;
	int rc = line_heat_init(index, &HEAT_FILTER_ALL, &heat);
	if (rc < 0)
		return rc;
	json_key_bool(json, "replayed", options->sources.replayed);
	json_key(json, "sources");
	rc = heatmap_sources_write(index, &heat, &options->sources, json);
	line_heat_done(&heat);
	return rc;
}

static int write_data(const struct heat_index *index, const struct tachy_stats *stats,
		      const struct export_options *options, struct out *out)
{
	struct json_out json;
	json_init(&json, out);
	json_open(&json, '{');
	json_key_string(&json, "schema", "tachyscope-heatmap/1");
	json_key(&json, "run");
	run_json_write(index->profile, stats, &json);
	write_names(index, &json);
	write_lines(index, &json);
	int rc = write_opcodes(index, &json);
	write_spots(index, &json);
	write_edges(index, &json);
	if (rc >= 0)
		rc = write_views(index, &json);
	if (rc >= 0)
		rc = write_sources(index, options, &json);
	json_close(&json, '}');
	return rc;
}

int heatmap_write(const struct profile *profile, const struct tachy_stats *stats,
		  const struct export_options *options, struct out *out)
{
	struct page_writer *writer;
	struct heat_index index;
	struct out *data;
	int rc = heat_index_init(profile, &index);
	if (rc < 0)
		return rc;
	rc = page_begin("heatmap", out, &writer, &data);
	if (rc >= 0)
		rc = page_end(writer, write_data(&index, stats, options, data));
	heat_index_done(&index);
	return rc;
}
