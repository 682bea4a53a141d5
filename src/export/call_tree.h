/* SPDX-License-Identifier: MIT
 * The profile as one tree of calls: stacks that are shown alike (places.h) are merged. Below the root
 * come processes where there are several, then threads where they are kept apart, then calls.
 */
#ifndef EXPORT_CALL_TREE_H
#define EXPORT_CALL_TREE_H

#include "export/export.h"
#include "export/places.h"

enum call_kind { CALL_ALL, CALL_PROCESS, CALL_THREAD, CALL_PLACE };

struct call_node {
	uint32_t parent;         /* smaller than the node's own number; 0 is the root's */
	uint32_t child, sibling; /* the first, the next; 0: none */
	uint32_t depth;          /* 0: the root */
	enum call_kind kind;
	uint32_t id; /* the process, thread or place; the root's is 0 */
	uint64_t own, total; /* thread samples */
	uint64_t own_ns, total_ns;
};

struct call_tree {
	struct places places;
	VEC(struct call_node) nodes; /* the first is the root */
	struct map node_by_key;      /* parent, kind and id -> node */
};

/* Reads options->lines and ->by_thread. 0 or TACHY_ENOMEM. The profile must outlive *ret_tree. */
int call_tree_init(const struct profile *profile, const struct export_options *options,
		   struct call_tree *ret_tree);
void call_tree_done(struct call_tree *tree);

#endif
