/* SPDX-License-Identifier: MIT
 * Invariants: the plan is sorted by address and its ranges do not overlap; pieces[0 .. n_planned) mirror it. A span once given stays where it is until the next begin:
 * planned bytes are one buffer sized before the call, on-demand bytes come from an arena.
 */
#include "os/mem_view.h"

#include <string.h>

#define PAGE             4096u
#define KEEP_TICKS       64u /* a range that nobody asked for in so many ticks is dropped */
#define PROVED_TICKS     4u  /* in which one did: before, it is kept for so many each only: */
#define PROBATION_TICKS  16u
#define INSERTED_MAX     64u
#define CACHED_PAGES_MAX 512u  /* of one tick; beyond, cold reads are direct */
#define GAP_MAX          1024u /* bytes read in vain to save a segment: copying cold memory costs */
#define AHEAD_MAX \
	160u /* segments and KB of one call with several copies: the last must not be too old */
#define RANGE_MAX (64u << 20) /* of one merged range; a plan never asks for more at once */

void mem_view_init(struct mem_view *view, struct mem *mem)
{
	memset(view, 0, sizeof *view);
	view->mem = mem;
	arena_init(&view->extra_bytes);
	map_init(&view->extra_by_addr);
}

void mem_view_done(struct mem_view *view)
{
	vec_done(&view->plan);
	vec_done(&view->pieces);
	vec_done(&view->segments);
	vec_done(&view->wanted);
	vec_done(&view->planned_bytes);
	arena_done(&view->extra_bytes);
	map_done(&view->extra_by_addr);
}

void mem_view_set_tails(struct mem_view *view, const raddr *addrs, size_t n)
{
	n = n < MEM_VIEW_TAILS_MAX ? n : MEM_VIEW_TAILS_MAX;
	if (n == view->n_tails && !memcmp(view->tail_addr, addrs, n * sizeof *addrs))
		return; /* what was read ahead ends with them */
	view->n_ahead = 0;
	view->n_tails = n;
	memcpy(view->tail_addr, addrs, view->n_tails * sizeof *addrs);
	memset(view->tail_done, 0, sizeof view->tail_done);
}

