/* SPDX-License-Identifier: MIT
 * procfs.c and threads.c
 */
#include "cases.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/proc.h"

#define TAIL \
	" 100 200 300 0 -1 4194304 10 11 12 13 14 15 16 17 20 0 5 0 777 1000 2000 " \
	"18446744073709551615 " \
	"1 2 140722 0 0 0 0 0 0 0 0 0 17 3 0 0 0 0 0 0 0 0 0 0 0 0 0"

static void parses_stat(void **state)
{
	static const struct {
		const char *comm;
		char state;
	} cases[] = {{"python3", 'S'}, {"a b", 'R'}, {"x) R 1 2 3 (y", 'D'},
		     {"", 'Z'},        {")", 'T'},   {"((", 't'}};
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		char text[512];
		struct proc_stat stat;
		(void)snprintf(text, sizeof text, "42 (%s) %c%s", cases[i].comm, cases[i].state,
			       TAIL);
		assert_int_equal(proc_stat_parse(text, strlen(text), &stat), 0);
		assert_string_equal(stat.comm, cases[i].comm);
		assert_int_equal(stat.state, cases[i].state);
		assert_int_equal(stat.ppid, 100);
		assert_int_equal(stat.pgrp, 200);
		assert_int_equal(stat.session, 300);
		assert_int_equal(stat.n_threads, 5);
		assert_int_equal(stat.start_time, 777);
		assert_int_equal(stat.cpu_ticks, 29);
		assert_int_equal(stat.start_stack, 140722);
		assert_int_equal(stat.cpu, 3);
		assert_false(stat.kernel_thread);
	}
}

static void refuses_bad_stat(void **state)
{
	static const char *const cases[] = {"",
					    "42",
					    "42 (x",
					    "42 x) S 1",
					    "42 (x)",
					    "42 (x) ",
					    "42 (x) 5 1 2 3",
					    ")(",
					    "42 (x) S 1 2 3 4 5 6",
					    "42 (x) S 1 2 3 x 5 6 7 8 9 10 11 12 13 14 15"};
	struct proc_stat stat;
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++)
		assert_int_equal(proc_stat_parse(cases[i], strlen(cases[i]), &stat),
				 TACHY_ECORRUPT);
}

static void kernel_threads_are_told(void **state)
{
	static const char text[] =
		"2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 3 0 0 20 0 1 0 9 0 0";
	struct proc_stat stat;
	(void)state;
	assert_int_equal(proc_stat_parse(text, strlen(text), &stat), 0);
	assert_true(stat.kernel_thread);
	assert_int_equal(stat.cpu, -1); /* cut off before it */
}

static void parses_status(void **state)
{
	static const char text[] =
		"Name:\tTgid: 7\\n\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t901\nNgid:\t0\n"
		"Pid:\t902\nPPid:\t1\nTracerPid:\t55\nUid:\t1000\t1001\t1002\t1003\n"
		"Gid:\t7\t8\t9\t10\nNStgid:\t901\t12\t1\nNSpid:\t902\t13\t2\nNSpgid:\t1\t2\t3\n";
	struct proc_status status;
	(void)state;
	assert_int_equal(proc_status_parse(text, strlen(text), &status), 0);
	assert_int_equal(status.tgid, 901);
	assert_int_equal(status.tracer_pid, 55);
	assert_int_equal(status.uid, 1000);
	assert_int_equal(status.euid, 1001);
	assert_int_equal(status.gid, 7);
	assert_int_equal(status.egid, 8);
	assert_int_equal(status.n_ns, 3);
	assert_int_equal(status.ns_pid, 2);

	static const char old[] =
		"Tgid:\t9\nPid:\t10\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\n"; /* no NSpid */
	assert_int_equal(proc_status_parse(old, strlen(old), &status), 0);
	assert_int_equal(status.n_ns, 1);
	assert_int_equal(status.ns_pid, 10);

	static const char *const bad[] = {"", "Pid:\t1\n",
					  "Tgid:\t1\nPid:\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\n",
					  "Tgid:\t1\nPid:\t1\nUid:\t0\nGid:\t0\t0\t0\t0\n"};
	for (size_t i = 0; i < N_OF(bad); i++)
		assert_int_equal(proc_status_parse(bad[i], strlen(bad[i]), &status),
				 TACHY_ECORRUPT);
}

static void reads_ourselves(void **state)
{
	struct proc_stat stat;
	struct proc_status status;
	char text[512], tiny[4];
	(void)state;
	assert_int_equal(proc_stat_read(getpid(), &stat), 0);
	assert_int_equal(stat.ppid, getppid());
	assert_int_equal(stat.state, 'R');
	assert_true(stat.start_time > 0 && stat.cpu >= 0);
	assert_int_equal(proc_thread_stat_read(getpid(), getpid(), &stat), 0);
	assert_int_equal(proc_status_read(getpid(), &status), 0);
	assert_int_equal(status.uid, getuid());
	assert_int_equal(status.tgid, getpid());
	assert_int_equal(proc_command(getpid(), text, sizeof text), 0);
	assert_non_null(strstr(text, "_proc"));
	assert_int_equal(proc_command(getpid(), tiny, sizeof tiny), 0);
	assert_int_equal(strlen(tiny), sizeof tiny - 1);
	assert_int_equal(proc_comm(getpid(), getpid(), text, sizeof text), 0);
	assert_non_null(strstr(text, "proc"));
	assert_int_equal(proc_exe_path(getpid(), text, sizeof text), 0);
	assert_int_equal(text[0], '/');
}

