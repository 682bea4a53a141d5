/* SPDX-License-Identifier: MIT
 * The source lines that a dump or a profile needs, and no others: each file is read once, its wanted lines are
 * kept, the rest is let go.
 */
#ifndef EXPORT_SOURCE_LINES_H
#define EXPORT_SOURCE_LINES_H

#include "base/arena.h"
#include "base/vec.h"
#include "model/stack.h"

#define SOURCE_FILES_MAX 4096 /* read for one dump or profile */
#define SOURCE_LINE_MAX 4096  /* bytes kept of a line */

struct source_text {
	char *bytes; /* the caller's: free() */
	size_t size;
	int64_t changed_unix_ns; /* when the file was last written to; 0 unknown */
};

struct source_reader {
	/* The whole file, as the first process has it. TACHY_ENOENT: there is none, or no regular one; TACHY_ELIMIT: it is too large;
	 * or any other code. */
	int (*read)(void *ctx, const char *path, struct source_text *ret_text);
	void *ctx;
	bool replayed; /* the files are those of who replays a recording */
};

struct source_line {
	const char *file; /* borrowed from the dump or profile */
	int32_t line;     /* from 1 */
	const char *text; /* without its end; NULL: not found. Not NUL-terminated */
	size_t len;
};

struct source_lines {
	VEC(struct source_line) lines; /* by file and line */
	struct arena texts;
};

/* 0 or TACHY_ENOMEM; files that cannot be read are left out. The dump must outlive *ret_lines. */
int source_lines_init(const struct tachy_dump *dump, const struct source_reader *reader,
		      struct source_lines *ret_lines);
/* Those of every frame of a profile, which must outlive *ret_lines. */
int source_lines_init_profile(const struct stacks *stacks, const struct source_reader *reader,
			      struct source_lines *ret_lines);
void source_lines_done(struct source_lines *lines);
/* NULL when it is not there. */
const struct source_line *source_lines_find(const struct source_lines *lines, const char *file,
					    int32_t line);

#endif
