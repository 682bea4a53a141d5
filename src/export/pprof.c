/* SPDX-License-Identifier: MIT
 * A profile for pprof: two values per sample, counts and nanoseconds; thread, process, states and the
 * executing instruction as labels.
 * The message is never whole in memory: fields of Profile are packed in pieces, one after the other,
 * which protobuf defines to be the same as their merged whole. The string table comes last, when all its
 * strings are known.
 */
#include <profile.pb-c.h>
#include <string.h>

#include "base/error.h"
#include "export/clean_text.h"
#include "export/export.h"
#include "export/facts.h"
#include "export/gzip_out.h"
#include "export/lanes.h"
#include "export/places.h"
#include "export/state_names.h"

#define LABELS_MAX 16

typedef Perftools__Profiles__Profile message;

/* Ids of pprof begin at 1. Locations: places, then processes, then threads; functions: those of the
 * profile, one for stacks without frames, then processes, then threads. */
struct pprof {
	const struct profile *profile;
	const struct export_options *options;
	struct places places; /* by line: pprof itself sums up by function */
	struct strtab *strings;
	struct gzip_out *gzip;
	VEC(uint8_t) packed;     /* scratch */
	struct clean_text clean;
	VEC(uint64_t) locations; /* scratch */
	int status;              /* the first error sticks */
};

static void put(struct pprof *pprof, const message *piece)
{
	size_t size = perftools__profiles__profile__get_packed_size(piece);
	if (pprof->status < 0)
		return;
	if (!vec_reserve(&pprof->packed, size)) {
		pprof->status = TACHY_ENOMEM;
		return;
	}
	(void)perftools__profiles__profile__pack(piece, pprof->packed.at);
	gzip_out_bytes(pprof->gzip, pprof->packed.at, size);
}

/* The index of a string. */
static int64_t name(struct pprof *pprof, const char *raw)
{
	const char *text = clean_text_of(&pprof->clean, raw);
	str_id id = 0;
	if (!text || strtab_add(pprof->strings, text, strlen(text), &id) < 0)
		pprof->status = TACHY_ENOMEM;
	return id;
}

/* ---- what the values are ---------------------------------------------------------------------- */

static void put_types(struct pprof *pprof)
{
	const struct profile *profile = pprof->profile;
	Perftools__Profiles__ValueType count = PERFTOOLS__PROFILES__VALUE_TYPE__INIT,
				       time = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
	Perftools__Profiles__ValueType *types[] = {&count, &time};
	message piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	count.type = name(pprof, "samples");
	count.unit = name(pprof, "count");
	time.type = name(pprof, facts_mode_name(profile->mode));
	time.unit = name(pprof, "nanoseconds");
	piece.n_sample_type = 2;
	piece.sample_type = types;
	piece.default_sample_type = time.type;
	piece.period_type = &time;
	piece.period = profile->rate_hz > 0 ? (int64_t)(1e9 / profile->rate_hz) : 0;
	piece.time_nanos = (int64_t)profile->start_unix_ns;
	piece.duration_nanos = (int64_t)profile->duration_ns;
	put(pprof, &piece);
}

static void put_comment(struct pprof *pprof, const char *text)
{
	int64_t comment = name(pprof, text);
	message piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	piece.n_comment = 1;
	piece.comment = &comment;
	put(pprof, &piece);
}

static void put_facts(struct pprof *pprof, const struct tachy_stats *stats)
{
	char line[FACTS_LINE_MAX];
	facts_line(pprof->profile, stats, line);
	put_comment(pprof, line);
	for (uint32_t i = 0; i < pprof->profile->processes.n; i++) {
		facts_process_line(pprof->profile, i, line);
		put_comment(pprof, line);
	}
}

/* ---- functions and locations -------------------------------------------------------------------- */

static void put_function(struct pprof *pprof, uint64_t id, const char *text, const char *file,
			 int32_t line)
{
	Perftools__Profiles__Function function = PERFTOOLS__PROFILES__FUNCTION__INIT, *list;
	message piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	list = &function;
	function.id = id;
	/* No system_name: pprof takes a name that equals it for a mangled one, and would make <module>
	 * and the like empty (internal/symbolizer, Demangle). */
	function.name = name(pprof, text);
	function.filename = name(pprof, file);
	function.start_line = line;
	piece.n_function = 1;
	piece.function = &list;
	put(pprof, &piece);
}

