/* SPDX-License-Identifier: MIT
 * The data of the flame graph page, of one profile or of two that are compared.
 */
#ifndef EXPORT_FLAME_HTML_H
#define EXPORT_FLAME_HTML_H

#include "export/export.h"

struct flame_input {
	const struct profile *profile;
	const struct tachy_stats *stats;   /* NULL: unknown */
	const struct profile *base;        /* NULL: nothing to compare with */
	const struct tachy_stats *base_stats;
	size_t n_processes; /* of `profile`: those from here on are the base's */
	uint64_t n_samples, weight_ns; /* of this run alone */
	const struct source_reader *sources;
};

/* The whole page. 0, TACHY_ENOMEM or the sticky error of `out`. */
int flame_html_write(const struct flame_input *input, struct out *out);

#endif
