/* SPDX-License-Identifier: MIT
 * What has been seen, added up for the screen: by function, line, call path, thread. Samples are gathered
 * in cells (thread, stack, states) as they come, and added up once a screen; what is added up is a
 * selection of them (one thread or all, one mode), and can be added up anew for another.
 */
#ifndef TUI_TALLY_H
#define TUI_TALLY_H

#include "tui/series.h"
#include "tui/tree.h"

struct function_tally {
	struct count count;
	struct series own, total;
	uint32_t mark;
	uint32_t stack; /* the last one that it was met in */
};

struct line_tally {
	struct count count;
	uint32_t mark;
};

enum thread_series { TIME_ALL, TIME_GIL, TIME_CPU, TIME_WAITING, TIME_GC, TIME_EXCEPTION, TIME_N };

struct thread_tally {
	uint64_t n, ns;
	struct series time[TIME_N];
	uint32_t states, stack; /* at last */
	int64_t second;         /* of the last sample */
};

struct sample_cell {
	uint32_t thread, stack, states;
	uint32_t node;               /* of the tree */
	uint64_t n, ns;              /* added up, or would be if selected */
	uint64_t fresh_n, fresh_ns;  /* not yet */
	bool queued;
};

struct selection {
	uint32_t thread; /* NO_ID: all */
	enum tachy_mode mode;
};

struct tally {
	struct catalog catalog;
	struct tree tree;
	VEC(struct sample_cell) cells;
	struct map cell_by_key;
	VEC(uint32_t) queue; /* cells with fresh samples */
	VEC(struct function_tally) functions;
	VEC(struct line_tally) lines;
	VEC(uint64_t) frames; /* ticks on top */
	VEC(struct thread_tally) threads;
	struct selection selection;
	struct count count;  /* of the selection; own: on no frame at all */
	struct series all;
	uint32_t mark;
	int64_t second;      /* of the last settling: the present */
};

int tally_init(struct tally *tally); /* TACHY_ENOMEM */
void tally_done(struct tally *tally);
/* One event of the session, in second `second` (of any clock that runs). TACHY_ENOMEM, TACHY_ECORRUPT. */
int tally_take(struct tally *tally, const struct tachy_live_event *event, int64_t second);
/* Adds up what has come. `recent`: it came in this second; else it counts in totals only. TACHY_ENOMEM. */
int tally_settle(struct tally *tally, int64_t second, bool recent);
/* Adds up anew, for another selection. */
int tally_select(struct tally *tally, struct selection selection);
/* Forgets all samples, keeps the names. */
void tally_reset(struct tally *tally);
/* Whether `mode` counts a sample with these states. */
bool tally_mode_counts(enum tachy_mode mode, uint32_t states);

#endif
