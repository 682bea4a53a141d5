/* SPDX-License-Identifier: MIT
 * A profile for the Firefox Profiler, in its processed format, version 57, which later ones upgrade.
 * Samples weigh real milliseconds. A long run is written in several samples, since the Profiler takes a
 * sample for a moment: pieces of a two-thousandth of the run, or of one tick where that is longer. Where a
 * thread was not sampled a sample without stack and weight says so.
 */
#include "export/gecko.h"

#include <stdio.h>

#include "base/error.h"
#include "base/release.h"
#include "export/export.h"
#include "export/facts.h"
#include "export/lanes.h"
#include "export/phases.h"

#define GECKO_VERSION     32 /* of the unprocessed format that this one goes with */
#define PROCESSED_VERSION 57
#define PIECES            2000

struct piece {
	uint64_t time_ns, weight_ns;
	uint32_t stack; /* in the thread's own table; GECKO_NONE */
	uint32_t states;
};

struct gecko {
	const struct profile *profile;
	const struct tachy_stats *stats;
	struct spans spans;
	struct lanes lanes;
	struct gecko_tables tables;
	VEC(struct piece) pieces; /* scratch: of one thread */
	struct json_out json;
};

void gecko_time(struct json_out *json, uint64_t time_ns)
{
	char text[48];
	(void)snprintf(text, sizeof text, "%llu.%06u", (unsigned long long)(time_ns / 1000000),
		       (unsigned)(time_ns % 1000000));
	json_raw(json, text);
}

static void key_time(struct json_out *json, const char *name, uint64_t time_ns)
{
	json_key(json, name);
	gecko_time(json, time_ns);
}

/* ---- meta ----------------------------------------------------------------------------------------- */