static void put_location(struct pprof *pprof, uint64_t id, uint64_t function, int32_t number)
{
	Perftools__Profiles__Line line = PERFTOOLS__PROFILES__LINE__INIT, *lines;
	Perftools__Profiles__Location location = PERFTOOLS__PROFILES__LOCATION__INIT, *list;
	message piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	lines = &line;
	list = &location;
	line.function_id = function;
	line.line = number;
	location.id = id;
	location.n_line = 1;
	location.line = &lines;
	piece.n_location = 1;
	piece.location = &list;
	put(pprof, &piece);
}

static void put_places(struct pprof *pprof)
{
	const struct stacks *stacks = &pprof->profile->stacks;
	for (size_t i = 0; i < stacks->functions.n; i++) {
		const struct function *function = &stacks->functions.at[i];
		put_function(pprof, i + 1, strtab_get(stacks->strings, function->name),
			     strtab_get(stacks->strings, function->file), function->first_line);
	}
	put_function(pprof, stacks->functions.n + 1, EXPORT_NO_FRAME, "", 0);
	put_location(pprof, PLACE_NO_FRAME + 1, stacks->functions.n + 1, 0);
	for (uint32_t i = 1; i < pprof->places.frames.n; i++) {
		struct tachy_frame frame;
		places_describe(&pprof->places, i, &frame);
		put_location(pprof, i + 1,
			     stacks->frames.at[pprof->places.frames.at[i]].function + 1u,
			     frame.line);
	}
}

static uint64_t process_location(const struct pprof *pprof, uint32_t process)
{
	return pprof->places.frames.n + 1 + process;
}

static uint64_t thread_location(const struct pprof *pprof, uint32_t thread)
{
	return process_location(pprof, (uint32_t)pprof->profile->processes.n) + thread;
}

static void put_titles(struct pprof *pprof)
{
	const struct profile *profile = pprof->profile;
	uint64_t function = profile->stacks.functions.n + 2;
	char title[LANE_TITLE_MAX];
	for (uint32_t i = 0; profile->processes.n > 1 && i < profile->processes.n; i++) {
		lane_process_title(profile, i, title);
		put_function(pprof, function, title, "", 0);
		put_location(pprof, process_location(pprof, i), function++, 0);
	}
	for (uint32_t i = 0; pprof->options->by_thread && i < profile->threads.n; i++) {
		lane_thread_title(profile, i, title);
		put_function(pprof, function, title, "", 0);
		put_location(pprof, thread_location(pprof, i), function++, 0);
	}
}

/* ---- samples ------------------------------------------------------------------------------------ */

struct labels {
	size_t n;
	Perftools__Profiles__Label at[LABELS_MAX], *list[LABELS_MAX];
};

static void add_label(struct pprof *pprof, struct labels *labels, const char *key, const char *text,
		      int64_t number)
{
	Perftools__Profiles__Label label = PERFTOOLS__PROFILES__LABEL__INIT;
	label.key = name(pprof, key);
	label.str = text ? name(pprof, text) : 0;
	label.num = text ? 0 : number;
	if (labels->n == LABELS_MAX || (!label.str && !label.num))
		return;
	labels->at[labels->n] = label;
	labels->list[labels->n] = &labels->at[labels->n];
	labels->n++;
}

static void label_sample(struct pprof *pprof, const struct profile_count *count,
			 struct labels *labels)
{
	const struct profile *profile = pprof->profile;
	const struct strtab *strings = profile->stacks.strings;
	const struct profile_thread *thread = &profile->threads.at[count->thread];
	const struct stack_node *leaf = stacks_node(&profile->stacks, count->stack);
	labels->n = 0;
	add_label(pprof, labels, "thread", strtab_get(strings, thread->name), 0);
	add_label(pprof, labels, "tid", NULL, (int64_t)thread->tid);
	add_label(pprof, labels, "pid", NULL, lane_pid(profile, count->thread));
	for (const struct state_name *at = state_names(); at->name; at++)
		if (count->states & at->bit)
			add_label(pprof, labels, "state", at->name, 0);
	if (leaf->depth > 0)
		add_label(pprof, labels, "opcode",
			  strtab_get(strings, profile->stacks.frames.at[leaf->frame].opcode), 0);
}

