/* SPDX-License-Identifier: MIT
 * ps: the Pythons of this machine. Those that cannot be read say why behind their command.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cmd.h"
#include "sample_run.h"
#include "say.h"

#define COMMAND_MIN   20
#define COMMAND_MAX   500 /* columns without a terminal */
#define LINE_ROOM     4096
#define NUMBERS_WIDTH 28 /* "    PID  VERSION   THREADS  " */

static void write_head(void)
{
	(void)printf("%7s  %-8s  %7s  %s\n", "PID", "VERSION", "THREADS", "COMMAND");
}

static void write_probe(const struct tachy_probe *probe, uint32_t width)
{
	char command[LINE_ROOM], reason[LINE_ROOM] = "", threads[16] = "-";
	size_t room = COMMAND_MAX, taken = NUMBERS_WIDTH;
	if (probe->status < 0) {
		(void)utf8_escape(reason, sizeof reason, probe->reason, strlen(probe->reason));
		taken += utf8_columns(probe->reason, strlen(probe->reason)) + 4;
	}
	if (width)
		room = width > taken + COMMAND_MIN ? width - taken : COMMAND_MIN;
	(void)utf8_fit(command, sizeof command, probe->command, room, UTF8_CUT_END);
	if (probe->n_threads)
		(void)snprintf(threads, sizeof threads, "%u", (unsigned)probe->n_threads);
	(void)printf("%7lld  %-8s  %7s  %s%s%s%s\n", (long long)probe->pid,
		     probe->version[0] ? probe->version : "-", threads, command,
		     reason[0] ? "  [" : "", reason, reason[0] ? "]" : "");
}

int cmd_ps(const struct opts *opts)
{
	int64_t *pids;
	size_t n, n_shown = 0;
	struct tachy_probe probe;
	(void)opts;
	int rc = tachy_list_pids(&pids, &n);
	if (rc < 0) {
		say("cannot list processes: %s", tachy_error_text(rc));
		return STATUS_FAILED;
	}
	uint32_t width = terminal_of(STDOUT_FILENO).width;
	for (size_t i = 0; i < n; i++) {
		if (pids[i] == getpid() || tachy_probe_pid(pids[i], &probe) < 0 || !probe.python)
			continue;
		if (n_shown++ == 0)
			write_head();
		write_probe(&probe, width);
	}
	free(pids);
	if (n_shown == 0)
		say("no Python is running here that you can see");
	if (fflush(stdout) != 0) {
		say("cannot write the list");
		return STATUS_FAILED;
	}
	return STATUS_GOOD;
}
