/* SPDX-License-Identifier: MIT
 * Hides that spans are cut at every change of stack: those that touch and agree are one interval.
 */
#include "export/phases.h"

static const struct phase_kind kinds[] = {
	{"holds GIL", "the thread held the GIL (free-threaded: was attached)", TACHY_STATE_GIL, 0},
	{"waits for GIL", "the thread wanted the GIL and did not have it", TACHY_STATE_GIL_WAITING,
	 0},
	{"on CPU", "the kernel said the thread was running or runnable", TACHY_STATE_ON_CPU, 0},
	{"off CPU", "the kernel said the thread was not running", TACHY_STATE_CPU_KNOWN,
	 TACHY_STATE_ON_CPU},
	{"GC", "the thread ran a garbage collection", TACHY_STATE_GC, 0},
	{"exception", "an exception was being raised or handled", TACHY_STATE_EXCEPTION, 0},
	{NULL, NULL, 0, 0},
};

const struct phase_kind *phase_kinds(void)
{
	return kinds;
}

static bool is_on(const struct phase_kind *kind, uint32_t states)
{
	return (states & kind->on) == kind->on && !(states & kind->off);
}

void phases_walk(const struct span *spans, size_t n,
		 void (*each)(void *ctx, const struct phase_kind *kind, uint64_t begin_ns,
			      uint64_t end_ns),
		 void *ctx)
{
	for (const struct phase_kind *kind = kinds; kind->name; kind++) {
		for (size_t i = 0; i < n;) {
			size_t next = i + 1;
			if (!is_on(kind, spans[i].states)) {
				i = next;
				continue;
			}
			while (next < n && is_on(kind, spans[next].states) &&
			       spans[next].begin_ns == spans[next - 1].end_ns)
				next++;
			each(ctx, kind, spans[i].begin_ns, spans[next - 1].end_ns);
			i = next;
		}
	}
}
