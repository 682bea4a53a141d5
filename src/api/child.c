/* SPDX-License-Identifier: MIT
 * The public face of os/spawn.h. Remembers the status of a child that has ended, so that polling
 * after the end gives the same answer again.
 */
#include <stdlib.h>

#include "base/error.h"
#include "os/proc.h"
#include "os/spawn.h"
#include "tachyscope/process.h"

struct tachy_child {
	struct spawned spawned;
	pid_t pid;
	bool ended;
	int status;
	struct proc_identity identity; /* as it was last looked at */
};

int tachy_child_spawn(char *const argv[], struct tachy_child **ret_child, struct tachy_error *err)
{
	if (!argv || !argv[0])
		return error_set(err, TACHY_EINVAL, "no program to run");
	struct tachy_child *child = calloc(1, sizeof *child);
	if (!child)
		return error_set(err, TACHY_ENOMEM, "cannot run %s: out of memory", argv[0]);
	int rc = spawn_held(argv, &child->spawned, err);
	if (rc < 0) {
		free(child);
		return rc;
	}
	child->pid = child->spawned.pid;
	*ret_child = child;
	return 0;
}

pid_t tachy_child_pid(const struct tachy_child *child)
{
	return child->pid;
}

int tachy_child_release(struct tachy_child *child)
{
	int rc = spawn_release(&child->spawned);
	if (rc >= 0)
		(void)proc_identity_read(child->pid, &child->identity);
	return rc;
}

bool tachy_child_execed(struct tachy_child *child)
{
	if (proc_identity_check(child->pid, &child->identity) != TACHY_EEXEC)
		return false;
	(void)proc_identity_read(child->pid, &child->identity);
	return true;
}

static int await_end(struct tachy_child *child, bool block, int *ret_status)
{
	if (!child->ended) {
		int rc = spawn_wait(&child->spawned, block, &child->status);
		if (rc <= 0)
			return rc;
		child->ended = true;
	}
	*ret_status = child->status;
	return 1;
}

int tachy_child_poll(struct tachy_child *child, int *ret_status)
{
	return await_end(child, false, ret_status);
}

int tachy_child_wait(struct tachy_child *child, int *ret_status)
{
	return await_end(child, true, ret_status);
}

void tachy_child_free(struct tachy_child *child)
{
	if (!child)
		return;
	spawn_done(&child->spawned);
	free(child);
}
