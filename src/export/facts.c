/* SPDX-License-Identifier: MIT
 * Hides nothing but wording, so that all formats say the same.
 */
#include "export/facts.h"

#include <stdio.h>

#include "base/release.h"

const char *facts_mode_name(enum tachy_mode mode)
{
	static const char *const names[] = {[TACHY_MODE_WALL] = "wall",
					    [TACHY_MODE_CPU] = "cpu",
					    [TACHY_MODE_GIL] = "gil",
					    [TACHY_MODE_EXCEPTION] = "exception"};
	return (size_t)mode < sizeof names / sizeof names[0] ? names[mode] : "unknown";
}

void facts_line(const struct profile *profile, const struct tachy_stats *stats,
		char dest[FACTS_LINE_MAX])
{
	char wanted[80] = "at full speed", lost[80] = "";
	double seconds = (double)profile->duration_ns / 1e9;
	uint64_t n = stats ? stats->samples_captured : profile->n_samples;
	if (profile->rate_hz > 0)
		(void)snprintf(wanted, sizeof wanted, "of %.10g wanted%s", profile->rate_hz,
			       profile->processes.n > 1 ? " from each process" : "");
	if (stats)
		(void)snprintf(lost, sizeof lost, "%llu lost, %llu late, ",
			       (unsigned long long)stats->samples_lost,
			       (unsigned long long)stats->samples_late);
	(void)snprintf(dest, FACTS_LINE_MAX,
		       "%llu samples in %.2f s (%.1f/s %s), %s%s mode, tachyscope %s",
		       (unsigned long long)n, seconds, seconds > 0 ? (double)n / seconds : 0,
		       wanted, lost, facts_mode_name(profile->mode), TACHYSCOPE_VERSION);
}

static unsigned threads_of(const struct profile *profile, uint32_t process)
{
	unsigned n = 0;
	for (size_t i = 0; i < profile->threads.n; i++)
		n += profile->threads.at[i].process == process;
	return n;
}

void facts_process_line(const struct profile *profile, uint32_t index, char dest[FACTS_LINE_MAX])
{
	const struct profile_process *process = &profile->processes.at[index];
	unsigned n_threads = threads_of(profile, index);
	(void)snprintf(dest, FACTS_LINE_MAX, "pid %lld, Python %s, %u thread%s: %s",
		       (long long)process->pid,
		       strtab_get(profile->stacks.strings, process->version), n_threads,
		       n_threads == 1 ? "" : "s",
		       strtab_get(profile->stacks.strings, process->command));
}

static void processes_json(const struct profile *profile, struct json_out *json)
{
	const struct strtab *strings = profile->stacks.strings;
	json_key_open(json, "processes", '[');
	for (uint32_t i = 0; i < profile->processes.n; i++) {
		const struct profile_process *process = &profile->processes.at[i];
		json_open(json, '{');
		json_key_i64(json, "pid", process->pid);
		json_key_string(json, "command", strtab_get(strings, process->command));
		json_key_string(json, "python", strtab_get(strings, process->version));
		json_key_u64(json, "threads", threads_of(profile, i));
		json_close(json, '}');
	}
	json_close(json, ']');
}

void facts_json(const struct profile *profile, const struct tachy_stats *stats,
		struct json_out *json)
{
	json_key_string(json, "tool", "tachyscope");
	json_key_string(json, "version", TACHYSCOPE_VERSION);
	json_key_string(json, "mode", facts_mode_name(profile->mode));
	json_key(json, "rate_hz"); /* 0: as many as go */
	json_fixed(json, profile->rate_hz, 3);
	json_key_u64(json, "start_unix_us", profile->start_unix_ns / 1000);
	json_key_u64(json, "duration_ns", profile->duration_ns);
	json_key_u64(json, "thread_samples", profile->n_samples);
	json_key_u64(json, "weight_ns", profile->weight_ns);
	if (stats) {
		json_key_u64(json, "samples_captured", stats->samples_captured);
		json_key_u64(json, "samples_lost", stats->samples_lost);
		json_key_u64(json, "samples_late", stats->samples_late);
	}
	json_key_bool(json, "opcodes", profile->opcodes);
	json_key_bool(json, "async_aware", profile->async_aware);
	processes_json(profile, json);
}
