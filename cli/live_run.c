/* SPDX-License-Identifier: MIT
 * Joins the screen with what only the program knows: signals, the child, its terminal.
 */
#include "live_run.h"

#include <signal.h>
#include <stdio.h>

#include "base/error.h"
#include "signals.h"
#include "stage.h"
#include "tui/live_screen.h"
#include "tui/term_tty.h"

int live_check(const struct opts *opts, struct tachy_error *err)
{
	struct term_tty tty;
	if (!opts->live)
		return 0;
	if (opts->realtime_stats)
		return error_set(err, TACHY_EINVAL,
				 "--realtime-stats writes into the screen of --live, whose header "
				 "shows the same; choose one");
	int rc = term_tty_open(&tty, err);
	if (rc >= 0)
		term_tty_close(&tty);
	return rc;
}

struct watch {
	struct tachy_session *session;
	struct tachy_child *child;
};

static bool pace(void *arg)
{
	struct watch *watch = arg;
	int status;
	signals_tick();
	if (watch->child && tachy_child_poll(watch->child, &status) == 1)
		tachy_session_stop(watch->session);
	return !signals_ended();
}

static void suspend(void *arg)
{
	(void)arg;
	signals_suspend();
}

static bool suspended(void *arg)
{
	(void)arg;
	return signals_suspend_wanted();
}

static struct facts facts_of(const struct opts *opts, const struct subject *subject)
{
	struct facts facts = {.pid = subject->pid,
			      .rate_hz = opts->session.rate_hz,
			      .mode = opts->session.mode,
			      .has_program = subject->stage && subject->stage->master >= 0};
	facts.can_type = facts.has_program && subject->stage->lent[0];
	if (!subject->n) { /* a program that is followed: no Python yet */
		(void)snprintf(facts.command, sizeof facts.command, "%s",
			       opts->module	 ? opts->module
			       : opts->program[0] ? opts->program[0]
						  : "");
		return facts;
	}
	const struct tachy_process *process = subject->processes[0];
	(void)snprintf(facts.command, sizeof facts.command, "%s", tachy_process_command(process));
	(void)snprintf(facts.version, sizeof facts.version, "%s", tachy_process_version(process));
	return facts;
}

/* Ctrl-C: what the terminal would do to the program. */
static void interrupt(const struct subject *subject)
{
	int status;
	if (subject->child && tachy_child_poll(subject->child, &status) == 0)
		(void)kill(tachy_child_pid(subject->child), SIGINT);
}

static int show(const struct opts *opts, struct tachy_session *session, struct tachy_live *live,
		const struct subject *subject, struct term_tty *tty)
{
	struct stage *stage = subject->stage;
	struct watch watch = {session, subject->child};
	enum live_end end = LIVE_QUIT;
	struct live_screen screen = {
		.session = session,
		.live = live,
		.term = &tty->term,
		.facts = facts_of(opts, subject),
		.program_fd = stage && stage->open ? stage->master : -1,
		.spool = stage ? &stage->spool : NULL,
		.pace = pace,
		.suspend = suspend,
		.suspended = suspended,
		.arg = &watch,
		.export = &opts->export,
	};
	signals_for_screen(true);
	int rc = live_screen_run(&screen, &end);
	signals_for_screen(false);
	if (end == LIVE_INTERRUPT)
		interrupt(subject);
	return rc;
}

int live_run(const struct opts *opts, struct tachy_session *session, struct tachy_live *live,
	     const struct subject *subject, struct tachy_error *err)
{
	struct tachy_error ended = {0};
	struct term_tty tty;
	int rc = term_tty_open(&tty, err);
	if (rc < 0)
		return rc;
	rc = tachy_session_start(session, err);
	if (rc >= 0) {
		int shown = show(opts, session, live, subject, &tty);
		tachy_session_stop(session);
		rc = tachy_session_join(session, &ended);
		if (rc < 0)
			*err = ended;
		else if (shown < 0)
			rc = error_set(err, shown, "the screen broke off: %s",
				       tachy_error_text(shown));
	}
	term_tty_close(&tty);
	return rc;
}
