/* SPDX-License-Identifier: MIT
 * Rows are ids with a key to sort them by; equal keys keep the order of their ids, so that a screen of
 * equals stands still.
 */
#include "tui/rows.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tui/views.h"

static const struct {
	const char *name;
	uint32_t views; /* bits 1 << enum view */
} sorts[SORT_N] = {
#define BIT(view) (1u << VIEW_##view)
	[SORT_OWN] = {"own", BIT(FUNCTIONS) | BIT(TREE) | BIT(TASKS) | BIT(LINES) | BIT(OPCODES) |
				     BIT(THREADS)},
	[SORT_OWN_RECENT] = {"own, lately", BIT(FUNCTIONS) | BIT(TASKS)},
	[SORT_TOTAL] = {"total", BIT(FUNCTIONS) | BIT(TREE) | BIT(TASKS) | BIT(LINES)},
	[SORT_TOTAL_RECENT] = {"total, lately", BIT(FUNCTIONS) | BIT(TASKS)},
	[SORT_NAME] = {"name", BIT(FUNCTIONS) | BIT(TREE) | BIT(TASKS) | BIT(THREADS)},
	[SORT_ORDER] = {"order", BIT(LINES) | BIT(THREADS)},
#undef BIT
};

const char *rows_sort_name(enum sort sort)
{
	return sorts[sort].name;
}

void rows_next_sort(struct state *state, int step)
{
	struct list *list = &state->lists[state->view];
	for (int i = 1; i <= SORT_N; i++) {
		int sort = ((int)list->sort + step * i + SORT_N * SORT_N) % SORT_N;
		if (!(sorts[sort].views & 1u << state->view))
			continue;
		list->sort = (enum sort)sort;
		return;
	}
}

bool rows_match(const char *text, const char *part)
{
	size_t n = strlen(part);
	for (; n && *text; text++)
		if (tolower((unsigned char)*text) == tolower((unsigned char)*part) &&
		    strncasecmp(text, part, n) == 0)
			return true;
	return n == 0;
}

uint64_t rows_recent(const struct state *state, const struct series *series)
{
	return series_sum(series, state->tally.second, RECENT_SECONDS);
}

bool rows_thread_ended(const struct state *state, uint32_t thread)
{
	const struct thread_tally *tally = &state->tally.threads.at[thread];
	return !state->banner[0] && tally->second + 2 < state->tally.second;
}

/* ---- sorting -------------------------------------------------------------------------------- */

/* The first eight bytes, so that "a" comes before "b" where larger keys come first. */
static uint64_t name_key(const char *name)
{
	uint64_t key = 0;
	for (unsigned i = 0; i < 8; i++) {
		key = key << 8 | (uint8_t)tolower((unsigned char)*name);
		name += *name != '\0';
	}
	return ~key;
}

static int compare_rows(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	if (a->key != b->key)
		return a->key < b->key ? 1 : -1;
	return (a->id > b->id) - (a->id < b->id);
}

static bool add(struct list *list, uint32_t id, uint64_t key)
{
	struct row row = {id, key};
	return vec_push(&list->rows, row);
}

static uint64_t count_key(const struct count *count, enum sort sort)
{
	return sort == SORT_TOTAL ? count->ns_total : count->ns_own;
}

/* ---- the views' rows ------------------------------------------------------------------------- */

static bool function_wanted(const struct state *state, const struct told_function *function)
{
	return rows_match(function->name, state->filter) ||
	       rows_match(function->file, state->filter);
}

static uint64_t function_key(const struct state *state, uint32_t id, enum sort sort)
{
	const struct function_tally *tally = &state->tally.functions.at[id];
	if (sort == SORT_NAME)
		return name_key(state->tally.catalog.functions.at[id].name);
	if (sort == SORT_OWN_RECENT)
		return rows_recent(state, &tally->own);
	if (sort == SORT_TOTAL_RECENT)
		return rows_recent(state, &tally->total);
	return count_key(&tally->count, sort);
}

static bool add_functions(struct state *state, struct list *list, bool tasks)
{
	const struct catalog *catalog = &state->tally.catalog;
	for (uint32_t id = 0; id < state->tally.functions.n; id++) {
		const struct told_function *function = &catalog->functions.at[id];
		if (!state->tally.functions.at[id].count.n_total ||
		    (function->kind == TACHY_FRAME_TASK) != tasks ||
		    !function_wanted(state, function))
			continue;
		if (!add(list, id, function_key(state, id, list->sort)))
			return false;
	}
	return true;
}

static bool add_threads(struct state *state, struct list *list)
{
	const struct catalog *catalog = &state->tally.catalog;
	for (uint32_t id = 0; id < state->tally.threads.n; id++) {
		const struct thread_tally *tally = &state->tally.threads.at[id];
		const char *name = catalog->threads.at[id].name;
		uint64_t key =
			series_sum(&tally->time[TIME_GIL], state->tally.second, RECENT_SECONDS) +
			series_sum(&tally->time[TIME_CPU], state->tally.second, RECENT_SECONDS);
		if (!rows_match(name, state->filter))
			continue;
		if (list->sort == SORT_NAME)
			key = name_key(name);
		else if (list->sort == SORT_ORDER)
			key = 0;
		else if (rows_thread_ended(state, id))
			key = 0;
		else
			key += 1;
		if (!add(list, id, key))
			return false;
	}
	return true;
}

