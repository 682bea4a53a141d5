/* SPDX-License-Identifier: MIT
 * The rule, as help tells it: -m is the Python's; after -- all is taken as it stands; a .py file, a file
 * that is not executable and a directory with a __main__.py are given to the Python; an executable
 * file is run itself; any other word is a command of PATH.
 */
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

enum kind { KIND_COMMAND, KIND_SCRIPT, KIND_FILE /* executable */ };

static bool ends_with_py(const char *word)
{
	size_t len = strlen(word);
	return len > 3 && strcasecmp(word + len - 3, ".py") == 0;
}

static bool has_main(const char *directory)
{
	char path[4096];
	int n = snprintf(path, sizeof path, "%s/__main__.py", directory);
	return n > 0 && (size_t)n < sizeof path && access(path, F_OK) == 0;
}

static enum kind kind_of(const char *word)
{
	struct stat st;
	if (ends_with_py(word))
		return KIND_SCRIPT;
	if (stat(word, &st) < 0)
		return KIND_COMMAND;
	if (S_ISDIR(st.st_mode))
		return has_main(word) ? KIND_SCRIPT : KIND_COMMAND;
	if (!S_ISREG(st.st_mode))
		return KIND_COMMAND;
	return access(word, X_OK) < 0 ? KIND_SCRIPT : KIND_FILE;
}

/* first, second, and all of `rest`; NULLs among the first two are left out. Strings are copied. */
static int join(const char *first, const char *second, const char *third, char **rest,
		char ***ret_argv)
{
	size_t n = 0, n_rest = 0;
	const char *const front[] = {first, second, third};
	while (rest[n_rest])
		n_rest++;
	char **argv = calloc(n_rest + 4, sizeof *argv);
	if (!argv)
		return TACHY_ENOMEM;
	for (size_t i = 0; i < 3 + n_rest; i++) {
		const char *word = i < 3 ? front[i] : rest[i - 3];
		if (!word)
			continue;
		argv[n] = strdup(word);
		if (!argv[n++]) {
			program_free(argv);
			return TACHY_ENOMEM;
		}
	}
	*ret_argv = argv;
	return 0;
}

/* "tool" for "./tool": execvp must not look for it in PATH. */
static int join_file(char **program, char ***ret_argv)
{
	char path[4096];
	if (strchr(program[0], '/') || strlen(program[0]) + 3 > sizeof path)
		return join(NULL, NULL, NULL, program, ret_argv);
	(void)snprintf(path, sizeof path, "./%s", program[0]);
	return join(path, NULL, NULL, program + 1, ret_argv);
}

int program_argv(const struct opts *opts, char ***ret_argv, struct tachy_error *err)
{
	char **program = opts->program;
	int rc;
	if (opts->module) {
		rc = join(opts->python, "-m", opts->module, program, ret_argv);
	} else if (opts->command) {
		rc = join(NULL, NULL, NULL, program, ret_argv);
	} else {
		enum kind kind = kind_of(program[0]);
		if (kind == KIND_SCRIPT && access(program[0], F_OK) < 0)
			return error_set(err, TACHY_ENOENT, "cannot run %s: %s", program[0],
					 strerror(errno));
		rc = kind == KIND_SCRIPT ? join(opts->python, NULL, NULL, program, ret_argv)
		     : kind == KIND_FILE ? join_file(program, ret_argv)
					 : join(NULL, NULL, NULL, program, ret_argv);
	}
	return rc < 0 ? error_set(err, rc, "cannot run: %s", error_text(rc)) : 0;
}

void program_free(char **argv)
{
	for (size_t i = 0; argv && argv[i]; i++)
		free(argv[i]);
	free(argv);
}
