/* SPDX-License-Identifier: MIT
 * What a session's samples pass through and into, beside the aggregate: a filter, a recording.
 */
#include <string.h>

#include "api/filter_check.h"
#include "api/session_handle.h"
#include "base/error.h"

int filter_check(const struct tachy_filter *filter, struct tachy_error *err)
{
	if (!filter || filter->size < sizeof *filter)
		return error_set(err, TACHY_EINVAL, "tachy_filter.size is not set");
	if (!(filter->from_s >= 0 && filter->from_s < 1e9 && filter->to_s >= 0 &&
	      filter->to_s < 1e9))
		return error_set(err, TACHY_EINVAL,
				 "the range of time must lie between 0 and 1e9 seconds");
	if (filter->to_s > 0 && filter->to_s <= filter->from_s)
		return error_set(err, TACHY_EINVAL,
				 "the range of time is empty: it ends where it begins, or before");
	return 0;
}

int tachy_session_filter(struct tachy_session *session, const struct tachy_filter *filter,
			 struct tachy_error *err)
{
	int rc = filter_check(filter, err);
	if (rc < 0)
		return rc;
	if (session->has_targets || session->filters)
		return error_set(err, TACHY_EINVAL,
				 "a filter must be set once, before processes are added");
	/* modes are the targets' */
	filter_init(&session->filter, &session->sinks.sink, filter, TACHY_MODE_WALL);
	session->filters = true;
	return 0;
}

int tachy_session_record(struct tachy_session *session, const char *path, struct tachy_error *err)
{
	if (!path || session->has_targets || session->recorder)
		return error_set(err, TACHY_EINVAL,
				 "a recording must be set once, before processes are added");
	int rc = io_output_open_in_place(path, &session->record_file, err);
	if (rc < 0)
		return rc;
	/* a session that is looked at takes all samples, whatever is shown of them */
	enum tachy_mode mode = session->live ? TACHY_MODE_WALL : session->options.mode;
	const struct recorder_options options = {.fd = session->record_file.fd, .mode = mode};
	rc = recorder_create(&options, &session->recorder);
	if (rc >= 0)
		rc = fan_join(&session->sinks, recorder_sink(session->recorder));
	if (rc < 0) {
		session_record_destroy(session);
		return error_set(err, rc, "out of memory");
	}
	return 0;
}

void tachy_session_recorded(const struct tachy_session *session,
			    struct tachy_recorded *ret_recorded)
{
	struct recorder_totals totals = {0};
	if (session->recorder)
		recorder_totals(session->recorder, &totals);
	*ret_recorded = (struct tachy_recorded){.thread_samples = totals.n_samples,
						.dropped = totals.n_dropped,
						.bytes = totals.n_bytes,
						.error = totals.error};
}

void session_record_note(struct tachy_session *session)
{
	struct recorder_totals totals;
	struct tachy_stats stats;
	if (!session->recorder)
		return;
	tachy_session_stats(session, &stats);
	recorder_note(session->recorder, &stats);
	recorder_totals(session->recorder, &totals);
	if (totals.broken)
		tachy_session_stop(session);
}

static int explain(const struct tachy_session *session, int rc, struct tachy_error *err)
{
	struct recorder_totals totals;
	const char *path = session->record_file.path;
	recorder_totals(session->recorder, &totals);
	return error_set(err, rc,
			 "cannot write all of %s: %s; it holds %llu samples and lacks %llu",
			 path ? path : "standard output",
			 totals.errno_value ? strerror(totals.errno_value) : error_text(rc),
			 (unsigned long long)totals.n_samples,
			 (unsigned long long)totals.n_dropped);
}

int session_record_end(struct tachy_session *session, int rc, struct tachy_error *err)
{
	struct tachy_stats stats;
	if (!session->recorder)
		return rc;
	tachy_session_stats(session, &stats);
	int recorded = recorder_finish(session->recorder, &stats);
	if (recorded < 0)
		recorded = rc < 0 ? rc : explain(session, recorded, err);
	int closed = io_output_commit(&session->record_file, recorded < 0 || rc < 0 ? NULL : err);
	if (rc < 0)
		return rc;
	return recorded < 0 ? recorded : closed;
}

void session_record_destroy(struct tachy_session *session)
{
	recorder_destroy(session->recorder);
	session->recorder = NULL;
	if (session->record_file.path || session->record_file.is_std)
		io_output_abort(&session->record_file);
}
