/* SPDX-License-Identifier: MIT
 * One writer per shell over the same tables. All text is ours; it is quoted for the shell all the same,
 * since help texts hold quotes and brackets.
 */
#include "completion.h"

#include <string.h>

#include "opts.h"
#include "opts_value.h"

/* What stands at the place of a value. */
enum value_kind { VALUE_NONE, VALUE_WORDS, VALUE_FILE, VALUE_FREE };

static enum value_kind kind_of(const struct opt *opt)
{
	static const char *const files[] = {"PATH", "FILE", "BASE", "EXE"};
	if (!opt->argument)
		return VALUE_NONE;
	if (opt->choices || strcmp(opt->name, "format") == 0)
		return VALUE_WORDS;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		if (strcmp(opt->argument, files[i]) == 0)
			return VALUE_FILE;
	return VALUE_FREE;
}

static void write_words(FILE *file, const struct opt *opt)
{
	const char *gap = "";
	if (!opt->choices)
		for (const struct tachy_format *at = tachy_formats(); at->name; at++, gap = " ")
			(void)fprintf(file, "%s%s", gap, at->name);
	for (const struct value_choice *at = opt->choices; at && at->name; at++, gap = " ")
		(void)fprintf(file, "%s%s", gap, at->name);
}

static void write_verb_names(FILE *file)
{
	for (size_t i = 0; i < verbs_table_n; i++)
		(void)fprintf(file, "%s ", verbs_table[i].name);
	(void)fputs("help", file);
}

/* The first clause of a help text, within single quotes: `quote` is how a quote is written in them,
 * `special` gets a backslash. */
static void write_about(FILE *file, const char *help, const char *quote, const char *special)
{
	const char *colon = strstr(help, ": ");
	if (strncmp(help, "-f ", 3) == 0 && colon)
		help = colon + 2;
	size_t len = strcspn(help, ":;([");
	while (len > 0 && help[len - 1] == ' ')
		len--;
	for (size_t i = 0; i < len; i++) {
		if (help[i] == '\'')
			(void)fputs(quote, file);
		else
			(void)fprintf(file, "%s%c", strchr(special, help[i]) ? "\\" : "", help[i]);
	}
}

/* "--mode|-m" of all options of that kind, or nothing; returns whether there was one. */
static bool write_pattern(FILE *file, enum value_kind kind)
{
	const char *bar = "\t";
	for (size_t i = 0; i < opts_table_n; i++) {
		const struct opt *opt = &opts_table[i];
		if (kind_of(opt) != kind)
			continue;
		(void)fprintf(file, "%s--%s", bar, opt->name);
		bar = "|";
		if (opt->letter)
			(void)fprintf(file, "|-%c", opt->letter);
	}
	return strcmp(bar, "|") == 0;
}

/* ---- bash ---------------------------------------------------------------------------------------- */

static void bash_values(FILE *file)
{
	(void)fputs("\tcase $before in\n", file);
	for (size_t i = 0; i < opts_table_n; i++) {
		const struct opt *opt = &opts_table[i];
		if (kind_of(opt) != VALUE_WORDS)
			continue;
		(void)fprintf(file, "\t--%s", opt->name);
		if (opt->letter)
			(void)fprintf(file, "|-%c", opt->letter);
		(void)fputs(") _tachyscope_words '", file);
		write_words(file, opt);
		(void)fputs("'; return ;;\n", file);
	}
	if (write_pattern(file, VALUE_FILE))
		(void)fputs(") _tachyscope_files; return ;;\n", file);
	if (write_pattern(file, VALUE_FREE))
		(void)fputs(") return ;;\n", file);
	(void)fputs("\tesac\n", file);
}

static void bash_options(FILE *file)
{
	(void)fputs("\tcase $verb in\n", file);
	for (size_t i = 0; i < verbs_table_n; i++) {
		(void)fprintf(file, "\t%s) options='", verbs_table[i].name);
		const char *gap = "";
		for (size_t j = 0; j < opts_table_n; j++) {
			if (!(opts_table[j].verbs & verbs_table[i].verb))
				continue;
			(void)fprintf(file, "%s--%s", gap, opts_table[j].name);
			gap = " ";
			if (opts_table[j].letter)
				(void)fprintf(file, " -%c", opts_table[j].letter);
		}
		(void)fputs("' ;;\n", file);
	}
	(void)fputs("\t*) options='--completion' ;;\n\tesac\n", file);
}

