/* SPDX-License-Identifier: MIT
 * /proc/PID: stat, status, cmdline, comm and exe. Hides the forms of these files, which are
 * described in proc(5). A thread's name may hold blanks and parentheses, so that stat is read from
 * its last ')' on; in status the kernel escapes newlines, so that its lines can be trusted.
 */
#include <ctype.h>
#include <errno.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "os/proc.h"

#define STAT_ROOM    2048 /* 52 numbers of at most 20 digits, and a name */
#define STATUS_ROOM  8192
#define KTHREAD_FLAG 0x00200000u /* PF_KTHREAD, include/linux/sched.h */

/* A file of /proc that is not there: the process ended, or is hidden from us (hidepid), or there is
 * no /proc at all. */
static int why_absent(pid_t pid)
{
	if (kill(pid, 0) < 0)
		return errno == EPERM ? TACHY_EPERM : TACHY_EGONE;
	return access("/proc/self/stat", R_OK) < 0 ? TACHY_EIO : TACHY_EGONE;
}

static int read_text(pid_t pid, pid_t tid, const char *name, char *buf, size_t size)
{
	char path[96];
	if (pid <= 0)
		return TACHY_EGONE;
	if (tid)
		(void)snprintf(path, sizeof path, "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
	else
		(void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	int n = io_read_small(path, buf, size);
	return n == TACHY_ENOENT ? why_absent(pid) : n;
}

/* The next number, skipping blanks before it; false at the end or at something else. */
static bool next_number(const char **at, int64_t *ret)
{
	char *end;
	errno = 0;
	long long value = strtoll(*at, &end, 10);
	if (end == *at)
		return false;
	if (errno == ERANGE) /* unsigned numbers above the signed range */
		value = (long long)strtoull(*at, &end, 10);
	*at = end;
	*ret = value;
	return true;
}

static void copy_comm(const char *from, const char *to, char comm[PROC_COMM_MAX])
{
	size_t len = (size_t)(to - from);
	if (len > PROC_COMM_MAX - 1)
		len = PROC_COMM_MAX - 1;
	memcpy(comm, from, len);
	comm[len] = '\0';
}

/* Fields by their number in proc(5): 4 is the first after the state. */
static void keep_field(struct proc_stat *stat, int field, int64_t value)
{
	switch (field) {
	case 4:
		stat->ppid = (pid_t)value;
		break;
	case 5:
		stat->pgrp = (pid_t)value;
		break;
	case 6:
		stat->session = (pid_t)value;
		break;
	case 9:
		stat->kernel_thread = ((uint64_t)value & KTHREAD_FLAG) != 0;
		break;
	case 14:
	case 15:
		stat->cpu_ticks += (uint64_t)value;
		break;
	case 20:
		stat->n_threads = (uint32_t)value;
		break;
	case 22:
		stat->start_time = (uint64_t)value;
		break;
	case 28:
		stat->start_stack = (uint64_t)value;
		break;
	case 39:
		stat->cpu = (int)value;
		break;
	default:
		break;
	}
}

static int parse_stat(const char *text, struct proc_stat *ret_stat)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	if (!open || !close || close < open || close[1] != ' ' || !isalpha((unsigned char)close[2]))
		return TACHY_ECORRUPT;
	struct proc_stat stat = {.state = close[2], .cpu = -1};
	copy_comm(open + 1, close, stat.comm);
	const char *at = close + 3;
	int field = 4;
	int64_t value;
	for (; field <= 39 && next_number(&at, &value); field++)
		keep_field(&stat, field, value);
	if (field <= 22)
		return TACHY_ECORRUPT;
	*ret_stat = stat;
	return 0;
}

int proc_stat_parse(const char *text, size_t size, struct proc_stat *ret_stat)
{
	char copy[STAT_ROOM];
	if (size > sizeof copy - 1)
		size = sizeof copy - 1;
	memcpy(copy, text, size);
	copy[size] = '\0';
	return parse_stat(copy, ret_stat);
}

bool proc_stat_is_over(const struct proc_stat *stat)
{
	return (stat->state == 'Z' || stat->state == 'X') && stat->n_threads <= 1;
}

int proc_thread_stat_read(pid_t pid, pid_t tid, struct proc_stat *ret_stat)
{
	char text[STAT_ROOM];
	int n = read_text(pid, tid, "stat", text, sizeof text);
	return n < 0 ? n : parse_stat(text, ret_stat);
}

int proc_stat_read(pid_t pid, struct proc_stat *ret_stat)
{
	return proc_thread_stat_read(pid, 0, ret_stat);
}

/* What follows "KEY:" at the beginning of a line; NULL. */
static const char *line_of(const char *text, const char *key)
{
	size_t len = strlen(key);
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, len) == 0 && line[len] == ':')
			return line + len + 1;
	}
	return NULL;
}

/* Up to `n` numbers of the line with `key`; how many there were. */
static uint32_t numbers_of(const char *text, const char *key, int64_t *ret, uint32_t n)
{
	const char *at = line_of(text, key);
	uint32_t found = 0;
	if (!at)
		return 0;
	while (found < n && *at != '\n') {
		while (*at == ' ' || *at == '\t')
			at++;
		if (*at == '\n' || !next_number(&at, &ret[found]))
			break;
		found++;
	}
	return found;
}