static bool push_location(struct pprof *pprof, uint64_t location)
{
	if (!vec_push(&pprof->locations, location))
		pprof->status = TACHY_ENOMEM;
	return pprof->status == 0;
}

/* The stack of a count, leaf first, and what stands for its thread and process. */
static void locate(struct pprof *pprof, const struct profile_count *count)
{
	const struct profile *profile = pprof->profile;
	const struct stack_node *node = stacks_node(&profile->stacks, count->stack);
	pprof->locations.n = 0;
	if (node->depth == 0)
		(void)push_location(pprof, PLACE_NO_FRAME + 1);
	for (; node->depth > 0; node = stacks_node(&profile->stacks, node->parent))
		if (!push_location(pprof, pprof->places.of_frame[node->frame] + 1u))
			return;
	if (pprof->options->by_thread)
		(void)push_location(pprof, thread_location(pprof, count->thread));
	if (profile->processes.n > 1)
		(void)push_location(pprof,
				    process_location(pprof,
						     profile->threads.at[count->thread].process));
}

static void put_sample(struct pprof *pprof, const struct profile_count *count)
{
	int64_t values[] = {(int64_t)count->n_samples, (int64_t)count->weight_ns};
	Perftools__Profiles__Sample sample = PERFTOOLS__PROFILES__SAMPLE__INIT, *list;
	message piece = PERFTOOLS__PROFILES__PROFILE__INIT;
	struct labels labels;
	list = &sample;
	label_sample(pprof, count, &labels);
	locate(pprof, count);
	sample.n_location_id = pprof->locations.n;
	sample.location_id = pprof->locations.at;
	sample.n_value = 2;
	sample.value = values;
	sample.n_label = labels.n;
	sample.label = labels.list;
	piece.n_sample = 1;
	piece.sample = &list;
	put(pprof, &piece);
}

static void put_strings(struct pprof *pprof)
{
	size_t n = strtab_count(pprof->strings);
	for (size_t i = 0; i < n; i++) {
		char *text = (char *)(uintptr_t)strtab_get(pprof->strings, (str_id)i);
		message piece = PERFTOOLS__PROFILES__PROFILE__INIT;
		piece.n_string_table = 1;
		piece.string_table = &text;
		put(pprof, &piece);
	}
}

static void put_all(struct pprof *pprof, const struct tachy_stats *stats)
{
	const struct profile *profile = pprof->profile;
	put_types(pprof);
	put_facts(pprof, stats);
	for (size_t i = 0; i < profile->counts.n && pprof->status == 0; i++)
		if (profile->counts.at[i].thread < profile->threads.n)
			put_sample(pprof, &profile->counts.at[i]);
	put_places(pprof);
	put_titles(pprof);
	put_strings(pprof);
}

int pprof_write(const struct profile *profile, const struct tachy_stats *stats,
		const struct export_options *options, struct out *out)
{
	struct gzip_out gzip;
	struct pprof pprof = {.profile = profile, .options = options, .gzip = &gzip};
	int rc = places_init(profile, true, &pprof.places);
	if (rc < 0)
		return rc;
	rc = strtab_create(&pprof.strings);
	if (rc < 0)
		goto no_strings;
	rc = gzip_out_init(&gzip, out);
	if (rc < 0)
		goto no_gzip;
	put_all(&pprof, stats);
	rc = pprof.status;
	gzip_out_end(&gzip);
	vec_done(&pprof.packed);
	clean_text_done(&pprof.clean);
	vec_done(&pprof.locations);
no_gzip:
	strtab_destroy(pprof.strings);
no_strings:
	places_done(&pprof.places);
	return rc < 0 ? rc : out->status;
}
