/* SPDX-License-Identifier: MIT
 * program.c: which words become which program.
 */
#include "cases.h"

#include <sys/stat.h>
#include <unistd.h>

#include "program.h"

static char folder[] = "/tmp/tachyscope-test-XXXXXX";

static void make(const char *name, mode_t mode)
{
	FILE *file = fopen(name, "w");
	assert_non_null(file);
	(void)fclose(file);
	assert_int_equal(chmod(name, mode), 0);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder) || chdir(folder) < 0)
		return -1;
	make("script.py", 0644);
	make("exec.py", 0755);
	make("plain", 0644);
	make("tool", 0755);
	if (mkdir("package", 0755) < 0 || mkdir("folder", 0755) < 0)
		return -1;
	make("package/__main__.py", 0644);
	return 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = {"script.py", "exec.py", "plain", "tool",
					    "package/__main__.py"};
	(void)state;
	for (size_t i = 0; i < N_OF(names); i++)
		(void)unlink(names[i]);
	(void)rmdir("package");
	(void)rmdir("folder");
	return chdir("/") < 0 ? -1 : rmdir(folder);
}

/* All words of `argv`, parted by blanks, against `wanted`. */
static void check(const struct opts *opts, const char *wanted)
{
	struct tachy_error err = {0};
	char **argv, text[256] = "";
	assert_int_equal(program_argv(opts, &argv, &err), 0);
	for (size_t i = 0; argv[i]; i++) {
		size_t used = strlen(text);
		(void)snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "", argv[i]);
	}
	assert_string_equal(text, wanted);
	program_free(argv);
}

static void words_become_programs(void **state)
{
	static const struct {
		const char *word;
		bool command;
		const char *wanted;
	} cases[] = {
		{"script.py", false, "py script.py -x"},
		{"exec.py", false,
		 "py exec.py -x"}, /* its #! line may name another Python: ours is said */
		{"./script.py", false, "py ./script.py -x"},
		{"plain", false, "py plain -x"},
		{"tool", false, "./tool -x"}, /* here, not in PATH */
		{"./tool", false, "./tool -x"},
		{"package", false, "py package -x"},
		{"folder", false, "folder -x"},
		{"nowhere", false, "nowhere -x"}, /* PATH will tell */
		{"script.py", true, "script.py -x"},
		{"tool", true, "tool -x"},
	};
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		char word[32], option[] = "-x", *program[] = {word, option, NULL};
		struct opts opts = {.python = "py",
				    .command = cases[i].command,
				    .program = program};
		(void)snprintf(word, sizeof word, "%s", cases[i].word);
		check(&opts, cases[i].wanted);
	}
}

static void modules(void **state)
{
	char option[] = "-x", *program[] = {option, NULL};
	struct opts opts = {.python = "py", .module = "http.server", .program = program};
	(void)state;
	check(&opts, "py -m http.server -x");
}

static void a_script_that_is_not_there(void **state)
{
	char word[] = "gone.py", *program[] = {word, NULL}, **argv;
	struct opts opts = {.python = "py", .program = program};
	struct tachy_error err = {0};
	(void)state;
	assert_int_equal(program_argv(&opts, &argv, &err), TACHY_ENOENT);
	assert_non_null(strstr(err.text, "gone.py"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_become_programs),
		cmocka_unit_test(modules),
		cmocka_unit_test(a_script_that_is_not_there),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