/* Where the program of `run` begins: what follows is its own. */
static void bash_program(FILE *file)
{
	(void)fputs(
		"\twhile [[ $verb == run && $at -lt $COMP_CWORD ]]; do\n"
		"\t\tcase ${COMP_WORDS[at]} in\n"
		"\t\t--) if ((at + 1 == COMP_CWORD)); then COMPREPLY=($(compgen -c -- \"$word\"));"
		" else _tachyscope_files; fi; return ;;\n\t",
		file);
	(void)write_pattern(file, VALUE_WORDS);
	(void)fputs(") ((at += 2)) ;;\n\t", file);
	(void)write_pattern(file, VALUE_FILE);
	(void)fputs(") ((at += 2)) ;;\n\t", file);
	(void)write_pattern(file, VALUE_FREE);
	(void)fputs(
		") ((at += 2)) ;;\n"
		"\t\t-*|=) ((at++)) ;;\n"
		"\t\t*) if [[ ${COMP_WORDS[at - 1]} == = ]]; then ((at++)); else _tachyscope_files;"
		" return; fi ;;\n"
		"\t\tesac\n"
		"\tdone\n",
		file);
}

static void bash_write(FILE *file)
{
	(void)fputs("# bash completion for tachyscope; made by: tachyscope help --completion bash\n"
		    "_tachyscope_words() { COMPREPLY=($(compgen -W \"$1\" -- \"$word\")); }\n"
		    "_tachyscope_files() { compopt -o filenames; COMPREPLY=($(compgen -f -- "
		    "\"$word\")); "
		    "}\n"
		    "_tachyscope()\n{\n"
		    "\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
		    "\tlocal verb=${COMP_WORDS[1]} at=2 options IFS=$' \\t\\n'\n"
		    "\tCOMPREPLY=()\n"
		    "\tif ((COMP_CWORD == 1)); then\n\t\t_tachyscope_words '",
		    file);
	write_verb_names(file);
	(void)fputs(" --help --version'\n\t\treturn\n\tfi\n"
		    "\tif [[ $word == = ]]; then word=; "
		    "elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi\n",
		    file);
	bash_program(file);
	bash_values(file);
	bash_options(file);
	(void)fputs("\tif [[ $verb == help && $before == --completion ]]; then\n"
		    "\t\t_tachyscope_words 'bash zsh fish'\n"
		    "\telif [[ $word == -* ]]; then\n"
		    "\t\t_tachyscope_words \"$options\"\n"
		    "\telse\n"
		    "\t\tcase $verb in\n"
		    "\t\tattach|dump) _tachyscope_words \"$(\"${COMP_WORDS[0]}\" ps 2>/dev/null | "
		    "while read -r pid rest; do [[ $pid == PID ]] || echo \"$pid\"; done)\" ;;\n"
		    "\t\trun|replay) _tachyscope_files ;;\n"
		    "\t\thelp) _tachyscope_words '",
		    file);
	write_verb_names(file);
	(void)fputs("' ;;\n\t\tesac\n\tfi\n}\ncomplete -F _tachyscope tachyscope\n", file);
}

/* ---- zsh ----------------------------------------------------------------------------------------- */

static bool may_be_repeated(const struct opt *opt)
{
	return opt->argument &&
	       (strstr(opt->help, "repeated") || strcmp(opt->argument, "PATTERN") == 0);
}

static void zsh_option(FILE *file, const struct opt *opt)
{
	(void)fputs(" \\\n\t\t\t", file);
	if (opt->letter)
		(void)fprintf(file, "'(-%c --%s)'{-%c%s,--%s%s}'[", opt->letter, opt->name,
			      opt->letter, opt->argument ? "+" : "", opt->name,
			      opt->argument ? "=" : "");
	else
		(void)fprintf(file, "'%s--%s%s[", may_be_repeated(opt) ? "*" : "", opt->name,
			      opt->argument ? "=" : "");
	write_about(file, opt->help, "'\\''", "[]\\");
	(void)fputc(']', file);
	if (opt->argument)
		(void)fprintf(file, ":%s:", opt->argument);
	if (kind_of(opt) == VALUE_FILE)
		(void)fputs("_files", file);
	if (kind_of(opt) == VALUE_WORDS) {
		(void)fputc('(', file);
		write_words(file, opt);
		(void)fputc(')', file);
	}
	(void)fputc('\'', file);
}

static void zsh_rest(FILE *file, enum verb verb)
{
	static const struct {
		enum verb verb;
		const char *what;
	} rests[] = {
		{VERB_RUN, " \\\n\t\t\t'1:program:_files' '*::argument:_normal'"},
		{VERB_ATTACH, " \\\n\t\t\t'*:process:_tachyscope_pids'"},
		{VERB_DUMP, " \\\n\t\t\t'1:process:_tachyscope_pids'"},
		{VERB_REPLAY, " \\\n\t\t\t'1:recording:_files'"},
	};
	for (size_t i = 0; i < sizeof rests / sizeof rests[0]; i++)
		if (rests[i].verb == verb)
			(void)fputs(rests[i].what, file);
}

