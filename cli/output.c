/* SPDX-License-Identifier: MIT
 * Writing is proved by writing: a file is made beside the wanted one, gets a block of bytes, and is
 * taken away again.
 */
#include "output.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/io.h"
#include "baseline.h"
#include "browser.h"
#include "say.h"

#define PROOF_SIZE 4096

/* Nothing to prove for stdout and for pipes and devices, where opening is already an act. */
static bool is_plain(const char *path)
{
	struct stat st;
	return strcmp(path, "-") != 0 && (stat(path, &st) < 0 || S_ISREG(st.st_mode));
}

static int prove_file(const char *path, struct tachy_error *err)
{
	static const char zeros[PROOF_SIZE];
	struct io_output output;
	if (!is_plain(path))
		return 0;
	int rc = io_output_open(path, &output, err);
	if (rc < 0)
		return rc;
	rc = io_write_all(output.fd, zeros, sizeof zeros);
	io_output_abort(&output);
	if (rc < 0)
		return error_set(
			err, rc,
			"cannot write %s: the disk is full, or a quota is reached; choose another "
			"directory",
			path);
	return 0;
}

static bool has_suffix(const char *path)
{
	const char *name = strrchr(path, '/');
	const char *dot = strrchr(name ? name + 1 : path, '.');
	return dot && dot[1] && dot != (name ? name + 1 : path);
}

static int choose_format(const struct opts *opts, struct output *output, struct tachy_error *err)
{
	const char *path = opts->output;
	output->format = opts->format;
	if (!output->format && path && !output->in_directory)
		output->format = tachy_format_by_path(path);
	if (!output->format && path && !output->in_directory && has_suffix(path))
		return error_set(
			err, TACHY_EINVAL,
			"no format has the suffix of %s; say which with -f (tachyscope run --help "
			"lists them)",
			path);
	if (!output->format)
		output->format = tachy_format_by_name("table");
	return 0;
}

static int name_in_directory(struct output *output, int64_t pid, struct tachy_error *err)
{
	const char *suffix = output->format->suffix[0] ? output->format->suffix : ".txt";
	const char *folder = output->opts->output;
	const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
	char number[24] = "%p"; /* of each process; see tachy_profile_write */
	if (!output->opts->export.split_processes)
		(void)snprintf(number, sizeof number, "%lld", (long long)pid);
	int n = snprintf(output->path, sizeof output->path, "%s%s%s_%s%s", folder, slash,
			 output->format->name, number, suffix);
	if (n < 0 || (size_t)n >= sizeof output->path)
		return error_set(err, TACHY_EINVAL, "the path of -o is too long");
	return 0;
}

static int check_browser(const struct output *output, const char *path, struct tachy_error *err)
{
	if (strncmp(output->format->suffix, ".html", 5) != 0)
		return error_set(err, TACHY_EINVAL,
				 "--browser opens pages, and %s is none: choose --flamegraph or "
				 "--heatmap",
				 output->format->name);
	if (strcmp(path, "-") == 0)
		return error_set(err, TACHY_EINVAL,
				 "--browser needs a file to open: give -o FILE.html, or -o . for "
				 "one named by itself");
	return 0;
}

static int check_split(const struct output *output, const char *path, struct tachy_error *err)
{
	if (output->format->recording)
		return error_set(err, TACHY_EINVAL,
				 "a recording is of all processes: leave --split-processes to "
				 "tachyscope replay");
	if (strcmp(path, "-") == 0)
		return error_set(err, TACHY_EINVAL,
				 "--split-processes needs -o FILE, or -o with a directory");
	return 0;
}

int output_choose(const struct opts *opts, struct output *ret_output, struct tachy_error *err)
{
	struct output output = {.opts = opts};
	struct stat st;
	const char *path = opts->output ? opts->output : "-";
	size_t len = strlen(path);
	if (len >= sizeof output.path)
		return error_set(err, TACHY_EINVAL, "the path of -o is too long");
	output.in_directory = strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
	int rc = choose_format(opts, &output, err);
	if (rc >= 0 && output.format->recording && strcmp(path, "-") == 0 && isatty(STDOUT_FILENO))
		return error_set(err, TACHY_EINVAL,
				 "a recording is nothing for a terminal: give -o FILE, or send "
				 "standard output into a file or a pipe");
	if (rc >= 0 && opts->browser)
		rc = check_browser(&output, path, err);
	if (rc >= 0 && opts->export.split_processes)
		rc = check_split(&output, path, err);
	memcpy(output.path, path, len + 1);
	if (rc >= 0 && output.in_directory)
		rc = name_in_directory(&output, (int64_t)getpid(), err); /* only to prove it */
	if (rc >= 0)
		rc = prove_file(output.path, err);
	if (rc >= 0 && opts->stats_json)
		rc = prove_file(opts->stats_json, err);
	if (rc >= 0)
		rc = baseline_open(opts, output.format, &output.base, err);
	if (rc >= 0 && output.base)
		tachy_recording_stats(output.base, &output.base_stats);
	if (rc >= 0)
		*ret_output = output;
	return rc;
}

void output_done(struct output *output)
{
	tachy_recording_close(output->base);
	output->base = NULL;
}

int output_name(struct output *output, int64_t pid, struct tachy_error *err)
{
	return output->in_directory ? name_in_directory(output, pid, err) : 0;
}

static struct tachy_export_options options_for(const struct output *output)
{
	struct tachy_export_options options = output->opts->export;
	if (strcmp(output->path, "-") == 0) {
		struct terminal terminal = terminal_of(STDOUT_FILENO);
		options.color = terminal.color;
		options.width = terminal.width;
	}
	if (output->base) {
		options.base = tachy_recording_profile(output->base);
		options.base_stats = output->base_stats.samples_captured ? &output->base_stats
									 : NULL;
	}
	return options;
}

int output_write(struct output *output, int64_t pid, const struct tachy_profile *profile,
		 const struct tachy_stats *stats, struct tachy_error *err)
{
	int rc = output_name(output, pid, err);
	struct tachy_export_options options = options_for(output);
	if (rc < 0)
		return rc;
	rc = tachy_profile_write(profile, stats, output->format, &options, output->path, err);
	if (rc >= 0 && output->opts->browser)
		browser_open(output->path);
	return rc;
}

int output_save(struct output *output, int64_t pid, struct tachy_session *session,
		struct tachy_error *err)
{
	int rc = output_name(output, pid, err);
	struct tachy_export_options options = options_for(output);
	if (rc < 0)
		return rc;
	rc = tachy_session_save(session, output->format, &options, output->path, err);
	if (rc >= 0 && output->opts->browser)
		browser_open(output->path);
	return rc;
}
