/* SPDX-License-Identifier: MIT
 * opts.c, opts_table.c, opts_value.c: what command lines mean, and which are refused with which words.
 */
#include "cases.h"

#include "base/io.h"
#include "opts.h"
#include "opts_value.h"

#define WORDS_MAX 32

/* A command line as an argument vector: "run -r 10 x.py". Two blanks make an empty argument. */
struct line {
	char text[256];
	char *argv[WORDS_MAX + 2];
	int argc;
};

static void split(struct line *line, const char *text)
{
	char *rest = line->text, *word;
	(void)snprintf(line->text, sizeof line->text, "%s", text);
	line->argv[0] = line->text; /* looked at by nobody */
	line->argc = 1;
	while (line->argc <= WORDS_MAX && (word = strsep(&rest, " ")))
		line->argv[line->argc++] = word;
	line->argv[line->argc] = NULL;
}

static struct opts parse(struct line *line, const char *text)
{
	struct tachy_error err = {0};
	struct opts opts;
	split(line, text);
	int rc = opts_parse(line->argc, line->argv, &opts, &err);
	if (rc != 0)
		fail_msg("'%s': %s", text, err.text);
	return opts;
}

static void defaults(void **state)
{
	struct line line;
	struct opts opts = parse(&line, "attach 12");
	(void)state;
	assert_int_equal(opts.verb, VERB_ATTACH);
	assert_int_equal(opts.pid, 12);
	assert_true(opts.session.rate_hz > 999 && opts.session.rate_hz < 1001);
	assert_false(opts.session.main_thread_only);
	assert_int_equal(opts.session.snapshot, TACHY_SNAPSHOT_AUTO);
	assert_null(opts.format);
	assert_null(opts.output);
	assert_int_equal(opts.export.limit, 15);
	opts = parse(&line, "run x.py");
	assert_string_equal(opts.python, "python3");
	assert_false(opts.command);
	assert_int_equal(parse(&line, "ps").verb, VERB_PS);
}

static void options_of_attach(void **state)
{
	struct line line;
	struct opts opts =
		parse(&line,
		      "attach -r 2.5kHz 77 -d 1.5 -a --main-thread --mode gil --snapshot parallel "
		      "--no-jitter --sort cumtime -l 0 -o /tmp/x");
	(void)state;
	assert_true(opts.session.rate_hz > 2499.9 && opts.session.rate_hz < 2500.1);
	assert_true(opts.session.duration_s > 1.49 && opts.session.duration_s < 1.51);
	assert_int_equal(opts.pid, 77);
	assert_true(opts.session.main_thread_only); /* the last word counts */
	assert_int_equal(opts.session.mode, TACHY_MODE_GIL);
	assert_int_equal(opts.session.snapshot, TACHY_SNAPSHOT_PARALLEL);
	assert_true(opts.session.no_jitter);
	assert_int_equal(opts.export.sort, TACHY_SORT_TOTAL);
	assert_int_equal(opts.export.limit, 0);
	assert_string_equal(opts.output, "/tmp/x");
	opts = parse(
		&line,
		"attach --sampling-rate=max --blocking --native --no-gc --lines --by-thread -q 77");
	assert_true(opts.session.rate_hz == 0);
	assert_int_equal(opts.session.snapshot, TACHY_SNAPSHOT_STOP);
	assert_true(opts.session.native && opts.session.no_gc && opts.export.lines &&
		    opts.export.by_thread);
	assert_true(opts.quiet);
	opts = parse(
		&line,
		"attach --collapsed -f collapsed --stats --stats-json s.json --realtime-stats 7");
	assert_string_equal(opts.format->name, "collapsed");
	assert_true(opts.stats && opts.realtime_stats);
	assert_string_equal(opts.stats_json, "s.json");
	opts = parse(&line, "dump --json --blocking 9");
	assert_true(opts.json);
	opts = parse(&line, "attach --dur 3 9"); /* what getopt allows */
	assert_true(opts.session.duration_s > 2.9);
}

