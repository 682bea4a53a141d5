/* SPDX-License-Identifier: MIT
 * A recording as the source of the pipe that ends in a profile.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/filter_check.h"
#include "api/handles.h"
#include "base/error.h"
#include "base/io.h"
#include "model/aggregate.h"
#include "model/filter.h"
#include "record/recording.h"
#include "record/tachyon_bin.h"
#include "sampler/opcode_names.h"
#include "tachyscope/recording.h"

#define PROGRESS_STEP 16 /* blocks */

struct tachy_recording {
	int fd;
	bool is_stdin;
	uint64_t size; /* of the file; 0: not known */
	struct recording *own; /* one of the two */
	struct tachyon_bin *tachyon;
	struct profile *profile;
	struct tachy_profile public_profile;
	struct tachy_stats stats;
	bool was_read, stopped, damaged;
	enum tachy_mode mode; /* as recorded */
	char missing[512];
};

/* ---- opening -------------------------------------------------------------------------------------- */

static int open_file(const char *path, struct tachy_recording *recording, struct tachy_error *err)
{
	struct stat st;
	recording->is_stdin = strcmp(path, "-") == 0;
	recording->fd = recording->is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (recording->fd < 0)
		return error_set(err, error_from_errno(errno), "cannot read %s: %s", path,
				 strerror(errno));
	if (fstat(recording->fd, &st) < 0)
		return 0;
	if (S_ISDIR(st.st_mode))
		return error_set(err, TACHY_EINVAL,
				 "cannot read %s: it is a directory; name the recording in it",
				 path);
	recording->size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	return 0;
}

static int open_source(struct tachy_recording *recording, struct tachy_error *err)
{
	uint8_t head[RECORDING_PEEK_MAX];
	ssize_t n = io_read_up_to(recording->fd, head, sizeof head);
	if (n < 0)
		return error_set(err, (int)n, "it cannot be read: %s", error_text((int)n));
	if (n < TACHYON_MAGIC_SIZE || !tachyon_bin_magic(head))
		return recording_open_after(recording->fd, head, (size_t)n, recording->profile,
					    &recording->own, err);
	uint8_t *data;
	size_t size;
	int rc = io_read_rest(recording->fd, head, (size_t)n, &data, &size);
	if (rc < 0)
		return error_set(err, rc, "it cannot be read: %s", error_text(rc));
	return tachyon_bin_open(data, size, recording->profile, opcode_names, &recording->tachyon,
				err);
}

static int open_parts(const char *path, struct tachy_recording *recording, struct tachy_error *err)
{
	struct tachy_error why = {0};
	int rc = open_file(path, recording, err);
	if (rc < 0)
		return rc;
	rc = profile_create(&recording->profile);
	if (rc < 0)
		return error_set(err, rc, "out of memory");
	recording->public_profile.model = recording->profile;
	(void)proc_place_open(getpid(), &recording->public_profile.place);
	recording->public_profile.replayed = true;
	rc = open_source(recording, &why);
	if (rc < 0)
		return error_set(err, rc, "cannot replay %s: %s",
				 recording->is_stdin ? "standard input" : path, why.text);
	recording->mode = recording->profile->mode;
	return 0;
}

int tachy_recording_open(const char *path, struct tachy_recording **ret_recording,
			 struct tachy_error *err)
{
	struct tachy_recording *recording = calloc(1, sizeof *recording);
	if (!recording)
		return error_set(err, TACHY_ENOMEM, "out of memory");
	recording->fd = -1;
	recording->public_profile.place = (struct proc_place){-1, -1};
	int rc = open_parts(path, recording, err);
	if (rc < 0) {
		tachy_recording_close(recording);
		return rc;
	}
	*ret_recording = recording;
	return 0;
}

void tachy_recording_close(struct tachy_recording *recording)
{
	if (!recording)
		return;
	recording_close(recording->own);
	tachyon_bin_close(recording->tachyon);
	proc_place_close(&recording->public_profile.place);
	profile_destroy(recording->profile);
	if (recording->fd >= 0 && !recording->is_stdin)
		(void)close(recording->fd);
	free(recording);
}

/* ---- the two kinds of sources ----------------------------------------------------------------------- */

static int next_part(struct tachy_recording *recording, struct sink *sink)
{
	return recording->own ? recording_next(recording->own, sink)
			      : tachyon_bin_next(recording->tachyon, sink);
}

static void state_of(const struct tachy_recording *recording, struct recording_state *ret_state)
{
	if (recording->own)
		recording_state(recording->own, ret_state);
	else
		tachyon_bin_state(recording->tachyon, ret_state);
}

/* ---- reading -------------------------------------------------------------------------------------- */

static const char *mode_name(enum tachy_mode mode)
{
	static const char *const names[] = {"wall", "cpu", "gil", "exception"};
	return names[mode];
}

static int check_mode(const struct tachy_recording *recording, enum tachy_mode mode,
		      struct tachy_error *err)
{
	if (recording->mode == TACHY_MODE_WALL || recording->mode == mode)
		return 0;
	return error_set(err, TACHY_EINVAL,
			 "it was recorded with --mode %s and has no other moments in it: record in "
			 "wall mode, the default, to choose later",
			 mode_name(recording->mode));
}

/* What cannot be told from the samples that there are. */
static int check_states(const struct filter *filter, enum tachy_mode mode, struct tachy_error *err)
{
	if (mode != TACHY_MODE_CPU || !filter->n_seen || filter->n_cpu_known)
		return 0;
	return error_set(err, TACHY_EINVAL,
			 "it does not tell which threads were on a CPU: record with --mode cpu");
}

