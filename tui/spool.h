/* SPDX-License-Identifier: MIT
 * What a program writes while the screen is ours: the last few megabytes as they came, to be given to the
 * terminal in the end, and as lines of harmless text for a view.
 */
#ifndef TUI_SPOOL_H
#define TUI_SPOOL_H

#include "base/vec.h"

#define SPOOL_BYTES_MAX (4u << 20)
#define SPOOL_LINES_MAX 20000u
#define SPOOL_LINE_MAX  2000u /* bytes kept of a line */

struct spool_line {
	char *text; /* owned; with a NUL at its end */
	size_t n;
};

struct spool {
	char *bytes; /* a ring of SPOOL_BYTES_MAX; owned; NULL until something came */
	uint64_t n;  /* that came in all */
	VEC(struct spool_line) lines; /* a ring once it is full */
	size_t first;                 /* the oldest */
	char partial[SPOOL_LINE_MAX + 1];
	size_t n_partial;
	int escape; /* where in an escape sequence the next byte is; see spool.c */
	bool cr;    /* the last byte was a carriage return */
};

/* 0 or TACHY_ENOMEM (it is then not kept). */
int spool_take(struct spool *spool, const char *bytes, size_t n);
void spool_done(struct spool *spool);
/* Lines, the unfinished last one included. */
size_t spool_n_lines(const struct spool *spool);
const char *spool_line(const struct spool *spool, size_t i); /* borrowed until the next take */
/* Bytes that are kept no more. */
uint64_t spool_n_cut(const struct spool *spool);
/* The kept bytes, oldest first, in two parts. */
void spool_parts(const struct spool *spool, const char *parts[2], size_t sizes[2]);

#endif
