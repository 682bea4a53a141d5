/* SPDX-License-Identifier: MIT
 * Works on the prefix tree, not on single stacks: the sums of all stacks below a node are made once,
 * then one walk over the tree adds a node's sum to its row unless the row is on the path already. The
 * cost is the number of nodes, however deep the stacks are.
 * Relies on model/stack.c: a parent's id is smaller than its children's.
 */
#include "export/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "export/export.h"

struct sum {
	uint64_t n, ns;
};

/* For each node of the tree. Node 0 is no node's child, so that 0 means none. */
struct tree {
	struct sum *below; /* the stack itself and all that it is the root of */
	stack_id *child, *sibling;
	uint32_t *row_of;  /* frame id -> row */
	uint32_t *on_path; /* row -> how often it is between the root and here */
};

static void tree_done(struct tree *tree)
{
	free(tree->below);
	free(tree->child);
	free(tree->sibling);
	free(tree->row_of);
	free(tree->on_path);
}

static int tree_alloc(struct tree *tree, const struct stacks *stacks)
{
	size_t n = stacks->nodes.n;
	tree->below = calloc(n, sizeof *tree->below);
	tree->child = calloc(n, sizeof *tree->child);
	tree->sibling = calloc(n, sizeof *tree->sibling);
	tree->row_of = calloc(stacks->frames.n + 1, sizeof *tree->row_of);
	tree->on_path = calloc(stacks->frames.n + 1, sizeof *tree->on_path);
	bool good = tree->below && tree->child && tree->sibling && tree->row_of && tree->on_path;
	return good ? 0 : TACHY_ENOMEM;
}

/* Gives each frame its row: the first frame of a function (and line) opens it. */
static int make_rows(const struct stacks *stacks, bool lines, struct tree *tree, struct rows *rows)
{
	struct map row_by_key;
	map_init(&row_by_key);
	int rc = 0;
	for (size_t id = 0; id < stacks->frames.n && rc == 0; id++) {
		const struct frame *frame = &stacks->frames.at[id];
		uint64_t line = lines ? (uint32_t)frame->at.line : 0, row;
		uint64_t key = (uint64_t)frame->function << 32 | line;
		if (!map_get(&row_by_key, key, &row)) {
			struct row fresh = {.own = 0};
			stacks_describe(stacks, (frame_id)id, &fresh.frame);
			row = rows->rows.n;
			if (!map_put(&row_by_key, key, row) || !vec_push(&rows->rows, fresh))
				rc = TACHY_ENOMEM;
		}
		tree->row_of[id] = (uint32_t)row;
	}
	map_done(&row_by_key);
	return rc;
}

static struct row *row_of_node(const struct stacks *stacks, const struct tree *tree,
			       struct rows *rows, stack_id node)
{
	return &rows->rows.at[node == STACK_EMPTY ? 0 : tree->row_of[stacks->nodes.at[node].frame]];
}

static void add_own(const struct profile *profile, uint32_t thread, struct tree *tree,
		    struct rows *rows)
{
	for (size_t i = 0; i < profile->counts.n; i++) {
		const struct profile_count *count = &profile->counts.at[i];
		if ((thread != ROWS_ALL_THREADS && count->thread != thread) ||
		    count->stack >= profile->stacks.nodes.n)
			continue;
		struct row *row = row_of_node(&profile->stacks, tree, rows, count->stack);
		row->own += count->n_samples;
		row->own_ns += count->weight_ns;
		tree->below[count->stack].n += count->n_samples;
		tree->below[count->stack].ns += count->weight_ns;
		rows->n_samples += count->n_samples;
		rows->weight_ns += count->weight_ns;
	}
	rows->rows.at[0].total = rows->rows.at[0].own;
	rows->rows.at[0].total_ns = rows->rows.at[0].own_ns;
}

static void link_nodes(const struct stacks *stacks, struct tree *tree)
{
	for (size_t id = stacks->nodes.n; id-- > 1;) {
		stack_id parent = stacks->nodes.at[id].parent;
		tree->below[parent].n += tree->below[id].n;
		tree->below[parent].ns += tree->below[id].ns;
		tree->sibling[id] = tree->child[parent];
		tree->child[parent] = (stack_id)id;
	}
}

static void add_totals(const struct stacks *stacks, struct tree *tree, struct rows *rows)
{
	stack_id node = tree->child[STACK_EMPTY];
	while (node) {
		uint32_t index = tree->row_of[stacks->nodes.at[node].frame];
		if (tree->on_path[index]++ == 0) {
			rows->rows.at[index].total += tree->below[node].n;
			rows->rows.at[index].total_ns += tree->below[node].ns;
		}
		if (tree->child[node]) {
			node = tree->child[node];
			continue;
		}
		while (node) { /* up, until there is a way to the side */
			tree->on_path[tree->row_of[stacks->nodes.at[node].frame]]--;
			if (tree->sibling[node])
				break;
			node = stacks->nodes.at[node].parent;
		}
		node = tree->sibling[node];
	}
}

int rows_init(const struct profile *profile, uint32_t thread, bool lines, struct rows *ret_rows)
{
	struct tree tree = {NULL, NULL, NULL, NULL, NULL};
	struct rows rows = {.n_samples = 0};
	struct row no_frame = {
		.frame = {.function = EXPORT_NO_FRAME, .file = "", .kind = TACHY_FRAME_NATIVE}};
	int rc = vec_push(&rows.rows, no_frame) ? tree_alloc(&tree, &profile->stacks)
						: TACHY_ENOMEM;
	if (rc >= 0)
		rc = make_rows(&profile->stacks, lines, &tree, &rows);
	if (rc >= 0) {
		add_own(profile, thread, &tree, &rows);
		link_nodes(&profile->stacks, &tree);
		add_totals(&profile->stacks, &tree, &rows);
		*ret_rows = rows;
	} else {
		rows_done(&rows);
	}
	tree_done(&tree);
	return rc;
}

void rows_done(struct rows *rows)
{
	vec_done(&rows->rows);
}
