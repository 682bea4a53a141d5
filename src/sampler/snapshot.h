/* SPDX-License-Identifier: MIT
 * How one moment of a moving target is taken, in three ways behind one call:
 *     ride      our thread sits on the CPU that the GIL's holder runs on; while we read, it stands still.
 *               Of several that run at once (interpreters with a GIL of their own, builds without one) it
 *               is one in turn; the others are copied as below, in the same reading
 *     parallel  copy from another CPU, look for the signs of live frames, retry, at last salvage
 *     stop      hold every thread by ptrace
 * A way that cannot work here falls back to the next, tick by tick, and the counts say which was used.
 */
#ifndef SAMPLER_SNAPSHOT_H
#define SAMPLER_SNAPSHOT_H

#include "sampler/read_cost.h"
#include "sampler/target.h"

struct pause;

struct snapshot_counts {
	uint64_t ride, parallel, stop;
	uint64_t retried; /* readings that were taken again because the target had moved */
};

/* Where the thread that takes the snapshots sits. All snapshots of one thread share it. */
struct seat {
	int cpu;   /* that it is pinned to; -1 none */
	bool away; /* it may not run everywhere for now */
};

/* One per target, used by one thread only: it may be pinned, and ptrace is bound to it. Stays where it is. */
struct snapshot {
	enum tachy_snapshot wanted;
	struct target *target;   /* borrowed */
	struct seat *seat;       /* borrowed, or `own_seat` */
	struct seat own_seat;
	/* ride */
	bool can_ride;
	int64_t rseq_offset;     /* of the target's C library */
	int rider_cpu;           /* where the rider was last; -1 unknown */
	raddr rider_gil;         /* the GIL that the rider holds: nobody under it moves; 0: it has none */
	uint32_t n_rides;        /* tried */
	raddr rider;             /* thread state whose CPU the tails tell; 0 none */
	uint64_t read_at_ns;     /* when the copies at hand were read */
	bool has_read;           /* the last look did, rather than take a copy that was at hand */
	struct read_cost cost;
	uint32_t late_score;     /* how often lately we were not let on in time */
	uint32_t rest_ticks;     /* ticks for which riding rests */
	/* parallel */
	uint32_t random;         /* spreads the retries */
	/* stop */
	struct pause *pause;     /* owned; NULL */
	struct snapshot_counts counts;
};

/* `wanted` AUTO rides where it can. RIDE and AUTO need ticks that leave the target time to run: with
 * `no_pause` (rate max) they copy. `seat` (borrowed) is that of the calling thread, NULL: this is its only
 * snapshot. TACHY_EPERM and the like for STOP only. */
int snapshot_init(struct snapshot *snapshot, struct target *target, enum tachy_snapshot wanted,
		  bool no_pause, struct seat *seat, struct tachy_error *err);
/* Another rate: `no_pause` as above. */
void snapshot_repace(struct snapshot *snapshot, bool no_pause);
void snapshot_done(struct snapshot *snapshot);
/* One moment into the target's fresh stacks, ready for target_commit. TACHY_ETORN and others: lost. */
int snapshot_take(struct snapshot *snapshot);
/* Tells how late the tick began after its deadline. Riding that starves gives way to copying. */
void snapshot_note_lateness(struct snapshot *snapshot, uint64_t late_ns, uint64_t period_ns);

#endif