static void options_of_replay(void **state)
{
	static const struct {
		const char *line;
		double seconds;
	} times[] = {{"90", 90},      {"2.5", 2.5},         {"1m30s", 90}, {"1h", 3600},
		     {"250ms", 0.25}, {"1h2m3.5s", 3723.5}, {"1m5", 65},   {"0", 0}};
	struct line line;
	struct tachy_filter filter;
	char text[256];
	(void)state;
	for (size_t i = 0; i < N_OF(times); i++) {
		(void)snprintf(text, sizeof text, "replay --from %s x.tachy", times[i].line);
		struct opts opts = parse(&line, text);
		assert_true(opts.from_s > times[i].seconds - 1e-9 &&
			    opts.from_s < times[i].seconds + 1e-9);
		assert_int_equal(opts_filter(&opts, &filter), times[i].seconds > 0);
	}
	struct opts opts = parse(&line, "replay --thread a --thread 12 --include x --exclude y "
					"--to 3 --mode gil - -f binary");
	assert_string_equal(opts.recording, "-");
	assert_true(opts.mode_given && opts.format->recording);
	assert_true(opts_filter(&opts, &filter));
	assert_int_equal(filter.n_threads, 2);
	assert_string_equal(filter.threads[1], "12");
	assert_string_equal(filter.include[0], "x");
	assert_string_equal(filter.exclude[0], "y");
	assert_false(parse(&line, "replay x.tachy").mode_given);
	assert_true(opts_filter(&(struct opts){.to_s = 1}, &filter));
}

/* Every form of output, and what shapes it, is replay's as well. */
static void replay_has_all_outputs(void **state)
{
	(void)state;
	for (size_t i = 0; i < opts_table_n; i++) {
		const struct opt *opt = &opts_table[i];
		bool live = strcmp(opt->name, "realtime-stats") == 0 ||
			    strcmp(opt->name, "live") == 0;
		if (strcmp(opt->group, "Output") == 0 && (opt->verbs & VERB_ATTACH) && !live &&
		    !(opt->verbs & VERB_REPLAY))
			fail_msg("--%s is no option of replay: VERBS_PROFILE", opt->name);
	}
}

static void check_program(const char *text, const char *module, bool command, const char *first,
			  const char *second)
{
	struct line line;
	struct opts opts = parse(&line, text);
	if (module)
		assert_string_equal(opts.module, module);
	else
		assert_null(opts.module);
	assert_int_equal(opts.command, command);
	const char *const words[] = {first, second};
	for (size_t i = 0; i < 2; i++) {
		if (words[i])
			assert_string_equal(opts.program[i], words[i]);
		else
			assert_null(opts.program[i]);
		if (!words[i])
			break;
	}
}

static void the_program_of_run(void **state)
{
	(void)state;
	check_program("run x.py", NULL, false, "x.py", NULL);
	check_program("run -r 10 x.py -r", NULL, false, "x.py",
		      "-r"); /* the second is the program's */
	check_program("run x.py --help", NULL, false, "x.py", "--help");
	check_program("run x.py -- y", NULL, false, "x.py", "--");
	check_program("run -- x.py -o", NULL, true, "x.py", "-o");
	check_program("run -q -- -odd-", NULL, true, "-odd-", NULL);
	check_program("run -m mod", "mod", false, NULL, NULL);
	check_program("run -m mod --collapsed x", "mod", false, "--collapsed", "x");
	check_program("run -qm mod -- x", "mod", false, "--", "x");
	check_program("run --module=mod -h", "mod", false, "-h", NULL);
	check_program("run -o -- x.py", NULL, false, "x.py", NULL); /* "--" is the value of -o */
	check_program("run --stats-json -- x.py y", NULL, false, "x.py", "y");
}

static void help_and_version(void **state)
{
	static const struct {
		const char *line;
		enum verb verb;
		bool help, version;
	} cases[] = {
		{"--help", VERB_NONE, true, false},
		{"-h", VERB_NONE, true, false},
		{"help", VERB_NONE, true, false},
		{"help dump", VERB_DUMP, true, false},
		{"--version", VERB_NONE, false, true},
		{"-V", VERB_NONE, false, true},
		{"attach --help", VERB_ATTACH, true, false},
		{"run -r 5 -h", VERB_RUN, true, false},
		{"ps -V", VERB_PS, false, true},
	};
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct line line;
		struct opts opts = parse(&line, cases[i].line);
		assert_int_equal(opts.verb, cases[i].verb);
		assert_int_equal(opts.help, cases[i].help);
		assert_int_equal(opts.version, cases[i].version);
	}
}

