/* SPDX-License-Identifier: MIT
 * Stacks as text lines, root;...;leaf COUNT. Frames become labels, and the prefix tree of frames
 * becomes a smaller one of labels, so that stacks which read the same are one line: equal text, equal
 * node. Node 0 is the empty line. A label holds neither ';' nor a control character.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "export/export.h"

struct node {
	uint32_t parent, depth;
	str_id label;
	uint64_t n_samples; /* of the line that ends here */
};

struct lines {
	const struct profile *profile;
	const struct export_options *options;
	struct strtab *labels;
	VEC(struct node) nodes;
	struct map node_by_key;   /* parent, label -> node */
	struct map node_by_stack; /* first node, stack -> node */
	VEC(bool) divided;        /* by process: it has more than one interpreter */
	VEC(uint32_t) path;       /* scratch */
	VEC(char) text;           /* scratch */
};

struct line {
	const struct lines *lines;
	uint32_t node;
};

/* Which processes have threads of other interpreters than the main one. */
static int find_divided(struct lines *lines)
{
	const struct profile *profile = lines->profile;
	for (size_t i = 0; i < profile->processes.n; i++)
		if (!vec_push(&lines->divided, false))
			return TACHY_ENOMEM;
	for (size_t i = 0; i < profile->threads.n; i++) {
		const struct profile_thread *thread = &profile->threads.at[i];
		if (thread->interpreter != 0 && thread->process < lines->divided.n)
			lines->divided.at[thread->process] = true;
	}
	return 0;
}

static int lines_init(struct lines *lines, const struct profile *profile,
		      const struct export_options *options)
{
	struct node empty = {0, 0, 0, 0};
	memset(lines, 0, sizeof *lines);
	lines->profile = profile;
	lines->options = options;
	map_init(&lines->node_by_key);
	map_init(&lines->node_by_stack);
	int rc = strtab_create(&lines->labels);
	if (rc >= 0)
		rc = find_divided(lines);
	return rc < 0 ? rc : vec_push(&lines->nodes, empty) ? 0 : TACHY_ENOMEM;
}

static void lines_done(struct lines *lines)
{
	strtab_destroy(lines->labels);
	vec_done(&lines->nodes);
	vec_done(&lines->divided);
	vec_done(&lines->path);
	vec_done(&lines->text);
	map_done(&lines->node_by_key);
	map_done(&lines->node_by_stack);
}

/* ---- labels ---------------------------------------------------------------------------------- */

static bool add_raw(struct lines *lines, const char *bytes, size_t len)
{
	if (!vec_reserve(&lines->text, lines->text.n + len))
		return false;
	memcpy(lines->text.at + lines->text.n, bytes, len);
	lines->text.n += len;
	return true;
}

/* A foreign name: ';' becomes ',', what cannot be printed a blank. */
static bool add_name(struct lines *lines, const char *name)
{
	size_t len = strlen(name);
	for (size_t pos = 0; pos < len;) {
		char unit[4];
		uint32_t c = utf8_next(name, len, &pos);
		c = c == ';' ? ',' : utf8_unsafe(c) ? ' ' : c;
		if (!add_raw(lines, unit, utf8_encode(c, unit)))
			return false;
	}
	return true;
}

static bool add_number(struct lines *lines, const char *before, unsigned long long number)
{
	char text[48];
	int n = snprintf(text, sizeof text, "%s%llu)", before, number);
	return add_raw(lines, text, (size_t)n);
}

/* The child of `parent` whose label is in `text`; a new one when there is none. */
static int child(struct lines *lines, uint32_t parent, bool written, uint32_t *ret_node)
{
	str_id label;
	uint64_t node;
	if (!written || strtab_add(lines->labels, lines->text.at, lines->text.n, &label) < 0)
		return TACHY_ENOMEM;
	uint64_t key = (uint64_t)parent << 32 | label;
	if (!map_get(&lines->node_by_key, key, &node)) {
		struct node fresh = {parent, lines->nodes.at[parent].depth + 1, label, 0};
		node = lines->nodes.n;
		if (node >= UINT32_MAX || !vec_push(&lines->nodes, fresh) ||
		    !map_put(&lines->node_by_key, key, node))
			return TACHY_ENOMEM;
	}
	*ret_node = (uint32_t)node;
	return 0;
}

