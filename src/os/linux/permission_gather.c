/* SPDX-License-Identifier: MIT
 * The facts from /proc, as proc(5) and capabilities(7) describe them. All of these files may be read
 * without ptrace rights. What cannot be found out is left as if all were well, so that no verdict
 * rests on a guess.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "os/permission.h"

#define STATUS_ROOM   8192
#define UID_MAP_ROOM  4096
#define LABEL_ROOM    512
#define ANCESTORS_MAX 1024 /* of the target, looked at */

struct status {
	char text[STATUS_ROOM];
};

static bool read_proc(pid_t pid, const char *name, char *buf, size_t size)
{
	char path[64];
	(void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	return io_read_small(path, buf, size) >= 0;
}

/* What follows "Name:" in /proc/PID/status; "" when it is not there. */
static const char *field(const struct status *status, const char *name)
{
	size_t len = strlen(name);
	for (const char *line = status->text; line && *line;) {
		if (strncmp(line, name, len) == 0 && line[len] == ':')
			return line + len + 1;
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return "";
}

/* The first three of "real effective saved fs". */
static bool three_ids(const char *text, unsigned *real, unsigned *effective, unsigned *saved)
{
	char *end;
	*real = (unsigned)strtoul(text, &end, 10);
	*effective = (unsigned)strtoul(end, &end, 10);
	const char *last = end;
	*saved = (unsigned)strtoul(last, &end, 10);
	return end != last;
}

static uint64_t caps(const struct status *status, const char *name)
{
	return strtoull(field(status, name), NULL, 16);
}

static void gather_us(struct permission_facts *f)
{
	struct status status;
	f->our_uid = getuid(); /* the real ids count: PTRACE_MODE_REALCREDS */
	f->our_gid = getgid();
	f->our_caps = f->our_bounding = UINT64_MAX;
	if (!read_proc(getpid(), "status", status.text, sizeof status.text))
		return;
	f->our_caps = caps(&status, "CapEff");
	f->our_bounding = caps(&status, "CapBnd");
	f->our_seccomp = strtol(field(&status, "Seccomp"), NULL, 10) == 2;
}

static void gather_target(struct permission_facts *f)
{
	struct status status;
	struct stat dir, file;
	char path[64];
	f->uid = f->euid = f->suid = f->our_uid;
	f->gid = f->egid = f->sgid = f->our_gid;
	if (!read_proc(f->pid, "status", status.text, sizeof status.text)) {
		f->gone = kill(f->pid, 0) < 0 && errno == ESRCH;
		f->uid = f->euid = f->suid = PERMISSION_UID_HIDDEN; /* /proc mounted with hidepid */
		return;
	}
	(void)three_ids(field(&status, "Uid"), &f->uid, &f->euid, &f->suid);
	(void)three_ids(field(&status, "Gid"), &f->gid, &f->egid, &f->sgid);
	f->caps = caps(&status, "CapPrm");
	f->tracer = (pid_t)strtol(field(&status, "TracerPid"), NULL, 10);
	/* fs/proc/base.c, task_dump_owner: the directory keeps its owner, the files of a process that must
	 * not be dumped go to root. Root's own processes do not show it. */
	(void)snprintf(path, sizeof path, "/proc/%d", (int)f->pid);
	bool known = stat(path, &dir) == 0;
	(void)snprintf(path, sizeof path, "/proc/%d/status", (int)f->pid);
	f->undumpable = known && stat(path, &file) == 0 && dir.st_uid != 0 &&
			file.st_uid != dir.st_uid;
}

/* The maps are shown as seen from our own namespace: equal text, equal namespace (but for two
 * namespaces that were mapped alike). */
static bool other_user_ns(pid_t pid)
{
	char ours[UID_MAP_ROOM], theirs[UID_MAP_ROOM];
	if (!read_proc(getpid(), "uid_map", ours, sizeof ours) ||
	    !read_proc(pid, "uid_map", theirs, sizeof theirs))
		return false;
	return strcmp(ours, theirs) != 0;
}

/* Rights of ours count in namespaces below ours: then only if we are root of the outermost one. */
static bool rules_all_namespaces(const struct permission_facts *f)
{
	char ours[UID_MAP_ROOM];
	unsigned inside, outside;
	unsigned long count;
	if (f->our_uid != 0 || !(f->our_caps & (UINT64_C(1) << 19)) ||
	    !read_proc(getpid(), "uid_map", ours, sizeof ours))
		return false;
	return sscanf(ours, "%u %u %lu", &inside, &outside, &count) == 3 && inside == 0 &&
	       outside == 0 && count == UINT32_MAX;
}

static bool is_descendant(pid_t pid)
{
	pid_t us = getpid();
	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		struct status status;
		if (pid == us)
			return true;
		if (!read_proc(pid, "status", status.text, sizeof status.text))
			return false;
		pid = (pid_t)strtol(field(&status, "PPid"), NULL, 10);
	}
	return false;
}

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static bool in_container(void)
{
	char text[UID_MAP_ROOM];
	if (exists("/.dockerenv") || exists("/run/.containerenv") ||
	    getenv("KUBERNETES_SERVICE_HOST"))
		return true;
	if (io_read_small("/proc/1/cgroup", text, sizeof text) < 0)
		return false;
	return strstr(text, "docker") || strstr(text, "kubepods") || strstr(text, "libpod") ||
	       strstr(text, "lxc");
}

static int yama_scope(void)
{
	char text[16];
	if (io_read_small("/proc/sys/kernel/yama/ptrace_scope", text, sizeof text) <= 0)
		return -1;
	return (int)strtol(text, NULL, 10);
}

/* The label that a security module gave; "" without one. */
static void label(pid_t pid, char *buf, size_t size)
{
	if (!read_proc(pid, "attr/current", buf, size))
		buf[0] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
}

static bool confined_apart(pid_t pid)
{
	char ours[LABEL_ROOM], theirs[LABEL_ROOM];
	label(getpid(), ours, sizeof ours);
	label(pid, theirs, sizeof theirs);
	return ours[0] && theirs[0] && strcmp(ours, theirs) != 0;
}

void permission_gather(pid_t pid, struct permission_facts *ret_facts)
{
	struct permission_facts f = {.pid = pid};
	gather_us(&f);
	gather_target(&f);
	f.in_container = in_container();
	f.yama = yama_scope();
	if (!f.gone) {
		f.other_user_ns = other_user_ns(pid) && !rules_all_namespaces(&f);
		f.descendant = is_descendant(pid);
		f.security_module = confined_apart(pid);
	}
	*ret_facts = f;
}
