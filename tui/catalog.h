/* SPDX-License-Identifier: MIT
 * What the numbers in samples stand for, as the session told it. Text is borrowed from the session.
 */
#ifndef TUI_CATALOG_H
#define TUI_CATALOG_H

#include "base/map.h"
#include "base/vec.h"
#include "tachyscope/live.h"

#define NO_ID UINT32_MAX

struct told_process {
	int64_t pid;
	const char *command, *version;
};

struct told_thread {
	const char *name;
	uint64_t tid;
	int64_t interpreter;
	uint32_t process;
	bool main;
};

struct told_function {
	const char *name, *file;
	int32_t first_line;
	enum tachy_frame_kind kind;
	uint32_t lines; /* first of its lines; NO_ID none */
};

struct told_line {
	uint32_t function;
	int32_t line;
	uint32_t next;   /* of the function; NO_ID the last */
	uint32_t frames; /* first frame there; NO_ID none */
};

struct told_frame {
	const char *opcode, *base_opcode;
	uint32_t line; /* id */
	uint32_t next; /* of the line */
};

struct told_stack {
	uint32_t parent, frame;
};

struct catalog {
	VEC(struct told_process) processes;
	VEC(struct told_thread) threads;
	VEC(struct told_function) functions;
	VEC(struct told_line) lines;
	VEC(struct told_frame) frames;
	VEC(struct told_stack) stacks; /* 0: the empty one */
	struct map line_by_key;        /* function << 32 | line */
	bool opcodes;                  /* some frame told one */
};

/* TACHY_ENOMEM */
int catalog_init(struct catalog *catalog);
void catalog_done(struct catalog *catalog);
/* Any event but a sample. 0, TACHY_ENOMEM, or TACHY_ECORRUPT for ids that do not follow. */
int catalog_take(struct catalog *catalog, const struct tachy_live_event *event);

#endif
