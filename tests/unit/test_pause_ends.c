/* SPDX-License-Identifier: MIT
 * os/pause when something ends meanwhile: the target, by itself, by a signal or by an exec, or we.
 */
#include "pause_target.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/proc.h"

/* A process that holds `pid`, and says so; the caller kills it. */
static pid_t start_holder(pid_t pid)
{
	board->flag = 0;
	pid_t holder = fork();
	if (holder == 0) {
		struct pause *pause;
		if (pause_open(pid, &pause) < 0 || pause_stop(pause) < 0)
			_exit(1);
		board->flag = 1;
		for (;;)
			(void)sleep(1000);
	}
	assert_true(holder > 0);
	await(board->flag == 1);
	return holder;
}

static void test_killed_while_holding(void **state)
{
	(void)state;
	pid_t pid = start(body_threads);
	await(board->n_ready == 10);
	finish(start_holder(pid));
	assert_untraced(pid);
	assert_works();

	assert_int_equal(kill(pid, SIGSTOP), 0);
	await(is_in_state(pid, 'T'));
	finish(start_holder(pid));
	uint64_t work = board->work;
	assert_untraced(pid);
	await(is_in_state(pid, 'T'));
	sleep_us(5000);
	assert_int_equal(board->work, work);
	finish(pid);
}

static void body_ends(void)
{
	start_thread(sleep_often);
	start_thread(sleep_often);
	board->n_ready++;
	while (!board->flag)
		;
	_exit(7); /* not exit(): a leak checker that traces is at work in there */
}

static void test_exit_status_is_not_taken(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		int status, code;
		pid_t pid = start(body_ends);
		await(board->n_ready == 3);
		struct pause *pause = open_pause(pid);
		hold(pause);
		if (i % 2)
			assert_int_equal(kill(pid, SIGKILL), 0); /* while it is held */
		let_go(pause);
		board->flag = 1;
		while ((code = pause_stop(pause)) != TACHY_EGONE) {
			assert_true(code == 0 || code == TACHY_EAGAIN);
			let_go(pause);
		}
		pause_close(pause);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, i % 2 ? SIGKILL : 7 << 8);
	}
}

static void body_parent(void)
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		start_thread(sleep_often);
		start_thread(sleep_often);
		count_up(NULL);
	}
	board->pid = child;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	_exit(WIFSIGNALED(status) ? WTERMSIG(status) : 97);
}

static void test_other_parent_gets_the_status(void **state)
{
	(void)state;
	int status;
	pid_t parent = start(body_parent);
	await(board->n_ready == 3 && board->pid > 0);
	struct pause *pause = open_pause(board->pid);
	hold(pause);
	assert_int_equal(kill(board->pid, SIGKILL), 0);
	let_go(pause);
	assert_int_equal(waitpid(parent, &status, 0), parent); /* before pause_close */
	assert_int_equal(status, SIGKILL << 8);
	assert_int_equal(pause_stop(pause), TACHY_EGONE);
	pause_close(pause);
}

static char board_address[32];

static void *exec_again(void *arg)
{
	sleep_us(500);
	static char name[] = "test_pause", role[] = "exec-target";
	char *const argv[] = {name, role, arg, NULL};
	(void)execv("/proc/self/exe", argv);
	_exit(96);
}

/* A program that executes itself for ever, from a thread that is not the first. `arg` is the file
 * descriptor of the board. */
static int exec_target(const char *arg)
{
	board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(arg), 0);
	if (board == MAP_FAILED)
		return 95;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* was the other thread's */
	(void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	if (getppid() != board->pid)
		return 94;
	board->work++;
	board->n_ready++;
	pthread_t thread;
	for (int i = 0; i < 4; i++) /* others, to be ended by the exec; as many as can be had */
		if (pthread_create(&thread, NULL, sleep_often, NULL) != 0)
			break;
	while (pthread_create(&thread, NULL, exec_again, (void *)(uintptr_t)arg) != 0)
		sleep_us(1000);
	for (;;)
		board->signal_sum++;
}

static void body_exec(void)
{
	board->pid = getppid();
	exec_again(board_address);
}

static void test_exec_in_between(void **state)
{
	(void)state;
	struct board *old = board;
	int fd = memfd_create("board", 0), n_held = 0;
	assert_true(fd >= 0 && ftruncate(fd, sizeof *board) == 0);
	board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(board != MAP_FAILED);
	(void)snprintf(board_address, sizeof board_address, "%d", fd);
	pid_t pid = start(body_exec);
	await(board->n_ready > 2);
	struct pause *pause = open_pause(pid);
	for (int i = 0; i < 1000; i++) {
		int code = pause_stop(pause);
		if (code != TACHY_EAGAIN)
			assert_int_equal(code, 0);
		if (code == 0) {
			uint64_t sum = board->signal_sum, work = board->work;
			sleep_us(50);
			assert_int_equal(board->signal_sum, sum);
			assert_int_equal(board->work, work);
			n_held++;
		}
		let_go(pause);
	}
	assert_true(n_held > 900);
	pause_close(pause);
	assert_untraced(pid);
	assert_works();
	finish(pid);
	(void)munmap(board, sizeof *board);
	(void)close(fd);
	board = old;
}

static void body_vfork(void)
{
	start_thread(count_up);
	for (;;) {
		pid_t child = vfork();
		if (child == 0) {
			board->n_ready++;
			sleep_us(30000);
			_exit(0);
		}
		(void)waitpid(child, NULL, 0);
	}
}

static void test_deep_in_the_kernel(void **state)
{
	(void)state;
	pid_t pid = start(body_vfork);
	await(board->n_ready >= 2);
	struct pause *pause = open_pause(pid);
	for (int i = 0; i < 30; i++) {
		hold(pause);
		uint64_t work = board->work;
		sleep_us(1000);
		assert_int_equal(board->work, work);
		let_go(pause);
		sleep_us(3000);
	}
	pause_close(pause);
	assert_untraced(pid);
	assert_works();
	finish(pid);
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "exec-target") == 0)
		return exec_target(argv[2]);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed_while_holding),
		cmocka_unit_test(test_exit_status_is_not_taken),
		cmocka_unit_test(test_other_parent_gets_the_status),
		cmocka_unit_test(test_exec_in_between),
		cmocka_unit_test(test_deep_in_the_kernel),
	};
	return cmocka_run_group_tests_name("pause_ends", tests, make_board, NULL);
}
