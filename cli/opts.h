/* SPDX-License-Identifier: MIT
 * The command line. One table holds every option of every verb; parsing, help, suggestions and the
 * check of the man page read it.
 */
#ifndef CLI_OPTS_H
#define CLI_OPTS_H

#include "tachyscope/tachyscope.h"

enum verb {
	VERB_NONE = 0,
	VERB_RUN = 1 << 0,
	VERB_ATTACH = 1 << 1,
	VERB_DUMP = 1 << 2,
	VERB_PS = 1 << 3,
	VERB_REPLAY = 1 << 4
};
#define VERBS_SAMPLE  (VERB_RUN | VERB_ATTACH)
#define VERBS_PROFILE (VERBS_SAMPLE | VERB_REPLAY)
#define VERBS_ALL     (VERBS_PROFILE | VERB_DUMP | VERB_PS)

#define OPTS_WORDS_MAX 32

struct value_choice;

/* What an option that may be repeated was given. */
struct opts_words {
	const char *at[OPTS_WORDS_MAX];
	size_t n;
};

struct opts {
	enum verb verb;
	bool help, version;     /* asked for: nothing else counts */
	const char *completion; /* help for a shell: its name; NULL: for people */
	struct tachy_session_options session;
	struct tachy_export_options export;
	const struct tachy_format *format; /* NULL: by the output's name, else the table */
	const char *base;                  /* a recording to compare with; NULL: none */
	const char *output;     /* NULL: stdout. This and all strings: borrowed from argv */
	const char *stats_json; /* NULL: none */
	bool mode_given;        /* --mode was; replay shows what was recorded without it */
	double from_s, to_s;    /* to_s 0: to the end */
	struct opts_words threads, include, exclude;
	const char *recording; /* replay */
	bool stats, realtime_stats, quiet, browser;
	bool live;   /* a screen instead of the table */
	bool json;   /* dump */
	int64_t pid; /* dump; attach: the first */
	char **pids; /* attach: all, checked, NULL at the end */
	bool async_aware;
	enum tachy_async async_mode; /* OFF: not given */
	const char *python;          /* run */
	const char *module;          /* run -m; NULL: none */
	bool command;                /* run -- : taken as it is */
	char **program;              /* run: what is to be run and its arguments, NULL at the end */
};

struct opt {
	const char *name;
	char letter; /* 0: none */
	unsigned verbs;
	const char *argument; /* as help shows it; NULL: takes none */
	const char *group;    /* heading in help */
	const char *help;
	/* Takes the argument; NULL: the bool at `flag` in struct opts is set. */
	int (*set)(struct opts *opts, const char *argument, struct tachy_error *err);
	size_t flag;
	const struct value_choice
		*choices; /* words that it takes, see opts_value.h; NULL: not a list */
};

struct verb_info {
	enum verb verb;
	const char *name, *arguments, *about;
	const char *more; /* paragraph for its help; "" none */
};

extern const struct opt opts_table[];
extern const size_t opts_table_n;
extern const struct verb_info verbs_table[];
extern const size_t verbs_table_n;

/* What --from, --to, --thread, --include and --exclude say; false: nothing. Borrows from `opts`. */
bool opts_filter(const struct opts *opts, struct tachy_filter *ret_filter);

/* 0, or TACHY_EINVAL and the sentence to show: a usage error. */
int opts_parse(int argc, char **argv, struct opts *ret_opts, struct tachy_error *err);

#endif