static void write_categories(struct json_out *json)
{
	static const struct {
		const char *name, *color;
	} categories[GECKO_CATEGORIES] = {
		[GECKO_OTHER] = {"Other", "grey"},      [GECKO_PYTHON] = {"Python", "yellow"},
		[GECKO_NATIVE] = {"Native", "blue"},    [GECKO_GC] = {"GC", "orange"},
		[GECKO_TASK] = {"Task", "purple"},      [GECKO_GIL] = {"GIL", "green"},
		[GECKO_CPU] = {"CPU", "lightblue"},     [GECKO_EXCEPTION] = {"Exception", "red"},
		[GECKO_OPCODE] = {"Opcode", "magenta"},
	};
	json_key_open(json, "categories", '[');
	for (size_t i = 0; i < GECKO_CATEGORIES; i++) {
		json_open(json, '{');
		json_key_string(json, "name", categories[i].name);
		json_key_string(json, "color", categories[i].color);
		json_key_open(json, "subcategories", '[');
		json_string(json, "Other");
		json_close(json, ']');
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void write_entry(struct json_out *json, const char *label, const char *value)
{
	json_open(json, '{');
	json_key_string(json, "label", label);
	json_key_string(json, "format", "string");
	json_key_string(json, "value", value);
	json_close(json, '}');
}

/* For the panel "Profile Info". */
static void write_extra(const struct gecko *gecko, struct json_out *json)
{
	char line[FACTS_LINE_MAX];
	json_key_open(json, "extra", '[');
	json_open(json, '{');
	json_key_string(json, "label", "tachyscope");
	json_key_open(json, "entries", '[');
	facts_line(gecko->profile, gecko->stats, line);
	write_entry(json, "Run", line);
	for (uint32_t i = 0; i < gecko->profile->processes.n; i++) {
		facts_process_line(gecko->profile, i, line);
		write_entry(json, "Process", line);
	}
	json_close(json, ']');
	json_close(json, '}');
	json_close(json, ']');
}

static void write_meta(struct gecko *gecko)
{
	const struct profile *profile = gecko->profile;
	struct json_out *json = &gecko->json;
	const char *command = profile->processes.n > 0
				      ? strtab_get(profile->stacks.strings,
						   profile->processes.at[0].command)
				      : "";
	json_key_open(json, "meta", '{');
	key_time(json, "interval",
		 profile->rate_hz > 0 ? (uint64_t)(1e9 / profile->rate_hz) : 1000);
	key_time(json, "startTime", profile->start_unix_ns);
	json_key_u64(json, "profilingStartTime", 0);
	key_time(json, "profilingEndTime", profile->duration_ns);
	json_key_u64(json, "processType", 0);
	json_key_string(json, "product", *command ? command : "Python");
	json_key_string(json, "importedFrom", "tachyscope " TACHYSCOPE_VERSION);
	json_key_u64(json, "stackwalk", 1);
	json_key_bool(json, "debug", false);
	json_key_u64(json, "version", GECKO_VERSION);
	json_key_u64(json, "preprocessedProfileVersion", PROCESSED_VERSION);
	json_key_bool(json, "symbolicated", true);
	json_key_bool(json, "symbolicationNotSupported", true);
	json_key_bool(json, "usesOnlyOneStackType", true);
	json_key_bool(json, "sourceCodeIsNotOnSearchfox", true);
	json_key_open(json, "sampleUnits", '{');
	json_key_string(json, "time", "ms");
	json_key_string(json, "eventDelay", "ms");
	json_key_string(json, "threadCPUDelta", "ns");
	json_close(json, '}');
	write_categories(json);
	gecko_marker_schemas_write(profile->opcodes, json);
	write_extra(gecko, json);
	json_close(json, '}');
	json_key_open(json, "tachyscope", '{');
	facts_json(profile, gecko->stats, json);
	json_close(json, '}');
}

static void write_strings(struct gecko *gecko)
{
	const struct strtab *strings = gecko->profile->stacks.strings;
	struct json_out *json = &gecko->json;
	json_key_open(json, "shared", '{');
	json_key_open(json, "stringArray", '[');
	for (size_t i = 0; i < strtab_count(strings); i++)
		json_string(json, strtab_get(strings, (str_id)i));
	json_string(json, EXPORT_NO_FRAME); /* the order of enum gecko_string */
	json_string(json, "opcode");
	for (const struct phase_kind *kind = phase_kinds(); kind->name; kind++)
		json_string(json, kind->name);
	json_close(json, ']');
	json_close(json, '}');
}

/* ---- samples -------------------------------------------------------------------------------------- */

static int cut_span(struct gecko *gecko, const struct span *span, uint32_t stack)
{
	uint64_t weight = span->end_ns - span->begin_ns, shortest, n;
	shortest = gecko->profile->duration_ns / PIECES + 1;
	n = weight / shortest + 1;
	n = n > span->n_ticks ? span->n_ticks : n;
	n = n > 0 ? n : 1;
	for (uint64_t i = 0, done = 0; i < n; i++) {
		uint64_t part = (weight - done) / (n - i);
		struct piece piece = {span->begin_ns + done, part, stack, span->states};
		if (!vec_push(&gecko->pieces, piece))
			return TACHY_ENOMEM;
		done += part;
	}
	return 0;
}

static int cut_spans(struct gecko *gecko, const struct span *spans, size_t n)
{
	gecko->pieces.n = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t stack;
		int rc = gecko_tables_add(&gecko->tables, spans[i].stack, &stack);
		if (rc >= 0)
			rc = cut_span(gecko, &spans[i], stack);
		if (rc < 0)
			return rc;
		bool gap = i + 1 == n || spans[i + 1].begin_ns > spans[i].end_ns;
		struct piece nothing = {spans[i].end_ns, 0, GECKO_NONE, 0};
		if (gap && !vec_push(&gecko->pieces, nothing))
			return TACHY_ENOMEM;
	}
	return 0;
}

/* CPU time since the sample before: what that one weighs, if the thread was on a CPU. */
static void write_cpu(struct gecko *gecko)
{
	struct json_out *json = &gecko->json;
	json_key_open(json, "threadCPUDelta", '[');
	for (size_t i = 0; i < gecko->pieces.n; i++) {
		const struct piece *before = &gecko->pieces.at[i > 0 ? i - 1 : 0];
		if (i == 0 || (before->weight_ns > 0 && !(before->states & TACHY_STATE_CPU_KNOWN)))
			json_null(json);
		else
			json_u64(json, before->states & TACHY_STATE_ON_CPU ? before->weight_ns : 0);
	}
	json_close(json, ']');
}

static bool knows_cpu(const struct gecko *gecko)
{
	for (size_t i = 0; i < gecko->pieces.n; i++)
		if (gecko->pieces.at[i].states & TACHY_STATE_CPU_KNOWN)
			return true;
	return false;
}

static void write_samples(struct gecko *gecko)
{
	struct json_out *json = &gecko->json;
	size_t n = gecko->pieces.n;
	json_key_open(json, "samples", '{');
	json_key_u64(json, "length", n);
	json_key_open(json, "stack", '[');
	for (size_t i = 0; i < n; i++)
		if (gecko->pieces.at[i].stack == GECKO_NONE)
			json_null(json);
		else
			json_u64(json, gecko->pieces.at[i].stack);
	json_close(json, ']');
	json_key_open(json, "time", '[');
	for (size_t i = 0; i < n; i++)
		gecko_time(json, gecko->pieces.at[i].time_ns);
	json_close(json, ']');
	json_key_open(json, "weight", '[');
	for (size_t i = 0; i < n; i++)
		gecko_time(json, gecko->pieces.at[i].weight_ns);
	json_close(json, ']');
	json_key_string(json, "weightType", "tracing-ms");
	if (knows_cpu(gecko))
		write_cpu(gecko);
	json_close(json, '}');
}

/* ---- threads -------------------------------------------------------------------------------------- */

/* A process has one main thread there, and the main threads of sub-interpreters are others. */
static bool is_main(const struct profile *profile, uint32_t thread)
{
	for (uint32_t i = 0; i < thread; i++)
		if (profile->threads.at[i].main &&
		    profile->threads.at[i].process == profile->threads.at[thread].process)
			return false;
	return profile->threads.at[thread].main;
}

static void write_thread_facts(struct gecko *gecko, uint32_t index, const struct span *spans,
			       size_t n)
{
	const struct profile *profile = gecko->profile;
	const struct profile_thread *thread = &profile->threads.at[index];
	const char *name = strtab_get(profile->stacks.strings, thread->name);
	struct json_out *json = &gecko->json;
	char title[LANE_TITLE_MAX], pid[24];
	lane_thread_title(profile, index, title);
	(void)snprintf(pid, sizeof pid, "%lld", (long long)lane_pid(profile, index));
	json_key_string(json, "processType", "default");
	json_key_u64(json, "processStartupTime", 0);
	json_key(json, "processShutdownTime");
	json_null(json);
	key_time(json, "registerTime", n > 0 ? spans[0].begin_ns : 0);
	key_time(json, "unregisterTime", n > 0 ? spans[n - 1].end_ns : 0);
	json_key_open(json, "pausedRanges", '[');
	json_close(json, ']');
	json_key_bool(json, "showMarkersInTimeline", true);
	json_key_string(json, "name", *name ? name : title);
	json_key_bool(json, "isMainThread", is_main(profile, index));
	if (thread->process < profile->processes.n)
		json_key_string(json, "processName",
				strtab_get(profile->stacks.strings,
					   profile->processes.at[thread->process].command));
	json_key_string(json, "pid", pid);
	json_key_u64(json, "tid", gecko->lanes.tids.at[index]);
}

static int write_thread(struct gecko *gecko, uint32_t index)
{
	struct json_out *json = &gecko->json;
	size_t n;
	const struct span *spans = spans_of_thread(&gecko->spans, index, &n);
	if (n == 0)
		return 0;
	gecko_tables_clear(&gecko->tables);
	int rc = cut_spans(gecko, spans, n);
	if (rc < 0)
		return rc;
	json_open(json, '{');
	write_thread_facts(gecko, index, spans, n);
	write_samples(gecko);
	rc = gecko_markers_write(&gecko->profile->stacks, gecko->profile->opcodes, spans, n, json);
	gecko_tables_write(&gecko->tables, json);
	json_close(json, '}');
	out_char(json->out, '\n');
	return rc;
}

static int write_all(struct gecko *gecko)
{
	struct json_out *json = &gecko->json;
	int rc = 0;
	json_open(json, '{');
	write_meta(gecko);
	json_key_open(json, "libs", '[');
	json_close(json, ']');
	json_key_open(json, "threads", '[');
	for (uint32_t i = 0; i < gecko->profile->threads.n && rc >= 0; i++)
		rc = write_thread(gecko, i);
	json_close(json, ']');
	write_strings(gecko);
	json_close(json, '}');
	out_char(json->out, '\n');
	return rc;
}

int gecko_write(const struct profile *profile, const struct tachy_stats *stats,
		const struct export_options *options, struct out *out)
{
	struct gecko gecko = {.profile = profile, .stats = stats};
	(void)options; /* threads are apart, and frames tell their lines */
	json_init(&gecko.json, out);
	int rc = spans_init(profile, &gecko.spans);
	if (rc < 0)
		return rc;
	rc = lanes_init(profile, &gecko.lanes);
	if (rc < 0)
		goto no_lanes;
	rc = gecko_tables_init(&profile->stacks, &gecko.tables);
	if (rc < 0)
		goto no_tables;
	rc = write_all(&gecko);
	vec_done(&gecko.pieces);
	gecko_tables_done(&gecko.tables);
no_tables:
	lanes_done(&gecko.lanes);
no_lanes:
	spans_done(&gecko.spans);
	return rc < 0 ? rc : out->status;
}
