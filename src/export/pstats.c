/* SPDX-License-Identifier: MIT
 * Statistics as cProfile's files have them, for pstats and SnakeViz: a dict of (file, line, function) ->
 * (cc, nc, tt, ct, callers). What the columns mean here: nc the samples with the function on the stack, cc those
 * with it on top, ct and tt the same as time. A recursive function, and a recursive call, count once per
 * sample. What has no file (markers, processes, threads) has the file "~", as built-in functions do.
 * There is no room for what else is known of the run.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "export/call_tree.h"
#include "export/clean_text.h"
#include "export/lanes.h"
#include "export/marshal_out.h"

struct sums {
	uint64_t own, total, own_ns, total_ns;
	uint32_t on_path; /* how often it is between the root and where the walk is */
};

/* A key of the dict. Keys are told apart by their text, so that none is written twice. */
struct entry {
	str_id file, function;
	int32_t line;
	bool written;
	uint32_t ref;
	uint32_t first_edge; /* to its callers; EDGE_NONE */
	struct sums sums;
};

#define EDGE_NONE UINT32_MAX

struct edge {
	uint32_t caller;
	uint32_t next; /* of the same callee */
	struct sums sums;
};

struct stats {
	const struct profile *profile;
	struct call_tree tree;
	struct strtab *texts;
	VEC(struct entry) entries;
	VEC(struct edge) edges;
	struct clean_text clean;
	struct map entry_by_key; /* hash of file, function and line -> entry */
	struct map edge_by_key;  /* callee, caller -> edge */
	uint32_t *entry_of;      /* node -> entry; the root has none */
	uint32_t *edge_of;       /* node -> edge; EDGE_NONE */
};

/* ---- keys ---------------------------------------------------------------------------------------- */

static int add_text(struct stats *stats, const char *raw, str_id *ret_id)
{
	const char *text = clean_text_of(&stats->clean, raw);
	return text ? strtab_add(stats->texts, text, strlen(text), ret_id) : TACHY_ENOMEM;
}

/* The key of a node as text. */
static int describe(struct stats *stats, const struct call_node *node, struct entry *ret_entry)
{
	char title[LANE_TITLE_MAX] = "";
	struct tachy_frame frame = {.function = title, .file = ""};
	if (node->kind == CALL_PROCESS)
		lane_process_title(stats->profile, node->id, title);
	else if (node->kind == CALL_THREAD)
		lane_thread_title(stats->profile, node->id, title);
	else
		places_describe(&stats->tree.places, node->id, &frame);
	*ret_entry = (struct entry){.line = frame.line, .first_edge = EDGE_NONE};
	int rc = add_text(stats, frame.file[0] ? frame.file : "~", &ret_entry->file);
	return rc < 0 ? rc : add_text(stats, frame.function, &ret_entry->function);
}

static int find_entry(struct stats *stats, const struct call_node *node, uint32_t *ret_index)
{
	struct entry fresh;
	uint64_t index;
	int rc = describe(stats, node, &fresh);
	uint64_t key = hash_pair((uint64_t)fresh.file << 32 | fresh.function, (uint32_t)fresh.line);
	for (; rc >= 0 && map_get(&stats->entry_by_key, key, &index); key++) {
		const struct entry *at = &stats->entries.at[index];
		if (at->file == fresh.file && at->function == fresh.function &&
		    at->line == fresh.line) {
			*ret_index = (uint32_t)index;
			return 0;
		}
	}
	if (rc < 0)
		return rc;
	if (!vec_push(&stats->entries, fresh) ||
	    !map_put(&stats->entry_by_key, key, stats->entries.n - 1))
		return TACHY_ENOMEM;
	*ret_index = (uint32_t)(stats->entries.n - 1);
	return 0;
}

static int find_edge(struct stats *stats, uint32_t callee, uint32_t caller, uint32_t *ret_index)
{
	uint64_t index, key = (uint64_t)callee << 32 | caller;
	if (!map_get(&stats->edge_by_key, key, &index)) {
		struct entry *entry = &stats->entries.at[callee];
		struct edge fresh = {.caller = caller, .next = entry->first_edge};
		index = stats->edges.n;
		if (!vec_push(&stats->edges, fresh) || !map_put(&stats->edge_by_key, key, index))
			return TACHY_ENOMEM;
		entry->first_edge = (uint32_t)index;
	}
	*ret_index = (uint32_t)index;
	return 0;
}

static int find_keys(struct stats *stats)
{
	const struct call_tree *tree = &stats->tree;
	int rc = 0;
	for (size_t i = 1; i < tree->nodes.n && rc >= 0; i++) {
		const struct call_node *node = &tree->nodes.at[i];
		rc = find_entry(stats, node, &stats->entry_of[i]);
		stats->edge_of[i] = EDGE_NONE;
		if (rc >= 0 && node->parent != 0)
			rc = find_edge(stats, stats->entry_of[i], stats->entry_of[node->parent],
				       &stats->edge_of[i]);
	}
	return rc;
}