static int frame_child(struct lines *lines, uint32_t parent, frame_id id, uint32_t *ret_node)
{
	struct tachy_frame frame;
	stacks_describe(&lines->profile->stacks, id, &frame);
	lines->text.n = 0;
	bool good = add_name(lines, frame.function);
	if (frame.kind == TACHY_FRAME_PYTHON) {
		int32_t line = lines->options->lines ? frame.line : frame.first_line;
		good = good && add_raw(lines, " (", 2) && add_name(lines, frame.file);
		good = good && add_number(lines, ":", line > 0 ? (unsigned long long)line : 0);
	}
	return child(lines, parent, good, ret_node);
}

static int interpreter_child(struct lines *lines, uint32_t parent, int64_t id, uint32_t *ret_node)
{
	char text[48];
	int n = snprintf(text, sizeof text, "interpreter %lld", (long long)id);
	lines->text.n = 0;
	return child(lines, parent, add_raw(lines, text, (size_t)n), ret_node);
}

/* "process COMMAND (PID)" where there are several; "thread NAME (TID)" where asked for, and before it
 * "interpreter ID" where the process has more than one. */
static int first_node(struct lines *lines, uint32_t thread_index, uint32_t *ret_node)
{
	const struct profile *profile = lines->profile;
	const struct strtab *strings = profile->stacks.strings;
	*ret_node = 0;
	if (thread_index >= profile->threads.n)
		return 0;
	const struct profile_thread *thread = &profile->threads.at[thread_index];
	int rc = 0;
	if (profile->processes.n > 1 && thread->process < profile->processes.n) {
		const struct profile_process *process = &profile->processes.at[thread->process];
		lines->text.n = 0;
		bool good = add_raw(lines, "process ", 8) &&
			    add_name(lines, strtab_get(strings, process->command)) &&
			    add_number(lines, " (", (unsigned long long)process->pid);
		rc = child(lines, *ret_node, good, ret_node);
	}
	if (rc >= 0 && lines->options->by_thread && thread->process < lines->divided.n &&
	    lines->divided.at[thread->process])
		rc = interpreter_child(lines, *ret_node, thread->interpreter, ret_node);
	if (rc >= 0 && lines->options->by_thread) {
		const char *name = strtab_get(strings, thread->name);
		lines->text.n = 0;
		bool good = add_raw(lines, "thread ", name[0] ? 7 : 6) && add_name(lines, name) &&
			    add_number(lines, " (", thread->tid);
		rc = child(lines, *ret_node, good, ret_node);
	}
	return rc;
}

/* ---- the tree of labels ------------------------------------------------------------------------ */

/* The node for `stack` on top of `first`: up the stack until it is known, then down again. */
static int find_node(struct lines *lines, uint32_t first, stack_id stack, uint32_t *ret_node)
{
	const struct stacks *stacks = &lines->profile->stacks;
	uint64_t known = first;
	lines->path.n = 0;
	while (stack != STACK_EMPTY &&
	       !map_get(&lines->node_by_stack, (uint64_t)first << 32 | stack, &known)) {
		if (!vec_push(&lines->path, stack))
			return TACHY_ENOMEM;
		stack = stacks_node(stacks, stack)->parent;
		known = first;
	}
	uint32_t node = (uint32_t)known;
	for (size_t i = lines->path.n; i-- > 0;) {
		stack = lines->path.at[i];
		int rc = frame_child(lines, node, stacks_node(stacks, stack)->frame, &node);
		if (rc < 0 || !map_put(&lines->node_by_stack, (uint64_t)first << 32 | stack, node))
			return TACHY_ENOMEM;
	}
	*ret_node = node;
	return 0;
}