static const struct {
	const char *line, *says;
} refused[] = {
	{"", "there is no ''"},
	{"frobnicate", "run, attach, replay, dump or ps"},
	{"atach 1", "did you mean tachyscope attach?"},
	{"rnu x.py", "did you mean tachyscope run?"},
	{"replay", "needs a recording"},
	{"replay a b", "too many"},
	{"replay --from x a", "not 'x'"},
	{"replay --from 1s1m a", "not '1s1m'"},
	{"replay --from 1mm a", "not '1mm'"},
	{"replay --to 0 a", "leaves nothing"},
	{"replay --from 2 --to 1 a", "later one"},
	{"replay -r 5 a", "-r"},
	{"attach", "needs a process id"},
	{"dump 1 2", "'2' is too many"},
	{"attach x", "from 1 to 4194304, not 'x'"},
	{"attach 0", "not '0'"},
	{"attach -- -5", "not '-5'"},
	{"attach -5", "unknown option -5"},
	{"attach 1.5", "not '1.5'"},
	{"attach 99999999999999999999", "not '99999999999999999999'"},
	{"attach -r 0 1", "from 0.01 to 1000000"},
	{"attach -r -1 1", "not '-1'"},
	{"attach -r 1000000000 1", "not '1000000000'"},
	{"attach -r 1001k 1", "not '1001k'"},
	{"attach -r 1e3 1", "not '1e3'"},
	{"attach -r 10_khz 1", "not '10_khz'"},
	{"attach -r  1", "not ''"},
	{"attach -d 0 1", "from 0.001 to 31536000 seconds"},
	{"attach -d nan 1", "not 'nan'"},
	{"attach -d 1e9 1", "not '1e9'"},
	{"attach -l -1 1", "--limit must be a whole number"},
	{"attach -l 4294967296 1", "--limit must be"},
	{"attach --mode sideways 1", "wall, cpu, gil, exception, not 'sideways'"},
	{"attach --snapshot x 1", "auto, ride, parallel, stop"},
	{"attach --sort x 1", "nsamples-cumul"},
	{"attach -f bmp 1", "must be one of table, collapsed, "},
	{"attach -f table --collapsed 1", "two formats"},
	{"attach -o  1", "--output needs a value"},
	{"attach --duratoin 1 2", "did you mean --duration?"},
	{"attach --sampling_rate 1 2", "did you mean --sampling-rate?"},
	{"attach --xyzzy", "unknown or ambiguous option --xyzzy"},
	{"attach --s 1", "unknown or ambiguous option --s"},
	{"attach --json 1", "--json is no option of attach"},
	{"dump --sort own 1", "--sort is no option of dump"},
	{"attach --quiet=yes 1", "--quiet takes no value"},
	{"attach -x 1", "unknown option -x"},
	{"attach -qx 1", "unknown option -x"},
	{"attach 1 -r", "-r needs a value"},
	{"attach --output", "--output needs a value"},
	{"run", "run needs a program"},
	{"run --", "run needs a program"},
	{"run -m", "-m needs a value"},
	{"ps 1", "ps takes no arguments"},
	{"help nothing", "there is no 'nothing'"},
};

static void refusals(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(refused); i++) {
		struct line line;
		struct tachy_error err = {0};
		struct opts opts;
		split(&line, refused[i].line);
		int rc = opts_parse(line.argc, line.argv, &opts, &err);
		if (rc != TACHY_EINVAL || !strstr(err.text, refused[i].says))
			fail_msg("'%s' gave %d: %s", refused[i].line, rc, err.text);
		assert_null(strchr(err.text, '\n'));
	}
	char name[] = "tachyscope", *alone[] = {name, NULL};
	struct tachy_error err = {0};
	struct opts opts;
	assert_int_equal(opts_parse(1, alone, &opts, &err), TACHY_EINVAL);
}

