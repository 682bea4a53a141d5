/* SPDX-License-Identifier: MIT
 * The screen as a whole: what is where at this size, and the drawing of it.
 */
#ifndef TUI_SCREEN_H
#define TUI_SCREEN_H

#include "tui/grid.h"
#include "tui/state.h"

#define SCREEN_NOWHERE UINT32_MAX

struct screen_parts {
	unsigned title, rates, bars, minute, tabs; /* rows; SCREEN_NOWHERE: no room for it */
	unsigned head;   /* the columns' names */
	unsigned first;  /* of the rows */
	unsigned n_rows; /* at least 1 */
	unsigned bottom; /* prompt, message or hints */
};

struct screen_parts screen_parts(const struct state *state);
/* `grid` gets the state's size and all of its cells. TACHY_ENOMEM. */
int screen_draw(const struct state *state, struct grid *grid);
/* The same as text: lines without blanks at their ends. `write` is given piece after piece. */
void screen_text(const struct grid *grid, void (*write)(void *arg, const char *text, size_t n),
		 void *arg);

#endif