static void zsh_write(FILE *file)
{
	(void)fputs("#compdef tachyscope\n"
		    "# zsh completion for tachyscope; made by: tachyscope help --completion zsh\n"
		    "_tachyscope_pids() {\n"
		    "\tlocal -a pids\n"
		    "\tlocal pid version threads command\n"
		    "\t_call_program pids tachyscope ps 2>/dev/null | while read -r pid version "
		    "threads "
		    "command; do\n"
		    "\t\t[[ $pid == PID ]] || pids+=(\"$pid:$command\")\n"
		    "\tdone\n"
		    "\t_describe -t pids 'running Python' pids\n"
		    "}\n"
		    "_tachyscope() {\n"
		    "\tlocal context state state_descr line\n"
		    "\tlocal -A opt_args\n"
		    "\tlocal -a verbs=(\n",
		    file);
	for (size_t i = 0; i < verbs_table_n; i++)
		(void)fprintf(file, "\t\t'%s:%s'\n", verbs_table[i].name, verbs_table[i].about);
	(void)fputs(
		"\t\t'help:the options of a verb'\n\t)\n"
		"\t_arguments -C '(- *)'{-h,--help}'[help]' '(- *)'{-V,--version}'[the version]' "
		"'1: :->verb' '*:: :->rest'\n"
		"\tif [[ $state == verb ]]; then\n\t\t_describe verb verbs\n\t\treturn\n\tfi\n"
		"\t[[ $state == rest ]] && case $words[1] in\n",
		file);
	for (size_t i = 0; i < verbs_table_n; i++) {
		(void)fprintf(file, "\t%s)\n\t\t_arguments -s -S", verbs_table[i].name);
		for (size_t j = 0; j < opts_table_n; j++)
			if (opts_table[j].verbs & verbs_table[i].verb)
				zsh_option(file, &opts_table[j]);
		zsh_rest(file, verbs_table[i].verb);
		(void)fputs(" ;;\n", file);
	}
	(void)fputs("\thelp)\n\t\t_arguments '--completion[for a shell]:shell:(bash zsh fish)' "
		    "'1:verb:(",
		    file);
	write_verb_names(file);
	(void)fputs(")' ;;\n\tesac\n}\n"
		    "if [[ $funcstack[1] == _tachyscope ]]; then\n\t_tachyscope \"$@\"\n"
		    "else\n\tcompdef _tachyscope tachyscope\nfi\n",
		    file);
}

/* ---- fish ---------------------------------------------------------------------------------------- */

static void fish_option(FILE *file, const struct opt *opt)
{
	(void)fputs("complete -c tachyscope -n '__fish_seen_subcommand_from", file);
	for (size_t i = 0; i < verbs_table_n; i++)
		if (opt->verbs & verbs_table[i].verb)
			(void)fprintf(file, " %s", verbs_table[i].name);
	(void)fprintf(file, "' -l %s", opt->name);
	if (opt->letter)
		(void)fprintf(file, " -s %c", opt->letter);
	if (kind_of(opt) == VALUE_FILE)
		(void)fputs(" -r -F", file);
	if (kind_of(opt) == VALUE_FREE)
		(void)fputs(" -x", file);
	if (kind_of(opt) == VALUE_WORDS) {
		(void)fputs(" -x -a '", file);
		write_words(file, opt);
		(void)fputc('\'', file);
	}
	(void)fputs(" -d '", file);
	write_about(file, opt->help, "\\'", "\\");
	(void)fputs("'\n", file);
}

static void fish_write(FILE *file)
{
	(void)fputs("# fish completion for tachyscope; made by: tachyscope help --completion fish\n"
		    "function __tachyscope_pids\n"
		    "\ttachyscope ps 2>/dev/null | while read -l pid version threads command\n"
		    "\t\ttest $pid = PID; or printf '%s\\t%s\\n' $pid $command\n"
		    "\tend\n"
		    "end\n"
		    "complete -c tachyscope -n __fish_use_subcommand -f\n",
		    file);
	for (size_t i = 0; i < verbs_table_n; i++)
		(void)fprintf(file,
			      "complete -c tachyscope -n __fish_use_subcommand -a %s -d '%s'\n",
			      verbs_table[i].name, verbs_table[i].about);
	(void)fputs(
		"complete -c tachyscope -n __fish_use_subcommand -a help -d 'the options of a "
		"verb'\n"
		"complete -c tachyscope -n '__fish_seen_subcommand_from attach dump' -f "
		"-a '(__tachyscope_pids)'\n"
		"complete -c tachyscope -n '__fish_seen_subcommand_from ps' -f\n"
		"complete -c tachyscope -n '__fish_seen_subcommand_from help' -f -l completion -x "
		"-a 'bash zsh fish' -d 'for a shell'\n",
		file);
	for (size_t i = 0; i < opts_table_n; i++)
		fish_option(file, &opts_table[i]);
}

void completion_write(FILE *file, const char *shell)
{
	if (strcmp(shell, "bash") == 0)
		bash_write(file);
	else if (strcmp(shell, "zsh") == 0)
		zsh_write(file);
	else
		fish_write(file);
}