#define LINES_MAX 20000u

/* Rows of lines are line numbers. Between those that were met are those that were not. */
static uint64_t line_key(uint32_t line)
{
	return UINT32_MAX - line;
}

static bool add_lines(struct state *state, struct list *list)
{
	const struct catalog *catalog = &state->tally.catalog;
	uint32_t function = state_function(state);
	if (function == NO_ID)
		return true;
	bool all = list->sort == SORT_ORDER && state->source.starts.n > 0;
	uint32_t first = (uint32_t)catalog->functions.at[function].first_line, last = 0;
	for (uint32_t id = catalog->functions.at[function].lines;
	     id != NO_ID && id < state->tally.lines.n; id = catalog->lines.at[id].next) {
		const struct count *count = &state->tally.lines.at[id].count;
		uint32_t line = (uint32_t)catalog->lines.at[id].line;
		uint64_t key = list->sort == SORT_ORDER ? line_key(line)
							: count_key(count, list->sort);
		if (!count->n_total)
			continue;
		last = line > last ? line : last;
		first = line < first ? line : first;
		if (!all && !add(list, line, key))
			return false;
	}
	for (uint32_t line = first; all && line <= last && line - first < LINES_MAX; line++)
		if (!add(list, line, line_key(line)))
			return false;
	return true;
}

/* One row for each pair of instruction and specialised form: its first frame stands for it. */
static bool add_opcodes(struct state *state, struct list *list)
{
	const struct catalog *catalog = &state->tally.catalog;
	uint32_t function = state_function(state);
	if (function == NO_ID)
		return true;
	for (uint32_t line = catalog->functions.at[function].lines;
	     line != NO_ID && line < state->tally.lines.n; line = catalog->lines.at[line].next)
		for (uint32_t id = catalog->lines.at[line].frames; id != NO_ID;
		     id = catalog->frames.at[id].next) {
			const char *opcode = catalog->frames.at[id].opcode;
			uint64_t n = id < state->tally.frames.n ? state->tally.frames.at[id] : 0;
			size_t i = 0;
			while (i < list->rows.n &&
			       strcmp(catalog->frames.at[list->rows.at[i].id].opcode, opcode) != 0)
				i++;
			if (i < list->rows.n)
				list->rows.at[i].key += n;
			else if (n && opcode[0] && !add(list, id, n))
				return false;
		}
	return true;
}

static bool add_output(struct state *state, struct list *list)
{
	size_t n = state->spool ? spool_n_lines(state->spool) : 0;
	for (size_t i = 0; i < n; i++)
		if (rows_match(spool_line(state->spool, i), state->filter) &&
		    !add(list, (uint32_t)i, 0))
			return false;
	return true;
}

/* ---- the tree ---------------------------------------------------------------------------------- */

static const char *node_name(const struct state *state, uint32_t node)
{
	uint32_t label = state->tally.tree.nodes.at[node].label;
	if (label == NO_ID)
		return "";
	if (label & TREE_PROCESS)
		return state->tally.catalog.processes.at[label & ~TREE_PROCESS].command;
	return state->tally.catalog.functions.at[label].name;
}

/* What the filter says of a node: it matches, something below it does, something above it does. */
enum { MATCHES = 1, LEADS = 2, BELONGS = 4 };

static bool node_matches(const struct state *state, uint32_t id)
{
	uint32_t label = state->tally.tree.nodes.at[id].label;
	if (label & TREE_PROCESS)
		return rows_match(node_name(state, id), state->filter);
	return function_wanted(state, &state->tally.catalog.functions.at[label]);
}

/* For every node; NULL: all are wanted (no filter, or no memory). Parents have smaller numbers. */
static uint8_t *wanted_nodes(const struct state *state)
{
	const struct tree *tree = &state->tally.tree;
	uint8_t *wanted = state->filter[0] ? calloc(tree->nodes.n, 1) : NULL;
	for (uint32_t id = (uint32_t)tree->nodes.n; wanted && id-- > 1;) {
		if (node_matches(state, id))
			wanted[id] |= MATCHES;
		if (wanted[id])
			wanted[tree->nodes.at[id].parent] |= LEADS;
	}
	for (uint32_t id = 1; wanted && id < tree->nodes.n; id++)
		if (wanted[tree->nodes.at[id].parent] & (MATCHES | BELONGS))
			wanted[id] |= BELONGS;
	return wanted;
}

