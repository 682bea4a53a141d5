/* SPDX-License-Identifier: MIT
 * A function that is in a stack more than once counts once: each walk over a stack has a number of its
 * own, and leaves it on what it has met.
 */
#include "tui/tally.h"

#include <string.h>

int tally_init(struct tally *tally)
{
	*tally = (struct tally){.selection = {NO_ID, TACHY_MODE_WALL}};
	map_init(&tally->cell_by_key);
	int rc = catalog_init(&tally->catalog);
	int planted = tree_init(&tally->tree);
	return rc < 0 ? rc : planted;
}

void tally_done(struct tally *tally)
{
	catalog_done(&tally->catalog);
	tree_done(&tally->tree);
	vec_done(&tally->cells);
	vec_done(&tally->queue);
	vec_done(&tally->functions);
	vec_done(&tally->lines);
	vec_done(&tally->frames);
	vec_done(&tally->threads);
	map_done(&tally->cell_by_key);
}

bool tally_mode_counts(enum tachy_mode mode, uint32_t states)
{
	static const uint32_t wanted[] = {
		[TACHY_MODE_WALL] = 0,
		[TACHY_MODE_CPU] = TACHY_STATE_ON_CPU,
		[TACHY_MODE_GIL] = TACHY_STATE_GIL,
		[TACHY_MODE_EXCEPTION] = TACHY_STATE_EXCEPTION,
	};
	return (states & wanted[mode]) == wanted[mode];
}

/* ---- taking --------------------------------------------------------------------------------- */

/* Room for the tallies of all that has been told, zeroed. */
#define GROW(vector, wanted) \
	((vector)->n >= (wanted) || \
	 (vec_reserve((vector), (wanted)) && \
	  (memset((vector)->at + (vector)->n, 0, ((wanted) - (vector)->n) * sizeof *(vector)->at), \
	   (vector)->n = (wanted), true)))

static int grow(struct tally *tally)
{
	const struct catalog *catalog = &tally->catalog;
	bool good = GROW(&tally->functions, catalog->functions.n) &&
		    GROW(&tally->lines, catalog->lines.n) &&
		    GROW(&tally->frames, catalog->frames.n) &&
		    GROW(&tally->threads, catalog->threads.n);
	return good ? 0 : TACHY_ENOMEM;
}

static uint64_t cell_key(const struct tachy_live_event *event)
{
	uint64_t key = (uint64_t)event->id << 32 | event->sample.stack;
	key = (key ^ (uint64_t)event->sample.states << 20) * UINT64_C(0x9e3779b97f4a7c15);
	return key ^ key >> 29;
}

static int find_cell(struct tally *tally, const struct tachy_live_event *event, uint32_t *ret_cell)
{
	uint64_t id, key = cell_key(event);
	for (; map_get(&tally->cell_by_key, key, &id); key++) {
		const struct sample_cell *cell = &tally->cells.at[id];
		if (cell->thread == event->id && cell->stack == event->sample.stack &&
		    cell->states == event->sample.states) {
			*ret_cell = (uint32_t)id;
			return 0;
		}
	}
	struct sample_cell fresh = {.thread = event->id,
				    .stack = event->sample.stack,
				    .states = event->sample.states};
	int rc = tree_find(&tally->tree, &tally->catalog,
			   tally->catalog.threads.at[event->id].process, fresh.stack, &fresh.node);
	if (rc < 0)
		return rc;
	if (!vec_push(&tally->cells, fresh))
		return TACHY_ENOMEM;
	if (!map_put(&tally->cell_by_key, key, tally->cells.n - 1)) {
		tally->cells.n--;
		return TACHY_ENOMEM;
	}
	*ret_cell = (uint32_t)(tally->cells.n - 1);
	return 0;
}

static void note_thread(struct thread_tally *thread, const struct tachy_live_event *event,
			int64_t second)
{
	static const uint32_t bits[TIME_N] = {
		[TIME_ALL] = 0,
		[TIME_GIL] = TACHY_STATE_GIL,
		[TIME_CPU] = TACHY_STATE_ON_CPU,
		[TIME_WAITING] = TACHY_STATE_GIL_WAITING,
		[TIME_GC] = TACHY_STATE_GC,
		[TIME_EXCEPTION] = TACHY_STATE_EXCEPTION,
	};
	thread->n += event->sample.n_ticks;
	thread->ns += event->sample.weight_ns;
	for (size_t i = 0; i < TIME_N; i++)
		if ((event->sample.states & bits[i]) == bits[i])
			series_add(&thread->time[i], second, event->sample.weight_ns);
	thread->states = event->sample.states;
	thread->stack = event->sample.stack;
	thread->second = second;
}

static int take_sample(struct tally *tally, const struct tachy_live_event *event, int64_t second)
{
	uint32_t id;
	if (event->id >= tally->catalog.threads.n || event->sample.stack >= tally->catalog.stacks.n)
		return TACHY_ECORRUPT;
	int rc = grow(tally);
	if (rc >= 0)
		rc = find_cell(tally, event, &id);
	if (rc < 0)
		return rc;
	struct sample_cell *cell = &tally->cells.at[id];
	if (!cell->queued && !vec_push(&tally->queue, id))
		return TACHY_ENOMEM;
	cell->queued = true;
	cell->fresh_n += event->sample.n_ticks;
	cell->fresh_ns += event->sample.weight_ns;
	note_thread(&tally->threads.at[event->id], event, second);
	return 0;
}

