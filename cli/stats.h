/* SPDX-License-Identifier: MIT
 * The counters of a run, for people and for programs.
 */
#ifndef CLI_STATS_H
#define CLI_STATS_H

#include "tachyscope/tachyscope.h"

/* One honest line: what was got, what was not, and why; `where`: the file that was written, or NULL. */
void stats_summary(const struct tachy_stats *stats, double rate_hz, size_t n_processes,
		   const char *where);
/* A line while it runs. `before`: the counters a moment (`seconds`) ago. */
void stats_progress(const struct tachy_stats *stats, const struct tachy_stats *before,
		    double seconds);
/* Every counter, a line each, on standard error. */
void stats_print(const struct tachy_stats *stats);
/* Schema "tachyscope-stats/1"; "-" is stdout. */
int stats_write_json(const struct tachy_stats *stats, const char *path, struct tachy_error *err);

#endif
