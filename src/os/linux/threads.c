/* SPDX-License-Identifier: MIT
 * Directories of /proc: which processes there are, and the threads of one, under the ids that we see
 * and those that they see themselves (NSpid in status, Linux 4.1+).
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"
#include "os/proc.h"

/* While the kernel says in one place that a process lives, and in another that it does not. */
#define TRIES_MAX 100

/* A directory entry that is a number. */
static bool entry_id(const char *name, pid_t *ret_id)
{
	char *end;
	if (!isdigit((unsigned char)name[0]))
		return false;
	unsigned long value = strtoul(name, &end, 10);
	if (*end || value == 0 || value > INT32_MAX)
		return false;
	*ret_id = (pid_t)value;
	return true;
}

int proc_tasks_open(pid_t pid)
{
	char path[64];
	(void)snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	for (int i = 0; i < TRIES_MAX; i++) {
		int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0)
			return fd;
		if (errno != ENOENT && errno != ESRCH)
			return error_from_errno(errno);
		if (kill(pid, 0) < 0 && errno == ESRCH)
			return TACHY_EGONE;
	}
	struct proc_stat stat; /* not to be seen by us, or without a /proc: it says why */
	int code = proc_stat_read(pid, &stat);
	return code < 0 ? code : TACHY_EGONE;
}

size_t proc_tasks_count(int tasks)
{
	struct stat st;
	/* two links more than threads: fs/proc/base.c, proc_task_getattr */
	return fstat(tasks, &st) == 0 && st.st_nlink > 2 ? st.st_nlink - 2 : 0;
}

static int list_once(DIR *dir, struct proc_tids *tids)
{
	tids->n = 0;
	rewinddir(dir);
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
		struct proc_tid tid;
		if (!entry_id(entry->d_name, &tid.tid))
			continue;
		tid.ns_tid = tid.tid;
		if (!vec_push(tids, tid))
			return TACHY_ENOMEM;
	}
	return 0;
}

/* While a thread executes, the list can be empty for a moment. */
static int list_tids(DIR *dir, struct proc_tids *tids)
{
	for (int i = 0; i < TRIES_MAX; i++) {
		int code = list_once(dir, tids);
		if (code < 0 || tids->n)
			return code;
		if (!proc_tasks_count(dirfd(dir)))
			break;
	}
	return TACHY_EGONE;
}

/* Any thread but the first that has not ended. */
static pid_t living_thread(pid_t pid)
{
	struct proc_tids tids = {0};
	pid_t living = pid;
	int fd = proc_tasks_open(pid);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			(void)close(fd);
		return pid;
	}
	if (list_tids(dir, &tids) < 0)
		tids.n = 0;
	for (size_t i = 0; i < tids.n && living == pid; i++) {
		struct proc_stat stat;
		pid_t tid = tids.at[i].tid;
		if (tid != pid && proc_thread_stat_read(pid, tid, &stat) == 0 &&
		    stat.state != 'Z' && stat.state != 'X')
			living = tid;
	}
	(void)closedir(dir);
	proc_tids_done(&tids);
	return living;
}

pid_t proc_living_id(pid_t pid)
{
	struct proc_stat stat;
	bool first_ended = proc_stat_read(pid, &stat) == 0 &&
			   (stat.state == 'Z' || stat.state == 'X');
	return first_ended && !proc_stat_is_over(&stat) ? living_thread(pid) : pid;
}

/* The ids as the target sees them. A thread that ended meanwhile is left out. */
static int fill_ns(pid_t pid, struct proc_tids *tids)
{
	size_t kept = 0;
	for (size_t i = 0; i < tids->n; i++) {
		struct proc_status status;
		pid_t tid = tids->at[i].tid;
		if (proc_thread_status_read(pid, tid, &status) < 0)
			continue;
		tids->at[kept++] = (struct proc_tid){.tid = tid, .ns_tid = status.ns_pid};
	}
	tids->n = kept;
	return kept ? 0 : TACHY_EGONE;
}

int proc_tids_read(pid_t pid, struct proc_tids *tids)
{
	struct proc_status status;
	int code = proc_status_read(pid, &status);
	int fd = code < 0 ? code : proc_tasks_open(pid);
	if (fd < 0)
		return fd;
	DIR *dir = fdopendir(fd);
	if (!dir) {
		(void)close(fd);
		return TACHY_ENOMEM;
	}
	code = list_tids(dir, tids);
	(void)closedir(dir);
	return code < 0 || status.n_ns == 1 ? code : fill_ns(pid, tids);
}

void proc_tids_done(struct proc_tids *tids)
{
	vec_done(tids);
}

int proc_tid_from_ns(pid_t pid, pid_t ns_tid, pid_t *ret_tid)
{
	struct proc_tids tids = {0};
	int code = proc_tids_read(pid, &tids);
	if (code == 0) {
		code = TACHY_ENOENT;
		for (size_t i = 0; i < tids.n && code < 0; i++) {
			if (tids.at[i].ns_tid == ns_tid) {
				*ret_tid = tids.at[i].tid;
				code = 0;
			}
		}
	}
	proc_tids_done(&tids);
	return code;
}

int proc_list(pid_t **ret_pids, size_t *ret_n)
{
	VEC(pid_t) pids = {0};
	DIR *dir = opendir("/proc");
	if (!dir)
		return error_from_errno(errno);
	int code = 0;
	for (struct dirent *entry; code == 0 && (entry = readdir(dir)) != NULL;) {
		pid_t pid;
		if (entry_id(entry->d_name, &pid) && !vec_push(&pids, pid))
			code = TACHY_ENOMEM;
	}
	(void)closedir(dir);
	if (code < 0) {
		vec_done(&pids);
		return code;
	}
	*ret_pids = pids.at;
	*ret_n = pids.n;
	return 0;
}
