/* SPDX-License-Identifier: MIT
 * Cells that did not change are stepped over by moving the cursor. After a character that terminals do
 * not agree about (wide, or with marks) the cursor is put where it belongs, so that a quarrel about one
 * name cannot shift the rest of the row.
 */
#include "tui/paint.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "tachyscope/error.h"

#define GAP_MAX 4u /* unchanged cells that are painted again rather than stepped over */

struct look {
	int text, ground;
	const char *attributes;
};

static const struct {
	int text, ground;
	const char *colored, *plain;
} looks[STYLE_N] = {
#define STYLE_LOOK(name, text, ground, colored, plain) {text, ground, colored, plain},
	STYLES(STYLE_LOOK)
#undef STYLE_LOOK
};

#define CHOSEN_GROUND 238

void paint_init(struct paint *paint, bool color, bool utf8)
{
	*paint = (struct paint){.color = color, .utf8 = utf8};
}

void paint_done(struct paint *paint)
{
	grid_done(&paint->before);
	vec_done(&paint->bytes);
}

void paint_forget(struct paint *paint)
{
	grid_done(&paint->before);
}

static bool add(struct paint *paint, const char *bytes, size_t n)
{
	if (!vec_reserve(&paint->bytes, paint->bytes.n + n))
		return false;
	memcpy(paint->bytes.at + paint->bytes.n, bytes, n);
	paint->bytes.n += n;
	return true;
}

static bool add_text(struct paint *paint, const char *text)
{
	return add(paint, text, strlen(text));
}

static bool add_position(struct paint *paint, unsigned row, unsigned col)
{
	char text[32];
	(void)snprintf(text, sizeof text, "\033[%u;%uH", row + 1, col + 1);
	return add_text(paint, text);
}

static struct look look_of(const struct paint *paint, style_t style)
{
	unsigned index = style & 0xff;
	bool chosen = style & STYLE_CHOSEN;
	if (!paint->color)
		return (struct look){-1, -1, chosen ? "r" : looks[index].plain};
	struct look look = {looks[index].text, looks[index].ground, looks[index].colored};
	if (chosen && look.ground < 0)
		look.ground = CHOSEN_GROUND;
	return look;
}

static bool add_style(struct paint *paint, style_t style)
{
	struct look look = look_of(paint, style);
	char text[64];
	int n = snprintf(text, sizeof text, "\033[0%s%s%s",
			 strchr(look.attributes, 'b') ? ";1" : "",
			 strchr(look.attributes, 'd') ? ";2" : "",
			 strchr(look.attributes, 'r') ? ";7" : "");
	if (look.text >= 0)
		n += snprintf(text + n, sizeof text - (size_t)n, ";38;5;%d", look.text);
	if (look.ground >= 0)
		n += snprintf(text + n, sizeof text - (size_t)n, ";48;5;%d", look.ground);
	(void)snprintf(text + n, sizeof text - (size_t)n, "m");
	return add_text(paint, text);
}

/* The nearest in ASCII, for terminals without UTF-8. */
static char ascii_of(uint32_t c)
{
	if (c < 0x7f)
		return (char)c;
	if (c >= 0x2581 && c <= 0x2588) /* eighths, from below */
		return "__..::##"[c - 0x2581];
	if (c >= 0x2589 && c <= 0x258f)
		return '|';
	switch (c) {
	case 0x2026:
		return '.';
	case 0x25b8: /* closed */
		return '+';
	case 0x25be: /* open */
		return '-';
	case 0x25bc: /* sorted by */
	case 0x2193:
		return 'v';
	case 0x2191:
		return '^';
	case 0x2502:
		return '|';
	case 0x2500:
		return '-';
	case 0x2591:
		return '.';
	case 0xb7:
		return '.';
	default:
		return '?';
	}
}

static bool add_character(struct paint *paint, uint32_t c)
{
	char bytes[4];
	return add(paint, bytes, utf8_encode(c, bytes));
}

static bool add_cell(struct paint *paint, const struct cell *cell)
{
	bool good;
	if (!paint->utf8) {
		char twice[2] = {ascii_of(cell->c), ascii_of(cell->c)};
		return add(paint, twice, cell->width);
	}
	good = add_character(paint, cell->c);
	for (size_t i = 0; good && i < CELL_MARKS_MAX && cell->marks[i]; i++)
		good = add_character(paint, cell->marks[i]);
	return good;
}

static bool same_cell(const struct cell *a, const struct cell *b)
{
	return a->c == b->c && a->style == b->style && a->width == b->width &&
	       memcmp(a->marks, b->marks, sizeof a->marks) == 0;
}

/* Where the cursor is, and in which style it writes; row UINT_MAX: nobody knows. */
struct pen {
	unsigned row, col;
	int style; /* -1: nobody knows */
};

static bool add_changed(struct paint *paint, struct pen *pen, const struct cell *cell, unsigned row,
			unsigned col)
{
	bool good = true;
	if (pen->row != row || pen->col != col)
		good = add_position(paint, row, col);
	if (pen->style != cell->style)
		good = good && add_style(paint, cell->style);
	good = good && add_cell(paint, cell);
	bool sure = cell->width == 1 && !cell->marks[0];
	*pen = (struct pen){sure ? row : UINT32_MAX, col + 1, cell->style};
	return good;
}

static bool paint_row(struct paint *paint, struct pen *pen, const struct grid *grid, unsigned row,
		      bool all)
{
	const struct cell *cells = &grid->cells[row * grid->cols];
	const struct cell *before = all ? NULL : &paint->before.cells[row * grid->cols];
	for (unsigned col = 0; col < grid->cols; col++) {
		if (cells[col].width == 0)
			continue; /* came with the one before it */
		bool next_same = cells[col].width < 2 || !before ||
				 same_cell(&before[col + 1], &cells[col + 1]);
		if (before && next_same && same_cell(&before[col], &cells[col])) {
			/* a gap of a few plain cells is cheaper painted than jumped over */
			unsigned end = col;
			while (end < grid->cols && end - col <= GAP_MAX && cells[end].width == 1 &&
			       !cells[end].marks[0] && cells[end].style == pen->style &&
			       same_cell(&before[end], &cells[end]))
				end++;
			if (pen->row != row || pen->col != col || end == col ||
			    end - col > GAP_MAX || end >= grid->cols)
				continue;
		}
		if (!add_changed(paint, pen, &cells[col], row, col))
			return false;
	}
	return true;
}

int paint_grid(struct paint *paint, const struct grid *grid)
{
	struct pen pen = {UINT32_MAX, 0, -1};
	bool all = !paint->before.cells || paint->before.rows != grid->rows ||
		   paint->before.cols != grid->cols;
	paint->bytes.n = 0;
	bool good = !all || add_text(paint, "\033[0m\033[H\033[2J");
	for (unsigned row = 0; good && row < grid->rows; row++)
		good = paint_row(paint, &pen, grid, row, all);
	good = good && (paint->bytes.n == 0 || add_text(paint, "\033[0m"));
	if (good && all && grid_resize(&paint->before, grid->rows, grid->cols) < 0)
		good = false;
	if (!good) {
		paint_forget(paint);
		return TACHY_ENOMEM;
	}
	memcpy(paint->before.cells, grid->cells,
	       (size_t)grid->rows * grid->cols * sizeof *grid->cells);
	return 0;
}
