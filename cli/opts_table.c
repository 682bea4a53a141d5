/* SPDX-License-Identifier: MIT
 * Every verb and every option, once. A new option is a line here, a line in man/tachyscope.1, one in
 * the changelog, and a test.
 */
#include <string.h>

#include "base/error.h"
#include "opts.h"
#include "opts_value.h"

/* ---- words that options take ---------------------------------------------------------------------- */

static const struct value_choice modes[] = {
	{"wall", TACHY_MODE_WALL},
	{"cpu", TACHY_MODE_CPU},
	{"gil", TACHY_MODE_GIL},
	{"exception", TACHY_MODE_EXCEPTION},
	{NULL, 0},
};

static const struct value_choice snapshots[] = {
	{"auto", TACHY_SNAPSHOT_AUTO},
	{"ride", TACHY_SNAPSHOT_RIDE},
	{"parallel", TACHY_SNAPSHOT_PARALLEL},
	{"stop", TACHY_SNAPSHOT_STOP},
	{NULL, 0},
};

static const struct value_choice async_modes[] = {
	{"running", TACHY_ASYNC_RUNNING},
	{"all", TACHY_ASYNC_ALL},
	{NULL, 0},
};

static const struct value_choice sorts[] = {
	{"own", TACHY_SORT_OWN},
	{"total", TACHY_SORT_TOTAL},
	{"name", TACHY_SORT_NAME},
	{"nsamples", TACHY_SORT_OWN},
	{"tottime", TACHY_SORT_OWN},
	{"sample-pct", TACHY_SORT_OWN},
	{"cumtime", TACHY_SORT_TOTAL},
	{"cumul-pct", TACHY_SORT_TOTAL},
	{"nsamples-cumul", TACHY_SORT_TOTAL},
	{NULL, 0},
};

/* ---- setters ----------------------------------------------------------------------------------- */

static int set_rate(struct opts *opts, const char *argument, struct tachy_error *err)
{
	return value_rate(argument, &opts->session.rate_hz, err);
}

static int set_duration(struct opts *opts, const char *argument, struct tachy_error *err)
{
	return value_duration(argument, &opts->session.duration_s, err);
}

static int set_all_threads(struct opts *opts, const char *argument, struct tachy_error *err)
{
	(void)argument;
	(void)err;
	opts->session.main_thread_only = false;
	return 0;
}

static int set_mode(struct opts *opts, const char *argument, struct tachy_error *err)
{
	int mode;
	int rc = value_choose("--mode", argument, modes, &mode, err);
	if (rc >= 0)
		opts->session.mode = (enum tachy_mode)mode;
	opts->mode_given = rc >= 0;
	return rc;
}

static int set_snapshot(struct opts *opts, const char *argument, struct tachy_error *err)
{
	int snapshot;
	int rc = value_choose("--snapshot", argument, snapshots, &snapshot, err);
	if (rc >= 0)
		opts->session.snapshot = (enum tachy_snapshot)snapshot;
	return rc;
}

static int set_blocking(struct opts *opts, const char *argument, struct tachy_error *err)
{
	(void)argument;
	(void)err;
	opts->session.snapshot = TACHY_SNAPSHOT_STOP;
	return 0;
}

static int set_async_mode(struct opts *opts, const char *argument, struct tachy_error *err)
{
	int mode;
	int rc = value_choose("--async-mode", argument, async_modes, &mode, err);
	if (rc >= 0)
		opts->async_mode = (enum tachy_async)mode;
	return rc;
}

static int set_text(const char **ret, const char *what, const char *argument,
		    struct tachy_error *err)
{
	if (!*argument)
		return error_set(err, TACHY_EINVAL, "%s needs a value, not an empty one", what);
	*ret = argument;
	return 0;
}

static int set_format(struct opts *opts, const char *argument, struct tachy_error *err)
{
	struct value_choice formats[32] = {{NULL, 0}};
	int index;
	for (int i = 0; i < 31 && tachy_formats()[i].name; i++)
		formats[i] = (struct value_choice){tachy_formats()[i].name, i};
	int rc = value_choose("the format", argument, formats, &index, err);
	if (rc < 0)
		return rc;
	if (opts->format && opts->format != &tachy_formats()[index])
		return error_set(err, TACHY_EINVAL, "two formats were given, %s and %s; choose one",
				 opts->format->name, argument);
	opts->format = &tachy_formats()[index];
	return 0;
}

