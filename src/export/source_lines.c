/* SPDX-License-Identifier: MIT
 * First all wanted (file, line) pairs are gathered and sorted, then each file is walked once.
 * Invariant after init: `lines` is sorted and has no equal pairs.
 */
#include "export/source_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "export/source_excerpt.h"

static int compare(const void *left, const void *right)
{
	const struct source_line *a = left, *b = right;
	int order = a->file == b->file ? 0 : strcmp(a->file, b->file);
	return order ? order : (a->line > b->line) - (a->line < b->line);
}

/* "<string>", "<frozen importlib._bootstrap>", "": no file can have been meant. */
static bool names_no_file(const char *file)
{
	size_t len = strlen(file);
	return len == 0 || (file[0] == '<' && file[len - 1] == '>');
}

static int want_frame(struct source_lines *lines, const struct tachy_frame *frame)
{
	struct source_line line = {frame->file, frame->line, NULL, 0};
	if (frame->kind != TACHY_FRAME_PYTHON || frame->line <= 0 || names_no_file(frame->file))
		return 0;
	if (lines->lines.n > 0 && compare(&lines->lines.at[lines->lines.n - 1], &line) == 0)
		return 0; /* recursion */
	return vec_push(&lines->lines, line) ? 0 : TACHY_ENOMEM;
}

static int want_frames(struct source_lines *lines, const struct tachy_frame *frames, size_t n)
{
	int rc = 0;
	for (size_t i = 0; i < n && rc >= 0; i++)
		rc = want_frame(lines, &frames[i]);
	return rc;
}

static int want_all(struct source_lines *lines, const struct tachy_dump *dump)
{
	for (size_t i = 0; i < dump->n_interpreters; i++) {
		const struct tachy_interpreter *interpreter = &dump->interpreters[i];
		for (size_t j = 0; j < interpreter->n_threads; j++)
			if (want_frames(lines, interpreter->threads[j].frames,
					interpreter->threads[j].n_frames) < 0)
				return TACHY_ENOMEM;
		for (size_t j = 0; j < interpreter->n_tasks; j++)
			if (want_frames(lines, interpreter->tasks[j].frames,
					interpreter->tasks[j].n_frames) < 0)
				return TACHY_ENOMEM;
	}
	return 0;
}

static void sort_unique(struct source_lines *lines)
{
	size_t n = 0;
	if (lines->lines.n == 0)
		return;
	qsort(lines->lines.at, lines->lines.n, sizeof *lines->lines.at, compare);
	for (size_t i = 1; i < lines->lines.n; i++)
		if (compare(&lines->lines.at[n], &lines->lines.at[i]) != 0)
			lines->lines.at[++n] = lines->lines.at[i];
	lines->lines.n = n + 1;
}

static int keep(struct source_lines *lines, struct source_line *line, const char *text, size_t len)
{
	if (len > SOURCE_LINE_MAX)
		len = SOURCE_LINE_MAX;
	line->text = arena_strndup(&lines->texts, text, len);
	line->len = len;
	return line->text ? 0 : TACHY_ENOMEM;
}

/* Cuts the wanted lines [at, end), all of one file, out of its bytes. */
static int cut_lines(struct source_lines *lines, size_t at, size_t end, const char *bytes,
		     size_t size)
{
	size_t pos = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0, next;
	for (int32_t number = 1; at < end && pos < size && number < INT32_MAX;
	     number++, pos = next) {
		size_t len = source_line_at(bytes, size, pos, &next);
		if (number != lines->lines.at[at].line)
			continue;
		if (keep(lines, &lines->lines.at[at++], bytes + pos, len) < 0)
			return TACHY_ENOMEM;
	}
	return 0;
}

static int read_files(struct source_lines *lines, const struct source_reader *reader)
{
	size_t n_files = 0, end;
	for (size_t at = 0; at < lines->lines.n && n_files < SOURCE_FILES_MAX;
	     at = end, n_files++) {
		const char *file = lines->lines.at[at].file;
		for (end = at + 1;
		     end < lines->lines.n && strcmp(lines->lines.at[end].file, file) == 0;)
			end++;
		struct source_text text;
		if (reader->read(reader->ctx, file, &text) < 0)
			continue;
		/* a name is what the target, or whoever made a recording, chose: no lines of /etc/shadow */
		int rc = source_is_python(file, text.bytes, text.size)
				 ? cut_lines(lines, at, end, text.bytes, text.size)
				 : 0;
		free(text.bytes);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static void start(struct source_lines *lines)
{
	memset(lines, 0, sizeof *lines);
	arena_init(&lines->texts);
}

/* After all was wanted, or not (`rc`). */
static int fill(struct source_lines *lines, const struct source_reader *reader, int rc)
{
	sort_unique(lines);
	if (rc >= 0)
		rc = read_files(lines, reader);
	if (rc < 0)
		source_lines_done(lines);
	return rc;
}

int source_lines_init(const struct tachy_dump *dump, const struct source_reader *reader,
		      struct source_lines *ret_lines)
{
	start(ret_lines);
	return reader->read ? fill(ret_lines, reader, want_all(ret_lines, dump)) : 0;
}

int source_lines_init_profile(const struct stacks *stacks, const struct source_reader *reader,
			      struct source_lines *ret_lines)
{
	int rc = 0;
	start(ret_lines);
	if (!reader->read)
		return 0;
	for (frame_id id = 0; id < stacks->frames.n && rc >= 0; id++) {
		struct tachy_frame frame;
		stacks_describe(stacks, id, &frame);
		rc = want_frame(ret_lines, &frame);
	}
	return fill(ret_lines, reader, rc);
}

void source_lines_done(struct source_lines *lines)
{
	vec_done(&lines->lines);
	arena_done(&lines->texts);
}

const struct source_line *source_lines_find(const struct source_lines *lines, const char *file,
					    int32_t line)
{
	struct source_line wanted = {file, line, NULL, 0};
	if (lines->lines.n == 0)
		return NULL;
	const struct source_line *found = bsearch(&wanted, lines->lines.at, lines->lines.n,
						  sizeof wanted, compare);
	return found && found->text ? found : NULL;
}