/* The children of `node`, sorted, become rows at the place `at`. */
static bool insert_children(struct state *state, struct list *list, size_t at, uint32_t node,
			    const uint8_t *wanted)
{
	const struct tree *tree = &state->tally.tree;
	size_t before = list->rows.n;
	for (uint32_t id = tree->nodes.at[node].child; id != NO_ID; id = tree->nodes.at[id].next) {
		const struct count *count = &tree->nodes.at[id].count;
		uint64_t key = list->sort == SORT_NAME ? name_key(node_name(state, id))
						       : count_key(count, list->sort);
		if (count->n_total && (!wanted || wanted[id]) && !add(list, id, key))
			return false;
	}
	size_t n = list->rows.n - before;
	if (n == 0)
		return true;
	qsort(list->rows.at + before, n, sizeof *list->rows.at, compare_rows);
	struct row *sorted = malloc(n * sizeof *sorted);
	if (!sorted)
		return false;
	memcpy(sorted, list->rows.at + before, n * sizeof *sorted);
	memmove(list->rows.at + at + n, list->rows.at + at, (before - at) * sizeof *sorted);
	memcpy(list->rows.at + at, sorted, n * sizeof *sorted);
	free(sorted);
	return true;
}

/* Opens the hottest child of every open node on the way from the root. */
static void follow_hottest(struct state *state)
{
	struct tree *tree = &state->tally.tree;
	uint32_t node = TREE_ROOT, last = NO_ID;
	while (node != NO_ID) {
		tree->nodes.at[node].open = true;
		last = node;
		node = tree_hottest(tree, node);
	}
	if (last != TREE_ROOT)
		state->lists[VIEW_TREE].chosen = last;
}

#define TREE_ROWS_MAX 20000u

static bool add_tree(struct state *state, struct list *list)
{
	struct tree *tree = &state->tally.tree;
	if (state->hot_path)
		follow_hottest(state);
	uint8_t *wanted = wanted_nodes(state);
	bool good = insert_children(state, list, 0, TREE_ROOT, wanted);
	for (size_t i = 0; good && i < list->rows.n && list->rows.n < TREE_ROWS_MAX; i++) {
		uint32_t id = list->rows.at[i].id;
		if (wanted && wanted[id] & LEADS)
			tree->nodes.at[id].open = true;
		if (tree->nodes.at[id].open)
			good = insert_children(state, list, i + 1, id, wanted);
	}
	free(wanted);
	return good;
}

/* ---- choosing -------------------------------------------------------------------------------- */

static void keep_in_sight(struct state *state, struct list *list)
{
	unsigned page = state_page(state);
	if (list->cursor >= list->rows.n)
		list->cursor = list->rows.n ? list->rows.n - 1 : 0;
	if (list->top > list->cursor)
		list->top = list->cursor;
	if (page && list->cursor >= list->top + page)
		list->top = list->cursor - page + 1;
	if (list->rows.n <= page)
		list->top = 0;
	else if (list->top > list->rows.n - page)
		list->top = list->rows.n - page;
}

static void find_chosen(struct state *state, struct list *list)
{
	if (list->chosen == NO_ID) {
		/* the end of the output is what is new */
		list->cursor = state->view == VIEW_OUTPUT && list->rows.n ? list->rows.n - 1 : 0;
	} else {
		for (size_t i = 0; i < list->rows.n; i++)
			if (list->rows.at[i].id == list->chosen)
				list->cursor = i;
	}
	keep_in_sight(state, list);
}

uint32_t rows_chosen(const struct state *state)
{
	const struct list *list = &state->lists[state->view];
	return list->cursor < list->rows.n ? list->rows.at[list->cursor].id : NO_ID;
}

void rows_move_to(struct state *state, size_t row)
{
	struct list *list = &state->lists[state->view];
	bool output = state->view == VIEW_OUTPUT;
	if (row >= list->rows.n)
		row = list->rows.n ? list->rows.n - 1 : 0;
	list->cursor = row;
	/* who stands where the view begins wants to see what comes to stand there */
	bool rests = output ? row + 1 >= list->rows.n : row == 0;
	list->chosen = rests || !list->rows.n ? NO_ID : list->rows.at[row].id;
	keep_in_sight(state, list);
}

void rows_move(struct state *state, long by)
{
	const struct list *list = &state->lists[state->view];
	if (by < 0 && (size_t)-by > list->cursor)
		rows_move_to(state, 0);
	else
		rows_move_to(state, (size_t)((long)list->cursor + by));
}

int rows_renew(struct state *state)
{
	struct list *list = &state->lists[state->view];
	bool good = true, sorted = true;
	list->rows.n = 0;
	switch (state->view) {
	case VIEW_FUNCTIONS:
	case VIEW_TASKS:
		good = add_functions(state, list, state->view == VIEW_TASKS);
		break;
	case VIEW_THREADS:
		good = add_threads(state, list);
		break;
	case VIEW_LINES:
		good = add_lines(state, list);
		break;
	case VIEW_OPCODES:
		good = add_opcodes(state, list);
		break;
	case VIEW_TREE:
		good = add_tree(state, list);
		sorted = false;
		break;
	case VIEW_OUTPUT:
		good = add_output(state, list);
		sorted = false;
		break;
	case VIEW_HELP:
		for (uint32_t i = 0; good && i < view_help_rows; i++)
			good = add(list, i, 0);
		break;
	case VIEW_FLAME:
	case VIEW_N:
		break;
	}
	if (sorted && list->rows.n)
		qsort(list->rows.at, list->rows.n, sizeof *list->rows.at, compare_rows);
	find_chosen(state, list);
	return good ? 0 : TACHY_ENOMEM;
}