#define NS_LEVELS_MAX 33 /* MAX_PID_NS_LEVEL is 32 */

static int parse_status(const char *text, struct proc_status *ret_status)
{
	struct proc_status status = {.n_ns = 1};
	int64_t id[4], tgid, pid, tracer, ns[NS_LEVELS_MAX];
	if (numbers_of(text, "Tgid", &tgid, 1) != 1 || numbers_of(text, "Pid", &pid, 1) != 1)
		return TACHY_ECORRUPT;
	status.tgid = (pid_t)tgid;
	status.ns_pid = (pid_t)pid;
	if (numbers_of(text, "TracerPid", &tracer, 1) == 1)
		status.tracer_pid = (pid_t)tracer;
	if (numbers_of(text, "Uid", id, 4) != 4)
		return TACHY_ECORRUPT;
	status.uid = (uid_t)id[0];
	status.euid = (uid_t)id[1];
	if (numbers_of(text, "Gid", id, 4) != 4)
		return TACHY_ECORRUPT;
	status.gid = (gid_t)id[0];
	status.egid = (gid_t)id[1];
	uint32_t n = numbers_of(text, "NSpid", ns, NS_LEVELS_MAX); /* Linux 4.1+ */
	if (n > 0) {
		status.n_ns = n;
		status.ns_pid = (pid_t)ns[n - 1];
	}
	*ret_status = status;
	return 0;
}

int proc_status_parse(const char *text, size_t size, struct proc_status *ret_status)
{
	char *copy = malloc(size + 1);
	if (!copy)
		return TACHY_ENOMEM;
	if (size)
		memcpy(copy, text, size);
	copy[size] = '\0';
	int code = parse_status(copy, ret_status);
	free(copy);
	return code;
}

int proc_thread_status_read(pid_t pid, pid_t tid, struct proc_status *ret_status)
{
	char text[STATUS_ROOM];
	int n = read_text(pid, tid, "status", text, sizeof text);
	return n < 0 ? n : parse_status(text, ret_status);
}

int proc_status_read(pid_t pid, struct proc_status *ret_status)
{
	return proc_thread_status_read(pid, 0, ret_status);
}

int proc_identity_read(pid_t pid, struct proc_identity *ret_identity)
{
	struct proc_stat stat_line;
	struct proc_identity identity = {0};
	int code = proc_stat_read(pid, &stat_line);
	if (code < 0)
		return code;
	if (proc_stat_is_over(&stat_line))
		return TACHY_EGONE;
	identity.start_time = stat_line.start_time;
	identity.start_stack = stat_line.start_stack;
	char path[64];
	struct stat st;
	(void)snprintf(path, sizeof path, "/proc/%d/exe", (int)proc_living_id(pid));
	if (stat(path, &st) == 0) {
		identity.exe_dev = st.st_dev;
		identity.exe_inode = st.st_ino;
	}
	*ret_identity = identity;
	return 0;
}

int proc_identity_check(pid_t pid, const struct proc_identity *before)
{
	struct proc_identity now;
	int code = proc_identity_read(pid, &now);
	if (code < 0)
		return code;
	if (now.start_time != before->start_time)
		return TACHY_EGONE;
	bool known = now.exe_inode && before->exe_inode;
	if (known && (now.exe_inode != before->exe_inode || now.exe_dev != before->exe_dev))
		return TACHY_EEXEC;
	/* 0 and 1 are what the kernel shows to those who may not know */
	known = now.start_stack > 1 && before->start_stack > 1;
	return known && now.start_stack != before->start_stack ? TACHY_EEXEC : 0;
}

int proc_comm(pid_t pid, pid_t tid, char *buf, size_t size)
{
	int n = read_text(pid, tid, "comm", buf, size);
	if (n < 0)
		return n;
	size_t len = strlen(buf);
	if (len && buf[len - 1] == '\n')
		buf[len - 1] = '\0';
	return 0;
}

int proc_command(pid_t pid, char *buf, size_t size)
{
	int n = read_text(proc_living_id(pid), 0, "cmdline", buf, size);
	if (n < 0)
		return n;
	size_t len = (size_t)n;
	while (len && buf[len - 1] == '\0')
		len--;
	for (size_t i = 0; i < len; i++)
		if (buf[i] == '\0')
			buf[i] = ' ';
	if (len)
		return 0;
	char comm[PROC_COMM_MAX];
	int code = proc_comm(pid, 0, comm, sizeof comm);
	if (code < 0)
		return code;
	(void)snprintf(buf, size, "[%s]", comm);
	return 0;
}

int proc_exe_path(pid_t pid, char *buf, size_t size)
{
	char path[64];
	if (size == 0)
		return TACHY_EINVAL;
	(void)snprintf(path, sizeof path, "/proc/%d/exe", (int)proc_living_id(pid));
	ssize_t n = readlink(path, buf, size - 1);
	if (n < 0)
		return errno == ENOENT ? why_absent(pid) : error_from_errno(errno);
	buf[n] = '\0';
	return 0;
}

bool proc_shares_memory(pid_t a, pid_t b)
{
	return syscall(SYS_kcmp, a, b, KCMP_VM, 0ul, 0ul) == 0;
}
