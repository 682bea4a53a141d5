/* SPDX-License-Identifier: MIT
 * The calls as a tree of functions, whatever line of them was executing. Node 0 is the root of all; with
 * several processes each has a node below it.
 */
#ifndef TUI_TREE_H
#define TUI_TREE_H

#include "tui/catalog.h"

/* Ticks and their real time: on top, and anywhere. */
struct count {
	uint64_t n_own, n_total, ns_own, ns_total;
};

#define TREE_ROOT    0u
#define TREE_PROCESS 0x80000000u /* in a label: a process, not a function */

struct tree_node {
	uint32_t label;             /* function, or TREE_PROCESS and a process */
	uint32_t parent, child, next; /* NO_ID: none */
	uint32_t depth;             /* 0: the root */
	struct count count;
	bool open;                  /* its children are shown */
};

struct tree {
	VEC(struct tree_node) nodes;
	struct map node_by_call;  /* parent << 32 | label */
	struct map node_by_stack; /* process << 32 | stack */
	VEC(uint32_t) path;       /* scratch */
	bool by_process;
};

int tree_init(struct tree *tree); /* TACHY_ENOMEM */
void tree_done(struct tree *tree);
/* The node of a stack; made when it is new. TACHY_ENOMEM. */
int tree_find(struct tree *tree, const struct catalog *catalog, uint32_t process, uint32_t stack,
	      uint32_t *ret_node);
/* Counts at a node and all above it. */
void tree_add(struct tree *tree, uint32_t node, uint64_t n, uint64_t ns);
void tree_clear_counts(struct tree *tree);
/* The child with most time; NO_ID: none has any. */
uint32_t tree_hottest(const struct tree *tree, uint32_t node);

#endif
