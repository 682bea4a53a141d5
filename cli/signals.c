/* SPDX-License-Identifier: MIT
 * The handlers and the little that they touch. The only mutable globals of the program: signals know
 * no other place.
 */
#include "signals.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define RELAY_AFTER_NS INT64_C(400000000)

static _Atomic(struct tachy_session *) session;
static atomic_int child;
static atomic_int n_stops, n_passed;
static atomic_bool suspend_wanted, save_wanted;
static atomic_int early; /* to be passed on, came before there was a child; 0 none */
static _Atomic int64_t
	interrupted_ns; /* when a process sent SIGINT to `run`; 0: not, or passed on */

static int64_t now_ns(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void on_nothing(int number)
{
	(void)number;
}

static void on_stop(int number)
{
	int saved = errno;
	struct tachy_session *running = atomic_load(&session);
	if (atomic_fetch_add(&n_stops, 1) > 0 && number == SIGINT) {
		(void)signal(SIGINT, SIG_DFL);
		(void)raise(SIGINT);
	}
	if (running)
		tachy_session_stop(running);
	errno = saved;
}

static void on_save(int number)
{
	(void)number;
	atomic_store(&save_wanted, true);
}

static void on_interrupt(int number, siginfo_t *info, void *context)
{
	int saved = errno;
	(void)number;
	(void)context;
	if (info->si_code <= 0) /* from a process, not from the terminal */
		atomic_store(&interrupted_ns, now_ns());
	errno = saved;
}

static void on_pass(int number)
{
	int saved = errno;
	pid_t pid = atomic_load(&child);
	atomic_fetch_add(&n_passed, 1);
	if (pid > 0)
		(void)kill(pid, number);
	else
		atomic_store(&early, number);
	errno = saved;
}

static bool is_ignored(int number)
{
	struct sigaction action;
	return sigaction(number, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) &&
	       action.sa_handler == SIG_IGN;
}

static void handle(int number, void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	(void)sigemptyset(&action.sa_mask);
	(void)sigaction(number, &action, NULL);
}

void signals_for_attach(void)
{
	handle(SIGPIPE, on_nothing);
	handle(SIGINT, on_stop); /* also where a shell's & had it ignored: kill -INT is meant */
	handle(SIGTERM, on_stop);
	handle(SIGUSR1, on_save);
	if (!is_ignored(SIGHUP)) /* nohup */
		handle(SIGHUP, on_stop);
}

void signals_for_run(void)
{
	struct sigaction action = {.sa_sigaction = on_interrupt,
				   .sa_flags = SA_RESTART | SA_SIGINFO};
	(void)sigemptyset(&action.sa_mask);
	/* What is ignored stays so: the program inherits it. */
	if (!is_ignored(SIGPIPE))
		handle(SIGPIPE, on_nothing);
	if (!is_ignored(SIGINT))
		(void)sigaction(SIGINT, &action, NULL);
	if (!is_ignored(SIGQUIT))
		handle(SIGQUIT, on_nothing);
	if (!is_ignored(SIGTERM))
		handle(SIGTERM, on_pass);
	if (!is_ignored(SIGHUP))
		handle(SIGHUP, on_pass);
	if (!is_ignored(SIGUSR1))
		handle(SIGUSR1, on_save);
}

void signals_set_session(struct tachy_session *running)
{
	atomic_store(&session, running);
}

void signals_set_child(pid_t pid)
{
	atomic_store(&child, (int)pid);
	int number = atomic_exchange(&early, 0);
	if (pid > 0 && number)
		(void)kill(pid, number);
}

bool signals_stopped(void)
{
	return atomic_load(&n_stops) > 0;
}

bool signals_ended(void)
{
	return signals_stopped() || atomic_load(&n_passed) > 0;
}

bool signals_take_save(void)
{
	return atomic_exchange(&save_wanted, false);
}

static void on_suspend(int number)
{
	(void)number;
	atomic_store(&suspend_wanted, true);
}

void signals_for_screen(bool on)
{
	if (is_ignored(SIGTSTP))
		return;
	if (on)
		handle(SIGTSTP, on_suspend);
	else
		(void)signal(SIGTSTP, SIG_DFL);
}

bool signals_suspend_wanted(void)
{
	return atomic_load(&suspend_wanted);
}

void signals_suspend(void)
{
	if (is_ignored(SIGTSTP))
		return;
	(void)signal(SIGTSTP, SIG_DFL);
	(void)kill(
		0,
		SIGTSTP); /* returns when continued; where nobody could continue us nothing stops */
	handle(SIGTSTP, on_suspend);
	atomic_store(&suspend_wanted, false);
}

void signals_tick(void)
{
	int64_t since = atomic_load(&interrupted_ns);
	pid_t pid = atomic_load(&child);
	if (since == 0 || pid <= 0 || now_ns() - since < RELAY_AFTER_NS)
		return;
	atomic_store(&interrupted_ns, 0);
	(void)kill(pid, SIGINT);
}
