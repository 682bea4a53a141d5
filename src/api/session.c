/* SPDX-License-Identifier: MIT
 * A run: targets, the sampler on a thread of its own, and the aggregate that it fills.
 */
#include "tachyscope/session.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/process_handle.h"
#include "api/session_handle.h"
#include "base/error.h"
#include "sampler/anchor.h"
#include "tachyscope/live.h"

#define TICK_CALLBACK_NS 100000000u

void tachy_session_options_init(struct tachy_session_options *ret)
{
	*ret = (struct tachy_session_options){.size = sizeof *ret, .rate_hz = 1000};
}

static int check_options(const struct tachy_session_options *options, struct tachy_error *err)
{
	if (!options || options->size < sizeof *options)
		return error_set(err, TACHY_EINVAL, "tachy_session_options.size is not set");
	if (!(options->rate_hz >= 0 && options->rate_hz <= TACHY_RATE_MAX_HZ))
		return error_set(err, TACHY_EINVAL,
				 "the rate must lie between 0 and %.0f ticks a second",
				 TACHY_RATE_MAX_HZ);
	if (!(options->duration_s >= 0 && options->duration_s < 1e9))
		return error_set(err, TACHY_EINVAL,
				 "the duration must lie between 0 and 1e9 seconds");
	return 0;
}

static int prepare(struct tachy_session *session)
{
	const struct tachy_session_options *options = &session->options;
	struct sampler_options sampler_options = {.rate_hz = options->rate_hz,
						  .duration_s = options->duration_s,
						  .jitter = !options->no_jitter,
						  .snapshot = options->snapshot};
	int rc = profile_create(&session->profile);
	if (rc < 0)
		return rc;
	session->profile->rate_hz = options->rate_hz;
	session->profile->mode = options->mode;
	session->profile->opcodes = options->opcodes;
	session->profile->async_aware = options->async_mode != TACHY_ASYNC_OFF;
	session->public_profile.model = session->profile;
	session->public_profile.place = (struct proc_place){-1, -1};
	profile_keep(session->profile, options->timeline);
	session->profile->timeline_max = options->timeline_max;
	aggregate_init(&session->aggregate, session->profile);
	fan_init(&session->sinks);
	rc = fan_join(&session->sinks, &session->aggregate.sink);
	if (rc >= 0)
		rc = sampler_init(&session->sampler, &sampler_options);
	if (rc < 0) {
		fan_done(&session->sinks);
		profile_destroy(session->profile);
	}
	return rc;
}

int tachy_session_create(const struct tachy_session_options *options,
			 struct tachy_session **ret_session, struct tachy_error *err)
{
	int rc = check_options(options, err);
	if (rc < 0)
		return rc;
	struct tachy_session *session = calloc(1, sizeof *session);
	if (!session)
		return error_set(err, TACHY_ENOMEM, "out of memory");
	session->options = *options;
	atomic_init(&session->finished, false);
	atomic_init(&session->save_mode, (int)options->mode);
	rc = prepare(session);
	if (rc < 0) {
		free(session);
		return error_set(err, rc, "out of memory");
	}
	*ret_session = session;
	return 0;
}

void tachy_session_free(struct tachy_session *session)
{
	if (!session)
		return;
	follower_destroy(session->follower);
	sampler_done(&session->sampler);
	session_record_destroy(session);
	filter_done(&session->filter);
	fan_done(&session->sinks);
	proc_place_close(&session->public_profile.place);
	live_destroy(session->live);
	profile_destroy(session->profile);
	free(session);
}

/* Source files are read as the first target has them. Says whether this one has another root. */
static bool keep_place(void *arg, pid_t pid)
{
	struct tachy_session *session = arg;
	struct proc_root_id root = {0, 0, 0, 0};
	(void)proc_root_id_read(pid, &root);
	pthread_mutex_lock(&session->sampler.lock);
	if (!session->has_place) {
		(void)proc_place_open(pid, &session->public_profile.place);
		session->root = root;
	}
	session->has_place = true;
	bool other = memcmp(&root, &session->root, sizeof root) != 0;
	pthread_mutex_unlock(&session->sampler.lock);
	return other;
}

static struct target_options target_options_of(const struct tachy_session *session)
{
	const struct tachy_session_options *options = &session->options;
	return (struct target_options){.main_thread_only = options->main_thread_only,
				       .no_gc = options->no_gc,
				       .native = options->native,
				       .cpu_states = options->mode == TACHY_MODE_CPU ||
						     options->timeline || session->recorder ||
						     session->live,
				       .anchor = options->anchor,
				       .opcodes = options->opcodes,
				       .async_mode = options->async_mode,
				       .mode = session->live ? TACHY_MODE_WALL : options->mode};
}

/* The follower, made when it is first needed. */
static int follow(struct tachy_session *session, pid_t pid, const struct attachment *known,
		  struct tachy_error *err)
{
	struct follower_aims aims = {.sampler = &session->sampler,
				     .profile = session->profile,
				     .sink = session_sink(session),
				     .options = target_options_of(session),
				     .has_other_root = keep_place,
				     .arg = session};
	int rc = session->follower ? 0 : follower_create(&aims, &session->follower);
	if (rc >= 0)
		rc = follower_follow(session->follower, pid, known);
	return rc < 0 ? error_set(err, rc, "cannot follow the children of process %d: %s", (int)pid,
				  error_text(rc))
		      : 0;
}

