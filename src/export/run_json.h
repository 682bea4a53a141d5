/* SPDX-License-Identifier: MIT
 * What a page says about the run that it shows: who was sampled, when, how, and what is missing.
 */
#ifndef EXPORT_RUN_JSON_H
#define EXPORT_RUN_JSON_H

#include "export/json_out.h"
#include "model/profile.h"

/* An object, as web/src/shared/run.ts has it. `stats` may be NULL. */
void run_json_write(const struct profile *profile, const struct tachy_stats *stats,
		    struct json_out *json);

#endif
