/* SPDX-License-Identifier: MIT
 * The public face of an attached process.
 */
#include "api/process_handle.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "sampler/target.h"

#define RETRY_NS 500000u /* between two looks at a Python that is still starting */

static int open_with_patience(int64_t pid, uint32_t wait_ms, struct attachment *attachment,
			      struct tachy_error *err)
{
	const struct timespec pause = {0, RETRY_NS};
	uint64_t tries = (uint64_t)wait_ms * 1000000u / RETRY_NS;
	int rc = attachment_open((pid_t)pid, attachment, err);
	for (; rc < 0 && error_class(rc) == TACHY_CLASS_TRANSIENT && tries; tries--) {
		nanosleep(&pause, NULL);
		rc = attachment_open((pid_t)pid, attachment, err);
	}
	return rc;
}

int process_no_opcodes(const struct tachy_process *process, struct tachy_error *err)
{
	const struct attachment *attachment = &process->attachment;
	if (target_tells_opcodes(attachment))
		return 0;
	return error_set(err, TACHY_EVERSION,
			 "opcodes are known for Python 3.11 to 3.15; process %d runs %s: leave "
			 "--opcodes out",
			 (int)attachment->pid, attachment->runtime.version);
}

int tachy_process_open(int64_t pid, uint32_t wait_ms, struct tachy_process **ret_process,
		       struct tachy_error *err)
{
	if (pid <= 0 || pid > INT32_MAX)
		return error_set(err, TACHY_EINVAL, "%lld is no process id", (long long)pid);
	struct tachy_process *process = calloc(1, sizeof *process);
	if (!process)
		return error_set(err, TACHY_ENOMEM, "out of memory");
	int rc = open_with_patience(pid, wait_ms, &process->attachment, err);
	if (rc < 0) {
		free(process);
		return rc;
	}
	error_set(err, 0, "%s", "");
	*ret_process = process;
	return 0;
}

void tachy_process_close(struct tachy_process *process)
{
	if (!process)
		return;
	attachment_done(&process->attachment);
	free(process);
}

int64_t tachy_process_pid(const struct tachy_process *process)
{
	return process->attachment.pid;
}

const char *tachy_process_version(const struct tachy_process *process)
{
	return process->attachment.runtime.version;
}

const char *tachy_process_command(const struct tachy_process *process)
{
	return process->attachment.command;
}

const char *tachy_process_remark(const struct tachy_process *process)
{
	return process->attachment.runtime.remark;
}
