/* SPDX-License-Identifier: MIT
 * The live screen at work: joins a running session, the state and a terminal.
 */
#ifndef TUI_LIVE_SCREEN_H
#define TUI_LIVE_SCREEN_H

#include "tui/state.h"
#include "tui/term.h"

/* Why a screen was left. */
enum live_end {
	LIVE_QUIT,      /* q */
	LIVE_INTERRUPT, /* Ctrl-C */
	LIVE_STOPPED,   /* `pause` said so */
	LIVE_TERMINAL   /* it is gone */
};

struct live_screen {
	struct tachy_session *session; /* started; borrowed, as all here */
	struct tachy_live *live;
	struct term *term;             /* entered and left by live_screen_run */
	struct facts facts;
	bool timeline; /* the session keeps one: formats that show times can be saved */
	/* The program's terminal, whose output is kept in `spool`; -1 none. */
	int program_fd;
	struct spool *spool;
	/* Called about ten times a second; false ends the screen. */
	bool (*pace)(void *arg);
	/* Stops us, and what is in the foreground with us, until it is continued: Ctrl-Z. */
	void (*suspend)(void *arg);
	bool (*suspended)(void *arg); /* whether a signal asked for that */
	void *arg;
	const struct tachy_export_options *export; /* of a saved profile */
};

/* Until it is left. Negative: the terminal cannot be used. */
int live_screen_run(struct live_screen *screen, enum live_end *ret_end);
/* Moves what the program wrote into the spool, without waiting. False: its terminal is closed. */
bool live_screen_pump(int program_fd, struct spool *spool);

#endif
