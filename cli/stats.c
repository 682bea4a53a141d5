/* SPDX-License-Identifier: MIT
 * One table of counters serves text and JSON. Its order is the order in both; new ones go behind.
 */
#include "stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/io.h"
#include "say.h"

#define JSON_ROOM 8192

struct counter {
	const char *group; /* object that holds it in JSON; NULL none */
	const char *name;
	size_t offset;
	bool real; /* double, else uint64_t */
};

#define COUNT(group, name, field) \
	{ \
		group, name, offsetof(struct tachy_stats, field), false \
	}
#define PLAIN(field) COUNT(NULL, #field, field)
#define REAL(field) \
	{ \
		NULL, #field, offsetof(struct tachy_stats, field), true \
	}

static const struct counter counters[] = {
	PLAIN(samples_attempted),
	PLAIN(samples_captured),
	PLAIN(samples_retried),
	PLAIN(samples_lost),
	PLAIN(samples_late),
	COUNT("lost_by_reason", "torn", lost_torn),
	COUNT("lost_by_reason", "fault", lost_fault),
	COUNT("lost_by_reason", "gone", lost_gone),
	COUNT("lost_by_reason", "other", lost_other),
	PLAIN(threads_seen),
	REAL(duration_s),
	REAL(cpu_user_s),
	REAL(cpu_system_s),
	PLAIN(max_rss_kb),
	COUNT("snapshots", "ride", snapshots_ride),
	COUNT("snapshots", "parallel", snapshots_parallel),
	COUNT("snapshots", "stop", snapshots_stop),
	COUNT("syscalls", "process_vm_readv", syscalls_vm_readv),
	COUNT("syscalls", "other", syscalls_other),
	PLAIN(bytes_read),
	PLAIN(total_samples),
	PLAIN(frame_cache_hits),
	PLAIN(frame_cache_misses),
	PLAIN(frame_cache_partial_hits),
	PLAIN(frames_read_from_cache),
	PLAIN(frames_read_from_memory),
	PLAIN(memory_reads),
	PLAIN(memory_bytes_read),
	PLAIN(code_object_cache_hits),
	PLAIN(code_object_cache_misses),
	PLAIN(stale_cache_invalidations),
	PLAIN(batched_read_attempts),
	PLAIN(batched_read_successes),
	PLAIN(batched_read_misses),
	PLAIN(batched_read_segments_requested),
	PLAIN(batched_read_segments_completed),
	PLAIN(thread_samples),
	PLAIN(salvaged),
	PLAIN(asyncio_found),
	PLAIN(asyncio_unreadable),
	PLAIN(asyncio_not_followed),
};
#define N_COUNTERS (sizeof counters / sizeof counters[0])

static uint64_t count_of(const struct tachy_stats *stats, const struct counter *counter)
{
	uint64_t value;
	memcpy(&value, (const char *)stats + counter->offset, sizeof value);
	return value;
}

static double real_of(const struct tachy_stats *stats, const struct counter *counter)
{
	double value;
	memcpy(&value, (const char *)stats + counter->offset, sizeof value);
	return value;
}

/* ---- for people ------------------------------------------------------------------------------------ */

/* " (3 torn, 1 unmapped)" */
static void lost_reasons(const struct tachy_stats *stats, char *text, size_t size)
{
	const struct {
		uint64_t n;
		const char *word;
	} reasons[] = {
		{stats->lost_torn, "torn"},
		{stats->lost_fault, "unmapped"},
		{stats->lost_gone, "target gone"},
		{stats->lost_other, "other"},
	};
	size_t used = 0;
	text[0] = '\0';
	for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
		if (reasons[i].n == 0 || used >= size)
			continue;
		int n = snprintf(text + used, size - used, "%s%" PRIu64 " %s", used ? ", " : " (",
				 reasons[i].n, reasons[i].word);
		used += n > 0 ? (size_t)n : 0;
	}
	if (used > 0 && used < size)
		(void)snprintf(text + used, size - used, ")");
}

/* How the stacks were read: "ride 3010, parallel 6". */
static void snapshot_words(const struct tachy_stats *stats, char *text, size_t size)
{
	const struct {
		uint64_t n;
		const char *word;
	} ways[] = {
		{stats->snapshots_ride, "ride"},
		{stats->snapshots_parallel, "parallel"},
		{stats->snapshots_stop, "stop"},
	};
	size_t used = 0;
	text[0] = '\0';
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		if (ways[i].n == 0 || used >= size)
			continue;
		int n = snprintf(text + used, size - used, "%s%s %" PRIu64, used ? ", " : "; ",
				 ways[i].word, ways[i].n);
		used += n > 0 ? (size_t)n : 0;
	}
}

