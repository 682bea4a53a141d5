/* SPDX-License-Identifier: MIT
 * A flame graph as a picture, callers above what they call, widths in real time. It stands without
 * its script; with it, it zooms and searches. What is narrower than a tenth of a pixel is left out, and
 * the picture says how much that is.
 * Every name goes through put_text, which leaves nothing that XML or a reader's eye could take for something
 * else.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "export/call_tree.h"
#include "export/facts.h"
#include "export/lanes.h"
#include "export/svg_script.h"

#define WIDTH     1200.0
#define PAD       10.0
#define ROW       17
#define TOP       54   /* above the first row */
#define COLUMN    7.22 /* width of a letter, as the script has it */
#define WIDTH_MIN 0.1
#define TEXT_MAX  4096
#define COLOR_MAX 8

struct picture {
	const struct profile *profile;
	struct call_tree tree;
	uint32_t *order;  /* nodes by parent, the widest first */
	double *x, *edge; /* of each node: where it begins, where its next child begins */
	uint32_t n_hidden, depth;
	struct out *out;
};

/* ---- text ------------------------------------------------------------------------------------ */

static void put_text(struct out *out, const char *text)
{
	size_t len = strlen(text);
	for (size_t pos = 0; pos < len;) {
		char unit[UTF8_UNIT_MAX];
		uint32_t c = utf8_next(text, len, &pos);
		const char *entity = c == '&'    ? "&amp;"
				     : c == '<'  ? "&lt;"
				     : c == '>'  ? "&gt;"
				     : c == '"'  ? "&quot;"
				     : c == '\'' ? "&#39;"
						 : NULL;
		bool no_character = (c & 0xfffe) == 0xfffe; /* XML 1.0, 2.2 */
		if (entity)
			out_text(out, entity);
		else
			out_bytes(out, unit,
				  utf8_escape_unit(no_character ? UTF8_REPLACEMENT : c, unit));
	}
}

static void put_number(struct out *out, const char *before, double value, unsigned decimals)
{
	out_text(out, before);
	out_fixed(out, value, decimals);
}