static int add_count(struct lines *lines, const struct profile_count *count)
{
	uint32_t first, node;
	int rc = first_node(lines, count->thread, &first);
	if (rc < 0)
		return rc;
	if (count->stack == STACK_EMPTY) {
		lines->text.n = 0;
		rc = child(lines, first, add_raw(lines, EXPORT_NO_FRAME, strlen(EXPORT_NO_FRAME)),
			   &node);
	} else {
		rc = find_node(lines, first, count->stack, &node);
	}
	if (rc >= 0)
		lines->nodes.at[node].n_samples += count->n_samples;
	return rc;
}

/* ---- order and output --------------------------------------------------------------------------- */

/* As strcmp of the whole lines: a label with more behind it goes on with ';'. */
static int compare_labels(const char *a, bool a_more, const char *b, bool b_more)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	unsigned char left = (unsigned char)(*a ? *a : a_more ? ';' : '\0');
	unsigned char right = (unsigned char)(*b ? *b : b_more ? ';' : '\0');
	return (left > right) - (left < right);
}

static int compare_text(const struct lines *lines, uint32_t a, uint32_t b)
{
	const struct node *nodes = lines->nodes.at;
	uint32_t a_depth = nodes[a].depth, b_depth = nodes[b].depth;
	while (nodes[a].depth > b_depth)
		a = nodes[a].parent;
	while (nodes[b].depth > a_depth)
		b = nodes[b].parent;
	if (a == b) /* one is the beginning of the other */
		return (a_depth > b_depth) - (a_depth < b_depth);
	while (nodes[a].parent != nodes[b].parent) {
		a = nodes[a].parent;
		b = nodes[b].parent;
	}
	return compare_labels(strtab_get(lines->labels, nodes[a].label), a_depth > nodes[a].depth,
			      strtab_get(lines->labels, nodes[b].label), b_depth > nodes[b].depth);
}

static int compare(const void *left, const void *right)
{
	const struct line *a = left, *b = right;
	const struct node *nodes = a->lines->nodes.at;
	if (nodes[a->node].n_samples != nodes[b->node].n_samples)
		return nodes[a->node].n_samples < nodes[b->node].n_samples ? 1 : -1;
	return a->node == b->node ? 0 : compare_text(a->lines, a->node, b->node);
}

static int write_line(struct lines *lines, uint32_t node, struct out *out)
{
	uint64_t n_samples = lines->nodes.at[node].n_samples;
	lines->path.n = 0;
	for (; node != 0; node = lines->nodes.at[node].parent)
		if (!vec_push(&lines->path, lines->nodes.at[node].label))
			return TACHY_ENOMEM;
	for (size_t i = lines->path.n; i-- > 0;) {
		out_text(out, strtab_get(lines->labels, lines->path.at[i]));
		out_char(out, i > 0 ? ';' : ' ');
	}
	out_u64(out, n_samples);
	out_char(out, '\n');
	return out->status;
}

static int write_lines(struct lines *lines, struct out *out)
{
	VEC(struct line) order = {NULL, 0, 0};
	int rc = 0;
	for (uint32_t i = 0; i < lines->nodes.n && rc >= 0; i++) {
		struct line line = {lines, i};
		if (lines->nodes.at[i].n_samples > 0 && !vec_push(&order, line))
			rc = TACHY_ENOMEM;
	}
	if (order.n > 1)
		qsort(order.at, order.n, sizeof *order.at, compare);
	for (size_t i = 0; i < order.n && rc >= 0; i++)
		rc = write_line(lines, order.at[i].node, out);
	vec_done(&order);
	return rc;
}

int collapsed_write(const struct profile *profile, const struct tachy_stats *stats,
		    const struct export_options *options, struct out *out)
{
	struct lines lines;
	(void)stats;
	int rc = lines_init(&lines, profile, options);
	for (size_t i = 0; i < profile->counts.n && rc >= 0; i++)
		rc = add_count(&lines, &profile->counts.at[i]);
	if (rc >= 0)
		rc = write_lines(&lines, out);
	lines_done(&lines);
	return rc;
}
