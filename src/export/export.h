/* SPDX-License-Identifier: MIT
 * The forms a profile can be written in, one file each, one const table of them. An exporter knows
 * the model and nothing of processes.
 */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include "export/out.h"
#include "export/source_lines.h"
#include "model/profile.h"

enum export_sort { EXPORT_SORT_OWN, EXPORT_SORT_TOTAL, EXPORT_SORT_NAME };

struct export_options {
	enum export_sort sort;
	uint32_t limit;  /* rows of a table; 0: all */
	bool lines;      /* functions split by executing line */
	bool by_thread;
	bool no_summary;
	bool color;
	uint32_t width;  /* columns; 0: unlimited */
	const struct profile *base; /* what the formats that compare compare with; NULL: nothing */
	const struct tachy_stats *base_stats; /* NULL: unknown */
	struct source_reader sources; /* `read` NULL: no source is shown */
};

/* What stands for the stack of a thread that runs no Python code. */
#define EXPORT_NO_FRAME "<no Python frame>"

struct export_ops {
	const char *name;
	const char *suffix;  /* ".txt"; "" none */
	const char *aliases; /* further suffixes, parted by blanks */
	const char *about;   /* one line */
	enum tachy_timeline timeline; /* what of it the profile must have kept */
	/* 0 or TACHY_ENOMEM; errors of `out` stick there. `stats` may be NULL. */
	int (*write)(const struct profile *profile, const struct tachy_stats *stats,
		     const struct export_options *options, struct out *out);
};

/* identifier, name, suffix, aliases, what it needs of enum tachy_timeline, about */
#define EXPORT_FORMATS(X)                                                                   \
	X(table, "table", "", "", NONE, "functions with own and total samples and time, as text") \
	X(collapsed, "collapsed", ".txt", ".collapsed .folded", NONE,                      \
	  "a line per stack, root;...;leaf COUNT, for flame graph tools") \
	X(speedscope, "speedscope", ".speedscope.json", ".speedscope", SAMPLES, \
	  "for speedscope: each thread over time") \
	X(chrome, "chrome", ".trace.json", ".trace", SAMPLES, \
	  "trace events, for Perfetto: calls and states of each thread over time") \
	X(gecko, "gecko", ".gecko.json", ".firefox.json", SAMPLES, \
	  "for the Firefox Profiler: each thread over time, with markers for its states") \
	X(pprof, "pprof", ".pprof", ".pb.gz", NONE, \
	  "for pprof: counts and time, with threads and states as labels") \
	X(pstats, "pstats", ".pstats", ".prof", NONE, \
	  "statistics for Python's pstats and for SnakeViz") \
	X(svg, "svg", ".svg", "", NONE, "a flame graph as a picture that can be searched") \
	X(jsonl, "jsonl", ".jsonl", ".ndjson", SAMPLES, \
	  "a line of JSON per sample: time, thread, states and stack") \
	X(tachyon_binary, "tachyon-binary", ".bin", "", SAMPLES, \
	  "the binary form of CPython's own profiler, for its replay") \
	X(flamegraph, "flamegraph", ".html", ".htm", STRIP, \
	  "a page with a flame graph: search, filters, time range; one file, works offline") \
	/* behind the flame graph, whose suffix it shares: a path in .html is a flame graph */ \
	X(heatmap, "heatmap", ".html", "", NONE, \
	  "source files with the heat of every line, as an HTML page") \
	X(diff, "diff", "", "", NONE, "what changed since a base, as a table") \
	X(diff_flamegraph, "diff-flamegraph", ".html", "", STRIP, \
	  "a flame graph page that shows what changed since a base")

#define EXPORT_DECLARE(identifier, name, suffix, aliases, timeline, about)                                      \
	int identifier##_write(const struct profile *profile, const struct tachy_stats *stats,        \
			       const struct export_options *options, struct out *out);
EXPORT_FORMATS(EXPORT_DECLARE)
#undef EXPORT_DECLARE

#define EXPORT_ONE(identifier, name, suffix, aliases, timeline, about) +1
enum { EXPORT_N = EXPORT_FORMATS(EXPORT_ONE) };
#undef EXPORT_ONE

/* All of them, EXPORT_N long, in the order of EXPORT_FORMATS. */
const struct export_ops *export_table(void);
/* Their index; -1 when there is none. */
int export_by_name(const char *name);
/* By the suffix of a path, upper or lower case. */
int export_by_path(const char *path);

#endif