static int report_progress(const struct tachy_replay_options *options,
			   const struct recording_state *state, uint64_t size)
{
	if (!options->progress)
		return 0;
	return options->progress(options->progress_arg,
				 size ? (double)state->n_bytes / (double)size : -1.0);
}

static int pump(struct tachy_recording *recording, struct sink *sink,
		const struct tachy_replay_options *options)
{
	struct recording_state state;
	int rc = sink->ops->begin(sink, recording->profile);
	for (unsigned n = 0; rc >= 0; n++) {
		rc = next_part(recording, sink);
		if (rc <= 0)
			break;
		state_of(recording, &state);
		if (n % PROGRESS_STEP == 0 && report_progress(options, &state, recording->size)) {
			recording->stopped = true;
			break;
		}
	}
	int ended = sink->ops->end(sink);
	return rc < 0 ? rc : ended;
}

/* A run that was cut off has no statistics of its end: what the samples tell stands in. */
static void take_stats(struct tachy_recording *recording, const struct recording_state *state)
{
	struct tachy_stats *stats = &recording->stats;
	if (!recording->own) {
		tachyon_bin_stats(recording->tachyon, stats);
		return;
	}
	recording_stats(recording->own, stats);
	if (state->end == RECORDING_WHOLE)
		return;
	stats->duration_s = (double)state->covered_ns / 1e9;
	if (stats->thread_samples < state->n_samples)
		stats->thread_samples = state->n_samples;
}

static void tell_missing(struct tachy_recording *recording, const struct recording_state *state)
{
	char *text = recording->missing;
	size_t size = sizeof recording->missing;
	int n = 0;
	if (recording->stopped)
		n = snprintf(text, size, "it was read up to %.3f s only",
			     (double)state->covered_ns / 1e9);
	else if (state->end == RECORDING_UNFINISHED)
		n = snprintf(text, size,
			     "it breaks off at %.3f s, as its writer was killed or had no room: up "
			     "to half a second before that is missing%s",
			     (double)state->covered_ns / 1e9,
			     state->n_left_out ? ", and its last block is not whole" : "");
	else if (state->end == RECORDING_DAMAGED && !recording->own)
		n = snprintf(text, size, "it is damaged: what comes after %.3f s may be missing",
			     (double)state->covered_ns / 1e9);
	else if (state->end == RECORDING_DAMAGED)
		n = snprintf(text, size,
			     "it is damaged from byte %" PRIu64 " on, at %.3f s: %" PRIu64
			     " bytes are left out",
			     state->n_bytes, (double)state->covered_ns / 1e9, state->n_left_out);
	if (state->n_dropped && n >= 0 && (size_t)n < size)
		(void)snprintf(text + n, size - (size_t)n,
			       "%s%" PRIu64 " samples (%.3f s) were dropped while it was written, "
			       "as the disk was too slow",
			       n ? "; " : "", state->n_dropped, (double)state->dropped_ns / 1e9);
	recording->damaged = state->end == RECORDING_DAMAGED;
}

static int read_into_profile(struct tachy_recording *recording, enum tachy_mode mode,
			     const struct tachy_replay_options *options, struct tachy_error *err)
{
	struct aggregate aggregate;
	struct filter filter;
	struct recording_state state;
	aggregate_init(&aggregate, recording->profile);
	filter_init(&filter, &aggregate.sink, options->filter, mode);
	profile_keep(recording->profile, options->timeline);
	recording->profile->mode = mode;
	int rc = pump(recording, &filter.sink, options);
	state_of(recording, &state);
	if (rc < 0)
		error_set(err, rc, "it cannot be read to its end: %s", error_text(rc));
	else
		rc = check_states(&filter, mode, err);
	take_stats(recording, &state);
	tell_missing(recording, &state);
	if (recording->stopped)
		recording->profile->duration_ns = state.covered_ns;
	recording->profile->duration_ns = filter_duration(&filter, recording->profile->duration_ns);
	filter_done(&filter);
	return rc < 0 ? rc : 0;
}

int tachy_recording_read(struct tachy_recording *recording,
			 const struct tachy_replay_options *options, struct tachy_error *err)
{
	if (!options || options->size < sizeof *options || recording->was_read)
		return error_set(err, TACHY_EINVAL,
				 "tachy_replay_options.size is not set, or it was read already");
	enum tachy_mode mode = options->all_modes ? recording->mode : options->mode;
	int rc = options->filter ? filter_check(options->filter, err) : 0;
	if (rc >= 0)
		rc = check_mode(recording, mode, err);
	if (rc < 0)
		return rc;
	recording->was_read = true;
	return read_into_profile(recording, mode, options, err);
}

enum tachy_recording_kind tachy_recording_kind_of(const struct tachy_recording *recording)
{
	return recording->own ? TACHY_RECORDING_OWN : TACHY_RECORDING_TACHYON;
}

enum tachy_mode tachy_recording_mode(const struct tachy_recording *recording)
{
	return recording->mode;
}

const struct tachy_profile *tachy_recording_profile(const struct tachy_recording *recording)
{
	return &recording->public_profile;
}

int64_t tachy_recording_pid(const struct tachy_recording *recording)
{
	const struct profile *profile = recording->profile;
	return profile->processes.n ? profile->processes.at[0].pid : 0;
}

void tachy_recording_stats(const struct tachy_recording *recording, struct tachy_stats *ret_stats)
{
	*ret_stats = recording->stats;
}

const char *tachy_recording_missing(const struct tachy_recording *recording)
{
	return recording->missing;
}

bool tachy_recording_damaged(const struct tachy_recording *recording)
{
	return recording->damaged;
}
