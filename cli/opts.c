/* SPDX-License-Identifier: MIT
 * Parsing, by getopt_long under the table. For `run` it stops at the first word that is no option:
 * the rest is the program's. Invariant: nothing is done here but filling struct opts.
 */
#include "opts.h"

#include <getopt.h>
#include <string.h>

#include "base/error.h"
#include "opts_value.h"

#define OPTIONS_MAX 64
#define LONG_BASE   256 /* getopt's value of option i is LONG_BASE + i */

struct grammar {
	struct option longs[OPTIONS_MAX + 1];
	char shorts[2 * OPTIONS_MAX + 4];
};

/* Another verb's option that would pass as the beginning of one of this verb's: dump --json where there
 * is --jsonl. */
static bool looks_like_ours(enum verb verb, const struct opt *other)
{
	size_t len = strlen(other->name);
	for (size_t i = 0; i < opts_table_n; i++)
		if ((opts_table[i].verbs & verb) &&
		    strncmp(opts_table[i].name, other->name, len) == 0)
			return true;
	return false;
}

static void build_grammar(enum verb verb, struct grammar *grammar)
{
	size_t n = 0, used = 0;
	memset(grammar, 0, sizeof *grammar);
	if (verb == VERB_RUN)
		grammar->shorts[used++] = '+';
	grammar->shorts[used++] = ':'; /* tell a missing argument from an unknown option */
	for (size_t i = 0; i < opts_table_n && n < OPTIONS_MAX; i++) {
		const struct opt *opt = &opts_table[i];
		if (!(opt->verbs & verb)) {
			if (looks_like_ours(verb, opt)) /* known, to be refused */
				grammar->longs[n++] = (struct option){opt->name, optional_argument,
								      NULL, '?'};
			continue;
		}
		int wants = opt->argument ? required_argument : no_argument;
		grammar->longs[n++] = (struct option){opt->name, wants, NULL, LONG_BASE + (int)i};
		if (opt->letter) {
			grammar->shorts[used++] = opt->letter;
			if (opt->argument)
				grammar->shorts[used++] = ':';
		}
	}
}

static const struct opt *find_opt(int value)
{
	if (value >= LONG_BASE)
		return &opts_table[value - LONG_BASE];
	for (size_t i = 0; i < opts_table_n; i++)
		if (opts_table[i].letter && opts_table[i].letter == value)
			return &opts_table[i];
	return NULL;
}

/* ---- suggestions --------------------------------------------------------------------------------- */

static const char *verb_name(enum verb verb)
{
	for (size_t i = 0; i < verbs_table_n; i++)
		if (verbs_table[i].verb == verb)
			return verbs_table[i].name;
	return "";
}

/* The option of this verb that is nearest to `word`; NULL when none is near. */
static const char *nearest_option(enum verb verb, const char *word)
{
	unsigned best = (unsigned)strlen(word) / 3 + 1;
	const char *name = NULL;
	for (size_t i = 0; i < opts_table_n; i++) {
		unsigned distance = value_distance(word, opts_table[i].name, best);
		if ((opts_table[i].verbs & verb) && distance <= best &&
		    (!name || distance < best)) {
			best = distance;
			name = opts_table[i].name;
		}
	}
	return name;
}

static const struct opt *option_of_others(const char *word)
{
	for (size_t i = 0; i < opts_table_n; i++)
		if (strcmp(opts_table[i].name, word) == 0)
			return &opts_table[i];
	return NULL;
}

static int refuse_long(enum verb verb, const char *given, struct tachy_error *err)
{
	char word[64];
	size_t len = strcspn(given, "=");
	if (len >= sizeof word)
		len = sizeof word - 1;
	memcpy(word, given, len);
	word[len] = '\0';
	const struct opt *other = option_of_others(word);
	if (other && (other->verbs & verb)) /* known, but not with "=VALUE" */
		return error_set(err, TACHY_EINVAL, "--%s takes no value", word);
	if (other)
		return error_set(err, TACHY_EINVAL,
				 "--%s is no option of %s; see tachyscope %s --help", word,
				 verb_name(verb), verb_name(verb));
	const char *near = nearest_option(verb, word);
	if (near)
		return error_set(err, TACHY_EINVAL, "unknown option --%s; did you mean --%s?", word,
				 near);
	return error_set(err, TACHY_EINVAL,
			 "unknown or ambiguous option --%s; see tachyscope %s --help", word,
			 verb_name(verb));
}

