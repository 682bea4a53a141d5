/* SPDX-License-Identifier: MIT
 * From one screen to the next, as the bytes that a terminal of the VT family obeys: only what differs.
 * Knows no terminal and does no input or output.
 */
#ifndef TUI_PAINT_H
#define TUI_PAINT_H

#include "base/vec.h"
#include "tui/grid.h"

struct paint {
	bool color;         /* else bold, dim and reverse only */
	bool utf8;          /* else ASCII only */
	struct grid before; /* what the terminal shows; another size: nothing is known of it */
	VEC(char) bytes;
};

void paint_init(struct paint *paint, bool color, bool utf8);
void paint_done(struct paint *paint);
/* The next screen is painted as a whole. */
void paint_forget(struct paint *paint);
/* Refills `bytes` with what turns the screen into `grid`. TACHY_ENOMEM. */
int paint_grid(struct paint *paint, const struct grid *grid);

#endif