/* With a second process the tree gets a level: all cells find their nodes anew. */
static int split_by_process(struct tally *tally)
{
	int rc = tally_settle(tally, tally->second, false);
	tree_done(&tally->tree);
	int planted = tree_init(&tally->tree);
	rc = rc < 0 ? rc : planted;
	tally->tree.by_process = true;
	for (size_t i = 0; rc >= 0 && i < tally->cells.n; i++) {
		struct sample_cell *cell = &tally->cells.at[i];
		rc = tree_find(&tally->tree, &tally->catalog,
			       tally->catalog.threads.at[cell->thread].process, cell->stack,
			       &cell->node);
	}
	return rc < 0 ? rc : tally_select(tally, tally->selection);
}

int tally_take(struct tally *tally, const struct tachy_live_event *event, int64_t second)
{
	if (event->kind == TACHY_LIVE_SAMPLE)
		return take_sample(tally, event, second);
	int rc = catalog_take(&tally->catalog, event);
	if (rc >= 0 && tally->catalog.processes.n > 1 && !tally->tree.by_process)
		rc = split_by_process(tally);
	return rc;
}

/* ---- adding up ------------------------------------------------------------------------------ */

static void add_total(struct count *count, uint64_t n, uint64_t ns)
{
	count->n_total += n;
	count->ns_total += ns;
}

static void add_own(struct count *count, uint64_t n, uint64_t ns)
{
	count->n_own += n;
	count->ns_own += ns;
}

static void add_frame(struct tally *tally, uint32_t stack, uint32_t top, uint64_t n, uint64_t ns,
		      bool recent)
{
	uint32_t frame = tally->catalog.stacks.at[stack].frame;
	uint32_t line_id = tally->catalog.frames.at[frame].line;
	struct line_tally *line = &tally->lines.at[line_id];
	struct function_tally *function =
		&tally->functions.at[tally->catalog.lines.at[line_id].function];
	if (stack == top) {
		tally->frames.at[frame] += n;
		add_own(&line->count, n, ns);
		add_own(&function->count, n, ns);
		if (recent)
			series_add(&function->own, tally->second, ns);
	}
	if (line->mark != tally->mark) {
		line->mark = tally->mark;
		add_total(&line->count, n, ns);
	}
	if (function->mark != tally->mark) {
		function->mark = tally->mark;
		function->stack = top;
		add_total(&function->count, n, ns);
		if (recent)
			series_add(&function->total, tally->second, ns);
	}
}

static void add_cell(struct tally *tally, const struct sample_cell *cell, uint64_t n, uint64_t ns,
		     bool recent)
{
	const struct selection *selection = &tally->selection;
	if ((selection->thread != NO_ID && selection->thread != cell->thread) ||
	    !tally_mode_counts(selection->mode, cell->states) || !n)
		return;
	tally->mark++;
	add_total(&tally->count, n, ns);
	if (!cell->stack)
		add_own(&tally->count, n, ns);
	if (recent)
		series_add(&tally->all, tally->second, ns);
	for (uint32_t at = cell->stack; at; at = tally->catalog.stacks.at[at].parent)
		add_frame(tally, at, cell->stack, n, ns, recent);
	tree_add(&tally->tree, cell->node, n, ns);
}

int tally_settle(struct tally *tally, int64_t second, bool recent)
{
	int rc = grow(tally);
	if (rc < 0)
		return rc;
	tally->second = second;
	for (size_t i = 0; i < tally->queue.n; i++) {
		struct sample_cell *cell = &tally->cells.at[tally->queue.at[i]];
		add_cell(tally, cell, cell->fresh_n, cell->fresh_ns, recent);
		cell->n += cell->fresh_n;
		cell->ns += cell->fresh_ns;
		cell->fresh_n = cell->fresh_ns = 0;
		cell->queued = false;
	}
	tally->queue.n = 0;
	return 0;
}

static void clear_sums(struct tally *tally)
{
	/* the walks' numbers go on */
	for (size_t i = 0; i < tally->functions.n; i++)
		tally->functions.at[i] =
			(struct function_tally){.mark = tally->functions.at[i].mark};
	for (size_t i = 0; i < tally->lines.n; i++)
		tally->lines.at[i].count = (struct count){0};
	if (tally->frames.n)
		memset(tally->frames.at, 0, tally->frames.n * sizeof *tally->frames.at);
	tree_clear_counts(&tally->tree);
	tally->count = (struct count){0};
	tally->all = (struct series){0};
}

int tally_select(struct tally *tally, struct selection selection)
{
	int rc = grow(tally);
	if (rc < 0)
		return rc;
	tally->selection = selection;
	clear_sums(tally);
	for (size_t i = 0; i < tally->cells.n; i++)
		add_cell(tally, &tally->cells.at[i], tally->cells.at[i].n, tally->cells.at[i].ns,
			 false);
	return 0;
}

void tally_reset(struct tally *tally)
{
	clear_sums(tally);
	for (size_t i = 0; i < tally->cells.n; i++) {
		struct sample_cell *cell = &tally->cells.at[i];
		cell->n = cell->ns = cell->fresh_n = cell->fresh_ns = 0;
		cell->queued = false;
	}
	tally->queue.n = 0;
	for (size_t i = 0; i < tally->threads.n; i++)
		tally->threads.at[i].n = tally->threads.at[i].ns = 0;
}
