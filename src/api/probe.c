/* SPDX-License-Identifier: MIT
 * What sits behind a pid: attaches, looks, lets go.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sampler/attachment.h"
#include "tachyscope/process.h"

/* A process that cannot be looked into may still be known for a Python by its program's name; this is a
 * remark for a list, nothing depends on it. */
static bool looks_like_python(int64_t pid)
{
	char path[4096] = "";
	const char *name;
	if (proc_exe_path((pid_t)pid, path, sizeof path) < 0) {
		if (proc_command((pid_t)pid, path, sizeof path) < 0)
			return false;
		path[strcspn(path, " ")] = '\0';
	}
	name = strrchr(path, '/');
	name = name ? name + 1 : path;
	return strncmp(name, "python", 6) == 0 || strncmp(name, "pypy", 4) == 0;
}

int tachy_probe_pid(int64_t pid, struct tachy_probe *ret_probe)
{
	struct tachy_probe probe = {.pid = pid};
	struct attachment attachment;
	struct proc_stat stat;
	struct tachy_error err = {0, ""};
	if (pid <= 0 || pid > INT32_MAX)
		return TACHY_EINVAL;
	int rc = proc_stat_read((pid_t)pid, &stat);
	if (rc < 0)
		return rc;
	proc_command((pid_t)pid, probe.command, sizeof probe.command);
	if (!stat.kernel_thread) {
		probe.status = attachment_open((pid_t)pid, &attachment, &err);
		if (probe.status == TACHY_EGONE && proc_stat_read((pid_t)pid, &stat) < 0)
			return TACHY_EGONE;
	} else {
		probe.status = error_set(&err, TACHY_ENOPYTHON, "a kernel thread");
	}
	if (probe.status >= 0) {
		probe.python = true;
		probe.n_threads = attachment_count_threads(&attachment);
		snprintf(probe.version, sizeof probe.version, "%s", attachment.runtime.version);
		snprintf(probe.reason, sizeof probe.reason, "%s", attachment.runtime.remark);
		attachment_done(&attachment);
	} else {
		probe.python = probe.status == TACHY_EVERSION || probe.status == TACHY_ENOTREADY ||
			       probe.status == TACHY_EFINALIZING || looks_like_python(pid);
		snprintf(probe.reason, sizeof probe.reason, "%s", err.text);
	}
	*ret_probe = probe;
	return 0;
}

int tachy_list_pids(int64_t **ret_pids, size_t *ret_n)
{
	pid_t *pids;
	size_t n;
	int rc = proc_list(&pids, &n);
	if (rc < 0)
		return rc;
	int64_t *wide = malloc((n ? n : 1) * sizeof *wide);
	if (wide)
		for (size_t i = 0; i < n; i++)
			wide[i] = pids[i];
	free(pids);
	if (!wide)
		return TACHY_ENOMEM;
	*ret_pids = wide;
	*ret_n = n;
	return 0;
}
