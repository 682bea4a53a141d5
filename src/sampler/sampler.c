/* SPDX-License-Identifier: MIT
 * Invariant: samples_attempted == samples_captured + samples_lost, one attempt per target and tick; a tick
 * that was missed is late once for each target.
 * A captured tick stands for the real time since the last captured one, so that late and lost ticks
 * never shrink a total.
 */
#include "sampler/sampler.h"

#include <string.h>
#include <sys/resource.h>

#include "os/cpu.h"
#include "os/self.h"
#include "sampler/target_names.h"
#include "sampler/target_tasks.h"

#define SLEEP_MAX_NS 50000000u  /* how long a stop may take to be noticed */
#define FLUSH_NS     100000000u /* how far what the sinks have seen may lag behind */
#define ALONE_NS     20000000u  /* nobody there for so long: nobody comes */
#define ALONE_NAP_NS 500000u

int sampler_init(struct sampler *sampler, const struct sampler_options *options)
{
	memset(sampler, 0, sizeof *sampler);
	sampler->options = *options;
	atomic_init(&sampler->stop, false);
	atomic_init(&sampler->wishes.new, false);
	atomic_init(&sampler->wishes.rate_hz, options->rate_hz);
	atomic_init(&sampler->expecting, false);
	if (pthread_mutex_init(&sampler->lock, NULL))
		return TACHY_ENOMEM;
	int rc = roster_init(&sampler->roster);
	if (rc < 0)
		pthread_mutex_destroy(&sampler->lock);
	return rc;
}

void sampler_done(struct sampler *sampler)
{
	roster_done(&sampler->roster);
	pthread_mutex_destroy(&sampler->lock);
}

int sampler_add(struct sampler *sampler, struct target *target)
{
	return roster_join(&sampler->roster, target);
}

/* ---- ticks --------------------------------------------------------------------------------- */

static void count_lost(struct tachy_stats *stats, int reason)
{
	stats->samples_lost++;
	switch (reason) {
	case TACHY_ETORN:
		stats->lost_torn++;
		break;
	case TACHY_EFAULT:
		stats->lost_fault++;
		break;
	case TACHY_EGONE:
	case TACHY_EEXEC:
		stats->lost_gone++;
		break;
	default:
		stats->lost_other++;
	}
}

/* Whether a failed tick means that the target has ended or become another program. */
static bool is_gone(const struct member *member, int reason)
{
	if (reason == TACHY_EPERM) /* an exec of a setuid program, or it ended: look */
		return attachment_check(member->target->process) != 0;
	return reason == TACHY_EGONE || reason == TACHY_EFINALIZING ||
	       (reason < 0 && attachment_check(member->target->process) < 0);
}

static int tick_member(struct sampler *sampler, struct member *member, uint64_t now_ns)
{
	struct tachy_stats *stats = &sampler->stats;
	target_note_time(member->target, now_ns);
	target_ask_kernel(member->target, now_ns);
	int rc = snapshot_take(&member->snapshot);
	if (rc < 0 && is_gone(member, rc)) {
		member->gone = true;
		return rc == TACHY_ENOMEM ? rc : 0;
	}
	stats->samples_attempted++;
	if (rc < 0) {
		count_lost(stats, rc);
		return rc == TACHY_ENOMEM ? rc : 0;
	}
	stats->samples_captured++;
	uint64_t time_ns = clock_sample_ns(now_ns);
	rc = target_commit(member->target, time_ns, time_ns - member->last_tick_ns);
	member->last_tick_ns = time_ns;
	target_keep_names(member->target, now_ns);
	if (member->target->tasks)
		target_tasks_keep(member->target, now_ns);
	return rc;
}

static int flush(struct sampler *sampler)
{
	int rc = 0;
	for (size_t i = 0; i < sampler->roster.members.n; i++) {
		int flushed = target_flush(sampler->roster.members.at[i]->target);
		rc = flushed < 0 ? flushed : rc;
	}
	return rc;
}

