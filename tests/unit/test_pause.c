/* SPDX-License-Identifier: MIT
 * os/pause against real processes that go on: do they stand still, and does nothing of theirs get lost.
 */
#include "pause_target.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/proc.h"

static void body_busy(void)
{
	count_up(NULL);
}

static void *do_nothing(void *arg)
{
	return arg;
}

static void body_churn(void)
{
	board->n_ready++;
	for (;; board->work++)
		for (int i = 0; i < 3; i++) {
			pthread_t thread;
			if (pthread_create(&thread, NULL, do_nothing, NULL) == 0)
				(void)pthread_detach(thread);
		}
}

static void body_leader_gone(void)
{
	start_thread(count_up);
	start_thread(sleep_often);
	pthread_exit(NULL);
}

/* Stops and resumes `n` times; nothing moves in between. */
static void stop_often(pid_t pid, int n)
{
	struct pause *pause = open_pause(pid);
	for (int i = 0; i < n; i++) {
		hold(pause);
		uint64_t work = board->work;
		assert_true(pause_n_threads(pause) > 0);
		sleep_us(i % 16 == 0 ? 2000 : 20);
		assert_int_equal(board->work, work);
		let_go(pause);
	}
	assert_untraced(pid);
	assert_works();
	pause_close(pause);
}

static void test_one_thread(void **state)
{
	(void)state;
	pid_t pid = start(body_busy);
	await(board->n_ready == 1);
	stop_often(pid, 300);
	finish(pid);
}

static void test_threads(void **state)
{
	(void)state;
	pid_t pid = start(body_threads);
	await(board->n_ready == 10);
	struct pause *pause = open_pause(pid);
	hold(pause);
	assert_int_equal(pause_n_threads(pause), 10);
	assert_int_equal(pause_stop(pause), TACHY_EINVAL);
	let_go(pause);
	pause_close(pause);
	stop_often(pid, 200);
	finish(pid);
}

static void test_threads_come_and_go(void **state)
{
	(void)state;
	pid_t pid = start(body_churn);
	await(board->n_ready == 1);
	stop_often(pid, 300);
	finish(pid);
}

static void test_leader_gone(void **state)
{
	(void)state;
	pid_t pid = start(body_leader_gone);
	await(board->n_ready == 2);
	struct proc_stat stat;
	await(proc_stat_read(pid, &stat) == 0 && stat.state == 'Z');
	stop_often(pid, 50);
	finish(pid);
}

/* ---- signals -------------------------------------------------------------------------------- */

static void on_signal(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	board->signals++;
	board->signal_sum += (uint64_t)info->si_value.sival_int;
}

static void body_signals(void)
{
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
	(void)sigaction(SIGUSR1, &action, NULL);
	(void)sigaction(SIGRTMIN, &action, NULL);
	start_thread(sleep_often);
	start_thread(sleep_often);
	count_up(NULL);
}

struct sender {
	pid_t pid;
	int signal;
	uint64_t n, sum;
	_Atomic bool enough;
};

/* SIGUSR1 is not queued: the next goes out when the last has arrived. SIGRTMIN is, with its value. */
static void *send_signals(void *arg)
{
	struct sender *sender = arg;
	while (!sender->enough) {
		union sigval value = {.sival_int = (int)(sender->n % 1000)};
		if (sender->signal == SIGUSR1) {
			(void)kill(sender->pid, SIGUSR1);
			while (board->signals <= sender->n && !sender->enough)
				sched_yield();
		} else if (sigqueue(sender->pid, sender->signal, value) < 0) {
			sleep_us(100); /* EAGAIN: the queue is full */
			continue;
		} else {
			sender->sum += sender->n % 1000;
			sleep_us(20);
		}
		sender->n++;
	}
	return NULL;
}

static void count_signals(int signal)
{
	pid_t pid = start(body_signals);
	await(board->n_ready == 3);
	struct sender sender = {.pid = pid, .signal = signal};
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, send_signals, &sender), 0);
	struct pause *pause = open_pause(pid);
	for (int i = 0; i < 2000; i++) {
		hold(pause);
		let_go(pause);
	}
	sender.enough = true;
	(void)pthread_join(thread, NULL);
	pause_close(pause);
	assert_true(sender.n > 100);
	await(board->signals == sender.n);
	sleep_us(20000);
	assert_int_equal(board->signals, sender.n);
	assert_int_equal(board->signal_sum, sender.sum);
	finish(pid);
}

