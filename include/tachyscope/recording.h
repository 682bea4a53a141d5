/* SPDX-License-Identifier: MIT
 * What was recorded, read back: as a profile, whole or in part.
 *
 *	tachy_recording_open -> tachy_recording_read -> tachy_profile_write -> tachy_recording_close
 */
#ifndef TACHYSCOPE_RECORDING_H
#define TACHYSCOPE_RECORDING_H

#include "profile.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tachy_recording;

enum tachy_recording_kind {
	TACHY_RECORDING_OWN,    /* tachy_session_record */
	TACHY_RECORDING_TACHYON /* python3.15 -m profiling.sampling run --binary */
};

/* Opens a recording of either kind ("-": stdin) and reads what it says of itself. A recording that was never
 * finished opens like any other. TACHY_ECORRUPT: it is none, TACHY_EVERSION: of a later format. */
int tachy_recording_open(const char *path, struct tachy_recording **ret_recording,
			 struct tachy_error *err);
void tachy_recording_close(struct tachy_recording *recording); /* NULL is fine */

enum tachy_recording_kind tachy_recording_kind_of(const struct tachy_recording *recording);
/* The mode it was recorded in: only such samples are in it. */
enum tachy_mode tachy_recording_mode(const struct tachy_recording *recording);

struct tachy_replay_options {
	size_t size;   /* sizeof(struct tachy_replay_options) */
	enum tachy_timeline timeline; /* what is kept of times, for the formats that show them */
	bool all_modes;       /* what was recorded; else what counts in `mode` of it */
	enum tachy_mode mode;
	const struct tachy_filter *filter; /* NULL: all; borrowed during the call */
	/* If not NULL, called now and then with the share that is done (0 to 1; below 0: not known, as for a
	 * pipe). Not 0 from it: stop, with what there is so far. */
	int (*progress)(void *arg, double done);
	void *progress_arg;
};

/* Reads all of it, once, into the profile. A recording that breaks off is a success: tachy_recording_missing
 * tells. TACHY_EINVAL also when the recording cannot show this mode. */
int tachy_recording_read(struct tachy_recording *recording,
			 const struct tachy_replay_options *options, struct tachy_error *err);

/* What was read. Borrowed from the recording. */
const struct tachy_profile *tachy_recording_profile(const struct tachy_recording *recording);
/* The first process of it; 0 when there is none. */
int64_t tachy_recording_pid(const struct tachy_recording *recording);
/* The counters of the run that was recorded, as far as the recording goes. */
void tachy_recording_stats(const struct tachy_recording *recording, struct tachy_stats *ret_stats);
/* What of the run is not there: one sentence or two without a name; "" when nothing is missing. */
const char *tachy_recording_missing(const struct tachy_recording *recording);
/* Whether bytes are wrong, rather than only missing at its end. */
bool tachy_recording_damaged(const struct tachy_recording *recording);

#ifdef __cplusplus
}
#endif
#endif