static void gather(const struct sampler *sampler, struct tachy_stats *ret_stats);

static void tell_watcher(const struct sampler *sampler)
{
	struct tachy_stats stats;
	if (!sampler->watcher)
		return;
	gather(sampler, &stats);
	sampler->watcher(sampler->watcher_arg, &stats);
}

/* Every member once, those on our own CPU first. How long we waited for a CPU tells of the first by the
 * deadline; of the others, whose turn is when the one before is done, by the time that they take. */
static int tick_members(struct sampler *sampler, uint64_t deadline_ns)
{
	size_t n = sampler->roster.members.n, first = n > 1 ? roster_order(&sampler->roster) : 0;
	uint64_t period_ns = sampler->schedule.period_ns, start = clock_now_ns(), now = start;
	int rc = 0;
	for (size_t i = 0; rc >= 0 && i < n; i++) {
		struct member *member = sampler->roster.members.at[(first + i) % n];
		if (member->gone)
			continue;
		if (i == 0)
			snapshot_note_lateness(&member->snapshot, now - deadline_ns, period_ns);
		rc = tick_member(sampler, member, now);
		sampler->busy_ns = now;
		now = clock_now_ns();
		if (i > 0)
			snapshot_note_lateness(&member->snapshot, now - sampler->busy_ns,
					       period_ns);
	}
	sampler->tick_ns = now - start;
	sampler->end_ns = n ? sampler->busy_ns : now;
	return rc;
}

static void count_late(struct sampler *sampler)
{
	uint64_t n_new = sampler->schedule.n_missed - sampler->counted_missed;
	sampler->stats.samples_late += n_new * sampler->roster.members.n;
	sampler->counted_missed = sampler->schedule.n_missed;
}

static int tick(struct sampler *sampler, uint64_t deadline_ns, uint64_t *flushed_ns)
{
	pthread_mutex_lock(&sampler->lock);
	count_late(sampler);
	int rc = tick_members(sampler, deadline_ns);
	if (rc >= 0 && sampler->end_ns - *flushed_ns > FLUSH_NS) {
		rc = flush(sampler);
		*flushed_ns = sampler->end_ns;
		tell_watcher(sampler);
	}
	pthread_mutex_unlock(&sampler->lock);
	return rc;
}

void sampler_set_rate(struct sampler *sampler, double rate_hz)
{
	atomic_store(&sampler->wishes.rate_hz, rate_hz);
	atomic_store(&sampler->wishes.new, true);
}

static void grant_wishes(struct sampler *sampler)
{
	double rate_hz = atomic_load(&sampler->wishes.rate_hz);
	pthread_mutex_lock(&sampler->lock);
	for (size_t i = 0; i < sampler->roster.members.n; i++)
		snapshot_repace(&sampler->roster.members.at[i]->snapshot, rate_hz == 0);
	sampler->options.rate_hz = rate_hz;
	schedule_retime(&sampler->schedule, rate_hz, clock_now_ns());
	cpu_prompt_self(rate_hz > 0);
	pthread_mutex_unlock(&sampler->lock);
}

/* ---- coming and going ---------------------------------------------------------------------- */

static void add_counts(struct tachy_stats *stats, const struct member *member);

/* Takes member `i` out. What it saw stays, its counters too. */
static int retire(struct sampler *sampler, size_t i)
{
	pthread_mutex_lock(&sampler->lock);
	struct member *member = roster_remove(&sampler->roster, i);
	int rc = target_flush(member->target);
	add_counts(&sampler->stats, member);
	pthread_mutex_unlock(&sampler->lock);
	member_destroy(member);
	return rc;
}

static int retire_gone(struct sampler *sampler, bool all)
{
	int rc = 0;
	for (size_t i = sampler->roster.members.n; i-- > 0;) {
		if (!all && !sampler->roster.members.at[i]->gone)
			continue;
		int one = retire(sampler, i);
		rc = one < 0 ? one : rc;
	}
	return rc;
}

