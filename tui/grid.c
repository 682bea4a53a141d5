/* SPDX-License-Identifier: MIT
 * Invariant: a cell of width 2 is followed by one of width 0 in the same row, and no other cell has width
 * 0; what is written over half of a wide character leaves a blank for the other half.
 */
#include "tui/grid.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "tachyscope/error.h"

#define TEXT_ROOM 4096

static const struct cell blank = {.c = ' ', .width = 1};

int grid_resize(struct grid *grid, unsigned rows, unsigned cols)
{
	rows = rows > GRID_SIDE_MAX ? GRID_SIDE_MAX : rows;
	cols = cols > GRID_SIDE_MAX ? GRID_SIDE_MAX : cols;
	size_t n = (size_t)rows * cols;
	struct cell *cells = malloc((n ? n : 1) * sizeof *cells);
	if (!cells)
		return TACHY_ENOMEM;
	free(grid->cells);
	grid->rows = rows;
	grid->cols = cols;
	grid->cells = cells;
	grid_clear(grid);
	return 0;
}

void grid_done(struct grid *grid)
{
	free(grid->cells);
	*grid = (struct grid){0};
}

void grid_clear(struct grid *grid)
{
	for (size_t i = 0; i < (size_t)grid->rows * grid->cols; i++)
		grid->cells[i] = blank;
}

const struct cell *grid_at(const struct grid *grid, unsigned row, unsigned col)
{
	return row < grid->rows && col < grid->cols ? &grid->cells[row * grid->cols + col] : &blank;
}

/* Blanks what a character that is written at `col` would cut in half. */
static void part(struct cell *row, unsigned cols, unsigned col)
{
	if (row[col].width == 0 && col > 0) {
		row[col - 1].c = ' ';
		row[col - 1].width = 1;
	}
	if (row[col].width == 2 && col + 1 < cols) {
		row[col + 1].c = ' ';
		row[col + 1].width = 1;
	}
}

static void put(struct grid *grid, unsigned row, unsigned col, style_t style, uint32_t c,
		unsigned width)
{
	if (row >= grid->rows || col >= grid->cols)
		return;
	struct cell *cells = &grid->cells[row * grid->cols];
	if (width == 2 && col + 1 >= grid->cols) {
		c = ' ';
		width = 1;
	}
	part(cells, grid->cols, col);
	cells[col] = (struct cell){.c = c, .style = style, .width = (uint8_t)width};
	if (width == 2) {
		part(cells, grid->cols, col + 1);
		cells[col + 1] = (struct cell){.c = ' ', .style = style, .width = 0};
	}
}

/* Joiners and selectors have some terminals draw a character wider or narrower than it is here. */
static bool is_joiner(uint32_t c)
{
	return c == 0x200c || c == 0x200d || (c >= 0xfe00 && c <= 0xfe0f) ||
	       (c >= 0xe0100 && c <= 0xe01ef);
}

static void add_mark(struct grid *grid, unsigned row, unsigned col, uint32_t c)
{
	if (row >= grid->rows || col >= grid->cols || is_joiner(c))
		return;
	struct cell *cell = &grid->cells[row * grid->cols + col];
	for (size_t i = 0; i < CELL_MARKS_MAX; i++) {
		if (cell->marks[i])
			continue;
		cell->marks[i] = c;
		return;
	}
}

static unsigned put_text(struct grid *grid, unsigned row, unsigned col, unsigned max, style_t style,
			 const char *text, enum utf8_cut cut)
{
	char fitted[TEXT_ROOM];
	if (col >= grid->cols || row >= grid->rows)
		return 0;
	if (max > grid->cols - col)
		max = grid->cols - col;
	(void)utf8_fit(fitted, sizeof fitted, text, max, cut);
	size_t len = strlen(fitted);
	unsigned at = col, last = col;
	for (size_t pos = 0; pos < len;) {
		uint32_t c = utf8_next(fitted, len, &pos);
		unsigned width = utf8_width(c);
		if (width == 0 && at > col) {
			add_mark(grid, row, last, c);
			continue;
		}
		if (width == 0 && is_joiner(c))
			continue;
		if (width == 0) { /* a mark on nothing */
			put(grid, row, at, style, ' ', 1);
			add_mark(grid, row, at, c);
			width = 1;
		} else {
			put(grid, row, at, style, c, width);
		}
		last = at;
		at += width;
	}
	return at - col;
}

unsigned grid_text(struct grid *grid, unsigned row, unsigned col, unsigned max, style_t style,
		   const char *text)
{
	return put_text(grid, row, col, max, style, text, UTF8_CUT_END);
}

unsigned grid_path(struct grid *grid, unsigned row, unsigned col, unsigned max, style_t style,
		   const char *text)
{
	return put_text(grid, row, col, max, style, text, UTF8_CUT_MIDDLE);
}

void grid_right(struct grid *grid, unsigned row, unsigned col, unsigned width, style_t style,
		const char *text)
{
	size_t columns = utf8_columns(text, strlen(text));
	unsigned gap = columns < width ? width - (unsigned)columns : 0;
	(void)grid_text(grid, row, col + gap, width - gap, style, text);
}

unsigned grid_format(struct grid *grid, unsigned row, unsigned col, unsigned max, style_t style,
		     const char *format, ...)
{
	char text[1024];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(text, sizeof text, format, args);
	va_end(args);
	return grid_text(grid, row, col, max, style, text);
}

void grid_fill(struct grid *grid, unsigned row, unsigned col, unsigned n, style_t style, uint32_t c)
{
	for (unsigned i = 0; i < n && col + i < grid->cols; i++)
		put(grid, row, col + i, style, c, 1);
}

void grid_choose_row(struct grid *grid, unsigned row)
{
	for (unsigned col = 0; row < grid->rows && col < grid->cols; col++)
		grid->cells[row * grid->cols + col].style |= STYLE_CHOSEN;
}