bool mem_view_tail(const struct mem_view *view, size_t i, uint64_t *ret_value)
{
	if (i >= view->n_tails || !view->tail_done[i])
		return false;
	memcpy(ret_value, view->tail_bytes + i * 8, sizeof *ret_value);
	return true;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct view_range *x = a, *y = b;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Whether one read of both touches no page that two reads would not, and little in vain. */
static bool should_merge(const struct view_range *low, const struct view_range *high)
{
	raddr low_end = low->addr + low->size, low_page = (low_end - 1) / PAGE;
	return high->addr / PAGE <= low_page + 1 &&
	       (high->addr <= low_end || high->addr - low_end <= GAP_MAX) &&
	       high->addr + high->size - low->addr <= RANGE_MAX;
}

/* The last `n_new` are not in order yet. A few find their places without qsort(), which takes memory for it. */
static void sort_plan(struct mem_view *view, size_t n_new)
{
	struct view_range *at = view->plan.at;
	if (n_new > INSERTED_MAX) {
		qsort(at, view->plan.n, sizeof *at, compare_ranges);
		return;
	}
	for (size_t i = view->plan.n - n_new; i < view->plan.n; i++) {
		struct view_range range = at[i];
		size_t k = i;
		for (; k > 0 && compare_ranges(&at[k - 1], &range) > 0; k--)
			at[k] = at[k - 1];
		at[k] = range;
	}
}

static void merge_plan(struct mem_view *view)
{
	struct view_range *at = view->plan.at;
	size_t n = 0;
	for (size_t i = 0; i < view->plan.n; i++) {
		if (n && should_merge(&at[n - 1], &at[i])) {
			raddr end = at[i].addr + at[i].size, last = at[n - 1].addr + at[n - 1].size;
			at[n - 1].size = (uint32_t)((end > last ? end : last) - at[n - 1].addr);
			at[n - 1].low = 0; /* as if all had been asked for: reviewed next time */
			at[n - 1].high = at[n - 1].size;
			if ((int32_t)(at[i].used_tick - at[n - 1].used_tick) > 0)
				at[n - 1].used_tick = at[i].used_tick;
			if (at[i].n_used > at[n - 1].n_used)
				at[n - 1].n_used = at[i].n_used;
		} else {
			at[n++] = at[i];
		}
	}
	view->plan.n = n;
}

/* Cuts pages off both ends of a range that nobody asked for lately. True when some went. */
static bool trim(struct view_range *range)
{
	raddr start = range->addr + range->low, end = range->addr + range->high;
	bool trimmed = range->low < range->high &&
		       (start / PAGE != range->addr / PAGE ||
			(end - 1) / PAGE != (range->addr + range->size - 1) / PAGE);
	if (trimmed) {
		range->addr = start;
		range->size = (uint32_t)(end - start);
	}
	range->low = range->size;
	range->high = 0;
	return trimmed;
}

/* Where code comes and goes most of what is asked for once is never asked for again: to read it all the same in
 * every tick would make the ticks long. */
static uint32_t keep_ticks(const struct view_range *range)
{
	return range->n_used < PROVED_TICKS ? range->n_used * PROBATION_TICKS : KEEP_TICKS;
}

/* Lets go of what nobody asked for lately. True when something went. */
static bool review(struct mem_view *view)
{
	size_t n = 0;
	bool trimmed = false, trims = view->tick % KEEP_TICKS == 0;
	for (size_t i = 0; i < view->plan.n; i++) {
		if (view->tick - view->plan.at[i].used_tick >= keep_ticks(&view->plan.at[i]))
			continue;
		view->plan.at[n] = view->plan.at[i];
		trimmed = (trims && trim(&view->plan.at[n])) || trimmed;
		n++;
	}
	bool dropped = n != view->plan.n;
	view->plan.n = n;
	return dropped || trimmed;
}

/* Brings the plan up to date. True when it changed. */
static bool replan(struct mem_view *view)
{
	bool changed = (view->stale || view->tick % PROBATION_TICKS == 0) && review(view);
	view->stale = false;
	if (view->wanted.n && vec_reserve(&view->plan, view->plan.n + view->wanted.n)) {
		memcpy(view->plan.at + view->plan.n, view->wanted.at,
		       view->wanted.n * sizeof *view->wanted.at);
		view->plan.n += view->wanted.n;
		changed = true;
		sort_plan(view, view->wanted.n);
		merge_plan(view);
	}
	view->wanted.n = 0;
	return changed;
}

void mem_view_set_copies(struct mem_view *view, uint32_t n)
{
	view->n_copies = n < MEM_VIEW_COPIES_MAX ? n : MEM_VIEW_COPIES_MAX;
	view->n_ahead = 0;
	view->tail_bytes = NULL; /* lay out anew */
}

/* How often the plan is read in one call. */
static size_t count_copies(const struct mem_view *view)
{
	size_t cost = view->n_planned + (view->n_planned_bytes >> 10);
	size_t fitting = cost ? AHEAD_MAX / cost : view->n_copies;
	size_t copies = fitting < view->n_copies ? fitting : view->n_copies;
	return copies ? copies : 1;
}

/* Bytes of one copy: the plan's and the tails'. */
static size_t stride(const struct mem_view *view)
{
	return view->n_planned_bytes + MEM_VIEW_TAILS_MAX * 8;
}

/* Room for the plan's bytes and a segment per range and tail; all of it before any span is given. */
static int lay_out(struct mem_view *view)
{
	size_t total = 0, n = view->plan.n;
	for (size_t i = 0; i < n; i++)
		total += view->plan.at[i].size;
	view->n_planned = n;
	view->n_planned_bytes = total;
	size_t copies = count_copies(view);
	if (!vec_reserve(&view->planned_bytes, stride(view) * copies) ||
	    !vec_reserve(&view->pieces, n + 64) ||
	    !vec_reserve(&view->segments, (n + MEM_VIEW_TAILS_MAX) * copies)) {
		view->n_planned = view->n_planned_bytes = 0;
		return TACHY_ENOMEM;
	}
	uint8_t *dest = view->planned_bytes.at;
	for (size_t i = 0; i < n; i++) {
		const struct view_range *range = &view->plan.at[i];
		view->pieces.at[i] = (struct view_piece){range->addr, range->size, (uint32_t)i,
							 dest};
		dest += range->size;
	}
	view->tail_bytes = dest; /* right behind: one buffer for the kernel */
	return 0;
}

static void drop_extras(struct mem_view *view)
{
	view->pieces.n = view->n_planned;
	view->last_hit = 0;
	if (view->extra_by_addr.n) {
		arena_reset(&view->extra_bytes);
		map_clear(&view->extra_by_addr);
	}
}

static bool covers(const struct view_piece *piece, raddr addr, uint32_t size)
{
	return addr >= piece->addr && addr - piece->addr <= piece->size &&
	       size <= piece->size - (addr - piece->addr);
}

/* The planned piece that `addr` could lie in: the last one that starts at or before it. */
static size_t search_planned(const struct mem_view *view, raddr addr)
{
	size_t low = 0, high = view->n_planned;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (view->pieces.at[middle].addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : 0;
}

/* Which range of the plan is read first. */
static size_t find_first(const struct mem_view *view)
{
	size_t i = view->first_addr && view->n_planned ? search_planned(view, view->first_addr) : 0;
	return i < view->n_planned && covers(&view->pieces.at[i], view->first_addr, 8) ? i : 0;
}

/* The segment that reads range `i` of the plan, where range `first` comes first. */
static size_t segment_of(size_t i, size_t first)
{
	if (i == first)
		return 0;
	return i < first ? i + 1 : i;
}

/* One segment per range and tail, for each copy; range `first` before all. Their number in one copy. */
static size_t list_segments(struct mem_view *view, size_t copies, size_t first)
{
	size_t n = view->n_planned, n_all = n + view->n_tails;
	uint8_t *tails = view->planned_bytes.at + view->n_planned_bytes;
	view->tail_bytes = tails;
	for (size_t copy = 0; copy < copies; copy++) {
		struct mem_segment *at = view->segments.at + copy * n_all;
		uint8_t *dest = view->planned_bytes.at + copy * stride(view);
		for (size_t i = 0; i < n; i++) {
			const struct view_range *range = &view->plan.at[i];
			at[segment_of(i, first)] = (struct mem_segment){range->addr, range->size,
									false, dest};
			dest += range->size;
		}
		for (size_t i = 0; i < view->n_tails; i++, dest += 8)
			at[n + i] = (struct mem_segment){view->tail_addr[i], 8, false, dest};
	}
	return n_all;
}

/* Moves on to the next copy of the last call. */
static bool take_copy(struct mem_view *view)
{
	if (!view->n_ahead)
		return false;
	view->n_ahead--;
	view->reading++;
	for (size_t i = 0; i < view->n_planned; i++)
		view->pieces.at[i].data += stride(view);
	view->tail_bytes += stride(view);
	return true;
}

static int read_plan(struct mem_view *view)
{
	if (take_copy(view))
		return 0;
	view->reading++;
	size_t n = view->n_planned, copies = count_copies(view);
	size_t first = find_first(view), n_all = list_segments(view, copies, first);
	if (!n_all)
		return 0;
	int rc = mem_read_many(view->mem, view->segments.at, n_all * copies);
	view->counts.batches++;
	view->counts.segments_requested += n_all * copies;
	if (rc == 0) {
		view->counts.batches_whole++;
		view->counts.segments_done += n_all * copies;
		view->n_ahead = (uint32_t)copies - 1;
	} else if (rc != TACHY_EFAULT) {
		return rc;
	}
	for (size_t i = 0; i < view->n_tails; i++)
		view->tail_done[i] = rc == 0 || view->segments.at[n + i].done;
	for (size_t i = 0; i < n; i++) {
		const struct mem_segment *segment = &view->segments.at[segment_of(i, first)];
		bool done = rc == 0 || segment->done;
		view->pieces.at[i].data = done ? segment->dest : NULL;
		if (!done) { /* unmapped since: ask for it no more */
			view->plan.at[i].used_tick = view->tick - KEEP_TICKS;
			view->stale = true;
		}
		view->counts.segments_done += rc != 0 && done;
	}
	return 0;
}

int mem_view_begin(struct mem_view *view)
{
	view->tick++;
	if (replan(view) || view->n_planned != view->plan.n || !view->tail_bytes) {
		view->n_ahead = 0;
		int rc = lay_out(view);
		if (rc < 0)
			return rc;
	}
	drop_extras(view);
	return read_plan(view);
}

int mem_view_again(struct mem_view *view)
{
	if (view->wanted.n)
		return mem_view_begin(view);
	drop_extras(view);
	return read_plan(view);
}

void mem_view_reset(struct mem_view *view)
{
	view->tick++;
	view->reading++;
	view->n_ahead = 0;
	view->plan.n = view->n_planned = view->n_planned_bytes = 0;
	view->wanted.n = 0;
	drop_extras(view);
}

static const struct view_piece *find_piece(struct mem_view *view, raddr addr, uint32_t size)
{
	const struct view_piece *pieces = view->pieces.at;
	if (view->last_hit < view->pieces.n && covers(&pieces[view->last_hit], addr, size))
		return &pieces[view->last_hit];
	if (view->n_planned) {
		size_t i = search_planned(view, addr);
		if (covers(&pieces[i], addr, size)) {
			view->last_hit = i;
			return &pieces[i];
		}
	}
	uint64_t i;
	if (map_get(&view->extra_by_addr, addr, &i) && covers(&pieces[i], addr, size)) {
		view->last_hit = i;
		return &pieces[i];
	}
	return NULL;
}

static inline void note_use(const struct mem_view *view, struct view_range *range, uint32_t off,
			    uint32_t size)
{
	range->n_used += range->used_tick != view->tick;
	range->used_tick = view->tick;
	if (off < range->low)
		range->low = off;
	if (off + size > range->high)
		range->high = off + size;
}

bool mem_view_peek(struct mem_view *view, raddr addr, uint32_t size, struct span *ret_span)
{
	const struct view_piece *piece = find_piece(view, addr, size);
	if (!piece || !piece->data)
		return false;
	if (piece->plan != UINT32_MAX)
		note_use(view, &view->plan.at[piece->plan], (uint32_t)(addr - piece->addr), size);
	*ret_span = (struct span){piece->data + (addr - piece->addr), size};
	return true;
}

bool mem_view_window(struct mem_view *view, raddr addr, uint32_t size, struct span *ret_span,
		     raddr *ret_start)
{
	const struct view_piece *piece = find_piece(view, addr, size);
	if (!piece || !piece->data)
		return false;
	if (piece->plan != UINT32_MAX)
		note_use(view, &view->plan.at[piece->plan], 0, piece->size);
	*ret_span = (struct span){piece->data, piece->size};
	*ret_start = piece->addr;
	return true;
}

/* Makes bytes that were read beside the plan known to this tick. */
static int add_extra(struct mem_view *view, raddr addr, uint32_t size, const uint8_t *data)
{
	struct view_piece piece = {addr, size, UINT32_MAX, data};
	bool added = vec_push(&view->pieces, piece) &&
		     map_put(&view->extra_by_addr, addr, view->pieces.n - 1);
	return added ? 0 : TACHY_ENOMEM;
}

/* Reads now, into bytes of this tick. */
static int read_extra(struct mem_view *view, raddr addr, uint32_t size, struct span *ret_span)
{
	uint8_t *data = arena_alloc(&view->extra_bytes, size);
	if (!data)
		return TACHY_ENOMEM;
	int rc = mem_read(view->mem, addr, data, size);
	if (rc >= 0)
		rc = add_extra(view, addr, size, data);
	if (rc < 0)
		return rc;
	view->last_hit = view->pieces.n - 1;
	*ret_span = (struct span){data, size};
	return 0;
}

int mem_view_hot(struct mem_view *view, raddr addr, uint32_t size, struct span *ret_span)
{
	if (mem_view_peek(view, addr, size, ret_span))
		return 0;
	view->counts.batch_misses++;
	int rc = read_extra(view, addr, size, ret_span);
	struct view_range range = {addr, size, view->tick, 1, 0, size};
	if (rc >= 0 && !vec_push(&view->wanted, range))
		rc = TACHY_ENOMEM;
	return rc;
}

void mem_view_fetch(struct mem_view *view, const struct view_place *places, size_t n)
{
	struct mem_segment segments[MEM_VIEW_FETCH_MAX];
	size_t n_segments = 0;
	for (size_t i = 0; i < n && n_segments < MEM_VIEW_FETCH_MAX; i++) {
		uint8_t *dest = places[i].addr ? arena_alloc(&view->extra_bytes, places[i].size)
					       : NULL;
		if (dest)
			segments[n_segments++] = (struct mem_segment){places[i].addr,
								      places[i].size, false, dest};
	}
	int rc = n_segments ? mem_read_many(view->mem, segments, n_segments) : 0;
	if (rc < 0 && rc != TACHY_EFAULT)
		return;
	for (size_t i = 0; i < n_segments; i++)
		if (rc == 0 || segments[i].done)
			(void)add_extra(view, segments[i].addr, segments[i].size, segments[i].dest);
}

/* Bytes within one of the places read last. */
static bool find_fetched(const struct mem_view *view, raddr addr, uint32_t size,
			 struct span *ret_span)
{
	for (size_t i = view->pieces.n, k = 0; i > view->n_planned && k < 2 * MEM_VIEW_FETCH_MAX;
	     i--, k++) {
		const struct view_piece *piece = &view->pieces.at[i - 1];
		if (!covers(piece, addr, size))
			continue;
		*ret_span = (struct span){piece->data + (addr - piece->addr), size};
		return true;
	}
	return false;
}

/* Cold bytes come by whole pages: what is asked for next mostly lies beside it. */
int mem_view_cold(struct mem_view *view, raddr addr, uint32_t size, struct span *ret_span)
{
	if (mem_view_peek(view, addr, size, ret_span))
		return 0;
	if (view->learns_cold)
		return mem_view_hot(view, addr, size, ret_span);
	if (find_fetched(view, addr, size, ret_span))
		return 0;
	raddr page = addr & ~(raddr)(PAGE - 1);
	if (size == 0 || addr - page + size > PAGE)
		return read_extra(view, addr, size, ret_span);
	struct span bytes;
	if (!mem_view_peek(view, page, PAGE, &bytes)) {
		if (view->pieces.n - view->n_planned >= CACHED_PAGES_MAX)
			return read_extra(view, addr, size, ret_span);
		int rc = read_extra(view, page, PAGE, &bytes);
		if (rc < 0)
			return rc;
	}
	*ret_span = span_sub(bytes, addr - page, size);
	return 0;
}