static void dismiss(struct sampler *sampler, pid_t pid)
{
	for (size_t i = 0; i < sampler->roster.members.n; i++)
		if (sampler->roster.members.at[i]->target->process->pid == pid)
			sampler->roster.members.at[i]->gone = true;
}

/* Lets in who waits at the door. One that cannot be sampled is a failure only before the start. */
static int admit(struct sampler *sampler, uint64_t since_ns, struct tachy_error *err)
{
	pid_t leaver;
	struct target *target;
	while ((target = roster_next(&sampler->roster, &leaver)) || leaver) {
		if (!target) {
			dismiss(sampler, leaver);
			continue;
		}
		pthread_mutex_lock(&sampler->lock);
		int rc = roster_admit(&sampler->roster, target, sampler->options.snapshot,
				      sampler->options.rate_hz == 0, since_ns, err);
		pthread_mutex_unlock(&sampler->lock);
		bool may_go = sampler->roster.keeps_leavers && error_class(rc) == TACHY_CLASS_GONE;
		if (rc == TACHY_ENOMEM || (rc < 0 && err && !may_go))
			return rc;
	}
	return 0;
}

/* Whether nobody is there any more and nobody will come. */
static bool is_over(struct sampler *sampler)
{
	if (!roster_is_empty(&sampler->roster))
		return false;
	if (atomic_load(&sampler->expecting))
		return false;
	return !sampler->roster.keeps_leavers || clock_now_ns() - sampler->busy_ns > ALONE_NS;
}

/* ---- the loop ------------------------------------------------------------------------------ */

/* Sleeps from `now` to the deadline, in pieces, so that a stop is noticed at low rates too. False: stop. */
static bool wait_for(struct sampler *sampler, uint64_t now, uint64_t deadline_ns)
{
	for (; now < deadline_ns; now = clock_now_ns()) {
		if (atomic_load_explicit(&sampler->stop, memory_order_relaxed))
			return false;
		uint64_t piece = deadline_ns - now > SLEEP_MAX_NS ? now + SLEEP_MAX_NS
								  : deadline_ns;
		clock_sleep_until(piece);
	}
	return !atomic_load_explicit(&sampler->stop, memory_order_relaxed);
}

static int between_ticks(struct sampler *sampler)
{
	uint64_t since_ns =
		sampler->end_ns; /* a newcomer's first tick stands for a period at most */
	int rc = retire_gone(sampler, false);
	if (rc >= 0)
		rc = admit(sampler, since_ns, NULL);
	if (rc >= 0 && !sampler->roster.members.n && !sampler->schedule.period_ns)
		clock_sleep_until(clock_now_ns() + ALONE_NAP_NS);
	return rc;
}

/* With many processes a tick can take longer than there is time for it. Half as
 * long as it took is theirs before the next one; what is missed thereby is late. */
static uint64_t rest_ns(const struct sampler *sampler)
{
	if (sampler->roster.members.n < 2 || !sampler->schedule.period_ns)
		return 0;
	return sampler->tick_ns / 2;
}

static int loop(struct sampler *sampler)
{
	uint64_t flushed_ns = sampler->start_ns, end_ns = UINT64_MAX;
	if (sampler->options.duration_s > 0)
		end_ns = sampler->start_ns + (uint64_t)(sampler->options.duration_s * 1e9);
	int rc = 0;
	while (rc >= 0 && !is_over(sampler)) {
		if (atomic_exchange(&sampler->wishes.new, false))
			grant_wishes(sampler);
		uint64_t now = clock_now_ns();
		uint64_t deadline = schedule_next(&sampler->schedule, now + rest_ns(sampler));
		if (deadline >= end_ns) {
			wait_for(sampler, now, end_ns);
			break;
		}
		if (!wait_for(sampler, now, deadline))
			break;
		rc = tick(sampler, deadline, &flushed_ns);
		if (rc >= 0)
			rc = between_ticks(sampler);
	}
	return rc;
}

