/* SPDX-License-Identifier: MIT
 * What every format says about the run, as far as it has room: samples, rate, lost, late, mode,
 * versions, processes.
 */
#ifndef EXPORT_FACTS_H
#define EXPORT_FACTS_H

#include "export/json_out.h"
#include "model/profile.h"

#define FACTS_LINE_MAX 2048

const char *facts_mode_name(enum tachy_mode mode); /* "wall" */

/* "4996 samples in 5.00 s (999.2/s of 1000 wanted), 0 lost, 4 late, wall mode, tachyscope 0.1.0".
 * `stats` may be NULL: lost and late are then left out. */
void facts_line(const struct profile *profile, const struct tachy_stats *stats,
		char dest[FACTS_LINE_MAX]);
/* "pid 2, Python 3.11.2, 5 threads: python3 observatory.py", raw, cut to the room. */
void facts_process_line(const struct profile *profile, uint32_t process, char dest[FACTS_LINE_MAX]);
/* Members of an object that the caller has opened. */
void facts_json(const struct profile *profile, const struct tachy_stats *stats,
		struct json_out *json);

#endif