static void rates(void **state)
{
	static const struct {
		const char *text;
		double hz;
	} cases[] = {
		{"100", 100},     {"10k", 10000}, {"10khz", 10000}, {"10KHZ", 10000},
		{"2.5kHz", 2500}, {"0.5", 0.5},   {"1000000", 1e6}, {"1000k", 1e6},
		{"7hz", 7},       {"max", 0},     {"MAX", 0},       {"0.01", 0.01},
	};
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		double hz = -1;
		assert_int_equal(value_rate(cases[i].text, &hz, NULL), 0);
		assert_true(hz > cases[i].hz * 0.999999 - 1e-9 &&
			    hz < cases[i].hz * 1.000001 + 1e-9);
	}
}

static void distances(void **state)
{
	static const struct {
		const char *a, *b;
		unsigned distance;
	} cases[] = {
		{"", "", 0},
		{"a", "", 1},
		{"duration", "duration", 0},
		{"duratoin", "duration", 1},
		{"limt", "limit", 1},
		{"outptu", "output", 1},
		{"abc", "xyz", 3},
		{"abcdef", "uvwxyz", 6},
		{"ab", "ba", 1},
	};
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		assert_int_equal(value_distance(cases[i].a, cases[i].b, 9), cases[i].distance);
		assert_int_equal(value_distance(cases[i].b, cases[i].a, 9), cases[i].distance);
	}
	assert_int_equal(value_distance("abcdef", "uvwxyz", 2), 3);
	assert_int_equal(value_distance("a",
					"a word that is much longer than any option that there is",
					3),
			 4);
}

/* The table is fit for getopt and for help. */
static void the_table_holds(void **state)
{
	(void)state;
	for (size_t i = 0; i < opts_table_n; i++) {
		const struct opt *opt = &opts_table[i];
		assert_true(opt->verbs != 0 && (opt->verbs & ~(unsigned)VERBS_ALL) == 0);
		assert_true(opt->name[0] && opt->help[0] && opt->group[0]);
		assert_true(opt->set || opt->flag > 0);
		assert_true(opt->set || !opt->argument);
		for (size_t j = 0; j < i; j++) {
			assert_string_not_equal(opt->name, opts_table[j].name);
			assert_true(!opt->letter || opt->letter != opts_table[j].letter);
		}
	}
	assert_true(opts_table_n < 64);
}

/* A line ".It ... Fl -NAME" for each option, as tests of the man page go. */
static bool has_item(const char *page, const char *name)
{
	char wanted[64];
	int len = snprintf(wanted, sizeof wanted, "Fl -%s", name);
	for (const char *at = page; (at = strstr(at, "\n.It ")); at++) {
		const char *end = strchr(at + 1, '\n'), *found = strstr(at, wanted);
		if (found && end && found < end && (found[len] == ' ' || found[len] == '\n'))
			return true;
	}
	return false;
}

static void the_man_page_knows_all(void **state)
{
	char *page;
	size_t size;
	(void)state;
	assert_int_equal(io_read_file(TEST_SOURCE_ROOT "/man/tachyscope.1", 1u << 20, &page, &size),
			 0);
	for (size_t i = 0; i < opts_table_n; i++)
		if (!has_item(page, opts_table[i].name))
			fail_msg("man/tachyscope.1 has no .It line with --%s", opts_table[i].name);
	for (size_t i = 0; i < verbs_table_n; i++)
		assert_non_null(strstr(page, verbs_table[i].name));
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(options_of_attach),
		cmocka_unit_test(options_of_replay),
		cmocka_unit_test(replay_has_all_outputs),
		cmocka_unit_test(the_program_of_run),
		cmocka_unit_test(help_and_version),
		cmocka_unit_test(refusals),
		cmocka_unit_test(rates),
		cmocka_unit_test(distances),
		cmocka_unit_test(the_table_holds),
		cmocka_unit_test(the_man_page_knows_all),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
