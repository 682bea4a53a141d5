/* SPDX-License-Identifier: MIT
 * The views: each draws the columns' names into parts->head and its rows below. They read the state and
 * write cells.
 */
#ifndef TUI_VIEWS_H
#define TUI_VIEWS_H

#include "tui/screen.h"

typedef void (*view_draw)(const struct state *state, const struct screen_parts *parts,
			  struct grid *grid);

struct view_info {
	const char *name, *brief; /* for narrow screens */
	char key;                 /* that shows it */
	view_draw draw;
};

const struct view_info *view_info(enum view view);

void view_functions(const struct state *, const struct screen_parts *, struct grid *);
void view_tasks(const struct state *, const struct screen_parts *, struct grid *);
void view_tree(const struct state *, const struct screen_parts *, struct grid *);
void view_flame(const struct state *, const struct screen_parts *, struct grid *);
void view_threads(const struct state *, const struct screen_parts *, struct grid *);
void view_lines(const struct state *, const struct screen_parts *, struct grid *);
void view_opcodes(const struct state *, const struct screen_parts *, struct grid *);
void view_output(const struct state *, const struct screen_parts *, struct grid *);
void view_help(const struct state *, const struct screen_parts *, struct grid *);

extern const unsigned view_help_rows;

/* The five lines above the views. */
void header_draw(const struct state *state, const struct screen_parts *parts, struct grid *grid);

/* ---- what several views need ---- */

/* A text that says why a view is empty. */
void view_nothing(const struct screen_parts *parts, struct grid *grid, const char *why);
/* Share of `part` in `whole` as "12.3%"; "" for none. */
void view_percent(struct grid *grid, unsigned row, unsigned col, uint64_t part, uint64_t whole);
/* Six columns: 1234, 12.3k, 4.56M. */
void view_count(struct grid *grid, unsigned row, unsigned col, unsigned width, uint64_t n);
/* "name (file:line)", or the name of a marker. Gives the columns used. */
unsigned view_function_name(const struct state *state, struct grid *grid, unsigned row,
			    unsigned col, unsigned max, uint32_t function);
/* A bar of `width` columns, `share` of it full. */
void view_bar(struct grid *grid, unsigned row, unsigned col, unsigned width, enum style style,
	      double share);
/* The thread's name, or its number where it has none. */
void view_thread_name(const struct state *state, uint32_t thread, char *dest, size_t size);
/* A path without what all paths of its kind begin with. */
const char *view_short_path(const char *path);

/* The node at a cell of the flame graph; NO_ID none. */
uint32_t flame_at(const struct state *state, unsigned row, unsigned col);
/* A neighbour of the chosen node: -1, 1 to the left and right. */
uint32_t flame_sibling(const struct state *state, int step);
/* The chosen node, or the zoomed one where there is none. */
uint32_t flame_chosen(const struct state *state);

#endif
