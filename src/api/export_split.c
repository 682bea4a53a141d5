/* SPDX-License-Identifier: MIT
 * Hides how the files are called. A process that executed another Python is two processes with one pid; the
 * later ones get a number behind it.
 */
#include "api/export_split.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/profile_part.h"

#define PID_SIGN "%p"

/* Where the pid goes: *ret_skip bytes at the offset that is returned give way to it. */
static size_t pid_place(const char *path, size_t *ret_skip)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *sign = strstr(name, PID_SIGN), *dot = strrchr(name, '.');
	*ret_skip = sign ? strlen(PID_SIGN) : 0;
	if (sign)
		return (size_t)(sign - path);
	return dot && dot != name ? (size_t)(dot - path) : strlen(path);
}

/* The name of the file of a process that is the `n`th with its pid, from 0 on. NULL: no memory. */
static char *name_of(const char *path, int64_t pid, unsigned n)
{
	size_t skip, place = pid_place(path, &skip), size = strlen(path) + 48;
	char number[16] = "", *name = malloc(size);
	if (n)
		(void)snprintf(number, sizeof number, "-%u", n + 1);
	if (name)
		(void)snprintf(name, size, "%.*s%s%lld%s%s", (int)place, path, skip ? "" : ".",
			       (long long)pid, number, path + place + skip);
	return name;
}

static unsigned count_before(const struct profile *profile, uint32_t process)
{
	unsigned n = 0;
	for (uint32_t i = 0; i < process; i++)
		n += profile->processes.at[i].pid == profile->processes.at[process].pid;
	return n;
}

static int write_part(const struct tachy_profile *profile, uint32_t process,
		      const struct tachy_format *format, const struct tachy_export_options *options,
		      const char *path, struct tachy_error *err)
{
	struct profile part;
	struct tachy_profile handle = *profile;
	int64_t pid = profile->model->processes.at[process].pid;
	char *name = name_of(path, pid, count_before(profile->model, process));
	int rc = name ? profile_part_init(profile->model, process, &part) : TACHY_ENOMEM;
	if (rc < 0) {
		free(name);
		return error_set(err, rc, "out of memory");
	}
	handle.model = &part;
	rc = tachy_profile_write(&handle, NULL, format, options, name, err);
	profile_part_done(&part);
	free(name);
	return rc;
}

int export_split(const struct tachy_profile *profile, const struct tachy_format *format,
		 const struct tachy_export_options *options, const char *path,
		 struct tachy_error *err)
{
	int rc = 0;
	if (strcmp(path, "-") == 0)
		return error_set(err, TACHY_EINVAL,
				 "a file for each process cannot be written to standard output");
	for (uint32_t i = 0; rc >= 0 && i < profile->model->processes.n; i++)
		rc = write_part(profile, i, format, options, path, err);
	return rc;
}