static double per_second(uint64_t n, double seconds)
{
	return seconds > 0 ? (double)n / seconds : 0;
}

void stats_summary(const struct tachy_stats *stats, double rate_hz, size_t n_processes,
		   const char *where)
{
	char lost[128], ways[128], wanted[80] = "at full speed", salvaged[64] = "";
	lost_reasons(stats, lost, sizeof lost);
	snapshot_words(stats, ways, sizeof ways);
	if (rate_hz > 0)
		(void)snprintf(wanted, sizeof wanted, "of %.10g wanted%s", rate_hz,
			       n_processes > 1 ? " from each process" : "");
	if (stats->salvaged > 0)
		(void)snprintf(salvaged, sizeof salvaged,
			       ", %" PRIu64 " without the topmost frames", stats->salvaged);
	say("%" PRIu64 " samples in %.2f s (%.1f/s %s): %" PRIu64 " lost%s, %" PRIu64
	    " late, %" PRIu64 " retried%s%s%s%s",
	    stats->samples_captured, stats->duration_s,
	    per_second(stats->samples_captured, stats->duration_s), wanted, stats->samples_lost,
	    lost, stats->samples_late, stats->samples_retried, salvaged, ways,
	    where ? "; see " : "", where ? where : "");
}

void stats_progress(const struct tachy_stats *stats, const struct tachy_stats *before,
		    double seconds)
{
	say("%6.1f s: %" PRIu64 " samples, %.1f/s now, %" PRIu64 " lost, %" PRIu64 " late, %" PRIu64
	    " threads",
	    stats->duration_s, stats->samples_captured,
	    per_second(stats->samples_captured - before->samples_captured, seconds),
	    stats->samples_lost, stats->samples_late, stats->threads_seen);
}

void stats_print(const struct tachy_stats *stats)
{
	for (size_t i = 0; i < N_COUNTERS; i++) {
		const struct counter *counter = &counters[i];
		char name[64];
		(void)snprintf(name, sizeof name, "%s%s%s", counter->group ? counter->group : "",
			       counter->group ? "." : "", counter->name);
		if (counter->real)
			say("%-34s %.6f", name, real_of(stats, counter));
		else
			say("%-34s %" PRIu64, name, count_of(stats, counter));
	}
}

/* ---- for programs ---------------------------------------------------------------------------------- */

static size_t put_counter(const struct tachy_stats *stats, const struct counter *counter,
			  char *text, size_t size)
{
	int n = counter->real ? snprintf(text, size, "\"%s\":%.6f", counter->name,
					 real_of(stats, counter))
			      : snprintf(text, size, "\"%s\":%" PRIu64, counter->name,
					 count_of(stats, counter));
	return n > 0 && (size_t)n < size ? (size_t)n : 0;
}

static size_t put_text(char *text, size_t size, const char *more)
{
	size_t len = strlen(more);
	if (len >= size)
		return 0;
	memcpy(text, more, len + 1);
	return len;
}

/* All names are ours and the room is known, so that nothing is ever cut. */
static size_t build_json(const struct tachy_stats *stats, char *text, size_t size)
{
	const char *group = NULL;
	size_t used = put_text(text, size, "{\"schema\":\"tachyscope-stats/1\"");
	for (size_t i = 0; i < N_COUNTERS; i++) {
		const struct counter *counter = &counters[i];
		bool same = group == counter->group ||
			    (group && counter->group && strcmp(group, counter->group) == 0);
		if (!same && group)
			used += put_text(text + used, size - used, "}");
		used += put_text(text + used, size - used, ",");
		if (!same && counter->group) {
			used += put_text(text + used, size - used, "\"");
			used += put_text(text + used, size - used, counter->group);
			used += put_text(text + used, size - used, "\":{");
		}
		group = counter->group;
		used += put_counter(stats, counter, text + used, size - used);
	}
	return used + put_text(text + used, size - used, "}\n");
}

int stats_write_json(const struct tachy_stats *stats, const char *path, struct tachy_error *err)
{
	char text[JSON_ROOM];
	size_t size = build_json(stats, text, sizeof text);
	struct io_output output;
	int rc = io_output_open(path, &output, err);
	if (rc < 0)
		return rc;
	rc = io_write_all(output.fd, text, size);
	if (rc < 0) {
		io_output_abort(&output);
		return error_set(err, rc, "cannot write %s: %s", path, error_text(rc));
	}
	return io_output_commit(&output, err);
}