/* What a node is called; raw. */
static void name_node(const struct picture *picture, const struct call_node *node,
		      char dest[TEXT_MAX])
{
	struct tachy_frame frame;
	switch (node->kind) {
	case CALL_ALL:
		(void)snprintf(dest, TEXT_MAX, "all");
		return;
	case CALL_PROCESS:
		lane_process_title(picture->profile, node->id, dest);
		return;
	case CALL_THREAD:
		lane_thread_title(picture->profile, node->id, dest);
		return;
	case CALL_PLACE:
		break;
	}
	places_describe(&picture->tree.places, node->id, &frame);
	if (frame.file[0])
		(void)snprintf(dest, TEXT_MAX, "%.2000s (%.2000s:%d)", frame.function, frame.file,
			       frame.line);
	else
		(void)snprintf(dest, TEXT_MAX, "%.4000s", frame.function);
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* Warm for Python, the hue by the file. */
static const char *color(const struct picture *picture, const struct call_node *node,
			 char dest[COLOR_MAX])
{
	struct tachy_frame frame;
	if (node->kind != CALL_PLACE)
		return "#b8c4d0";
	places_describe(&picture->tree.places, node->id, &frame);
	switch (frame.kind) {
	case TACHY_FRAME_NATIVE:
		return "#c0c0c0";
	case TACHY_FRAME_GC:
		return "#e08080";
	case TACHY_FRAME_CUT:
		return "#d8d8d8";
	case TACHY_FRAME_TASK:
		return "#c0a8e8";
	case TACHY_FRAME_PYTHON:
		break;
	}
	uint64_t hash = hash_bytes(frame.file, strlen(frame.file));
	uint64_t tone = hash_bytes(frame.function, strlen(frame.function));
	(void)snprintf(dest, COLOR_MAX, "#%02x%02x%02x", 224 + (unsigned)(tone % 24),
		       150 + (unsigned)(hash % 64), 80 + (unsigned)(tone / 32 % 48));
	return dest;
}

static double share(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static void put_title(const struct picture *picture, const struct call_node *node, const char *name)
{
	const struct call_node *all = &picture->tree.nodes.at[0];
	char line[256];
	out_text(picture->out, "<title>");
	put_text(picture->out, name);
	(void)snprintf(line, sizeof line,
		       "\ntotal %llu samples, %.6f s (%.2f %%)\nown %llu samples, %.6f s (%.2f %%)",
		       (unsigned long long)node->total, (double)node->total_ns / 1e9,
		       share(node->total_ns, all->total_ns), (unsigned long long)node->own,
		       (double)node->own_ns / 1e9, share(node->own_ns, all->total_ns));
	out_text(picture->out, line);
	out_text(picture->out, "</title>");
}

static void put_label(const struct picture *picture, const char *name, double x, int y,
		      double width)
{
	char fitted[TEXT_MAX];
	double columns = (width - 4) / COLUMN;
	put_number(picture->out, "<text x=\"", x + 3, 2);
	put_number(picture->out, "\" y=\"", y + 12, 0);
	out_text(picture->out, "\">");
	if (columns >= 3) {
		(void)utf8_fit(fitted, sizeof fitted, name, (size_t)columns, UTF8_CUT_END);
		put_text(picture->out, fitted);
	}
	out_text(picture->out, "</text>");
}

static void put_node(struct picture *picture, uint32_t index, double width)
{
	const struct call_node *node = &picture->tree.nodes.at[index];
	char name[TEXT_MAX], fill[COLOR_MAX];
	int y = TOP + (int)node->depth * ROW;
	double x = PAD + picture->x[index];
	struct out *out = picture->out;
	name_node(picture, node, name);
	out_text(out, "<g class=\"f\">");
	put_title(picture, node, name);
	put_number(out, "<rect x=\"", x, 3);
	put_number(out, "\" y=\"", y, 0);
	put_number(out, "\" width=\"", width, 3);
	out_text(out, "\" height=\"16\" rx=\"1\" fill=\"");
	out_text(out, color(picture, node, fill));
	out_text(out, "\"/>");
	put_label(picture, name, x, y, width);
	out_text(out, "</g>\n");
}

/* ---- places of the frames --------------------------------------------------------------------- */

struct rank {
	uint32_t node, parent;
	uint64_t weight;
};

static int by_parent(const void *left, const void *right)
{
	const struct rank *a = left, *b = right;
	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return (a->node > b->node) - (a->node < b->node);
}

static int order_nodes(struct picture *picture)
{
	size_t n = picture->tree.nodes.n;
	struct rank *ranks = calloc(n, sizeof *ranks);
	picture->order = calloc(n, sizeof *picture->order);
	picture->x = calloc(n, sizeof *picture->x);
	picture->edge = calloc(n, sizeof *picture->edge);
	bool good = ranks && picture->order && picture->x && picture->edge;
	for (uint32_t i = 0; good && i < n; i++) {
		const struct call_node *node = &picture->tree.nodes.at[i];
		ranks[i] = (struct rank){i, node->parent, i ? node->total_ns : UINT64_MAX};
	}
	if (good && n > 1)
		qsort(ranks, n, sizeof *ranks, by_parent);
	for (size_t i = 0; good && i < n; i++)
		picture->order[i] = ranks[i].node;
	free(ranks);
	return good ? 0 : TACHY_ENOMEM;
}

/* By time; by number where nothing has a weight. */
static double width_of(const struct picture *picture, uint32_t node)
{
	const struct call_node *at = &picture->tree.nodes.at[node], *all = picture->tree.nodes.at;
	double percent = all->total_ns ? share(at->total_ns, all->total_ns)
				       : share(at->total, all->total);
	return (WIDTH - 2 * PAD) * percent / 100;
}

/* Where each node begins; parents come before their children, in `order` as in number. */
static void lay_out(struct picture *picture)
{
	for (size_t i = 0; i < picture->tree.nodes.n; i++) {
		uint32_t node = picture->order[i];
		const struct call_node *at = &picture->tree.nodes.at[node];
		double width = width_of(picture, node);
		if (node != 0) {
			picture->x[node] = picture->edge[at->parent];
			picture->edge[at->parent] += width;
		}
		picture->edge[node] = picture->x[node];
		if (width < WIDTH_MIN)
			picture->n_hidden++;
		else if (at->depth > picture->depth)
			picture->depth = at->depth;
	}
}

static void put_nodes(struct picture *picture)
{
	for (size_t i = 0; i < picture->tree.nodes.n && picture->out->status == 0; i++) {
		double width = width_of(picture, picture->order[i]);
		if (width >= WIDTH_MIN)
			put_node(picture, picture->order[i], width);
	}
}

/* ---- the page ---------------------------------------------------------------------------------- */

static void put_line(const struct picture *picture, const char *attributes, double y,
		     const char *text)
{
	out_text(picture->out, "<text ");
	out_text(picture->out, attributes);
	put_number(picture->out, " y=\"", y, 0);
	out_text(picture->out, "\">");
	put_text(picture->out, text);
	out_text(picture->out, "</text>\n");
}

static void put_head(const struct picture *picture, int height)
{
	static const char style[] = "<style>\n"
				    "svg { background: #fff; font: 12px monospace; }\n"
				    "text { fill: #000; pointer-events: none; }\n"
				    ".f rect { cursor: pointer; }\n"
				    ".f:hover rect { stroke: #000; stroke-width: 1; }\n"
				    ".b { pointer-events: auto; cursor: pointer; }\n"
				    "@media (prefers-color-scheme: dark) { svg { background: "
				    "#181818; } .h { fill: #ddd; "
				    "} .f:hover rect { stroke: #fff; } }\n"
				    "</style>\n";
	char line[160];
	out_text(picture->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	(void)snprintf(line, sizeof line,
		       "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		       "viewBox=\"0 0 %d %d\">\n",
		       (int)WIDTH, height, (int)WIDTH, height);
	out_text(picture->out, line);
	out_text(picture->out, style);
}

static void put_facts(const struct picture *picture, const struct tachy_stats *stats)
{
	const struct profile *profile = picture->profile;
	char line[FACTS_LINE_MAX], short_line[FACTS_LINE_MAX];
	out_text(picture->out, "<desc>");
	facts_line(profile, stats, line);
	put_text(picture->out, line);
	for (uint32_t i = 0; i < profile->processes.n; i++) {
		facts_process_line(profile, i, line);
		out_char(picture->out, '\n');
		put_text(picture->out, line);
	}
	out_text(picture->out, "</desc>\n");
	if (profile->processes.n > 0) {
		facts_process_line(profile, 0, line);
		(void)utf8_fit(short_line, sizeof short_line, line, 120, UTF8_CUT_END);
		put_line(picture, "class=\"h\" x=\"10\"", 18, short_line);
	}
	facts_line(profile, stats, line);
	put_line(picture, "class=\"h\" x=\"10\"", 34, line);
}

static void put_foot(const struct picture *picture, double y)
{
	char line[160];
	(void)snprintf(line, sizeof line, "%u frame%s narrower than %.1f pixel left out",
		       (unsigned)picture->n_hidden, picture->n_hidden == 1 ? "" : "s", WIDTH_MIN);
	put_line(picture, "class=\"h\" id=\"detail\" x=\"10\"", y + 14, "");
	if (picture->tree.nodes.at[0].total == 0)
		put_line(picture, "class=\"h\" x=\"10\"", y - 4, "nothing was sampled");
	else if (picture->n_hidden > 0)
		put_line(picture, "class=\"h\" x=\"1190\" text-anchor=\"end\"", y + 14, line);
	/* for the script; without it they are not seen */
	put_line(picture,
		 "class=\"h b\" id=\"find\" x=\"1190\" text-anchor=\"end\" style=\"display:none\"",
		 18, "search");
	put_line(picture, "class=\"h\" id=\"matched\" x=\"1190\" text-anchor=\"end\"", 34, "");
	put_line(picture, "class=\"h b\" id=\"reset\" x=\"10\" style=\"display:none\"", 50,
		 "reset zoom (Esc)");
	out_text(picture->out, "<script><![CDATA[\n");
	out_text(picture->out, svg_script);
	out_text(picture->out, "]]></script>\n</svg>\n");
}

int svg_write(const struct profile *profile, const struct tachy_stats *stats,
	      const struct export_options *options, struct out *out)
{
	struct picture picture = {.profile = profile, .out = out};
	int rc = call_tree_init(profile, options, &picture.tree);
	if (rc < 0)
		return rc;
	rc = order_nodes(&picture);
	if (rc >= 0) {
		lay_out(&picture);
		int foot = TOP + (int)(picture.depth + 1) * ROW;
		put_head(&picture, foot + 24);
		put_facts(&picture, stats);
		put_nodes(&picture);
		put_foot(&picture, foot);
		rc = out->status;
	}
	free(picture.order);
	free(picture.x);
	free(picture.edge);
	call_tree_done(&picture.tree);
	return rc;
}
