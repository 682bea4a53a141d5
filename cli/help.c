/* SPDX-License-Identifier: MIT
 * Lays the tables out on 79 columns. All text here is ours and ASCII.
 */
#include "help.h"

#include <string.h>

#define COLUMNS       79
#define OPTION_INDENT 30 /* where the explanation begins */
#define VERB_INDENT   10

/* Words from `column` on, further lines from `indent` on. */
static void wrap(FILE *file, const char *text, size_t column, size_t indent)
{
	while (*text) {
		size_t len = strcspn(text, " ");
		if (column > indent && column + len + 1 > COLUMNS) {
			(void)fprintf(file, "\n%*s", (int)indent, "");
			column = indent;
		}
		const char *gap = column > indent ? " " : "";
		(void)fprintf(file, "%s%.*s", gap, (int)len, text);
		column += len + strlen(gap);
		text += len;
		text += strspn(text, " ");
	}
	(void)fputc('\n', file);
}

static void write_option(FILE *file, const struct opt *opt)
{
	char left[64];
	const char *argument = opt->argument ? opt->argument : "";
	int n = opt->letter ? snprintf(left, sizeof left, "  -%c, --%s %s", opt->letter, opt->name,
				       argument)
			    : snprintf(left, sizeof left, "      --%s %s", opt->name, argument);
	(void)fputs(left, file);
	if (n + 1 > OPTION_INDENT) {
		(void)fputc('\n', file);
		n = 0;
	}
	(void)fprintf(file, "%*s", OPTION_INDENT - n, "");
	wrap(file, opt->help, OPTION_INDENT, OPTION_INDENT);
}

static void write_options(FILE *file, enum verb verb)
{
	const char *group = "";
	for (size_t i = 0; i < opts_table_n; i++) {
		const struct opt *opt = &opts_table[i];
		if (!(opt->verbs & verb))
			continue;
		if (strcmp(group, opt->group) != 0) {
			group = opt->group;
			(void)fprintf(file, "\n%s:\n", group);
		}
		write_option(file, opt);
	}
}

static void write_verb(FILE *file, const struct verb_info *info)
{
	char about[128];
	(void)fprintf(file, "usage: tachyscope %s %s\n\n", info->name, info->arguments);
	(void)snprintf(about, sizeof about, "%c%s.", info->about[0] - 'a' + 'A', info->about + 1);
	wrap(file, about, 0, 0);
	if (info->more[0]) {
		(void)fputc('\n', file);
		wrap(file, info->more, 0, 0);
	}
	write_options(file, info->verb);
}

static void write_program(FILE *file)
{
	(void)fputs("tachyscope: a sampling profiler for CPython 3.8 to 3.15 that works from "
		    "outside\n\n",
		    file);
	for (size_t i = 0; i < verbs_table_n; i++) {
		(void)fprintf(file, "  %-*s", VERB_INDENT - 2, verbs_table[i].name);
		wrap(file, verbs_table[i].about, VERB_INDENT, VERB_INDENT);
	}
	(void)fputs(
		"\n  tachyscope run script.py        a table of where script.py spent its time\n"
		"  tachyscope attach -d 10 PID     the same of a running program, for ten seconds\n"
		"  tachyscope dump PID             what it does right now\n\n"
		"tachyscope VERB --help tells the options of a verb; tachyscope --version the "
		"version;\ntachyscope help --completion bash, zsh or fish makes them complete "
		"all that.\n",
		file);
}

void help_write(FILE *file, enum verb verb)
{
	for (size_t i = 0; i < verbs_table_n; i++) {
		if (verbs_table[i].verb == verb) {
			write_verb(file, &verbs_table[i]);
			return;
		}
	}
	write_program(file);
}