static void test_signals_are_not_lost(void **state)
{
	(void)state;
	count_signals(SIGUSR1);
	count_signals(SIGRTMIN);
}

static void test_stopped_stays_stopped(void **state)
{
	(void)state;
	int status;
	pid_t pid = start(body_threads);
	await(board->n_ready == 10);
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	struct pause *pause = open_pause(pid);
	uint64_t work = board->work;
	for (int i = 0; i < 100; i++) {
		hold(pause);
		assert_int_equal(pause_n_threads(pause), 10);
		let_go(pause);
	}
	pause_close(pause);
	sleep_us(5000);
	assert_int_equal(board->work, work);
	assert_untraced(pid);
	await(is_in_state(pid, 'T'));
	assert_int_equal(waitpid(pid, &status, WUNTRACED | WNOHANG), 0); /* nobody was told again */
	assert_int_equal(kill(pid, SIGCONT), 0);
	assert_works();
	finish(pid);
}

/* Stopped and continued from outside while we go on. */
static void test_job_control_in_between(void **state)
{
	(void)state;
	pid_t pid = start(body_threads);
	await(board->n_ready == 10);
	struct pause *pause = open_pause(pid);
	for (int i = 0; i < 300; i++) {
		assert_int_equal(kill(pid, i % 2 ? SIGCONT : SIGSTOP), 0);
		hold(pause);
		let_go(pause);
	}
	assert_int_equal(kill(pid, SIGSTOP), 0);
	hold(pause);
	let_go(pause);
	await(is_in_state(pid, 'T'));
	assert_int_equal(kill(pid, SIGCONT), 0);
	pause_close(pause);
	assert_works();
	finish(pid);
}

static void test_other_tracer(void **state)
{
	(void)state;
	pid_t pid = start(body_threads);
	await(board->n_ready == 10);
	struct proc_tids tids = {0};
	assert_int_equal(proc_tids_read(pid, &tids), 0);
	pid_t last = tids.at[tids.n - 1].tid, debugger = fork();
	if (debugger == 0) {
		board->flag = ptrace(PTRACE_SEIZE, last, NULL, NULL) == 0 ? 1 : 2;
		for (;;)
			(void)sleep(1000);
	}
	await(board->flag == 1);
	struct pause *pause = open_pause(pid);
	assert_int_equal(pause_stop(pause), TACHY_EPERM);
	for (size_t i = 0; i < tids.n; i++) {
		struct proc_status status;
		assert_int_equal(proc_thread_status_read(pid, tids.at[i].tid, &status), 0);
		assert_int_equal(status.tracer_pid, tids.at[i].tid == last ? debugger : 0);
	}
	assert_works();
	finish(debugger);
	hold(pause); /* when it has left, we may */
	let_go(pause);
	pause_close(pause);
	proc_tids_done(&tids);
	finish(pid);
}

static void test_refused(void **state)
{
	(void)state;
	struct pause *pause = NULL;
	int status;
	assert_int_equal(pause_open(0, &pause), TACHY_EINVAL);
	assert_int_equal(pause_open(getpid(), &pause), TACHY_EINVAL);
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	await(is_in_state(pid, 'Z'));
	pause = open_pause(pid);
	assert_int_equal(pause_stop(pause), TACHY_EGONE);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(pause_stop(pause), TACHY_EGONE);
	pause_close(pause);
	assert_int_equal(pause_open(pid, &pause), TACHY_EGONE);
	pause_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_thread),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_threads_come_and_go),
		cmocka_unit_test(test_leader_gone),
		cmocka_unit_test(test_signals_are_not_lost),
		cmocka_unit_test(test_stopped_stays_stopped),
		cmocka_unit_test(test_job_control_in_between),
		cmocka_unit_test(test_other_tracer),
		cmocka_unit_test(test_refused),
	};
	return cmocka_run_group_tests_name("pause", tests, make_board, NULL);
}
