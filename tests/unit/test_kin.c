/* SPDX-License-Identifier: MIT
 * kin.c, in both of its ways, on real processes
 */
#include "cases.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "os/kin.h"

#define TRIES  400 /* waits of 10 ms each */
#define EVENTS 64

struct seen {
	struct kin_event events[EVENTS];
	size_t n;
};

static void nap_ms(long ms)
{
	(void)nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static bool has(const struct seen *seen, enum kin_change change, pid_t pid)
{
	for (size_t i = 0; i < seen->n; i++)
		if (seen->events[i].change == change && seen->events[i].pid == pid)
			return true;
	return false;
}

/* Waits until `change` of `pid` is told. */
static void await(struct kin *kin, struct seen *seen, enum kin_change change, pid_t pid)
{
	for (int i = 0; i < TRIES && !has(seen, change, pid); i++) {
		assert_true(seen->n < EVENTS);
		int n = kin_wait(kin, 10, seen->events + seen->n, EVENTS - seen->n);
		assert_true(n >= 0);
		seen->n += (size_t)n;
	}
	if (!has(seen, change, pid))
		fail_msg("no change %d of pid %d was told", (int)change, (int)pid);
}

static void await_signal(int number)
{
	sigset_t set;
	int got;
	(void)sigemptyset(&set);
	(void)sigaddset(&set, number);
	(void)sigwait(&set, &got);
}

/* For each byte starts a child ('o': a grandchild, whose parent then ends; 'e': one that waits for SIGUSR1) that
 * executes sleep, and says which pid it has. */
static void parent(int orders, int answers)
{
	char order;
	while (read(orders, &order, 1) == 1) {
		pid_t pid = fork();
		if (pid == 0) {
			pid_t grandchild = order == 'o' ? fork() : 0;
			if (grandchild > 0) {
				nap_ms(100);
				_exit(write(answers, &grandchild, sizeof grandchild) < 0);
			}
			if (order == 'e')
				await_signal(SIGUSR1);
			else
				nap_ms(200);
			(void)execlp("sleep", "sleep", "10", (char *)NULL);
			_exit(1);
		}
		if (order != 'o' && write(answers, &pid, sizeof pid) < 0)
			break;
	}
	_exit(0);
}

struct world {
	pid_t parent;
	int orders, answers;
	struct kin *kin;
	struct seen seen;
};

static void begin(struct world *w, bool look)
{
	int orders[2], answers[2];
	memset(w, 0, sizeof *w);
	assert_int_equal(pipe(orders) | pipe(answers), 0);
	w->parent = fork();
	if (w->parent == 0) {
		(void)close(orders[1]);
		sigset_t set;
		(void)sigemptyset(&set);
		(void)sigaddset(&set, SIGUSR1);
		(void)sigprocmask(SIG_BLOCK, &set, NULL); /* for await_signal */
		(void)setsid();
		parent(orders[0], answers[1]);
	}
	(void)close(orders[0]);
	(void)close(answers[1]);
	w->orders = orders[1];
	w->answers = answers[0];
	assert_int_equal(fcntl(w->answers, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(kin_open(look, &w->kin), 0);
}

/* What happens on the way is seen: who looks must look. */
static pid_t order(struct world *w, char what)
{
	pid_t pid = 0;
	assert_int_equal(write(w->orders, &what, 1), 1);
	for (int i = 0; i < TRIES && read(w->answers, &pid, sizeof pid) != sizeof pid; i++) {
		int n = kin_wait(w->kin, 10, w->seen.events + w->seen.n, EVENTS - w->seen.n);
		assert_true(n >= 0);
		w->seen.n += (size_t)n;
	}
	assert_true(pid > 0);
	return pid;
}

static void finish(struct world *w)
{
	(void)close(w->orders);
	(void)close(w->answers);
	(void)kill(w->parent, SIGKILL);
	(void)waitpid(w->parent, NULL, 0);
	kin_close(w->kin);
}

static void tells_all(bool look)
{
	struct world w;
	begin(&w, look);
	if (!look && !kin_is_told(w.kin)) {
		finish(&w);
		skip(); /* we are not let */
	}
	pid_t before = order(&w, 'c'), orphan_before = order(&w, 'o');
	nap_ms(50); /* now its parent has ended */
	assert_int_equal(kin_follow(w.kin, w.parent), 0);
	await(w.kin, &w.seen, KIN_BORN, w.parent);
	await(w.kin, &w.seen, KIN_BORN, before);
	await(w.kin, &w.seen, KIN_BORN, orphan_before);
	pid_t child = order(&w, 'c');
	await(w.kin, &w.seen, KIN_BORN, child);
	await(w.kin, &w.seen, KIN_EXEC, child);
	pid_t orphan = order(&w, 'o');
	await(w.kin, &w.seen, KIN_BORN, orphan);
	await(w.kin, &w.seen, KIN_EXEC, orphan);
	(void)kill(orphan, SIGKILL);
	await(w.kin, &w.seen, KIN_ENDED, orphan);
	(void)kill(child, SIGKILL); /* a zombie: nobody waits for it */
	await(w.kin, &w.seen, KIN_ENDED, child);
	(void)kill(before, SIGKILL);
	await(w.kin, &w.seen, KIN_ENDED, before);
	(void)kill(orphan_before, SIGKILL);
	await(w.kin, &w.seen, KIN_ENDED, orphan_before);
	for (size_t i = 0; i < w.seen.n; i++)
		if (w.seen.events[i].change == KIN_BORN && w.seen.events[i].pid == child)
			assert_int_equal(w.seen.events[i].parent, w.parent);
	finish(&w);
}

/* An exec takes a moment, in the middle of which the process may be looked at as well. */
static void tells_every_exec(bool look)
{
	struct world w;
	begin(&w, look);
	if (!look && !kin_is_told(w.kin)) {
		finish(&w);
		skip(); /* we are not let */
	}
	assert_int_equal(kin_follow(w.kin, w.parent), 0);
	for (int i = 0; i < 200; i++) {
		const struct timespec later = {0, i * 5000L};
		w.seen.n = 0;
		pid_t child = order(&w, 'e');
		await(w.kin, &w.seen, KIN_BORN, child);
		(void)kill(child, SIGUSR1);
		(void)nanosleep(&later, NULL);
		await(w.kin, &w.seen, KIN_EXEC, child);
		(void)kill(child, SIGKILL);
	}
	finish(&w);
}

static void told_of_every_exec(void **state)
{
	(void)state;
	tells_every_exec(false);
}

static void sees_every_exec(void **state)
{
	(void)state;
	tells_every_exec(true);
}

static void is_told(void **state)
{
	(void)state;
	tells_all(false);
}

static void looks(void **state)
{
	(void)state;
	tells_all(true);
}

static void others_are_none_of_the_kin(void **state)
{
	struct world w;
	struct kin_event events[EVENTS];
	(void)state;
	begin(&w, false);
	assert_int_equal(kin_follow(w.kin, w.parent), 0);
	pid_t stranger = fork();
	if (stranger == 0)
		_exit(0);
	assert_int_equal(waitpid(stranger, NULL, 0), stranger);
	nap_ms(50);
	int n = kin_wait(w.kin, 50, events, EVENTS);
	assert_int_equal(n, 1);
	assert_int_equal(events[0].pid, w.parent);
	assert_int_equal(kin_wait(w.kin, 50, events, EVENTS), 0);
	finish(&w);
	assert_int_equal(kin_open(true, &w.kin), 0);
	assert_int_equal(kin_follow(w.kin, w.parent), TACHY_EGONE);
	kin_close(w.kin);
	kin_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_told),
		cmocka_unit_test(looks),
		cmocka_unit_test(told_of_every_exec),
		cmocka_unit_test(sees_every_exec),
		cmocka_unit_test(others_are_none_of_the_kin),
	};
	return cmocka_run_group_tests_name("kin", tests, NULL, NULL);
}
