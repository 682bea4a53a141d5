/* SPDX-License-Identifier: MIT
 * A terminal for the program under run --live, since ours is taken by the screen: what it writes is kept,
 * and given to ours in the end; what is typed for it on the screen reaches its stdin. Streams of it that
 * are no terminals (files, pipes) stay as they are.
 */
#ifndef CLI_STAGE_H
#define CLI_STAGE_H

#include <stdbool.h>

#include "tachyscope/error.h"
#include "tui/spool.h"

struct stage {
	int master;        /* our end of its terminal; -1 none */
	int slave;         /* its end, until it has been started */
	bool lent[3];      /* which of its streams are that terminal */
	int kept[3];       /* ours, while they are lent */
	bool open;         /* somebody may still write to it */
	bool shown;        /* by stage_show */
	struct spool spool;
};

/* No terminal: what every call here takes, and does nothing with. */
#define STAGE_NONE                                                      \
	{                                                               \
		.master = -1, .slave = -1, .kept = { -1, -1, -1 }       \
	}

/* Makes the terminal, where one of our streams is one. TACHY_EIO. */
int stage_open(struct stage *stage, struct tachy_error *err);
void stage_close(struct stage *stage);
/* Between these two a program that is started gets the terminal for its streams. */
int stage_lend(struct stage *stage);
void stage_take_back(struct stage *stage);
/* Keeps what the program has written so far. Does not wait. */
void stage_pump(struct stage *stage);
/* The screen has gone: all that was kept goes to our terminal, and from now on stage_relay passes on what
 * comes in both directions. Neither waits. A second stage_show does nothing. */
void stage_show(struct stage *stage);
void stage_relay(struct stage *stage);

#endif