int tachy_session_add(struct tachy_session *session, struct tachy_process *process,
		      struct tachy_error *err)
{
	const struct tachy_session_options *options = &session->options;
	struct target_options wanted = target_options_of(session);
	struct target *target;
	if (options->anchor && !anchor_possible(&process->attachment.runtime.layout))
		return error_set(err, TACHY_EVERSION,
				 "the anchor needs Python 3.15 or later; process %d runs %s: leave "
				 "--anchor out",
				 (int)process->attachment.pid, process->attachment.runtime.version);
	if (options->opcodes && process_no_opcodes(process, err) < 0)
		return TACHY_EVERSION;
	attachment_prepare(&process->attachment);
	wanted.other_root = keep_place(session, process->attachment.pid);
	int rc = target_create(&process->attachment, session->profile, session_sink(session),
			       &wanted, &target);
	if (rc < 0)
		return error_set(err, rc, "out of memory");
	rc = sampler_add(&session->sampler, target);
	if (rc < 0) {
		target_destroy(target);
		return error_set(err, rc, "out of memory");
	}
	session->has_targets = true;
	if (!options->subprocesses)
		return 0;
	return follow(session, process->attachment.pid, &process->attachment, err);
}

int tachy_session_follow(struct tachy_session *session, int64_t pid, struct tachy_error *err)
{
	if (pid <= 0 || pid > INT32_MAX)
		return error_set(err, TACHY_EINVAL, "%lld is no process id", (long long)pid);
	session->has_targets = true;
	return follow(session, (pid_t)pid, NULL, err);
}

static void *run_sampler(void *arg)
{
	struct tachy_session *session = arg;
	struct sink *sink = session_sink(session);
	int rc = sink->ops->begin(sink, session->profile);
	if (rc >= 0)
		rc = sampler_run(&session->sampler, &session->error);
	int ended = sink->ops->end(sink);
	session->result = rc < 0 ? rc : ended;
	atomic_store(&session->finished, true);
	return NULL;
}

/* The sampler's thread takes no signals: they are the caller's. A crash is its own, and a handler that the
 * caller may have for it must see it. */
static int start_thread(struct tachy_session *session)
{
	sigset_t all, before;
	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	sigdelset(&all, SIGABRT);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int rc = pthread_create(&session->thread, NULL, run_sampler, session);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc ? TACHY_ENOMEM : 0;
}

static uint64_t unix_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int tachy_session_start(struct tachy_session *session, struct tachy_error *err)
{
	session->profile->start_unix_ns = unix_now_ns();
	session->profile->start_ns = clock_sample_ns(clock_now_ns());
	if (start_thread(session) < 0)
		return error_set(err, TACHY_ENOMEM, "cannot start the sampling thread");
	return 0;
}

bool tachy_session_finished(const struct tachy_session *session)
{
	return atomic_load(&session->finished);
}

/* What is left to do once the thread has been joined. */
static int take_result(struct tachy_session *session, struct tachy_error *err)
{
	follower_destroy(session->follower);
	session->follower = NULL;
	uint64_t duration_ns = session->sampler.end_ns - session->sampler.start_ns;
	session->profile->duration_ns = session->filters
						? filter_duration(&session->filter, duration_ns)
						: duration_ns;
	if (err)
		*err = session->error;
	return session_record_end(session, session->result, err);
}

void tachy_session_tend(struct tachy_session *session)
{
	session_record_note(session);
}

int tachy_session_join(struct tachy_session *session, struct tachy_error *err)
{
	pthread_join(session->thread, NULL);
	return take_result(session, err);
}

int tachy_session_run(struct tachy_session *session, void (*tick)(void *), void *tick_arg,
		      struct tachy_error *err)
{
	int rc = tachy_session_start(session, err);
	if (rc < 0)
		return rc;
	while (!atomic_load(&session->finished)) {
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += TICK_CALLBACK_NS;
		if (until.tv_nsec >= 1000000000) {
			until.tv_nsec -= 1000000000;
			until.tv_sec++;
		}
		if (pthread_timedjoin_np(session->thread, NULL, &until) == 0)
			return take_result(session, err);
		tachy_session_tend(session);
		if (tick)
			tick(tick_arg);
	}
	return tachy_session_join(session, err);
}

void tachy_session_stop(struct tachy_session *session)
{
	atomic_store(&session->sampler.stop, true);
}

bool tachy_session_target_gone(const struct tachy_session *session)
{
	return session->sampler.target_gone;
}

void tachy_session_stats(const struct tachy_session *session, struct tachy_stats *ret_stats)
{
	sampler_stats((struct sampler *)(uintptr_t)&session->sampler, ret_stats);
}

const struct tachy_profile *tachy_session_profile(const struct tachy_session *session)
{
	return &session->public_profile;
}
