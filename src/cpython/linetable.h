/* SPDX-License-Identifier: MIT
 * From an instruction to its place in the source: the three forms of CPython's line table.
 * Any size of table; look-ups take a binary search and a walk over at most LINE_STEPS entries.
 */
#ifndef CPYTHON_LINETABLE_H
#define CPYTHON_LINETABLE_H

#include "base/load.h"
#include "base/vec.h"
#include "cpython/layout.h"

struct line_mark;

struct linetable {
	enum linetable_design design;
	int32_t first_line;
	struct span bytes;        /* owned copy */
	struct line_mark *marks;  /* owned; NULL until the first look-up */
	size_t n_marks;
};

struct line_place {
	int32_t line, end_line;     /* 0: none */
	int32_t column, end_column; /* -1: none */
};

/* Copies `bytes`. TACHY_ENOMEM. */
int linetable_init(struct linetable *table, enum linetable_design design, int32_t first_line,
		   struct span bytes);
void linetable_done(struct linetable *table);
/* The place of the instruction at byte offset `at` of the bytecode. An offset before the first or past
 * the last entry, and an instruction without a line, give the nearest line before it. */
int linetable_find(struct linetable *table, int64_t at, struct line_place *ret_place);

#endif
