/* SPDX-License-Identifier: MIT
 * fork, then exec when a byte comes through a pipe. Both pipes close themselves on exec, so that the
 * program inherits no descriptor, and the end of the second one says that exec worked. When we die
 * before the word is given, the first one ends and the child leaves without running anything.
 *
 * Handlers of our caller are undone in the child before it can get a signal: a Ctrl-C that comes
 * while it waits ends it as it would end any program.
 */
#include "os/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STATUS_NOT_FOUND 127 /* as POSIX shells */
#define STATUS_NOT_RUN   126
#define NAP_NS           1000000
#define PATH_DEFAULT     "/bin:/usr/bin" /* as execvp of glibc without PATH */

/* ---- looking for the program ------------------------------------------------------------------- */

/* 0, or why `path` cannot be executed. */
static int why_not(const char *path)
{
	struct stat st;
	if (stat(path, &st) < 0)
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	return access(path, X_OK) < 0 ? errno : 0;
}

/* Along PATH, as execvp does: the first that can be executed; else EACCES if there was one at all. */
static int why_not_in_path(const char *name)
{
	const char *at = getenv("PATH");
	int reason = ENOENT;
	if (!at)
		at = PATH_DEFAULT;
	for (;;) {
		size_t len = strcspn(at, ":");
		char candidate[4096];
		int n = snprintf(candidate, sizeof candidate, "%.*s%s%s", (int)len, at,
				 len ? "/" : "", name);
		if (n > 0 && (size_t)n < sizeof candidate) {
			int why = why_not(candidate);
			if (why == 0)
				return 0;
			if (why == EACCES)
				reason = EACCES;
		}
		if (at[len] == '\0')
			return reason;
		at += len + 1;
	}
}

static int check_program(const char *name, struct tachy_error *err)
{
	bool has_slash = strchr(name, '/') != NULL;
	int why = *name == '\0' ? ENOENT : has_slash ? why_not(name) : why_not_in_path(name);
	if (why == 0)
		return 0;
	if (why == ENOENT && !has_slash)
		return error_set(err, TACHY_ENOENT,
				 "cannot run %s: there is no such command in PATH", name);
	int code = why == ENOENT || why == ENOTDIR ? TACHY_ENOENT : TACHY_EPERM;
	const char *cure = why == EACCES ? "; is it executable (chmod +x)?" : "";
	return error_set(err, code, "cannot run %s: %s%s", name, strerror(why), cure);
}

/* ---- the child ---------------------------------------------------------------------------------- */

static void undo_handlers(void)
{
	for (int number = 1; number < NSIG; number++) {
		struct sigaction action;
		if (sigaction(number, NULL, &action) < 0)
			continue;
		bool handled = (action.sa_flags & SA_SIGINFO) ||
			       (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
		if (!handled)
			continue;
		memset(&action, 0, sizeof action);
		action.sa_handler = SIG_DFL;
		(void)sigaction(number, &action, NULL);
	}
}

_Noreturn static void run_child(char *const argv[], int hold_fd, int error_fd, const sigset_t *mask)
{
	char word;
	ssize_t n;
	undo_handlers();
	(void)sigprocmask(SIG_SETMASK, mask, NULL);
	do
		n = read(hold_fd, &word, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1) {
		(void)execvp(argv[0], argv);
		int why = errno;
		if (write(error_fd, &why, sizeof why) < 0) /* nobody listens any more */
			_exit(STATUS_NOT_RUN);
		_exit(why == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUN);
	}
	_exit(STATUS_NOT_RUN);
}

/* ---- our side ----------------------------------------------------------------------------------- */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

int spawn_held(char *const argv[], struct spawned *ret_spawned, struct tachy_error *err)
{
	int hold[2] = {-1, -1}, error[2] = {-1, -1}, saved;
	sigset_t all, before;
	int rc = check_program(argv[0], err);
	if (rc < 0)
		return rc;
	if (pipe2(hold, O_CLOEXEC) < 0 || pipe2(error, O_CLOEXEC) < 0)
		goto failed;
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &before);
	pid_t pid = fork();
	if (pid == 0) {
		(void)close(hold[1]);
		(void)close(error[0]);
		run_child(argv, hold[0], error[1], &before);
	}
	saved = errno;
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	errno = saved;
	if (pid < 0)
		goto failed;
	close_fd(&hold[0]);
	close_fd(&error[1]);
	*ret_spawned = (struct spawned){pid, hold[1], error[0]};
	return 0;
failed:
	rc = error_set(err, error_from_errno(errno), "cannot run %s: %s", argv[0], strerror(errno));
	close_fd(&hold[0]);
	close_fd(&hold[1]);
	close_fd(&error[0]);
	close_fd(&error[1]);
	return rc;
}

/* A byte into the pipe, where a reader who is gone must not cost us a SIGPIPE. */
static void give_word(int fd)
{
	sigset_t pipe_signal, before;
	struct timespec now = {0, 0};
	(void)sigemptyset(&pipe_signal);
	(void)sigaddset(&pipe_signal, SIGPIPE);
	(void)pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
	ssize_t n;
	do
		n = write(fd, "g", 1);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EPIPE && !sigismember(&before, SIGPIPE))
		(void)sigtimedwait(&pipe_signal, NULL, &now);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int spawn_release(struct spawned *spawned)
{
	int why = 0;
	if (spawned->hold_fd < 0)
		return TACHY_EINVAL;
	give_word(spawned->hold_fd);
	close_fd(&spawned->hold_fd);
	ssize_t n;
	do
		n = read(spawned->error_fd, &why, sizeof why);
	while (n < 0 && errno == EINTR);
	close_fd(&spawned->error_fd);
	return n == (ssize_t)sizeof why ? error_from_errno(why) : 0;
}

/* Looks without reaping: of a child that our own sampler traces, its stops show up here as well, and
 * they are the sampler's to take. */
static int peek(pid_t pid, bool block)
{
	for (;;) {
		siginfo_t info = {0};
		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | (block ? 0 : WNOHANG)) <
		    0) {
			if (errno == EINTR)
				continue;
			return error_from_errno(errno);
		}
		if (info.si_pid != 0 && (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
					 info.si_code == CLD_DUMPED))
			return 1;
		if (!block)
			return 0;
		(void)nanosleep(&(struct timespec){0, NAP_NS}, NULL);
	}
}

int spawn_wait(struct spawned *spawned, bool block, int *ret_status)
{
	int status;
	if (spawned->pid <= 0)
		return TACHY_EGONE;
	int rc = peek(spawned->pid, block);
	if (rc <= 0)
		return rc;
	pid_t pid;
	do
		pid = waitpid(spawned->pid, &status, WNOHANG);
	while (pid < 0 && errno == EINTR);
	if (pid <= 0)
		return pid < 0 ? error_from_errno(errno) : 0;
	spawned->pid = 0;
	*ret_status = status;
	return 1;
}

void spawn_done(struct spawned *spawned)
{
	bool waits = spawned->hold_fd >= 0;
	int status;
	close_fd(&spawned->hold_fd);
	close_fd(&spawned->error_fd);
	if (waits && spawned->pid > 0)
		(void)spawn_wait(spawned, true, &status);
}
