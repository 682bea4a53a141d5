/* SPDX-License-Identifier: MIT
 * Reads one file at a time. Invariant: what is shown is bounded, however many files there are and
 * however large: whole files up to SHOWN_WHOLE_MAX bytes together, beyond that a few lines for each
 * that was sampled.
 */
#include "export/heatmap_sources.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "export/source_excerpt.h"
#include "export/source_origin.h"

#define WHOLE_FILE_MAX	(1u << 20)
#define SHOWN_WHOLE_MAX (24u << 20)
#define CONTEXT_LINES	12

struct ranked {
	uint32_t file;
	struct heat heat;
};

struct sources {
	const struct heat_index *index;
	const struct line_heat *heat;
	const struct source_reader *reader;
	VEC(struct ranked) files;
	VEC(uint64_t) wanted; /* file << 32 | line, of all files, rising */
	VEC(int32_t) lines;   /* of the file at hand */
	size_t shown;	      /* bytes of whole files so far */
};

static const char *path_of(const struct sources *sources, uint32_t file)
{
	return strtab_get(sources->index->profile->stacks.strings,
			  sources->index->files.at[file].path);
}

static int hottest_first(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;
	if (a->heat.own != b->heat.own)
		return a->heat.own < b->heat.own ? 1 : -1;
	if (a->heat.total != b->heat.total)
		return a->heat.total < b->heat.total ? 1 : -1;
	return (a->file > b->file) - (a->file < b->file);
}

static int find_files(struct sources *sources)
{
	const struct heat_index *index = sources->index;
	for (uint32_t i = 0; i < index->files.n; i++) {
		struct ranked file = {i, sources->heat->by[HEAT_FILES][i]};
		enum source_origin origin = source_origin_of(path_of(sources, i));
		if (index->files.at[i].marker || file.heat.total == 0 || origin == SOURCE_FROZEN ||
		    origin == SOURCE_GENERATED)
			continue;
		if (!vec_push(&sources->files, file))
			return TACHY_ENOMEM;
	}
	if (sources->files.n > 1)
		qsort(sources->files.at, sources->files.n, sizeof *sources->files.at,
		      hottest_first);
	return 0;
}

static int rising(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;
	return (*a > *b) - (*a < *b);
}

/* Sampled lines, and the lines where sampled functions begin. */
static int find_wanted(struct sources *sources)
{
	const struct heat_index *index = sources->index;
	const struct stacks *stacks = &index->profile->stacks;
	for (size_t i = 0; i < index->lines.n; i++) {
		const struct heat_line *line = &index->lines.at[i];
		uint64_t wanted = (uint64_t)line->file << 32 | (uint32_t)line->line;
		if (line->line > 0 && sources->heat->by[HEAT_LINES][i].total > 0 &&
		    !vec_push(&sources->wanted, wanted))
			return TACHY_ENOMEM;
	}
	for (size_t i = 0; i < stacks->functions.n; i++) {
		int32_t line = stacks->functions.at[i].first_line;
		uint64_t wanted = (uint64_t)index->file_of_function[i] << 32 | (uint32_t)line;
		if (line > 0 && sources->heat->by[HEAT_FUNCTIONS][i].total > 0 &&
		    !vec_push(&sources->wanted, wanted))
			return TACHY_ENOMEM;
	}
	if (sources->wanted.n > 1)
		qsort(sources->wanted.at, sources->wanted.n, sizeof *sources->wanted.at, rising);
	return 0;
}

/* The first wanted line that is not before line 1 of the file. */
static size_t first_wanted(const struct sources *sources, uint32_t file)
{
	size_t low = 0, high = sources->wanted.n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (sources->wanted.at[middle] < (uint64_t)file << 32)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int take_lines(struct sources *sources, uint32_t file)
{
	sources->lines.n = 0;
	for (size_t i = first_wanted(sources, file);
	     i < sources->wanted.n && sources->wanted.at[i] >> 32 == file; i++) {
		int32_t line = (int32_t)(sources->wanted.at[i] & INT32_MAX);
		size_t n = sources->lines.n;
		if ((n == 0 || sources->lines.at[n - 1] != line) &&
		    !vec_push(&sources->lines, line))
			return TACHY_ENOMEM;
	}
	return 0;
}

static const char *state_of(int code)
{
	switch (code) {
	case 0:
		return "shown";
	case TACHY_ENOENT:
		return "missing";
	case TACHY_EPERM:
		return "denied";
	case TACHY_ELIMIT:
		return "large";
	case TACHY_EINVAL:
		return "not_python";
	case TACHY_EAGAIN:
		return "unread";
	case TACHY_EVERSION:
		return "other_root";
	default:
		return "unreadable";
	}
}

static void write_text(struct sources *sources, const struct source_text *text,
		       struct json_out *json)
{
	const struct profile *profile = sources->index->profile;
	bool whole = text->size <= WHOLE_FILE_MAX && text->size <= SHOWN_WHOLE_MAX - sources->shown;
	struct excerpt excerpt = {text->bytes, text->size, sources->lines.at, sources->lines.n,
				  whole ? -1 : CONTEXT_LINES};
	struct excerpt_told told;
	sources->shown += whole ? text->size : 0;
	json_key(json, "parts");
	source_excerpt_write(&excerpt, json, &told);
	json_key_bool(json, "whole", whole);
	json_key_i64(json, "lines", told.n_lines);
	json_key_u64(json, "beyond", told.n_beyond);
	json_key_bool(json, "changed",
		      profile->start_unix_ns > 0 && text->changed_unix_ns > 0 &&
			      (uint64_t)text->changed_unix_ns > profile->start_unix_ns);
}

/* 0 and the text, or why there is none. */
static int read_text(const struct sources *sources, uint32_t file, bool wanted,
		     struct source_text *ret_text)
{
	const struct profile *profile = sources->index->profile;
	const char *path = path_of(sources, file);
	uint32_t process = sources->index->files.at[file].process;
	if (!wanted)
		return TACHY_EAGAIN;
	if (process < profile->processes.n && profile->processes.at[process].other_root)
		return TACHY_EVERSION;
	int code = sources->reader->read(sources->reader->ctx, path, ret_text);
	if (code < 0)
		return code;
	return source_is_python(path, ret_text->bytes, ret_text->size) ? 0 : TACHY_EINVAL;
}

static int write_file(struct sources *sources, uint32_t file, bool wanted, struct json_out *json)
{
	struct source_text text = {.bytes = NULL};
	int code = read_text(sources, file, wanted, &text);
	int rc = take_lines(sources, file);
	json_open(json, '{');
	json_key_u64(json, "file", file);
	json_key_string(json, "state", state_of(code));
	if (code == 0 && rc >= 0)
		write_text(sources, &text, json);
	json_close(json, '}');
	free(text.bytes);
	return rc < 0 || code == TACHY_ENOMEM ? TACHY_ENOMEM : 0;
}

int heatmap_sources_write(const struct heat_index *index, const struct line_heat *heat,
			  const struct source_reader *reader, struct json_out *json)
{
	struct sources sources = {.index = index, .heat = heat, .reader = reader};
	int rc = find_files(&sources);
	if (rc >= 0)
		rc = find_wanted(&sources);
	json_open(json, '[');
	for (size_t i = 0; i < sources.files.n && rc >= 0; i++)
		rc = write_file(&sources, sources.files.at[i].file,
				reader->read && i < SOURCE_FILES_MAX, json);
	json_close(json, ']');
	vec_done(&sources.files);
	vec_done(&sources.wanted);
	vec_done(&sources.lines);
	return rc;
}
