/* SPDX-License-Identifier: MIT
 * The states of a thread over time: for each state the intervals during which it held.
 */
#ifndef EXPORT_PHASES_H
#define EXPORT_PHASES_H

#include "export/spans.h"

#define PHASE_KINDS_MAX 8

struct phase_kind {
	const char *name;  /* "holds GIL" */
	const char *about; /* one line */
	/* it is on when `on` bits are set and `off` bits are not */
	uint32_t on, off;
};

/* Ended by a NULL name. */
const struct phase_kind *phase_kinds(void);

/* Calls `each` for every interval of every kind, kind by kind, in order of time. `spans`: those of one
 * thread, `n` of them. */
void phases_walk(const struct span *spans, size_t n,
		 void (*each)(void *ctx, const struct phase_kind *kind, uint64_t begin_ns,
			      uint64_t end_ns),
		 void *ctx);

#endif
