/* SPDX-License-Identifier: MIT
 * /proc/PID/task/TID/syscall: "running", or the number of the system call that it sleeps in and the
 * arguments; costs a third of `stat`, which takes its place where a kernel or its rights do not let us.
 * /proc/PID/task/TID/schedstat: time on the CPU, time waiting for it, and turns.
 */
#include "os/activity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "os/proc.h"

#define TEXT_MAX 256

static int open_file(const struct activity *activity, const char *name)
{
	char path[80];
	(void)snprintf(path, sizeof path, "/proc/%d/task/%d/%s", (int)activity->pid,
		       (int)activity->tid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* The last quarter of the descriptors is left to whoever needs one more than we do. */
static int keep_open(const struct activity *activity, const char *name)
{
	struct rlimit limit;
	int fd = open_file(activity, name);
	if (fd >= 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	    (rlim_t)fd >= limit.rlim_cur / 4 * 3) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

void activity_open(struct activity *activity, pid_t pid, pid_t tid)
{
	*activity = (struct activity){pid, tid, -1, -1};
	activity->call_fd = keep_open(activity, "syscall");
	activity->clock_fd = keep_open(activity, "schedstat");
}

void activity_close(struct activity *activity)
{
	if (activity->call_fd >= 0)
		(void)close(activity->call_fd);
	if (activity->clock_fd >= 0)
		(void)close(activity->clock_fd);
	activity->call_fd = activity->clock_fd = -1;
}

static int why(void)
{
	switch (errno) {
	case ESRCH:
	case ENOENT:
		return TACHY_EGONE;
	case EACCES:
	case EPERM:
		return TACHY_EPERM;
	default:
		return TACHY_EIO;
	}
}

static int read_file(const struct activity *activity, int kept, const char *name,
		     char text[TEXT_MAX])
{
	int fd = kept >= 0 ? kept : open_file(activity, name);
	if (fd < 0)
		return why();
	ssize_t n = pread(fd, text, TEXT_MAX - 1, 0);
	int rc = n < 0 ? why() : n == 0 ? TACHY_EGONE : 0;
	if (fd != kept)
		(void)close(fd);
	text[n > 0 ? n : 0] = 0;
	return rc;
}

static int look_at_stat(const struct activity *activity, bool *ret_running)
{
	struct proc_stat stat;
	int rc = proc_thread_stat_read(activity->pid, activity->tid, &stat);
	if (rc >= 0)
		*ret_running = stat.state == 'R';
	return rc;
}

int activity_look(struct activity *activity, bool *ret_running, raddr *ret_futex)
{
	char text[TEXT_MAX], *end;
	*ret_futex = 0;
	int rc = read_file(activity, activity->call_fd, "syscall", text);
	if (rc == TACHY_EPERM || rc == TACHY_EIO)
		return look_at_stat(activity, ret_running);
	if (rc < 0)
		return rc;
	*ret_running = strncmp(text, "running", 7) == 0;
	if (*ret_running)
		return 0;
	long number = strtol(text, &end, 10);
	if (end == text)
		return TACHY_ECORRUPT;
	if (number == SYS_futex)
		*ret_futex = strtoull(end, NULL, 16);
	return 0;
}

int activity_clock(struct activity *activity, uint64_t *ret_clock)
{
	char text[TEXT_MAX], *at = text;
	int rc = read_file(activity, activity->clock_fd, "schedstat", text);
	if (rc < 0)
		return rc;
	uint64_t ran = strtoull(at, &at, 10);
	(void)strtoull(at, &at, 10);
	*ret_clock = ran + strtoull(at, NULL, 10);
	return 0;
}
