/* SPDX-License-Identifier: MIT
 * The source that a heatmap shows, hottest files first: whole while there is room, then the lines around
 * those that were sampled. What cannot be shown is named with its reason.
 */
#ifndef EXPORT_HEATMAP_SOURCES_H
#define EXPORT_HEATMAP_SOURCES_H

#include "export/json_out.h"
#include "export/line_heat.h"
#include "export/source_lines.h"

/* Writes an array of objects, one for each sampled file that has a name. 0 or TACHY_ENOMEM. */
int heatmap_sources_write(const struct heat_index *index, const struct line_heat *heat,
			  const struct source_reader *reader, struct json_out *json);

#endif
