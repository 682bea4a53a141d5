/* SPDX-License-Identifier: MIT
 * What a page shows of a source file: all of it, or the lines around those that were sampled. Lines are
 * counted as Python counts them. The bytes are foreign.
 */
#ifndef EXPORT_SOURCE_EXCERPT_H
#define EXPORT_SOURCE_EXCERPT_H

#include "export/json_out.h"

#define EXCERPT_LINE_MAX 4096 /* bytes shown of a line */

struct excerpt {
	const char *bytes;
	size_t size;
	const int32_t *wanted; /* lines, rising, from 1 */
	size_t n_wanted;
	int32_t context; /* lines to show before and behind each; < 0: the whole file */
};

struct excerpt_told {
	int32_t n_lines;  /* of the file */
	size_t n_beyond;  /* wanted lines that it does not have */
	uint64_t n_shown; /* lines written */
};

/* Whether the bytes may be shown as the source of `path`: the name or the first line must say that it is
 * Python, and there must be no NUL. Whoever made up the name is not shown any other file by us. */
bool source_is_python(const char *path, const char *bytes, size_t size);

/* Length of the line at `pos`, and in *ret_next where the next begins: after \n, \r\n or \r, as Python counts
 * lines. */
size_t source_line_at(const char *bytes, size_t size, size_t pos, size_t *ret_next);

/* Writes an array of [first line, "line\nline\n..."], by rising line. */
void source_excerpt_write(const struct excerpt *excerpt, struct json_out *json,
			  struct excerpt_told *ret_told);

#endif
