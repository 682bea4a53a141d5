/* SPDX-License-Identifier: MIT
 * A screen as rows of cells. Text of the target enters here and nowhere else: it is made harmless on the
 * way, and takes as many cells as the terminal will give it.
 */
#ifndef TUI_GRID_H
#define TUI_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/style.h"

#define GRID_SIDE_MAX  1000u
#define CELL_MARKS_MAX 2u /* combining characters kept on one cell */

struct cell {
	uint32_t c;                     /* never one that a terminal obeys */
	uint32_t marks[CELL_MARKS_MAX]; /* 0: none */
	style_t style;
	uint8_t width; /* 1; 2: takes the next cell too; 0: is that next cell */
};

struct grid {
	unsigned rows, cols;
	struct cell *cells; /* row after row; owned */
};

/* Cleared. TACHY_ENOMEM (nothing changed). A zeroed grid is an empty one. */
int grid_resize(struct grid *grid, unsigned rows, unsigned cols);
void grid_done(struct grid *grid);
void grid_clear(struct grid *grid);
const struct cell *grid_at(const struct grid *grid, unsigned row, unsigned col);

/* At most `max` columns of `text`, "…" where it is cut at the end. What lies outside the grid is left
 * out. Gives the columns used. */
unsigned grid_text(struct grid *grid, unsigned row, unsigned col, unsigned max, style_t style,
		   const char *text);
/* The same, cut in the middle: for paths. */
unsigned grid_path(struct grid *grid, unsigned row, unsigned col, unsigned max, style_t style,
		   const char *text);
/* At the right end of the `width` columns from `col` on. */
void grid_right(struct grid *grid, unsigned row, unsigned col, unsigned width, style_t style,
		const char *text);
unsigned grid_format(struct grid *grid, unsigned row, unsigned col, unsigned max, style_t style,
		     const char *format, ...) __attribute__((format(printf, 6, 7)));
void grid_fill(struct grid *grid, unsigned row, unsigned col, unsigned n, style_t style,
	       uint32_t c);
/* Adds STYLE_CHOSEN to a whole row. */
void grid_choose_row(struct grid *grid, unsigned row);

#endif