/* getopt did not take argv[optind - 1] (or a letter of the word it stands in). */
static int refuse(enum verb verb, int result, char **argv, struct tachy_error *err)
{
	const char *word = optind > 0 ? argv[optind - 1] : "";
	if (result == ':')
		return error_set(err, TACHY_EINVAL, "%s needs a value; see tachyscope %s --help",
				 word, verb_name(verb));
	if (strncmp(word, "--", 2) == 0 && (optopt == 0 || optopt >= LONG_BASE))
		return refuse_long(verb, word + 2, err);
	return error_set(err, TACHY_EINVAL, "unknown option -%c; see tachyscope %s --help", optopt,
			 verb_name(verb));
}

/* ---- what is left after the options ---------------------------------------------------------------- */

static int take_program(char **rest, struct opts *opts, struct tachy_error *err)
{
	opts->program = rest;
	if (!opts->module && !rest[0])
		return error_set(err, TACHY_EINVAL,
				 "run needs a program: tachyscope run script.py, run -m module, or "
				 "run -- command");
	return 0;
}

static int take_pid(char **rest, struct opts *opts, struct tachy_error *err)
{
	if (!rest[0])
		return error_set(err, TACHY_EINVAL,
				 "%s needs a process id; tachyscope ps lists them",
				 verb_name(opts->verb));
	for (size_t i = 0; opts->verb == VERB_ATTACH && rest[i]; i++) {
		int rc = value_pid(rest[i], &opts->pid, err);
		if (rc < 0)
			return rc;
	}
	opts->pids = rest;
	if (rest[1] && opts->verb != VERB_ATTACH)
		return error_set(err, TACHY_EINVAL, "%s takes one process id; '%s' is too many",
				 verb_name(opts->verb), rest[1]);
	return value_pid(rest[0], &opts->pid, err); /* the first of several */
}

static int take_recording(char **rest, struct opts *opts, struct tachy_error *err)
{
	if (!rest[0])
		return error_set(err, TACHY_EINVAL,
				 "replay needs a recording: a file that --binary made, or - for "
				 "standard input");
	if (rest[1])
		return error_set(err, TACHY_EINVAL, "replay takes one recording; '%s' is too many",
				 rest[1]);
	opts->recording = rest[0];
	return 0;
}

static int take_rest(char **rest, struct opts *opts, struct tachy_error *err)
{
	if (opts->verb == VERB_RUN)
		return take_program(rest, opts, err);
	if (opts->verb == VERB_REPLAY)
		return take_recording(rest, opts, err);
	if (opts->verb != VERB_PS)
		return take_pid(rest, opts, err);
	if (rest[0])
		return error_set(err, TACHY_EINVAL, "ps takes no arguments, not '%s'", rest[0]);
	return 0;
}

/* ---- parsing --------------------------------------------------------------------------------------- */

static int apply(const struct opt *opt, const char *argument, struct opts *opts,
		 struct tachy_error *err)
{
	if (opt->set)
		return opt->set(opts, argument, err);
	*(bool *)((char *)opts + opt->flag) = true;
	return 0;
}

static int parse_options(int argc, char **argv, struct opts *opts, struct tachy_error *err)
{
	struct grammar grammar;
	int result, before;
	build_grammar(opts->verb, &grammar);
	opterr = 0;
	optind = 0; /* starts afresh, in glibc and musl */
	for (;;) {
		before = optind ? optind : 1;
		optopt = 0;
		result = getopt_long(argc, argv, grammar.shorts, grammar.longs, NULL);
		if (result == -1)
			break;
		const struct opt *opt = result == '?' || result == ':' ? NULL : find_opt(result);
		if (!opt)
			return refuse(opts->verb, result, argv, err);
		int rc = apply(opt, optarg, opts, err);
		if (rc < 0)
			return rc;
		if (opts->help || opts->version)
			return 0;
		if (opts->module) /* what follows is the module's */
			return 0;
	}
	/* "--" right before the program, and not as the value of an option */
	opts->command = optind == before + 1 && strcmp(argv[before], "--") == 0;
	return 0;
}

