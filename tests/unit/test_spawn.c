/* SPDX-License-Identifier: MIT
 * linux/spawn.c: held, released, ended; what cannot be run; signals and descriptors of the child.
 */
#include "cases.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "os/spawn.h"

static char shell[] = "/bin/sh", dash_c[] = "-c";

static struct spawned start(char *script)
{
	char *argv[] = {shell, dash_c, script, NULL};
	struct tachy_error err = {0};
	struct spawned spawned;
	if (spawn_held(argv, &spawned, &err) < 0)
		fail_msg("%s", err.text);
	return spawned;
}

static int end(struct spawned *spawned)
{
	int status = -1;
	assert_int_equal(spawn_wait(spawned, true, &status), 1);
	spawn_done(spawned);
	return status;
}

static void nap_ms(long ms)
{
	(void)nanosleep(&(struct timespec){0, ms * 1000000}, NULL);
}

static void waits_for_the_word(void **state)
{
	char name[] = "/tmp/tachyscope-test-XXXXXX", script[128];
	int fd = mkstemp(name), status;
	(void)state;
	assert_true(fd >= 0);
	(void)snprintf(script, sizeof script, "echo ran >> %s; exit 7", name);
	struct spawned spawned = start(script);
	nap_ms(50);
	assert_int_equal(lseek(fd, 0, SEEK_END), 0); /* nothing yet */
	assert_int_equal(spawn_wait(&spawned, false, &status), 0);
	assert_int_equal(spawn_release(&spawned), 0);
	assert_int_equal(spawn_release(&spawned), TACHY_EINVAL); /* once */
	status = end(&spawned);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_int_equal(lseek(fd, 0, SEEK_END), 4);
	assert_int_equal(spawn_wait(&spawned, true, &status), TACHY_EGONE);
	(void)close(fd);
	(void)unlink(name);
}

static void runs_nothing_without_the_word(void **state)
{
	char name[] = "/tmp/tachyscope-test-XXXXXX", script[128];
	int fd = mkstemp(name);
	(void)state;
	assert_true(fd >= 0);
	(void)snprintf(script, sizeof script, "echo ran > %s", name);
	struct spawned spawned = start(script);
	pid_t pid = spawned.pid;
	spawn_done(&spawned);
	assert_int_equal(kill(pid, 0), -1); /* gone, and no zombie */
	assert_int_equal(lseek(fd, 0, SEEK_END), 0);
	(void)close(fd);
	(void)unlink(name);
}

static void tells_the_signal(void **state)
{
	char script[] = "kill -TERM $$";
	struct spawned spawned = start(script);
	(void)state;
	assert_int_equal(spawn_release(&spawned), 0);
	int status = end(&spawned);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
}

static void refusals(void **state)
{
	static const struct {
		const char *program;
		int code;
		const char *says;
	} cases[] = {
		{"", TACHY_ENOENT, "cannot run"},
		{"no-such-command-at-all", TACHY_ENOENT, "no such command in PATH"},
		{"/no/such/file", TACHY_ENOENT, "No such file"},
		{"/etc/passwd/x", TACHY_ENOENT, "Not a directory"},
		{"/etc/passwd", TACHY_EPERM, "executable"},
		{"/etc", TACHY_EPERM, "directory"},
	};
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		char word[64], *argv[] = {word, NULL};
		struct spawned spawned;
		struct tachy_error err = {0};
		(void)snprintf(word, sizeof word, "%s", cases[i].program);
		assert_int_equal(spawn_held(argv, &spawned, &err), cases[i].code);
		assert_non_null(strstr(err.text, cases[i].says));
	}
}

/* What only exec finds out comes back from the release. */
static void a_missing_interpreter(void **state)
{
	char name[] = "/tmp/tachyscope-test-XXXXXX", *argv[] = {name, NULL};
	static const char text[] = "#!/no/such/interpreter\n";
	struct tachy_error err = {0};
	struct spawned spawned;
	int fd = mkstemp(name);
	(void)state;
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(fchmod(fd, 0755), 0);
	(void)close(fd);
	assert_int_equal(spawn_held(argv, &spawned, &err), 0);
	assert_int_equal(spawn_release(&spawned), TACHY_ENOENT);
	assert_int_equal(WEXITSTATUS(end(&spawned)), 127);
	(void)unlink(name);
}

static void handler(int number)
{
	(void)number;
}

/* Handlers of ours are undone in the child even before it is let go; what is ignored stays ignored. */
static void signals_are_as_they_were(void **state)
{
	char script[] = "sleep 5", ignoring[] = "kill -USR1 $$; exit 4";
	struct sigaction action = {.sa_handler = handler}, before_int, before_usr1;
	(void)state;
	(void)sigaction(SIGINT, &action, &before_int);
	struct spawned spawned = start(script);
	nap_ms(20);
	assert_int_equal(kill(spawned.pid, SIGINT), 0);
	int status = end(&spawned);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
	(void)sigaction(SIGINT, &before_int, NULL);

	action.sa_handler = SIG_IGN;
	(void)sigaction(SIGUSR1, &action, &before_usr1);
	spawned = start(ignoring);
	assert_int_equal(spawn_release(&spawned), 0);
	status = end(&spawned);
	assert_int_equal(WEXITSTATUS(status), 4);
	(void)sigaction(SIGUSR1, &before_usr1, NULL);
}

static size_t open_descriptors(void)
{
	size_t n = 0;
	DIR *dir = opendir("/proc/self/fd");
	assert_non_null(dir);
	while (readdir(dir))
		n++;
	(void)closedir(dir);
	return n;
}

static void no_descriptor_is_left(void **state)
{
	char script[] = "set -- /proc/self/fd/*; exit $#"; /* the shell itself looks: no race */
	size_t before = open_descriptors();
	int wanted = system(script); /* the number that a child gets in any case */
	(void)state;
	for (int i = 0; i < 3; i++) {
		struct spawned spawned = start(script);
		assert_int_equal(spawn_release(&spawned), 0);
		assert_int_equal(WEXITSTATUS(end(&spawned)), WEXITSTATUS(wanted));
	}
	assert_int_equal(open_descriptors(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_for_the_word),
		cmocka_unit_test(runs_nothing_without_the_word),
		cmocka_unit_test(tells_the_signal),
		cmocka_unit_test(refusals),
		cmocka_unit_test(a_missing_interpreter),
		cmocka_unit_test(signals_are_as_they_were),
		cmocka_unit_test(no_descriptor_is_left),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