static void says_gone(void **state)
{
	const pid_t none = 0x3fffffff;
	struct proc_stat stat;
	struct proc_status status;
	struct proc_identity identity;
	struct proc_tids tids = {0};
	char text[64];
	pid_t tid;
	(void)state;
	assert_int_equal(proc_stat_read(none, &stat), TACHY_EGONE);
	assert_int_equal(proc_stat_read(0, &stat), TACHY_EGONE);
	assert_int_equal(proc_stat_read(-1, &stat), TACHY_EGONE);
	assert_int_equal(proc_thread_stat_read(getpid(), none, &stat), TACHY_EGONE);
	assert_int_equal(proc_status_read(none, &status), TACHY_EGONE);
	assert_int_equal(proc_identity_read(none, &identity), TACHY_EGONE);
	assert_int_equal(proc_command(none, text, sizeof text), TACHY_EGONE);
	assert_int_equal(proc_exe_path(none, text, sizeof text), TACHY_EGONE);
	assert_int_equal(proc_tids_read(none, &tids), TACHY_EGONE);
	assert_int_equal(proc_tid_from_ns(none, 1, &tid), TACHY_EGONE);
	proc_tids_done(&tids);
}

static int ready[2];

static void *name_and_wait(void *arg)
{
	(void)prctl(PR_SET_NAME, "a (thread)");
	(void)write(ready[1], "x", 1);
	(void)pause();
	return arg;
}

static void lists_threads(void **state)
{
	pthread_t threads[3];
	struct proc_tids tids = {0};
	char byte, name[PROC_COMM_MAX];
	size_t n_named = 0;
	(void)state;
	assert_int_equal(pipe(ready), 0);
	for (size_t i = 0; i < N_OF(threads); i++) {
		assert_int_equal(pthread_create(&threads[i], NULL, name_and_wait, NULL), 0);
		assert_int_equal(read(ready[0], &byte, 1), 1);
	}
	assert_int_equal(proc_tids_read(getpid(), &tids), 0);
	assert_int_equal(proc_tids_read(getpid(), &tids), 0); /* refills */
	assert_int_equal(tids.n, 1 + N_OF(threads));
	assert_int_equal(tids.at[0].tid, getpid());
	for (size_t i = 0; i < tids.n; i++) {
		struct proc_stat stat;
		assert_int_equal(proc_thread_stat_read(getpid(), tids.at[i].tid, &stat), 0);
		assert_int_equal(proc_comm(getpid(), tids.at[i].tid, name, sizeof name), 0);
		assert_string_equal(stat.comm, name);
		n_named += strcmp(name, "a (thread)") == 0;
		pid_t back = 0;
		assert_int_equal(proc_tid_from_ns(getpid(), tids.at[i].ns_tid, &back), 0);
		assert_int_equal(back, tids.at[i].tid);
	}
	assert_int_equal(n_named, N_OF(threads));
	pid_t none;
	assert_int_equal(proc_tid_from_ns(getpid(), 0x3fffffff, &none), TACHY_ENOENT);
	proc_tids_done(&tids);
	for (size_t i = 0; i < N_OF(threads); i++) {
		(void)pthread_cancel(threads[i]);
		(void)pthread_join(threads[i], NULL);
	}
}

static pid_t spawn(const char *program, const char *argument)
{
	pid_t pid = fork();
	if (pid == 0) {
		(void)execlp(program, program, argument, (char *)NULL);
		_exit(127);
	}
	return pid;
}

/* Waits until the child's name is `comm`. */
static void until_comm(pid_t pid, const char *comm)
{
	char name[PROC_COMM_MAX] = "";
	for (int i = 0; i < 500 && strcmp(name, comm) != 0; i++) {
		(void)usleep(10000);
		(void)proc_comm(pid, pid, name, sizeof name);
	}
	assert_string_equal(name, comm);
}

static void recognises_an_exec(void **state)
{
	struct proc_identity before, same;
	(void)state;
	/* the shell waits for a line, then becomes another program under the same pid */
	int in[2];
	assert_int_equal(pipe(in), 0);
	pid_t pid = fork();
	if (pid == 0) {
		(void)dup2(in[0], 0);
		(void)execlp("sh", "sh", "-c", "read x; exec sleep 100", (char *)NULL);
		_exit(127);
	}
	until_comm(pid, "sh");
	assert_int_equal(proc_identity_read(pid, &before), 0);
	assert_int_equal(proc_identity_read(pid, &same), 0);
	assert_int_equal(proc_identity_check(pid, &before), 0);
	assert_int_equal(write(in[1], "\n", 1), 1);
	until_comm(pid, "sleep");
	assert_int_equal(proc_identity_check(pid, &before), TACHY_EEXEC);
	struct proc_identity reused = before;
	reused.start_time--;
	assert_int_equal(proc_identity_check(pid, &reused), TACHY_EGONE);

	(void)kill(pid, SIGKILL);
	siginfo_t info;
	(void)waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	assert_int_equal(proc_identity_check(pid, &before), TACHY_EGONE); /* a zombie */
	struct proc_stat stat;
	assert_int_equal(proc_stat_read(pid, &stat), 0);
	assert_int_equal(stat.state, 'Z');
	char command[64];
	assert_int_equal(proc_command(pid, command, sizeof command), 0);
	assert_string_equal(command, "[sleep]");
	(void)waitpid(pid, NULL, 0);
}