/* ---- sums: one walk over the tree --------------------------------------------------------------- */

static void enter(struct sums *sums, const struct call_node *node)
{
	sums->own += node->own;
	sums->own_ns += node->own_ns;
	if (sums->on_path++ > 0)
		return;
	sums->total += node->total;
	sums->total_ns += node->total_ns;
}

static void enter_node(struct stats *stats, uint32_t index)
{
	const struct call_node *node = &stats->tree.nodes.at[index];
	enter(&stats->entries.at[stats->entry_of[index]].sums, node);
	if (stats->edge_of[index] != EDGE_NONE)
		enter(&stats->edges.at[stats->edge_of[index]].sums, node);
}

static void leave_node(struct stats *stats, uint32_t index)
{
	stats->entries.at[stats->entry_of[index]].sums.on_path--;
	if (stats->edge_of[index] != EDGE_NONE)
		stats->edges.at[stats->edge_of[index]].sums.on_path--;
}

static void sum_up(struct stats *stats)
{
	const struct call_node *nodes = stats->tree.nodes.at;
	uint32_t at = nodes[0].child;
	while (at) {
		enter_node(stats, at);
		if (nodes[at].child) {
			at = nodes[at].child;
			continue;
		}
		while (at) { /* up, until there is a way to the side */
			leave_node(stats, at);
			if (nodes[at].sibling)
				break;
			at = nodes[at].parent;
		}
		at = nodes[at].sibling;
	}
}

/* ---- writing ------------------------------------------------------------------------------------ */

static void write_key(struct stats *stats, uint32_t index, struct marshal_out *marshal)
{
	struct entry *entry = &stats->entries.at[index];
	if (entry->written) {
		marshal_ref(marshal, entry->ref);
		return;
	}
	entry->ref = marshal_shared_tuple(marshal, 3);
	entry->written = true;
	marshal_text(marshal, strtab_get(stats->texts, entry->file));
	marshal_i64(marshal, entry->line);
	marshal_text(marshal, strtab_get(stats->texts, entry->function));
}

static void write_sums(const struct sums *sums, struct marshal_out *marshal)
{
	marshal_i64(marshal, (int64_t)sums->own);
	marshal_i64(marshal, (int64_t)sums->total);
	marshal_double(marshal, (double)sums->own_ns / 1e9);
	marshal_double(marshal, (double)sums->total_ns / 1e9);
}

static void write_entry(struct stats *stats, uint32_t index, struct marshal_out *marshal)
{
	const struct entry *entry = &stats->entries.at[index];
	write_key(stats, index, marshal);
	marshal_tuple(marshal, 5);
	write_sums(&entry->sums, marshal);
	marshal_dict(marshal);
	for (uint32_t i = entry->first_edge; i != EDGE_NONE; i = stats->edges.at[i].next) {
		write_key(stats, stats->edges.at[i].caller, marshal);
		marshal_tuple(marshal, 4);
		write_sums(&stats->edges.at[i].sums, marshal);
	}
	marshal_dict_end(marshal);
}

static int write_all(struct stats *stats, struct out *out)
{
	struct marshal_out marshal;
	size_t n = stats->tree.nodes.n;
	stats->entry_of = calloc(n, sizeof *stats->entry_of);
	stats->edge_of = calloc(n, sizeof *stats->edge_of);
	int rc = stats->entry_of && stats->edge_of ? strtab_create(&stats->texts) : TACHY_ENOMEM;
	if (rc >= 0)
		rc = find_keys(stats);
	if (rc < 0)
		return rc;
	sum_up(stats);
	marshal_init(&marshal, out);
	marshal_dict(&marshal);
	for (uint32_t i = 0; i < stats->entries.n; i++)
		write_entry(stats, i, &marshal);
	marshal_dict_end(&marshal);
	return out->status;
}

int pstats_write(const struct profile *profile, const struct tachy_stats *run_stats,
		 const struct export_options *options, struct out *out)
{
	struct stats stats = {.profile = profile};
	(void)run_stats;
	map_init(&stats.entry_by_key);
	map_init(&stats.edge_by_key);
	int rc = call_tree_init(profile, options, &stats.tree);
	if (rc < 0)
		return rc;
	rc = write_all(&stats, out);
	call_tree_done(&stats.tree);
	strtab_destroy(stats.texts);
	vec_done(&stats.entries);
	vec_done(&stats.edges);
	clean_text_done(&stats.clean);
	map_done(&stats.entry_by_key);
	map_done(&stats.edge_by_key);
	free(stats.entry_of);
	free(stats.edge_of);
	return rc;
}
