/* SPDX-License-Identifier: MIT
 * The terminal, as little of it as is needed: a size, bytes of keys, a screen to show. The real one is
 * term_tty.h; tests have one of memory.
 */
#ifndef TUI_TERM_H
#define TUI_TERM_H

#include "tui/grid.h"

struct term;

struct term_ops {
	/* Takes the terminal over; again after leave. TACHY_EIO, TACHY_ENOMEM. */
	int (*enter)(struct term *term);
	/* Gives it back as it was found. */
	void (*leave)(struct term *term);
	void (*size)(struct term *term, unsigned *ret_rows, unsigned *ret_cols);
	/* Waits up to `wait_ms` for keys, or for something to read from `other_fd` (-1: none). The number
	 * of bytes, 0 when none came; negative: the terminal is gone. */
	int (*read)(struct term *term, int other_fd, int wait_ms, char *bytes, size_t n);
	/* Shows it. `all`: what is there is not to be trusted. Negative: the terminal is gone. */
	int (*show)(struct term *term, const struct grid *grid, bool all);
};

struct term {
	const struct term_ops *ops;
};

#endif
