/* SPDX-License-Identifier: MIT
 * Hides nothing but the names of the fields.
 */
#include "export/run_json.h"

#include "base/release.h"

static const char *mode_name(enum tachy_mode mode)
{
	static const char *const names[] = {
		[TACHY_MODE_WALL] = "wall",
		[TACHY_MODE_CPU] = "cpu",
		[TACHY_MODE_GIL] = "gil",
		[TACHY_MODE_EXCEPTION] = "exception",
	};
	return (size_t)mode < sizeof names / sizeof names[0] ? names[mode] : "unknown";
}

static void write_stats(const struct tachy_stats *stats, struct json_out *json)
{
	json_key_open(json, "stats", '{');
	json_key_u64(json, "captured", stats->samples_captured);
	json_key_u64(json, "lost", stats->samples_lost);
	json_key_u64(json, "late", stats->samples_late);
	json_key_u64(json, "retried", stats->samples_retried);
	json_key_u64(json, "salvaged", stats->salvaged);
	json_close(json, '}');
}

static void write_processes(const struct profile *profile, struct json_out *json)
{
	const struct strtab *strings = profile->stacks.strings;
	json_key_open(json, "processes", '[');
	for (size_t i = 0; i < profile->processes.n; i++) {
		const struct profile_process *process = &profile->processes.at[i];
		json_open(json, '{');
		json_key_i64(json, "pid", process->pid);
		json_key_string(json, "command", strtab_get(strings, process->command));
		json_key_string(json, "python", strtab_get(strings, process->version));
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void write_threads(const struct profile *profile, struct json_out *json)
{
	json_key_open(json, "threads", '[');
	for (size_t i = 0; i < profile->threads.n; i++) {
		const struct profile_thread *thread = &profile->threads.at[i];
		json_open(json, '{');
		json_key_u64(json, "process", thread->process);
		json_key_u64(json, "tid", thread->tid);
		json_key_string(json, "name", strtab_get(profile->stacks.strings, thread->name));
		json_key_bool(json, "main", thread->main);
		json_close(json, '}');
	}
	json_close(json, ']');
}

void run_json_write(const struct profile *profile, const struct tachy_stats *stats,
		    struct json_out *json)
{
	json_open(json, '{');
	json_key_string(json, "tool", "tachyscope " TACHYSCOPE_VERSION);
	json_key_string(json, "mode", mode_name(profile->mode));
	json_key(json, "rate_hz"); /* 0: as fast as it went */
	json_fixed(json, profile->rate_hz, 3);
	json_key_u64(json, "start_ms", profile->start_unix_ns / 1000000);
	json_key(json, "duration_s");
	json_fixed(json, (double)profile->duration_ns / 1e9, 6);
	json_key_u64(json, "n_samples", profile->n_samples);
	json_key(json, "weight_s");
	json_fixed(json, (double)profile->weight_ns / 1e9, 6);
	json_key_bool(json, "opcodes", profile->opcodes);
	json_key_bool(json, "async_aware", profile->async_aware);
	if (stats)
		write_stats(stats, json);
	write_processes(profile, json);
	write_threads(profile, json);
	json_close(json, '}');
}
