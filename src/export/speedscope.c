/* SPDX-License-Identifier: MIT
 * The file format of speedscope: one profile for each thread, of opened and closed frames in
 * nanoseconds since the run began. What a thread was not sampled for is a gap.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/release.h"
#include "export/calls.h"
#include "export/export.h"
#include "export/facts.h"
#include "export/lanes.h"

static void write_frames(const struct places *places, struct json_out *json)
{
	json_key_open(json, "shared", '{');
	json_key_open(json, "frames", '[');
	for (uint32_t i = 0; i < places->frames.n; i++) {
		struct tachy_frame frame;
		places_describe(places, i, &frame);
		json_open(json, '{');
		json_key_string(json, "name", frame.function);
		if (frame.file[0])
			json_key_string(json, "file", frame.file);
		if (frame.line > 0)
			json_key_i64(json, "line", frame.line);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_close(json, '}');
}

static void write_event(struct json_out *json, const char *type, uint32_t place, uint64_t time_ns)
{
	json_open(json, '{');
	json_key_string(json, "type", type);
	json_key_u64(json, "frame", place);
	json_key_u64(json, "at", time_ns);
	json_close(json, '}');
}

static void on_open(void *ctx, uint32_t place, str_id opcode, uint64_t time_ns)
{
	(void)opcode; /* not asked for */
	write_event(ctx, "O", place, time_ns);
}

static void on_close(void *ctx, uint32_t place, str_id opcode, uint64_t time_ns)
{
	(void)opcode;
	write_event(ctx, "C", place, time_ns);
}

static const struct calls_ops ops = {on_open, on_close};

static void write_title(const struct profile *profile, uint32_t thread, struct json_out *json)
{
	char title[2 * LANE_TITLE_MAX + 2];
	size_t used = 0;
	if (profile->processes.n > 1) {
		lane_process_title(profile, profile->threads.at[thread].process, title);
		used = strlen(title);
		used += (size_t)snprintf(title + used, sizeof title - used, ", ");
	}
	lane_thread_title(profile, thread, title + used);
	json_key_string(json, "name", title);
}

static int write_thread(const struct profile *profile, uint32_t thread, const struct spans *spans,
			struct calls *calls, struct json_out *json)
{
	size_t n;
	const struct span *span = spans_of_thread(spans, thread, &n);
	int rc = 0;
	if (n == 0)
		return 0;
	uint64_t end = span[n - 1].end_ns;
	json_open(json, '{');
	json_key_string(json, "type", "evented");
	write_title(profile, thread, json);
	json_key_string(json, "unit", "nanoseconds");
	json_key_u64(json, "startValue", 0);
	json_key_u64(json, "endValue", end > profile->duration_ns ? end : profile->duration_ns);
	json_key_open(json, "events", '[');
	for (size_t i = 0; i < n && rc >= 0; i++)
		rc = calls_add(calls, &span[i]);
	calls_end(calls);
	json_close(json, ']');
	json_close(json, '}');
	return rc;
}

static int write_all(const struct profile *profile, const struct tachy_stats *stats,
		     const struct spans *spans, const struct places *places, struct json_out *json)
{
	char line[FACTS_LINE_MAX];
	struct calls calls;
	int rc = 0;
	calls_init(&calls, places, &ops, json);
	json_open(json, '{');
	json_key_string(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_key_string(json, "exporter", "tachyscope@" TACHYSCOPE_VERSION);
	facts_line(profile, stats, line);
	json_key_string(json, "name", line);
	json_key_open(json, "tachyscope", '{');
	facts_json(profile, stats, json);
	json_close(json, '}');
	write_frames(places, json);
	json_key_open(json, "profiles", '[');
	for (uint32_t i = 0; i < profile->threads.n && rc >= 0; i++)
		rc = write_thread(profile, i, spans, &calls, json);
	json_close(json, ']');
	json_close(json, '}');
	out_char(json->out, '\n');
	calls_done(&calls);
	return rc;
}

int speedscope_write(const struct profile *profile, const struct tachy_stats *stats,
		     const struct export_options *options, struct out *out)
{
	struct spans spans;
	struct places places;
	struct json_out json;
	json_init(&json, out);
	int rc = spans_init(profile, &spans);
	if (rc < 0)
		return rc;
	rc = places_init(profile, options->lines, &places);
	if (rc >= 0) {
		rc = write_all(profile, stats, &spans, &places, &json);
		places_done(&places);
	}
	spans_done(&spans);
	return rc < 0 ? rc : out->status;
}