int sampler_run(struct sampler *sampler, struct tachy_error *err)
{
	cpu_prompt_self(sampler->options.rate_hz > 0);
	sampler->start_ns = sampler->end_ns = sampler->busy_ns = clock_now_ns();
	int rc = admit(sampler, sampler->start_ns, err);
	if (rc >= 0) {
		schedule_init(&sampler->schedule, sampler->options.rate_hz, sampler->options.jitter,
			      sampler->start_ns);
		rc = loop(sampler);
		if (rc < 0)
			error_set(err, rc, "sampling broke off: %s", error_text(rc));
	}
	sampler->end_ns = clock_now_ns();
	sampler->target_gone = roster_is_empty(&sampler->roster);
	int retired = retire_gone(sampler, true);
	pthread_mutex_lock(&sampler->lock);
	tell_watcher(sampler);
	pthread_mutex_unlock(&sampler->lock);
	return rc < 0 ? rc : retired;
}

/* ---- statistics ---------------------------------------------------------------------------- */

static void add_counts(struct tachy_stats *stats, const struct member *member)
{
	const struct target *target = member->target;
	const struct mem *mem = target->process->mem;
	const struct mem_view_counts *view = &target->view.counts;
	stats->snapshots_ride += member->snapshot.counts.ride;
	stats->snapshots_parallel += member->snapshot.counts.parallel;
	stats->snapshots_stop += member->snapshot.counts.stop;
	stats->samples_retried += member->snapshot.counts.retried;
	stats->thread_samples += target->counts.thread_samples;
	stats->threads_seen += target->counts.threads_seen;
	stats->salvaged += target->counts.salvaged;
	stats->anchor_writes += target->counts.anchor_writes;
	stats->syscalls_vm_readv += mem->n_vm_readv;
	stats->syscalls_other += mem->n_other + target->counts.kernel_calls;
	stats->bytes_read += mem->n_bytes;
	stats->frame_cache_hits += target->counts.frame_hits;
	stats->frame_cache_partial_hits += target->counts.frame_partial;
	stats->frame_cache_misses += target->counts.frame_misses;
	stats->frames_read_from_cache += target->counts.frames_cached;
	stats->frames_read_from_memory += target->counts.frames_read;
	stats->code_object_cache_hits += target->codes.n_hits;
	stats->code_object_cache_misses += target->codes.n_misses;
	stats->stale_cache_invalidations += target->codes.n_stale;
	stats->batched_read_attempts += view->batches;
	stats->batched_read_successes += view->batches_whole;
	stats->batched_read_misses += view->batch_misses;
	stats->batched_read_segments_requested += view->segments_requested;
	stats->batched_read_segments_completed += view->segments_done;
	if (target->tasks)
		target_tasks_count(target->tasks, stats);
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static void gather(const struct sampler *sampler, struct tachy_stats *ret_stats)
{
	struct tachy_stats stats = sampler->stats;
	for (size_t i = 0; i < sampler->roster.members.n; i++)
		add_counts(&stats, sampler->roster.members.at[i]);
	stats.duration_s = (double)(sampler->end_ns - sampler->start_ns) * 1e-9;
	stats.total_samples = stats.samples_captured;
	stats.memory_reads = stats.syscalls_vm_readv + stats.syscalls_other;
	stats.memory_bytes_read = stats.bytes_read;
	*ret_stats = stats;
}

void sampler_add_usage(struct tachy_stats *stats)
{
	struct rusage usage;
	if (getrusage(RUSAGE_SELF, &usage) == 0) {
		stats->cpu_user_s = seconds(usage.ru_utime);
		stats->cpu_system_s = seconds(usage.ru_stime);
	}
	stats->max_rss_kb = self_peak_rss_kb();
}

void sampler_stats(struct sampler *sampler, struct tachy_stats *ret_stats)
{
	struct tachy_stats stats;
	pthread_mutex_lock(&sampler->lock);
	gather(sampler, &stats);
	pthread_mutex_unlock(&sampler->lock);
	sampler_add_usage(&stats);
	*ret_stats = stats;
}
