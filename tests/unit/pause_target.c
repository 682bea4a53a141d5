/* SPDX-License-Identifier: MIT
 * See pause_target.h.
 */
#include "pause_target.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "os/proc.h"

struct board *board;

int make_board(void **state)
{
	(void)state;
	board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	return board == MAP_FAILED;
}

void sleep_us(long us)
{
	struct timespec time = {us / 1000000, us % 1000000 * 1000};
	(void)nanosleep(&time, NULL);
}

void *count_up(void *arg)
{
	(void)arg;
	board->n_ready++;
	for (;;)
		board->work++;
	return NULL;
}

void *sleep_often(void *arg)
{
	(void)arg;
	board->n_ready++;
	for (;; board->work++)
		sleep_us(100);
	return NULL;
}

void body_threads(void)
{
	start_thread(count_up);
	for (int i = 0; i < 8; i++)
		start_thread(sleep_often);
	sleep_often(NULL);
}

void start_thread(void *(*body)(void *))
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, body, NULL) != 0)
		_exit(99);
}

/* A child that runs `body` and dies with us. */
pid_t start(void (*body)(void))
{
	memset(board, 0, sizeof *board);
	pid_t pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
		body();
		_exit(98);
	}
	assert_true(pid > 0);
	return pid;
}

void finish(pid_t pid)
{
	int status;
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

bool is_in_state(pid_t pid, char wanted)
{
	struct proc_stat stat;
	return proc_stat_read(pid, &stat) == 0 && stat.state == wanted;
}

void assert_untraced(pid_t pid)
{
	struct proc_tids tids = {0};
	assert_int_equal(proc_tids_read(pid, &tids), 0);
	for (size_t i = 0; i < tids.n; i++) {
		struct proc_status status;
		if (proc_thread_status_read(pid, tids.at[i].tid, &status) == 0)
			assert_int_equal(status.tracer_pid, 0);
	}
	proc_tids_done(&tids);
}

void assert_works(void)
{
	uint64_t before = board->work;
	await(board->work > before + 10);
}

struct pause *open_pause(pid_t pid)
{
	struct pause *pause = NULL;
	assert_int_equal(pause_open(pid, &pause), 0);
	return pause;
}

void let_go(struct pause *pause)
{
	await(pause_resume(pause) == 0);
}

/* A machine that starves the target for a second is no failure of ours. */
void hold(struct pause *pause)
{
	int code;
	await((code = pause_stop(pause)) != TACHY_EAGAIN);
	assert_int_equal(code, 0);
}