static int find_verb(const char *word, struct opts *opts, struct tachy_error *err)
{
	const char *near = NULL;
	unsigned best = 2;
	for (size_t i = 0; i < verbs_table_n; i++) {
		if (strcmp(verbs_table[i].name, word) == 0) {
			opts->verb = verbs_table[i].verb;
			return 0;
		}
		unsigned distance = value_distance(word, verbs_table[i].name, best);
		if (distance <= best && (!near || distance < best)) {
			near = verbs_table[i].name;
			best = distance;
		}
	}
	if (near && strlen(word) > 1 && word[0] != '-')
		return error_set(err, TACHY_EINVAL, "there is no '%s'; did you mean tachyscope %s?",
				 word, near);
	return error_set(err, TACHY_EINVAL,
			 "there is no '%s'; say what to do: run, attach, replay, dump or ps (see "
			 "tachyscope --help)",
			 word);
}

/* What only two options together say. */
static int settle_async(struct opts *opts, struct tachy_error *err)
{
	if (opts->async_mode != TACHY_ASYNC_OFF && !opts->async_aware)
		return error_set(err, TACHY_EINVAL, "--async-mode needs --async-aware");
	if (opts->async_aware && opts->async_mode == TACHY_ASYNC_OFF)
		opts->async_mode = opts->verb == VERB_DUMP ? TACHY_ASYNC_ALL : TACHY_ASYNC_RUNNING;
	opts->session.async_mode = opts->async_mode;
	return 0;
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
	return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

bool opts_filter(const struct opts *opts, struct tachy_filter *ret_filter)
{
	*ret_filter = (struct tachy_filter){
		.size = sizeof *ret_filter,
		.from_s = opts->from_s,
		.to_s = opts->to_s,
		.n_threads = opts->threads.n,
		.n_include = opts->include.n,
		.n_exclude = opts->exclude.n,
		.threads = opts->threads.at,
		.include = opts->include.at,
		.exclude = opts->exclude.at,
	};
	return opts->from_s > 0 || opts->to_s > 0 || opts->threads.n || opts->include.n ||
	       opts->exclude.n;
}

static int check_range(const struct opts *opts, struct tachy_error *err)
{
	if (opts->to_s > 0 && opts->to_s <= opts->from_s)
		return error_set(err, TACHY_EINVAL,
				 "nothing lies between --from and --to: --to "
				 "must be the later one");
	return 0;
}

static int take_shell(char **rest, struct opts *opts, struct tachy_error *err)
{
	if (!rest[0] || !is_one_of(rest[0], "bash", "zsh", "fish") || rest[1])
		return error_set(err, TACHY_EINVAL,
				 "--completion needs the name of a shell: bash, zsh or fish");
	opts->completion = rest[0];
	return 0;
}

int opts_parse(int argc, char **argv, struct opts *ret_opts, struct tachy_error *err)
{
	struct opts opts = {.verb = VERB_NONE, .python = "python3"};
	int rc = 0;
	tachy_session_options_init(&opts.session);
	tachy_export_options_init(&opts.export);
	if (argc < 2)
		return error_set(
			err, TACHY_EINVAL,
			"say what to do: run, attach, replay, dump or ps (see tachyscope --help)");
	opts.help = is_one_of(argv[1], "-h", "--help", "help");
	opts.version = is_one_of(argv[1], "-V", "--version", "--version");
	if (opts.help && argc > 2 && strcmp(argv[2], "--completion") == 0)
		rc = take_shell(argv + 3, &opts, err);
	else if (opts.help && argc > 2)
		rc = find_verb(argv[2], &opts, err);
	else if (!opts.help && !opts.version)
		rc = find_verb(argv[1], &opts, err);
	if (rc >= 0 && !opts.help && !opts.version)
		rc = parse_options(argc - 1, argv + 1, &opts, err);
	if (rc >= 0 && !opts.help && !opts.version)
		rc = take_rest(argv + 1 + optind, &opts, err);
	if (rc >= 0 && !opts.help && !opts.version)
		rc = check_range(&opts, err);
	if (rc >= 0)
		rc = settle_async(&opts, err);
	if (rc >= 0)
		*ret_opts = opts;
	return rc;
}
