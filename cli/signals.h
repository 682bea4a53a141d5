/* SPDX-License-Identifier: MIT
 * What signals mean to us.
 *
 * attach: SIGINT, SIGTERM and SIGHUP end the sampling, with everything written; a second SIGINT ends
 * at once.
 * run: the terminal's SIGINT and SIGQUIT reach the program by themselves, as it is in our process
 * group, and we go on until it ends. SIGTERM and SIGHUP sent to us are passed on. So is a SIGINT that a
 * process sent (kill -INT), but only when the program is still there a moment later: a kill of the
 * whole group has reached it already.
 * SIGUSR1 asks us, in both, for what there is so far; it is not passed on, and the program's own stays the
 * program's.
 * SIGPIPE does not end us: a reader of our output who left is an error of that output only.
 * Without a screen SIGTSTP and SIGCONT keep their meaning: the terminal stops and continues both of us.
 */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include "tachyscope/tachyscope.h"

void signals_for_attach(void);
void signals_for_run(void);

/* While a screen is shown: a SIGTSTP is remembered until the terminal has been given back. */
void signals_for_screen(bool on);
/* One came. */
bool signals_suspend_wanted(void);
/* Stops the whole foreground group, as a Ctrl-Z without a screen does, until it is continued. */
void signals_suspend(void);
/* A signal said that we, or the program under run that it was passed on to, shall end. */
bool signals_ended(void);

/* Whom a stop goes to; NULL: it is only remembered. */
void signals_set_session(struct tachy_session *running);
/* Whom signals are passed on to, those too that came before; 0: nobody. */
void signals_set_child(pid_t pid);
/* Whether somebody has asked for what there is so far since the last call. */
bool signals_take_save(void);
/* A signal asked for the end. */
bool signals_stopped(void);
/* Passes on what had to wait. To be called a few times a second. */
void signals_tick(void);

#endif
