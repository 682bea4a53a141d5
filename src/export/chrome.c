/* SPDX-License-Identifier: MIT
 * Trace events as JSON, for Perfetto, chrome://tracing and speedscope: a process and thread for each
 * of ours; B and E events for calls; b and e events, on tracks of their own, for the states of the
 * thread; the executing instruction, where it was taken, as the topmost slice. Times are microseconds since
 * the run began.
 */
#include <stdio.h>

#include "base/error.h"
#include "export/calls.h"
#include "export/export.h"
#include "export/facts.h"
#include "export/lanes.h"
#include "export/phases.h"
#include "export/state_names.h"

struct track {
	const struct places *places;
	struct json_out *json;
	const struct profile *profile;
	uint32_t thread;
	int64_t pid;
	uint64_t tid;
};

static void end_line(struct json_out *json)
{
	json_close(json, '}');
	out_char(json->out, '\n');
}

/* Nanoseconds as microseconds, exact. */
static void write_time(struct json_out *json, uint64_t time_ns)
{
	char text[48];
	(void)snprintf(text, sizeof text, "%llu.%03u", (unsigned long long)(time_ns / 1000),
		       (unsigned)(time_ns % 1000));
	json_key(json, "ts");
	json_raw(json, text);
}

static void begin_event(struct track *track, const char *phase)
{
	struct json_out *json = track->json;
	json_open(json, '{');
	json_key_string(json, "ph", phase);
	json_key_i64(json, "pid", track->pid);
	json_key_u64(json, "tid", track->tid);
}

static void write_place(struct track *track, uint32_t place)
{
	struct json_out *json = track->json;
	struct tachy_frame frame;
	places_describe(track->places, place, &frame);
	json_key_string(json, "name", frame.function);
	json_key_string(json, "cat", frame_kind_name(frame.kind));
	if (!frame.file[0] && frame.line <= 0)
		return;
	json_key_open(json, "args", '{');
	json_key_string(json, "file", frame.file);
	json_key_i64(json, "line", frame.line);
	json_close(json, '}');
}

/* The end repeats the name: the format does not ask for it, and readers do that pair by it. */
static void write_call(struct track *track, const char *phase, uint32_t place, str_id opcode,
		       uint64_t time_ns)
{
	begin_event(track, phase);
	write_time(track->json, time_ns);
	if (opcode) {
		json_key_string(track->json, "name",
				strtab_get(track->places->stacks->strings, opcode));
		json_key_string(track->json, "cat", "opcode");
	} else {
		write_place(track, place);
	}
	end_line(track->json);
}

static void on_open(void *ctx, uint32_t place, str_id opcode, uint64_t time_ns)
{
	write_call(ctx, "B", place, opcode, time_ns);
}

static void on_close(void *ctx, uint32_t place, str_id opcode, uint64_t time_ns)
{
	write_call(ctx, "E", place, opcode, time_ns);
}

static const struct calls_ops ops = {on_open, on_close};

/* One id for each state of each thread: its intervals then lie on one track, with its name. */
static void write_phase_end(struct track *track, const struct phase_kind *kind, const char *phase,
			    uint64_t time_ns)
{
	char name[LANE_TITLE_MAX + 32], title[LANE_TITLE_MAX];
	size_t index = (size_t)(kind - phase_kinds());
	lane_thread_title(track->profile, track->thread, title);
	(void)snprintf(name, sizeof name, "%s, %s", kind->name, title);
	begin_event(track, phase);
	json_key_string(track->json, "cat", "state");
	json_key_string(track->json, "name", name);
	json_key_u64(track->json, "id", (uint64_t)track->thread * PHASE_KINDS_MAX + index + 1);
	write_time(track->json, time_ns);
	end_line(track->json);
}

static void on_phase(void *ctx, const struct phase_kind *kind, uint64_t begin_ns, uint64_t end_ns)
{
	write_phase_end(ctx, kind, "b", begin_ns);
	write_phase_end(ctx, kind, "e", end_ns);
}

static void write_name(struct track *track, const char *what, const char *name)
{
	begin_event(track, "M");
	json_key_string(track->json, "name", what);
	json_key_open(track->json, "args", '{');
	json_key_string(track->json, "name", name);
	json_close(track->json, '}');
	end_line(track->json);
}

static void write_names(const struct profile *profile, const struct lanes *lanes,
			struct track *track)
{
	const struct strtab *strings = profile->stacks.strings;
	for (size_t i = 0; i < profile->processes.n; i++) {
		track->pid = profile->processes.at[i].pid;
		track->tid = (uint64_t)track->pid;
		write_name(track, "process_name",
			   strtab_get(strings, profile->processes.at[i].command));
	}
	for (uint32_t i = 0; i < profile->threads.n; i++) {
		char title[LANE_TITLE_MAX];
		const char *name = strtab_get(strings, profile->threads.at[i].name);
		lane_thread_title(profile, i, title);
		track->pid = lane_pid(profile, i);
		track->tid = lanes->tids.at[i];
		write_name(track, "thread_name", *name ? name : title);
	}
}

static int write_threads(const struct profile *profile, const struct spans *spans,
			 const struct lanes *lanes, struct track *track)
{
	struct calls calls;
	int rc = 0;
	calls_init(&calls, track->places, &ops, track);
	calls.opcodes = profile->opcodes;
	for (uint32_t i = 0; i < profile->threads.n && rc >= 0; i++) {
		size_t n;
		const struct span *span = spans_of_thread(spans, i, &n);
		track->thread = i;
		track->pid = lane_pid(profile, i);
		track->tid = lanes->tids.at[i];
		for (size_t j = 0; j < n && rc >= 0; j++)
			rc = calls_add(&calls, &span[j]);
		calls_end(&calls);
		phases_walk(span, n, on_phase, track);
	}
	calls_done(&calls);
	return rc;
}

static int write_all(const struct profile *profile, const struct tachy_stats *stats,
		     const struct spans *spans, const struct lanes *lanes,
		     const struct places *places, struct out *out)
{
	struct json_out json;
	struct track track = {.places = places, .json = &json, .profile = profile};
	json_init(&json, out);
	json_open(&json, '{');
	json_key_string(&json, "displayTimeUnit", "ms");
	json_key_open(&json, "otherData", '{');
	facts_json(profile, stats, &json);
	json_close(&json, '}');
	json_key_open(&json, "traceEvents", '[');
	write_names(profile, lanes, &track);
	int rc = write_threads(profile, spans, lanes, &track);
	json_close(&json, ']');
	json_close(&json, '}');
	out_char(out, '\n');
	return rc;
}

int chrome_write(const struct profile *profile, const struct tachy_stats *stats,
		 const struct export_options *options, struct out *out)
{
	struct spans spans;
	struct lanes lanes;
	struct places places;
	int rc = spans_init(profile, &spans);
	if (rc < 0)
		return rc;
	rc = lanes_init(profile, &lanes);
	if (rc < 0)
		goto no_lanes;
	rc = places_init(profile, options->lines, &places);
	if (rc < 0)
		goto no_places;
	rc = write_all(profile, stats, &spans, &lanes, &places, out);
	places_done(&places);
no_places:
	lanes_done(&lanes);
no_lanes:
	spans_done(&spans);
	return rc < 0 ? rc : out->status;
}
