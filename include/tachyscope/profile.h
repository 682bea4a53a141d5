/* SPDX-License-Identifier: MIT
 * What a session collected, and the forms it can be written in.
 */
#ifndef TACHYSCOPE_PROFILE_H
#define TACHYSCOPE_PROFILE_H

#include "session.h"

#ifdef __cplusplus
extern "C" {
#endif

enum tachy_sort {
	TACHY_SORT_OWN, /* samples with the function on top ("nsamples", "tottime", "sample-pct") */
	TACHY_SORT_TOTAL, /* samples with the function anywhere ("cumtime", "cumul-pct", "nsamples-cumul") */
	TACHY_SORT_NAME
};

struct tachy_export_options {
	size_t size; /* sizeof(struct tachy_export_options) */
	enum tachy_sort sort;
	uint32_t limit; /* rows of the table; 0: all */
	bool lines;     /* split functions by executing line */
	bool by_thread; /* the thread as first frame */
	bool no_summary;
	bool color;     /* table on a terminal */
	uint32_t width; /* columns of the terminal; 0: unlimited */
	bool split_processes; /* a file for each process; see tachy_profile_write */
	/* What a format that compares (tachy_format_compares) compares with, and its counters (NULL: unknown). Borrowed. */
	const struct tachy_profile *base;
	const struct tachy_stats *base_stats;
};
void tachy_export_options_init(struct tachy_export_options *ret); /* own, 15 rows */

struct tachy_format {
	const char *name;   /* "collapsed" */
	const char *suffix; /* ".txt"; "" for the table */
	const char *about;  /* one line for --help */
	enum tachy_timeline timeline; /* what it needs of tachy_session_options.timeline */
	bool recording;     /* of a session better made by tachy_session_record, while it runs */
};
/* All formats, ended by an entry whose name is NULL. Static storage. */
const struct tachy_format *tachy_formats(void);
/* The format that a path's suffix stands for, or NULL. */
const struct tachy_format *tachy_format_by_path(const char *path);
const struct tachy_format *tachy_format_by_name(const char *name);

/* Whether it needs tachy_export_options.base. */
bool tachy_format_compares(const struct tachy_format *format);

/* How many processes are in it: those of which a thread was seen. Steady as the profile is. */
size_t tachy_profile_n_processes(const struct tachy_profile *profile);
/* Writes to `path`, beside it first and then renamed over it; "-" is stdout. With split_processes every process
 * gets a file of its own: in the name at the end of `path` its pid stands for the first "%p", or else goes
 * before the suffix (out.json: out.1234.json; where a pid comes again, out.1234-2.json). */
int tachy_profile_write(const struct tachy_profile *profile, const struct tachy_stats *stats,
			const struct tachy_format *format,
			const struct tachy_export_options *options, const char *path,
			struct tachy_error *err);

#ifdef __cplusplus
}
#endif
#endif
