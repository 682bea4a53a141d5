/* SPDX-License-Identifier: MIT
 * What may be done to a session while it runs, from another thread.
 */
#include "api/session_handle.h"
#include "api/sources.h"
#include "base/error.h"
#include "model/profile_copy.h"
#include "tachyscope/live.h"

int tachy_session_set_rate(struct tachy_session *session, double rate_hz)
{
	if (!(rate_hz >= 0 && rate_hz <= TACHY_RATE_MAX_HZ))
		return TACHY_EINVAL;
	sampler_set_rate(&session->sampler, rate_hz);
	return 0;
}

int tachy_session_set_mode(struct tachy_session *session, enum tachy_mode mode)
{
	if (!session->live || (int)mode < TACHY_MODE_WALL || mode > TACHY_MODE_EXCEPTION)
		return TACHY_EINVAL;
	atomic_store(&session->save_mode, (int)mode);
	return 0;
}

int tachy_session_save(struct tachy_session *session, const struct tachy_format *format,
		       const struct tachy_export_options *options, const char *path,
		       struct tachy_error *err)
{
	struct tachy_profile profile;
	struct tachy_stats stats;
	if (format && format->timeline > session->options.timeline)
		return error_set(err, TACHY_EINVAL,
				 "%s shows when things were, which this session does not keep",
				 format->name);
	pthread_mutex_lock(&session->sampler.lock); /* the place may just be found */
	profile = session->public_profile;
	pthread_mutex_unlock(&session->sampler.lock);
	int rc = profile_copy(session->profile, &session->sampler.lock,
			      (enum tachy_mode)atomic_load(&session->save_mode), &profile.model);
	if (rc < 0)
		return error_set(err, rc, "out of memory");
	if (!atomic_load(&session->finished))
		profile.model->duration_ns = clock_now_ns() - profile.model->start_ns;
	tachy_session_stats(session, &stats);
	rc = tachy_profile_write(&profile, &stats, format, options, path, err);
	if (rc >= 0 && format)
		rc = format->timeline == TACHY_TIMELINE_SAMPLES && profile.model->timeline_cut;
	profile_destroy(profile.model);
	return rc;
}

int tachy_session_source(const struct tachy_session *session, const char *path, char **ret_bytes,
			 size_t *ret_size)
{
	struct source_text text;
	int rc = sources_read((void *)(uintptr_t)&session->public_profile.place, path, &text);
	if (rc < 0)
		return rc;
	*ret_bytes = text.bytes;
	*ret_size = text.size;
	return 0;
}
