/* SPDX-License-Identifier: MIT
 * The bytes of one tick: everything that is expected to be needed is read in one call, planned from
 * what the ticks before touched; what turns out to be missing is read when it is asked for, and
 * planned from then on. Decoders take spans of local bytes and never read the target themselves.
 *
 * Hot ranges (thread states, frames) are learned. Cold ranges (names, line tables) are read through
 * mem_view_cold and forgotten with the tick. After the working size is reached nothing allocates.
 */
#ifndef OS_MEM_VIEW_H
#define OS_MEM_VIEW_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "os/mem.h"

#define MEM_VIEW_TAILS_MAX 72

struct view_range { /* of the plan; sorted, not overlapping */
	raddr addr;
	uint32_t size;
	uint32_t used_tick; /* when a decoder last asked for some of it */
	uint32_t n_used;    /* in how many ticks one did */
	uint32_t low, high; /* the part asked for since the last review: [low, high) from addr */
};

struct view_piece { /* of this tick */
	raddr addr;
	uint32_t size;
	uint32_t plan;       /* index into the plan; UINT32_MAX: read on demand */
	const uint8_t *data; /* NULL: could not be read */
};

struct mem_view_counts {
	uint64_t batches, batches_whole,
		batch_misses; /* ticks read; all segments done; extra reads */
	uint64_t segments_requested, segments_done;
};

struct mem_view {
	struct mem *mem; /* borrowed */
	VEC(struct view_range) plan;
	VEC(struct view_piece) pieces;    /* planned ones first, in the plan's order */
	VEC(struct mem_segment) segments; /* scratch for the call */
	VEC(struct view_range) wanted;    /* hot ranges asked for and not planned */
	VEC(uint8_t) planned_bytes;
	struct arena extra_bytes;
	struct map extra_by_addr; /* address -> index of an on-demand piece */
	size_t n_planned, last_hit;
	size_t n_planned_bytes;
	uint32_t tick;
	uint64_t
		reading; /* number of the last begin, again or reset: what was read before is of another moment */
	bool stale; /* the plan holds a range that could not be read */
	bool learns_cold; /* for now, what is read cold is planned as well: it will be needed in every tick */
	uint32_t n_copies; /* of the plan to be read in one call, see mem_view_set_copies */
	uint32_t n_ahead;  /* of them not looked at yet */
	raddr tail_addr[MEM_VIEW_TAILS_MAX];
	uint8_t *tail_bytes; /* behind the planned ones; NULL before the first begin */
	bool tail_done[MEM_VIEW_TAILS_MAX];
	size_t n_tails;
	raddr first_addr; /* whose range is read before all others; 0: none is */
	struct mem_view_counts counts;
};

void mem_view_init(struct mem_view *view, struct mem *mem);
void mem_view_done(struct mem_view *view);

/* The last words to be read in the next ticks, after all else, in this order: 8 bytes each. They tell
 * whether something moved while the rest was read. */
void mem_view_set_tails(struct mem_view *view, const raddr *addrs, size_t n);
/* Word `i` of the tails, and whether it could be read. */
bool mem_view_tail(const struct mem_view *view, size_t i, uint64_t *ret_value);

/* The planned range that holds `addr` is read before all others: together with a tail at the same address it tells
 * whether something moved at any time of the batch. 0: no range is. */
static inline void mem_view_set_first(struct mem_view *view, raddr addr)
{
	view->n_ahead = view->first_addr == addr ? view->n_ahead : 0;
	view->first_addr = addr;
}

/* Has each call read the plan and the tails `n` times, one time after the other: the kernel's cost of a call
 * is paid once for `n` moments, of which each begin and again takes the next. For whoever wants to look as often
 * as can be. Long plans are read once all the same. */
void mem_view_set_copies(struct mem_view *view, uint32_t n);
#define MEM_VIEW_COPIES_MAX 8u
/* Forgets the moments that were read and not looked at. */
static inline void mem_view_drop_ahead(struct mem_view *view)
{
	view->n_ahead = 0;
}

/* Starts a tick: drops the old bytes, reads the plan and the tails. Ranges that cannot be read are no
 * failure here. TACHY_EGONE, TACHY_EPERM, TACHY_ENOMEM. */
int mem_view_begin(struct mem_view *view);
/* Reads the plan again within the same tick (a torn copy, a missed CPU). */
int mem_view_again(struct mem_view *view);
/* As mem_view_begin, but reads nothing ahead: for code paths that run once. */
void mem_view_reset(struct mem_view *view);

/* `size` bytes at `addr`: from what was read, else read now and planned. The span lives until the next
 * begin, again or reset. Errors as mem_read. */
int mem_view_hot(struct mem_view *view, raddr addr, uint32_t size, struct span *ret_span);
/* The same without learning. */
int mem_view_cold(struct mem_view *view, raddr addr, uint32_t size, struct span *ret_span);
/* Reads `n` places (those with an address) in one call, for cold reads within them that are about to follow. What cannot
 * be read is left to those. */
struct view_place {
	raddr addr;
	uint32_t size;
};
#define MEM_VIEW_FETCH_MAX 8u
void mem_view_fetch(struct mem_view *view, const struct view_place *places, size_t n);
/* Only what was already read: no system call. False when it was not. */
bool mem_view_peek(struct mem_view *view, raddr addr, uint32_t size, struct span *ret_span);
/* All the bytes that were read in one piece with `addr`, of which at least `size` follow it; for walks
 * that look at many places of one piece. *ret_start: where the span begins in the target. No call. */
bool mem_view_window(struct mem_view *view, raddr addr, uint32_t size, struct span *ret_span,
		     raddr *ret_start);

#endif
