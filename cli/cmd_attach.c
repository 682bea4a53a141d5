/* SPDX-License-Identifier: MIT
 * attach: sample Pythons that run already.
 */
#include <stdlib.h>

#include "base/error.h"
#include "cmd.h"
#include "live_run.h"
#include "opts_value.h"
#include "sample_run.h"
#include "say.h"
#include "signals.h"

#define START_WAIT_MS 1000 /* for a Python that is just starting */

static size_t count_pids(char **pids)
{
	size_t n = 0;
	while (pids[n])
		n++;
	return n;
}

static bool is_repeated(struct tachy_process *const *processes, size_t n, int64_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (tachy_process_pid(processes[i]) == pid)
			return true;
	return false;
}

/* All of them or none: a process left out in silence would be missed in the profile. */
static int open_all(char **pids, struct tachy_process **processes, size_t *n,
		    struct tachy_error *err)
{
	int rc = 0;
	for (size_t i = 0; rc >= 0 && pids[i]; i++) {
		int64_t pid;
		rc = value_pid(pids[i], &pid, err);
		if (rc < 0 || is_repeated(processes, *n, pid))
			continue;
		rc = tachy_process_open(pid, START_WAIT_MS, &processes[*n], err);
		*n += rc >= 0;
	}
	return rc;
}

static int sample_all(const struct opts *opts, struct output *output)
{
	struct tachy_error err = {0};
	struct subject subject = {.pid = opts->pid};
	bool gone;
	subject.processes = calloc(count_pids(opts->pids) + 1, sizeof *subject.processes);
	int rc = subject.processes ? open_all(opts->pids, subject.processes, &subject.n, &err)
				   : error_set(&err, TACHY_ENOMEM, "out of memory");
	if (rc < 0)
		say("%s", err.text);
	int status = rc < 0 ? STATUS_FAILED : sample_run(output, &subject, &gone);
	for (size_t i = 0; i < subject.n; i++)
		tachy_process_close(subject.processes[i]);
	free(subject.processes);
	return status;
}

int cmd_attach(const struct opts *opts)
{
	struct tachy_error err = {0};
	struct output output;
	int rc = live_check(opts, &err);
	if (rc >= 0)
		rc = output_choose(opts, &output, &err);
	if (rc < 0) {
		say("%s", err.text);
		return rc == TACHY_EINVAL ? STATUS_USAGE : STATUS_FAILED;
	}
	signals_for_attach();
	int status = sample_all(opts, &output);
	output_done(&output);
	return status;
}
