/* SPDX-License-Identifier: MIT
 * One session from creation to the last written byte. What was sampled is written even when the
 * sampling ended badly.
 */
#include "sample_run.h"

#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "live_run.h"
#include "say.h"
#include "signals.h"
#include "stage.h"
#include "stats.h"

/* Samples whose times are kept under --live, which may be left running for days: 48 MB. */
#define LIVE_TIMELINE_MAX (UINT64_C(1) << 20)

struct watch {
	const struct opts *opts;
	struct output *output;
	int64_t pid; /* that names it */
	struct tachy_session *session;
	struct tachy_live *live;   /* NULL: no screen */
	struct tachy_child *child; /* NULL: not ours */
	struct tachy_stats before; /* at the last line of --realtime-stats */
	double before_s;
	bool told_full;
};

static double now_s(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void show_progress(struct watch *watch)
{
	double now = now_s();
	if (now - watch->before_s < 1.0)
		return;
	struct tachy_stats stats;
	tachy_session_stats(watch->session, &stats);
	stats_progress(&stats, &watch->before, now - watch->before_s);
	watch->before = stats;
	watch->before_s = now;
}

/* Once, so that room can be made before the end. */
static void tell_full(struct watch *watch)
{
	struct tachy_recorded recorded;
	if (watch->told_full)
		return;
	tachy_session_recorded(watch->session, &recorded);
	watch->told_full = recorded.error < 0;
	if (watch->told_full)
		say("the recording cannot be written at the moment: the disk is full, or nobody "
		    "reads it; what is there stays good");
}

/* What there is so far, while the sampling goes on. */
static void save(struct watch *watch)
{
	struct tachy_error err = {0};
	struct tachy_stats stats;
	bool recording = watch->output->format->recording; /* is there already */
	if (!recording && output_save(watch->output, watch->pid, watch->session, &err) < 0) {
		say("%s", err.text);
		return;
	}
	tachy_session_stats(watch->session, &stats);
	if (watch->opts->stats_json && stats_write_json(&stats, watch->opts->stats_json, &err) < 0)
		say("%s", err.text);
	if (!watch->opts->quiet)
		say("%llu samples so far: see %s", (unsigned long long)stats.samples_captured,
		    strcmp(watch->output->path, "-") == 0 ? "above" : watch->output->path);
}

/* About ten times a second, beside the sampling. */
static void on_tick(void *arg)
{
	struct watch *watch = arg;
	int status;
	signals_tick();
	if (watch->opts->realtime_stats)
		show_progress(watch);
	tell_full(watch);
	if (signals_take_save())
		save(watch);
	if (watch->child && tachy_child_poll(watch->child, &status) == 1)
		tachy_session_stop(watch->session);
}

static void tell_dropped(const struct tachy_session *session)
{
	struct tachy_recorded recorded;
	tachy_session_recorded(session, &recorded);
	if (recorded.dropped && !recorded.error)
		say("%llu thread samples are not in the recording, as what it is written to was "
		    "too "
		    "slow",
		    (unsigned long long)recorded.dropped);
}

/* Why there may be fewer stacks than somebody who asked for tasks expects. */
static void tell_tasks(const struct tachy_stats *stats)
{
	if (stats->asyncio_unreadable)
		say("asyncio is in use, but where it keeps its tasks could not be found out");
	else if (!stats->asyncio_found)
		say("asyncio was not in use: there was no task to show");
	if (stats->asyncio_not_followed)
		say("%llu more tasks are of types that cannot be followed",
		    (unsigned long long)stats->asyncio_not_followed);
}

static int write_all(struct output *output, struct tachy_session *session, int64_t pid)
{
	const struct opts *opts = output->opts;
	struct tachy_error err = {0};
	struct tachy_stats stats;
	bool wanted = !opts->live || opts->output || opts->format;
	const char *where = !wanted || strcmp(output->path, "-") == 0 ? NULL : output->path;
	int status = STATUS_GOOD, rc = 0;
	tachy_session_stats(session, &stats);
	tell_dropped(session);
	if (opts->live && wanted && !output->format->recording)
		rc = output_save(output, pid, session, &err);
	else if (wanted && !output->format->recording)
		rc = output_write(output, pid, tachy_session_profile(session), &stats, &err);
	if (rc < 0) {
		say("%s", err.text);
		where = NULL;
		status = STATUS_FAILED;
	}
	if (!opts->quiet)
		stats_summary(&stats, opts->session.rate_hz,
			      tachy_profile_n_processes(tachy_session_profile(session)), where);
	if (!opts->quiet && opts->async_aware)
		tell_tasks(&stats);
	if (opts->stats)
		stats_print(&stats);
	if (opts->stats_json && stats_write_json(&stats, opts->stats_json, &err) < 0) {
		say("%s", err.text);
		status = STATUS_FAILED;
	}
	return status;
}

/* Some descriptors go with every thread of every process. The program has been started already and keeps its own
 * limit. */
static void raise_file_limit(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

static int add_processes(struct tachy_session *session, struct subject *subject,
			 struct tachy_error *err)
{
	int rc = 0;
	for (size_t i = 0; rc >= 0 && i < subject->n; i++)
		rc = tachy_session_add(session, subject->processes[i], err);
	if (rc < 0 || !subject->held)
		return rc;
	rc = tachy_session_follow(session, subject->pid, err);
	if (rc < 0)
		return rc;
	subject->held = false;
	subject->release_code = tachy_child_release(subject->child);
	return 0;
}

static int run_session(struct watch *watch, const struct subject *subject, struct tachy_error *err)
{
	int rc = 0;
	watch->before_s = now_s();
	signals_set_session(watch->session);
	if (signals_stopped()) /* a signal may have been faster */
		rc = 0;
	else if (watch->live)
		rc = live_run(watch->opts, watch->session, watch->live, subject, err);
	else
		rc = tachy_session_run(watch->session, on_tick, watch, err);
	signals_set_session(NULL);
	return rc;
}

static void tell_remarks(const struct subject *subject)
{
	for (size_t i = 0; i < subject->n; i++) {
		const char *remark = tachy_process_remark(subject->processes[i]);
		if (remark[0])
			say("%s", remark);
	}
}

/* What samples pass through and into, before there are any. */
static int prepare_session(struct tachy_session *session, struct output *output, int64_t pid,
			   struct tachy_filter *filter, struct tachy_error *err)
{
	int rc = 0;
	if (opts_filter(output->opts, filter))
		rc = tachy_session_filter(session, filter, err);
	if (rc < 0 || !output->format->recording)
		return rc;
	rc = output_name(output, pid, err);
	return rc < 0 ? rc : tachy_session_record(session, output->path, err);
}

/* Whether a program that was followed is worth a profile. */
static bool saw_python(const struct tachy_session *session)
{
	struct tachy_stats stats;
	tachy_session_stats(session, &stats);
	return stats.threads_seen > 0;
}

static int sample(struct watch *watch, struct output *output, const struct subject *subject,
		  bool followed)
{
	struct tachy_error err = {0};
	int rc = run_session(watch, subject, &err);
	if (subject->stage)
		stage_show(subject->stage); /* what it wrote comes before what we say */
	if (rc < 0)
		say("%s", err.text);
	if (rc >= 0 && followed && !saw_python(watch->session)) {
		say("no Python was seen in the program or in what it started: no profile was "
		    "written");
		return STATUS_FAILED;
	}
	int status = write_all(output, watch->session, subject->pid);
	return rc < 0 ? STATUS_FAILED : status;
}

int sample_run(struct output *output, struct subject *subject, bool *ret_gone)
{
	const struct opts *opts = output->opts;
	struct watch watch = {.opts = opts,
			      .output = output,
			      .pid = subject->pid,
			      .child = subject->child};
	struct tachy_error err = {0};
	*ret_gone = false;
	if (opts->session.subprocesses || subject->n > 1)
		raise_file_limit();
	if (!opts->quiet)
		tell_remarks(subject);
	struct tachy_session_options wanted = opts->session;
	wanted.timeline = opts->live ? TACHY_TIMELINE_SAMPLES /* what will be saved? */
			  : output->format->recording ? TACHY_TIMELINE_NONE
						      : output->format->timeline;
	wanted.timeline_max = opts->live ? LIVE_TIMELINE_MAX : 0;
	if (tachy_session_create(&wanted, &watch.session, &err) < 0) {
		say("%s", err.text);
		return STATUS_FAILED;
	}
	struct tachy_filter filter;
	int status = STATUS_FAILED;
	bool followed = subject->held;
	if ((opts->live && tachy_session_live(watch.session, 0, &watch.live, &err) < 0) ||
	    prepare_session(watch.session, output, subject->pid, &filter, &err) < 0 ||
	    add_processes(watch.session, subject, &err) < 0) /* nothing to write then */
		say("%s", err.text);
	else if (subject->release_code >= 0) /* else the caller tells */
		status = sample(&watch, output, subject, followed);
	*ret_gone = tachy_session_target_gone(watch.session);
	tachy_session_free(watch.session);
	return status;
}
