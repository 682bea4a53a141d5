/* SPDX-License-Identifier: MIT
 * A thread that mostly sleeps. Invariant: `tracees` is read only under the lock, which reaper_rest
 * takes before the array may change; of an entry only `tid` is read, which nobody writes meanwhile.
 *
 * It looks PERIOD_NS apart, and acts on a watch that it sees a second time: so a watch is never woken
 * for, and costs two uncontended locks.
 */
#include "os/linux/reaper.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "base/error.h"

#define PERIOD_NS 50000000

struct reaper {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake; /* only to end */
	bool end;
	const struct tracee *tracees; /* borrowed; NULL: nobody is seizing */
	size_t n;
	uint64_t n_watches;
};

static void sleep_locked(struct reaper *reaper)
{
	struct timespec until;
	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += PERIOD_NS;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	(void)pthread_cond_timedwait(&reaper->wake, &reaper->lock, &until);
}

/* Of ids that are not ours by ptrace waitpid knows nothing (ECHILD). The first is the leader's: nobody
 * waits for that before an exec, and its end may be for others to see. */
static void reap(const struct reaper *reaper)
{
	for (size_t i = 1; i < reaper->n; i++)
		(void)waitpid(reaper->tracees[i].tid, NULL, WNOHANG | __WALL);
}

static void *work(void *arg)
{
	struct reaper *reaper = arg;
	uint64_t seen = 0;
	(void)pthread_mutex_lock(&reaper->lock);
	while (!reaper->end) {
		if (reaper->tracees && reaper->n_watches == seen)
			reap(reaper);
		seen = reaper->n_watches;
		sleep_locked(reaper);
	}
	(void)pthread_mutex_unlock(&reaper->lock);
	return NULL;
}

/* The program's signals are not for this thread. */
static int start(struct reaper *reaper)
{
	sigset_t all, before;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	int failed = pthread_create(&reaper->thread, NULL, work, reaper);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed ? error_from_errno(failed) : 0;
}

int reaper_create(struct reaper **ret_reaper)
{
	struct reaper *reaper = calloc(1, sizeof *reaper);
	if (!reaper)
		return TACHY_ENOMEM;
	(void)pthread_mutex_init(&reaper->lock, NULL);
	(void)pthread_cond_init(&reaper->wake, NULL);
	int code = start(reaper);
	if (code < 0) {
		free(reaper);
		return code;
	}
	*ret_reaper = reaper;
	return 0;
}

void reaper_destroy(struct reaper *reaper)
{
	if (!reaper)
		return;
	(void)pthread_mutex_lock(&reaper->lock);
	reaper->end = true;
	(void)pthread_cond_signal(&reaper->wake);
	(void)pthread_mutex_unlock(&reaper->lock);
	(void)pthread_join(reaper->thread, NULL);
	(void)pthread_cond_destroy(&reaper->wake);
	(void)pthread_mutex_destroy(&reaper->lock);
	free(reaper);
}

void reaper_watch(struct reaper *reaper, const struct tracee *tracees, size_t n)
{
	if (!reaper)
		return;
	(void)pthread_mutex_lock(&reaper->lock);
	reaper->tracees = tracees;
	reaper->n = n;
	reaper->n_watches++;
	(void)pthread_mutex_unlock(&reaper->lock);
}

void reaper_rest(struct reaper *reaper)
{
	reaper_watch(reaper, NULL, 0);
}
