/* SPDX-License-Identifier: MIT
 * tachyscope, the program: takes the command line apart and hands over to a verb.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "cmd.h"
#include "completion.h"
#include "help.h"
#include "sample_run.h"
#include "say.h"

static int run_verb(const struct opts *opts)
{
	switch (opts->verb) {
	case VERB_RUN:
		return cmd_run(opts);
	case VERB_ATTACH:
		return cmd_attach(opts);
	case VERB_DUMP:
		return cmd_dump(opts);
	case VERB_REPLAY:
		return cmd_replay(opts);
	case VERB_PS:
		return cmd_ps(opts);
	case VERB_NONE:
		break;
	}
	return STATUS_USAGE;
}

/* A descriptor below 3 that we were started without must not become some file of ours, which then gets
 * our output: it is taken by what can be neither written nor, by a program under run, inherited. */
static void take_missing_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int main(int argc, char **argv)
{
	struct tachy_error err = {0};
	struct opts opts;
	take_missing_descriptors();
	if (opts_parse(argc, argv, &opts, &err) < 0) {
		say("%s", err.text);
		return STATUS_USAGE;
	}
	if (!opts.help && !opts.version)
		return run_verb(&opts);
	if (opts.completion)
		completion_write(stdout, opts.completion);
	else if (opts.help)
		help_write(stdout, opts.verb);
	else
		(void)printf("tachyscope %s\n", tachy_version());
	return fflush(stdout) == 0 ? STATUS_GOOD : STATUS_FAILED;
}
