/* SPDX-License-Identifier: MIT
 * ptrace(2) on one thread. Hides what can come instead of the stop that was asked for: a signal on its
 * way to the thread, a job-control stop, the thread's end, an exec.
 *
 * Stops are found by asking ptrace, not by waitpid: where the target is our own child, any waitpid of
 * our process may be told of a stop before we are. Invariant: `signal` is a signal that the kernel gave
 * to us instead of to the thread; it is handed back by PTRACE_DETACH, with its siginfo.
 *
 * No option is ever set, PTRACE_O_EXITKILL least of all: when we die, the kernel detaches.
 */
#include "os/linux/tracee.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/proc.h"

/* linux/ptrace.h, which cannot be included beside sys/ptrace.h everywhere */
#define EVENT_STOP 128

#define SEIZE_TRIES_MAX 4

static char state_of(pid_t pid, pid_t tid)
{
	struct proc_stat stat;
	return proc_thread_stat_read(pid, tid, &stat) < 0 ? 'X' : stat.state;
}

static bool has_ended(char state)
{
	return state == 'Z' || state == 'X';
}

/* False when we trace no such thread. Asking twice does no harm. */
static bool interrupt(const struct tracee *tracee)
{
	return ptrace(PTRACE_INTERRUPT, tracee->tid, NULL, NULL) == 0 || errno != ESRCH;
}

static void leave(struct tracee *tracee, enum tracee_state state)
{
	tracee->state = state;
	tracee->traced = false;
	tracee->signal = 0;
}

void tracee_look(struct tracee *tracee)
{
	siginfo_t info;
	info.si_signo = info.si_code = 0;
	if (ptrace(PTRACE_GETSIGINFO, tracee->tid, NULL, &info) < 0 && errno != EINVAL)
		return; /* ESRCH: runs, or is gone, or not ours any more */
	/* A stop of its own kind (asked for, or job control) is reported as SIGTRAP or the stopping
	 * signal with the event above it; what else comes is a signal that is being delivered. */
	bool event = info.si_code == (info.si_signo | EVENT_STOP << 8);
	tracee->signal = event ? 0 : info.si_signo;
	tracee->state = TRACEE_STOPPED;
}

/* Takes note of the end of a traced thread, so that its place can be cleared: the kernel tells the
 * real parent only afterwards. The end of our own child is left to whoever waits for it. */
static void bury(pid_t pid, struct tracee *tracee)
{
	struct proc_stat stat;
	bool own_child = tracee->tid == pid && proc_stat_read(pid, &stat) == 0 &&
			 stat.ppid == getpid();
	if (!own_child)
		(void)waitpid(tracee->tid, NULL, WNOHANG | __WALL);
	leave(tracee, TRACEE_GONE);
}

/* It ended, and that can be taken note of: not so for a leader whose process goes on. */
static bool has_exited(pid_t tid)
{
	siginfo_t info;
	info.si_pid = 0;
	info.si_code = 0;
	return waitid(P_PID, (id_t)tid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0 &&
	       info.si_pid != 0 &&
	       (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
		info.si_code == CLD_DUMPED);
}

void tracee_examine(pid_t pid, struct tracee *tracee)
{
	if (has_exited(tracee->tid)) {
		bury(pid, tracee);
	} else if (!interrupt(tracee)) {
		leave(tracee, TRACEE_LOST);
	} else {
		char state = state_of(pid, tracee->tid);
		if (state == 'Z' && tracee->tid == pid)
			tracee->state = TRACEE_DEAD;
		else
			tracee->state = state == 'D' || state == 'I' ? TRACEE_DEEP : TRACEE_ASKED;
	}
}

void tracee_recheck(pid_t pid, struct tracee *tracee)
{
	if (interrupt(tracee)) {
		tracee->traced = true;
		tracee->state = TRACEE_ASKED;
		tracee_look(tracee);
		if (tracee->state != TRACEE_STOPPED)
			tracee_examine(pid, tracee);
	} else if (tracee->traced) {
		leave(tracee, TRACEE_LOST);
	}
}

/* What a refusal means: a lack of rights, another tracer, a thread that has just ended; or, after an
 * exec, that we trace it already under another id. TACHY_EAGAIN when it is none of these any more. */
static int refused(pid_t pid, struct tracee *tracee)
{
	struct proc_status status;
	char state = state_of(pid, tracee->tid);
	if (has_ended(state)) {
		leave(tracee, state == 'Z' && tracee->tid == pid ? TRACEE_DEAD : TRACEE_GONE);
		return 0;
	}
	tracee_recheck(pid, tracee);
	if (tracee->traced)
		return 0;
	if (proc_thread_status_read(pid, tracee->tid, &status) < 0 || status.tracer_pid == 0)
		return TACHY_EAGAIN;
	return TACHY_EPERM;
}

static int try_seize(pid_t pid, struct tracee *tracee)
{
	/* the id may have gone to another process since it was listed */
	bool gone = syscall(SYS_tgkill, pid, tracee->tid, 0) < 0 && errno == ESRCH;
	if (!gone && ptrace(PTRACE_SEIZE, tracee->tid, NULL, NULL) < 0) {
		if (errno != ESRCH)
			return refused(pid, tracee);
		gone = true;
	}
	if (gone) {
		leave(tracee, TRACEE_GONE);
		return 0;
	}
	tracee->traced = true;
	tracee->state = TRACEE_ASKED;
	(void)interrupt(tracee); /* fails on one that ends: see examine */
	return 0;
}

int tracee_seize(pid_t pid, struct tracee *tracee)
{
	int code = TACHY_EAGAIN;
	leave(tracee, TRACEE_FREE);
	for (int i = 0; i < SEIZE_TRIES_MAX && code == TACHY_EAGAIN; i++)
		code = try_seize(pid, tracee);
	return code == TACHY_EAGAIN ? TACHY_EPERM : code;
}

bool tracee_release(pid_t pid, struct tracee *tracee)
{
	if (!tracee->traced)
		return true;
	if (tracee->state == TRACEE_ASKED || tracee->state == TRACEE_DEEP)
		tracee_look(tracee);
	if (tracee->state != TRACEE_STOPPED)
		return false;
	if (ptrace(PTRACE_DETACH, tracee->tid, NULL, (void *)(intptr_t)tracee->signal) == 0)
		leave(tracee, TRACEE_FREE);
	else /* killed, or the id is another thread's */
		tracee_recheck(pid, tracee);
	return !tracee->traced;
}
