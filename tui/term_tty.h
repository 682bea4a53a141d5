/* SPDX-License-Identifier: MIT
 * A terminal of the VT family (all that are in use), without a terminal library: the alternate screen,
 * absolute positions and SGR colours are the same everywhere, and what is written is UTF-8 whatever the
 * locale may be.
 *
 * While it is entered, signals that would end the process give the terminal back first.
 */
#ifndef TUI_TERM_TTY_H
#define TUI_TERM_TTY_H

#include <termios.h>

#include "tachyscope/error.h"
#include "tui/paint.h"
#include "tui/term.h"

struct term_tty {
	struct term term; /* first */
	int fd;           /* of the controlling terminal; owned */
	bool entered, mouse;
	struct termios before;
	struct paint paint;
};

/* Opens the controlling terminal. Colours by NO_COLOR and TERM, UTF-8 by the locale's name. TACHY_EIO and a
 * sentence: there is none, or it can do nothing. */
int term_tty_open(struct term_tty *tty, struct tachy_error *err);
void term_tty_close(struct term_tty *tty);

#endif
