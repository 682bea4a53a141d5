/* SPDX-License-Identifier: MIT
 * What stands behind struct tachy_session.
 */
#ifndef API_SESSION_HANDLE_H
#define API_SESSION_HANDLE_H

#include "api/handles.h"
#include "base/io.h"
#include "model/aggregate.h"
#include "model/fan.h"
#include "model/filter.h"
#include "record/recorder.h"
#include "sampler/follower.h"
#include "tachyscope/session.h"

struct tachy_session {
	struct tachy_session_options options;
	struct profile *profile;
	struct tachy_profile public_profile;
	struct fan sinks; /* what the targets feed; `aggregate` is the first */
	struct aggregate aggregate;
	struct filter filter; /* stands before `sinks` once it is set */
	bool filters, has_targets;
	struct recorder *recorder; /* owned; NULL: nothing is recorded */
	struct io_output record_file;
	struct sampler sampler;
	bool has_place;          /* a target was added, and public_profile.place set */
	struct proc_root_id root; /* of that target */
	struct follower *follower; /* owned; NULL: nobody is followed */
	struct tachy_live *live; /* owned; NULL: nobody looks on */
	_Atomic int save_mode;   /* enum tachy_mode: what tachy_session_save writes */
	/* the sampler's thread */
	pthread_t thread;
	struct tachy_error error;
	int result;
	atomic_bool finished;
};

/* What the targets feed. */
static inline struct sink *session_sink(struct tachy_session *session)
{
	return session->filters ? &session->filter.sink : &session->sinks.sink;
}

/* Tells the recorder, if there is one, what the counters are; stops the session when nobody takes the
 * recording any more. */
void session_record_note(struct tachy_session *session);
/* Ends the recording, if there is one: the first error of it and of `rc` is returned. */
int session_record_end(struct tachy_session *session, int rc, struct tachy_error *err);
void session_record_destroy(struct tachy_session *session);

void live_destroy(struct tachy_live *live); /* NULL is fine */

#endif