/* A process in a pid namespace of its own calls its threads by other numbers. */
static void maps_ids_of_a_namespace(void **state)
{
	(void)state;
	int in[2], out[2];
	assert_int_equal(pipe(in) | pipe(out), 0);
	pid_t helper = fork();
	if (helper == 0) {
		if (unshare(CLONE_NEWPID) < 0)
			_exit(77);
		pid_t inner = fork();
		if (inner == 0) {
			char byte;
			(void)read(in[0], &byte, 1);
			_exit(0);
		}
		(void)write(out[1], &inner, sizeof inner);
		(void)waitpid(inner, NULL, 0);
		_exit(0);
	}
	(void)close(out[1]);
	pid_t inner, tid = 0;
	bool may = read(out[0], &inner, sizeof inner) == sizeof inner;
	if (may) {
		struct proc_status status;
		struct proc_tids tids = {0};
		assert_int_equal(proc_status_read(inner, &status), 0);
		assert_int_equal(status.n_ns, 2);
		assert_int_equal(status.ns_pid, 1);
		assert_int_equal(proc_tid_from_ns(inner, 1, &tid), 0);
		assert_int_equal(tid, inner);
		assert_int_equal(proc_tid_from_ns(inner, inner, &tid), TACHY_ENOENT);
		assert_int_equal(proc_tids_read(inner, &tids), 0);
		assert_int_equal(tids.n, 1);
		assert_int_equal(tids.at[0].ns_tid, 1);
		proc_tids_done(&tids);
		assert_int_equal(write(in[1], "x", 1), 1);
	}
	(void)waitpid(helper, NULL, 0);
	if (!may)
		skip(); /* not let to make namespaces */
}

static void lists_processes(void **state)
{
	pid_t *pids, child = spawn("sleep", "100");
	size_t n, found = 0;
	(void)state;
	assert_int_equal(proc_list(&pids, &n), 0);
	for (size_t i = 0; i < n; i++)
		found += pids[i] == getpid() || pids[i] == child;
	assert_int_equal(found, 2);
	free(pids);
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
}

static void *pauses(void *arg)
{
	for (;;)
		(void)pause();
	return arg;
}

static void body_first_ends(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, pauses, NULL) != 0)
		_exit(1);
	(void)write(ready[1], "x", 1);
	pthread_exit(NULL);
}

static void first_thread_ends(void **state)
{
	(void)state;
	struct proc_stat stat = {0};
	struct proc_identity before, identity;
	struct proc_maps maps;
	char byte, path[512], own[512];
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(proc_living_id(getpid()), getpid());
	assert_int_equal(proc_identity_read(getpid(), &before), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0)
		body_first_ends();
	assert_int_equal(read(ready[0], &byte, 1), 1);
	while (proc_stat_read(child, &stat) == 0 && stat.state != 'Z')
		(void)usleep(1000);
	assert_false(proc_stat_is_over(&stat));
	pid_t living = proc_living_id(child);
	assert_int_not_equal(living, child);
	assert_int_equal(proc_thread_stat_read(child, living, &stat), 0);
	assert_int_equal(proc_maps_read(child, &maps), 0);
	assert_true(maps.n > 0);
	proc_maps_done(&maps);
	assert_int_equal(proc_exe_path(child, path, sizeof path), 0);
	assert_int_equal(proc_exe_path(getpid(), own, sizeof own), 0);
	assert_string_equal(path, own);
	assert_int_equal(proc_identity_read(child, &identity), 0);
	assert_int_equal(identity.exe_inode, before.exe_inode);
	(void)kill(child, SIGKILL);
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(proc_stat_read(child, &stat), 0);
	assert_true(proc_stat_is_over(&stat));
	assert_int_equal(proc_living_id(child), child);
	assert_int_equal(proc_identity_read(child, &identity), TACHY_EGONE);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(proc_living_id(child), child);
	(void)close(ready[0]);
	(void)close(ready[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_stat),
		cmocka_unit_test(refuses_bad_stat),
		cmocka_unit_test(kernel_threads_are_told),
		cmocka_unit_test(parses_status),
		cmocka_unit_test(reads_ourselves),
		cmocka_unit_test(says_gone),
		cmocka_unit_test(lists_threads),
		cmocka_unit_test(recognises_an_exec),
		cmocka_unit_test(maps_ids_of_a_namespace),
		cmocka_unit_test(lists_processes),
		cmocka_unit_test(first_thread_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
