/* SPDX-License-Identifier: MIT
 * Profiles out to files: the public face of the exporters. A file appears whole or not at all.
 */
#include <string.h>
#include <strings.h>

#include "api/export_split.h"
#include "api/handles.h"
#include "api/sources.h"
#include "base/error.h"
#include "base/io.h"
#include "export/export.h"
#include "record/recorder.h"

#define LIMIT_DEFAULT 15

#define RECORDING_SUFFIX ".tachy"

static const struct tachy_format formats[EXPORT_N + 2] = {
#define FORMAT(identifier, name, suffix, aliases, timeline, about) \
	{name, suffix, about, TACHY_TIMELINE_##timeline, false},
	EXPORT_FORMATS(FORMAT)
#undef FORMAT
		{"binary", RECORDING_SUFFIX, "a recording of everything, for tachyscope replay",
		 TACHY_TIMELINE_SAMPLES, true},
	{NULL, NULL, NULL, TACHY_TIMELINE_NONE, false},
};
#define FORMAT_RECORDING (&formats[EXPORT_N])

void tachy_export_options_init(struct tachy_export_options *ret)
{
	*ret = (struct tachy_export_options){
		.size = sizeof *ret,
		.sort = TACHY_SORT_OWN,
		.limit = LIMIT_DEFAULT,
	};
}

const struct tachy_format *tachy_formats(void)
{
	return formats;
}

const struct tachy_format *tachy_format_by_path(const char *path)
{
	size_t len = strlen(path), n = strlen(RECORDING_SUFFIX);
	if (len > n && strcasecmp(path + len - n, RECORDING_SUFFIX) == 0)
		return FORMAT_RECORDING;
	int index = export_by_path(path);
	return index < 0 ? NULL : &formats[index];
}

const struct tachy_format *tachy_format_by_name(const char *name)
{
	if (strcmp(name, FORMAT_RECORDING->name) == 0)
		return FORMAT_RECORDING;
	int index = export_by_name(name);
	return index < 0 ? NULL : &formats[index];
}

bool tachy_format_compares(const struct tachy_format *format)
{
	return strcmp(format->name, "diff") == 0 || strcmp(format->name, "diff-flamegraph") == 0;
}

/* A caller built with an older header gave fewer fields: the others are the defaults. */
static struct tachy_export_options complete(const struct tachy_export_options *options)
{
	struct tachy_export_options full;
	tachy_export_options_init(&full);
	if (options && options->size > sizeof full.size)
		memcpy(&full, options, options->size < sizeof full ? options->size : sizeof full);
	full.size = sizeof full;
	return full;
}

static struct export_options take_options(const struct tachy_export_options *options)
{
	struct tachy_export_options full = complete(options);
	return (struct export_options){
		.sort = full.sort == TACHY_SORT_NAME    ? EXPORT_SORT_NAME
			: full.sort == TACHY_SORT_TOTAL ? EXPORT_SORT_TOTAL
							: EXPORT_SORT_OWN,
		.limit = full.limit,
		.lines = full.lines,
		.by_thread = full.by_thread,
		.no_summary = full.no_summary,
		.color = full.color,
		.width = full.width,
		.base = full.base ? full.base->model : NULL,
		.base_stats = full.base_stats,
	};
}

static int write_to(int fd, const struct export_ops *ops, const struct profile *profile,
		    const struct tachy_stats *stats, const struct export_options *options,
		    const char *path, struct tachy_error *err)
{
	struct out out;
	out_init(&out, fd);
	int rc = ops->write(profile, stats, options, &out);
	if (rc >= 0)
		rc = out_flush(&out);
	if (rc >= 0)
		return 0;
	const char *name = strcmp(path, "-") == 0 ? "standard output" : path;
	return error_set(err, rc, "cannot write %s: %s", name,
			 out.status < 0 ? strerror(out.errno_value) : error_text(rc));
}

/* A profile's samples, as a session would have recorded them. */
static int record_to(int fd, const struct profile *profile, const struct tachy_stats *stats,
		     const char *path, struct tachy_error *err)
{
	const struct recorder_options options = {.fd = fd, .mode = profile->mode, .patient = true};
	struct recorder *recorder;
	int rc = recorder_create(&options, &recorder);
	if (rc < 0)
		return error_set(err, rc, "out of memory");
	struct sink *sink = recorder_sink(recorder);
	rc = sink->ops->begin(sink, profile);
	for (size_t i = 0; rc >= 0 && i < profile->timeline.n; i++)
		rc = sink->ops->sample(sink, &profile->timeline.at[i]);
	int ended = sink->ops->end(sink);
	int finished = recorder_finish(recorder, stats);
	struct recorder_totals totals;
	recorder_totals(recorder, &totals);
	recorder_destroy(recorder);
	rc = rc < 0 ? rc : ended < 0 ? ended : finished;
	if (rc >= 0)
		return 0;
	return error_set(err, rc, "cannot write %s: %s",
			 strcmp(path, "-") == 0 ? "standard output" : path,
			 totals.errno_value ? strerror(totals.errno_value) : error_text(rc));
}

static int write_format(int fd, const struct tachy_format *format,
			const struct tachy_profile *profile, const struct tachy_stats *stats,
			const struct tachy_export_options *options, const char *path,
			struct tachy_error *err)
{
	if (format->recording)
		return record_to(fd, profile->model, stats, path, err);
	struct export_options taken = take_options(options);
	if (tachy_format_compares(format) && !taken.base)
		return error_set(err, TACHY_EINVAL,
				 "%s compares with another profile: set tachy_export_options.base",
				 format->name);
	taken.sources = (struct source_reader){sources_read, (void *)(uintptr_t)&profile->place,
					       profile->replayed};
	return write_to(fd, &export_table()[export_by_name(format->name)], profile->model, stats,
			&taken, path, err);
}

size_t tachy_profile_n_processes(const struct tachy_profile *profile)
{
	return profile->model->processes.n;
}

int tachy_profile_write(const struct tachy_profile *profile, const struct tachy_stats *stats,
			const struct tachy_format *format,
			const struct tachy_export_options *options, const char *path,
			struct tachy_error *err)
{
	format = format && format->name ? tachy_format_by_name(format->name) : NULL;
	if (!profile || !format || !path)
		return error_set(err, TACHY_EINVAL, "no profile, format or path to write");
	if (!profile_keeps(profile->model, format->timeline))
		return error_set(err, TACHY_EINVAL,
				 "%s shows samples over time, which were not kept: set "
				 "tachy_session_options.timeline",
				 format->name);
	struct tachy_export_options full = complete(options);
	if (full.split_processes) {
		full.split_processes = false;
		return export_split(profile, format, &full, path, err);
	}
	struct io_output output;
	int rc = io_output_open(path, &output, err);
	if (rc < 0)
		return rc;
	rc = write_format(output.fd, format, profile, stats, options, path, err);
	if (rc < 0) {
		io_output_abort(&output);
		return rc;
	}
	return io_output_commit(&output, err);
}