/* --NAME is -f NAME. */
#define FORMAT_SETTER(name) \
	static int set_##name(struct opts *opts, const char *argument, struct tachy_error *err) \
	{ \
		(void)argument; \
		return set_format(opts, #name, err); \
	}
FORMAT_SETTER(binary)
FORMAT_SETTER(collapsed)
FORMAT_SETTER(speedscope)
FORMAT_SETTER(chrome)
FORMAT_SETTER(gecko)
FORMAT_SETTER(pprof)
FORMAT_SETTER(pstats)
FORMAT_SETTER(svg)
FORMAT_SETTER(jsonl)
FORMAT_SETTER(flamegraph)
FORMAT_SETTER(heatmap)

static int set_diff(struct opts *opts, const char *argument, struct tachy_error *err)
{
	int rc = set_text(&opts->base, "--diff", argument, err);
	return rc < 0 ? rc : set_format(opts, "diff", err);
}

static int set_diff_flamegraph(struct opts *opts, const char *argument, struct tachy_error *err)
{
	int rc = set_text(&opts->base, "--diff-flamegraph", argument, err);
	return rc < 0 ? rc : set_format(opts, "diff-flamegraph", err);
}

static int set_sort(struct opts *opts, const char *argument, struct tachy_error *err)
{
	int sort;
	int rc = value_choose("--sort", argument, sorts, &sort, err);
	if (rc >= 0)
		opts->export.sort = (enum tachy_sort)sort;
	return rc;
}

static int set_limit(struct opts *opts, const char *argument, struct tachy_error *err)
{
	return value_count("--limit", argument, &opts->export.limit, err);
}

static int set_output(struct opts *opts, const char *argument, struct tachy_error *err)
{
	return set_text(&opts->output, "--output", argument, err);
}

static int set_stats_json(struct opts *opts, const char *argument, struct tachy_error *err)
{
	return set_text(&opts->stats_json, "--stats-json", argument, err);
}

static int set_python(struct opts *opts, const char *argument, struct tachy_error *err)
{
	return set_text(&opts->python, "--python", argument, err);
}

static int set_module(struct opts *opts, const char *argument, struct tachy_error *err)
{
	return set_text(&opts->module, "--module", argument, err);
}

static int set_from(struct opts *opts, const char *argument, struct tachy_error *err)
{
	return value_moment("--from", argument, &opts->from_s, err);
}

static int set_to(struct opts *opts, const char *argument, struct tachy_error *err)
{
	int rc = value_moment("--to", argument, &opts->to_s, err);
	if (rc >= 0 && opts->to_s <= 0)
		return error_set(err, TACHY_EINVAL, "--to 0 leaves nothing; give a later time");
	return rc;
}

static int add_word(struct opts_words *words, const char *what, const char *argument,
		    struct tachy_error *err)
{
	const char *word = NULL;
	int rc = set_text(&word, what, argument, err);
	if (rc < 0)
		return rc;
	if (words->n == OPTS_WORDS_MAX)
		return error_set(err, TACHY_EINVAL, "%s was given more than %d times", what,
				 OPTS_WORDS_MAX);
	words->at[words->n++] = word;
	return 0;
}

static int set_thread(struct opts *opts, const char *argument, struct tachy_error *err)
{
	return add_word(&opts->threads, "--thread", argument, err);
}

static int set_include(struct opts *opts, const char *argument, struct tachy_error *err)
{
	return add_word(&opts->include, "--include", argument, err);
}

static int set_exclude(struct opts *opts, const char *argument, struct tachy_error *err)
{
	return add_word(&opts->exclude, "--exclude", argument, err);
}

/* ---- the table ----------------------------------------------------------------------------------- */

#define FLAG(field)    NULL, offsetof(struct opts, field)
#define CALL(function) function, 0

#define WHAT         "What is run"
#define SAMPLING     "Sampling"
#define CONTENT      "What is kept"
#define OUTPUT       "Output"
#define OTHER        "Other"
#define VERBS_STACKS (VERBS_SAMPLE | VERB_DUMP)

const struct opt opts_table[] = {
	{"module", 'm', VERB_RUN, "NAME", WHAT,
	 "run a module, as python3 -m does; all that follows is the module's", CALL(set_module)},
	{"python", 0, VERB_RUN, "EXE", WHAT, "the Python for scripts and modules [python3 of PATH]",
	 CALL(set_python)},

	{"sampling-rate", 'r', VERBS_SAMPLE, "RATE", SAMPLING,
	 "samples a second: 100, 10k, 2.5khz, or max for as many as go [1khz]", CALL(set_rate)},
	{"duration", 'd', VERBS_SAMPLE, "SECONDS", SAMPLING,
	 "stop sampling after so long; a program under run goes on [until it ends]",
	 CALL(set_duration)},
	{"mode", 0, VERBS_PROFILE, "MODE", SAMPLING,
	 "which moments of a thread count: wall (all), cpu (running), gil (holding the GIL), "
	 "exception [wall]",
	 CALL(set_mode), modes},
	{"snapshot", 0, VERBS_SAMPLE, "HOW", SAMPLING,
	 "how a stack is read: ride (from the target's own CPU, so that it stands still), parallel "
	 "(copy and "
	 "check), stop (ptrace), auto (ride, where it cannot be had parallel) [auto]",
	 CALL(set_snapshot), snapshots},
	{"blocking", 0, VERBS_STACKS, NULL, SAMPLING,
	 "stop the target while it is read: --snapshot stop", CALL(set_blocking)},
	{"no-jitter", 0, VERBS_SAMPLE, NULL, SAMPLING,
	 "exactly periodic samples; a program with the same period may then be seen falsely",
	 FLAG(session.no_jitter)},
	{"anchor", 0, VERBS_SAMPLE, NULL, SAMPLING,
	 "write the mark that CPython 3.15 has for profilers into the target, which makes deep "
	 "stacks cheaper",
	 FLAG(session.anchor)},

	{"subprocesses", 0, VERBS_SAMPLE, NULL, CONTENT,
	 "all Pythons among the descendants as well, however they are started",
	 FLAG(session.subprocesses)},
	{"all-threads", 'a', VERBS_STACKS, NULL, CONTENT,
	 "all threads of all interpreters (the default)", CALL(set_all_threads)},
	{"main-thread", 0, VERBS_STACKS, NULL, CONTENT, "the main thread only",
	 FLAG(session.main_thread_only)},
	{"native", 0, VERBS_STACKS, NULL, CONTENT, "put in <native> where Python calls C code",
	 FLAG(session.native)},
	{"no-gc", 0, VERBS_STACKS, NULL, CONTENT,
	 "leave out the <GC> that marks garbage collections", FLAG(session.no_gc)},
	{"opcodes", 0, VERBS_STACKS, NULL, CONTENT,
	 "tell the executing instruction of every frame (Python 3.11 and later)",
	 FLAG(session.opcodes)},
	{"async-aware", 0, VERBS_STACKS, NULL, CONTENT,
	 "asyncio's tasks in place of threads: each with the tasks that await it",
	 FLAG(async_aware)},
	{"async-mode", 0, VERBS_STACKS, "MODE", CONTENT,
	 "which tasks: running (of each thread), all (those that wait as well) [running; dump: "
	 "all]",
	 CALL(set_async_mode), async_modes},
	{"lines", 0, VERBS_PROFILE, NULL, CONTENT, "split functions by the line that was executing",
	 FLAG(export.lines)},
	{"by-thread", 0, VERBS_PROFILE, NULL, CONTENT, "keep threads apart",
	 FLAG(export.by_thread)},
	{"from", 0, VERBS_PROFILE, "TIME", CONTENT,
	 "leave out what was before; from the start on, in seconds or as 1m30s", CALL(set_from)},
	{"to", 0, VERBS_PROFILE, "TIME", CONTENT, "leave out what was from then on", CALL(set_to)},
	{"thread", 0, VERBS_PROFILE, "NAME", CONTENT,
	 "only threads of this name (a glob) or kernel id; may be repeated", CALL(set_thread)},
	{"include", 0, VERBS_PROFILE, "PATTERN", CONTENT,
	 "only stacks with such a function, file or module in them (a glob; function:, file: or "
	 "module: before it says which); may be repeated",
	 CALL(set_include)},
	{"exclude", 0, VERBS_PROFILE, "PATTERN", CONTENT, "no stacks with such a one in them",
	 CALL(set_exclude)},

	{"live", 0, VERBS_SAMPLE, NULL, OUTPUT,
	 "a screen that shows what the program does, now and since the start; h there lists its "
	 "keys",
	 FLAG(live)},
	{"output", 'o', VERBS_STACKS | VERB_REPLAY, "PATH", OUTPUT,
	 "write there, - is standard output; a profile in a directory is named FORMAT_PID.SUFFIX "
	 "[-]",
	 CALL(set_output)},
	{"split-processes", 0, VERBS_PROFILE, NULL, OUTPUT,
	 "a file for each process: its pid stands for %p in the name of -o, else before the suffix",
	 FLAG(export.split_processes)},
	{"format", 'f', VERBS_PROFILE, "NAME", OUTPUT,
	 "the form: table, or one of those below, --svg for instance [by the suffix of -o, else "
	 "table]",
	 CALL(set_format)},
	{"binary", 0, VERBS_PROFILE, NULL, OUTPUT,
	 "-f binary: record everything while it happens, for tachyscope replay", CALL(set_binary)},
	{"collapsed", 0, VERBS_PROFILE, NULL, OUTPUT,
	 "-f collapsed: a line per stack, for flame graph tools", CALL(set_collapsed)},
	{"flamegraph", 0, VERBS_PROFILE, NULL, OUTPUT,
	 "-f flamegraph: a page with a flame graph, filters and a time range",
	 CALL(set_flamegraph)},
	{"speedscope", 0, VERBS_PROFILE, NULL, OUTPUT,
	 "-f speedscope: each thread over time, for speedscope", CALL(set_speedscope)},
	{"chrome", 0, VERBS_PROFILE, NULL, OUTPUT,
	 "-f chrome: trace events, for Perfetto: calls and states over time", CALL(set_chrome)},
	{"gecko", 0, VERBS_PROFILE, NULL, OUTPUT,
	 "-f gecko: for the Firefox Profiler: threads over time, with markers for states",
	 CALL(set_gecko)},
	{"pprof", 0, VERBS_PROFILE, NULL, OUTPUT, "-f pprof: for go tool pprof", CALL(set_pprof)},
	{"pstats", 0, VERBS_PROFILE, NULL, OUTPUT, "-f pstats: for pstats and SnakeViz",
	 CALL(set_pstats)},
	{"svg", 0, VERBS_PROFILE, NULL, OUTPUT,
	 "-f svg: a flame graph as a picture that can be searched", CALL(set_svg)},
	{"jsonl", 0, VERBS_PROFILE, NULL, OUTPUT,
	 "-f jsonl: a line of JSON per sample: time, thread, states, stack", CALL(set_jsonl)},
	{"diff", 0, VERBS_PROFILE, "BASE", OUTPUT,
	 "-f diff: what changed since a recording, as a table", CALL(set_diff)},
	{"diff-flamegraph", 0, VERBS_PROFILE, "BASE", OUTPUT,
	 "-f diff-flamegraph: the same as a flame graph page", CALL(set_diff_flamegraph)},
	{"browser", 0, VERBS_PROFILE, NULL, OUTPUT,
	 "open the page in a browser ($BROWSER, else xdg-open) once it is written", FLAG(browser)},
	{"heatmap", 0, VERBS_PROFILE, NULL, OUTPUT,
	 "-f heatmap: source files with the heat of every line, as one HTML page",
	 CALL(set_heatmap)},
	{"json", 0, VERB_DUMP, NULL, OUTPUT, "the dump as one line of JSON", FLAG(json)},
	{"sort", 0, VERBS_PROFILE, "KEY", OUTPUT,
	 "order of the table: own (nsamples, tottime, sample-pct), total (cumtime, cumul-pct, "
	 "nsamples-cumul) "
	 "or name [own]",
	 CALL(set_sort), sorts},
	{"limit", 'l', VERBS_PROFILE, "N", OUTPUT, "rows of the table, 0 for all [15]",
	 CALL(set_limit)},
	{"no-summary", 0, VERBS_PROFILE, NULL, OUTPUT, "no explanations below the table",
	 FLAG(export.no_summary)},
	{"stats", 0, VERBS_PROFILE, NULL, OUTPUT, "all counters of the run on standard error",
	 FLAG(stats)},
	{"stats-json", 0, VERBS_PROFILE, "FILE", OUTPUT, "the same as JSON into a file",
	 CALL(set_stats_json)},
	{"realtime-stats", 0, VERBS_SAMPLE, NULL, OUTPUT, "a line a second on standard error",
	 FLAG(realtime_stats)},
	{"quiet", 'q', VERBS_PROFILE, NULL, OUTPUT,
	 "no summary on standard error; errors are still told", FLAG(quiet)},

	{"help", 'h', VERBS_ALL, NULL, OTHER, "this text", FLAG(help)},
	{"version", 'V', VERBS_ALL, NULL, OTHER, "the version", FLAG(version)},
};
const size_t opts_table_n = sizeof opts_table / sizeof opts_table[0];

const struct verb_info verbs_table[] = {
	{VERB_RUN, "run", "[options] SCRIPT | -m MODULE | -- COMMAND [args]",
	 "start a program and sample it until it ends",
	 "A file that ends in .py, a file that is not executable and a directory with a "
	 "__main__.py are given "
	 "to python3; an executable file is run itself; any other word is a command of PATH. What "
	 "follows -- is "
	 "run as it stands. The program keeps its terminal, stdin, environment and signals, and "
	 "its exit status "
	 "is ours (128+N when signal N ended it; 127 or 126 when it could not be started)."},
	{VERB_ATTACH, "attach", "[options] PID...", "sample running Pythons",
	 "Ends with the process, after --duration, or at Ctrl-C; each time all that was sampled is "
	 "written. A "
	 "second Ctrl-C ends at once."},
	{VERB_REPLAY, "replay", "[options] FILE", "show what was recorded with --binary",
	 "Every form of output, as often as wanted, of all of it or of a part. FILE may be - for "
	 "standard input. A recording whose writer was killed shows what it has, and says what is "
	 "missing."},
	{VERB_DUMP, "dump", "[options] PID", "print the stacks of a running Python, once", ""},
	{VERB_PS, "ps", "",
	 "list the Pythons of this machine, and why not where one cannot be read", ""},
};
const size_t verbs_table_n = sizeof verbs_table / sizeof verbs_table[0];
