/* SPDX-License-Identifier: MIT
 * All threads of a process, held still. Hides the race against threads that are born and end while
 * we go around: whoever was seen at the last stop is seized at once, then the process is asked how
 * many threads it has (one fstat); only when there are others is the list read again, until a round
 * finds nobody new. Threads that stand still start none.
 *
 * An exec by another thread than the leader ends the leader and gives its id to that thread, whatever
 * we held before: so a thread that is lost (TRACEE_LOST) is looked for under the leader's id.
 *
 * Invariants: the leader's entry is always there and the first. `held` is true between a pause_stop that
 * succeeded and the next pause_resume; outside, an entry is traced only when it could not be let go yet
 * ("owed"), and each call tries again.
 */
#include "os/pause.h"

#include <ctype.h>
#include <dirent.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"
#include "os/linux/reaper.h"
#include "os/linux/tracee.h"
#include "os/proc.h"

#define MS                 1000000
#define STOP_MAX_NS        (1000 * MS) /* to the last that stops: machines are starved */
#define RESUME_MAX_NS      (2 * MS)    /* of waiting for those that are owed */
#define CLOSE_MAX_NS       (1000 * MS)
#define EXAMINE_EVERY_NS   (MS / 2) /* of waiting for one thread */
#define SPIN_MAX           200      /* looks before we sleep between them */
#define NAP_NS             50000
#define HURRIED_ROUNDS_MAX 64 /* then with naps: threads that end take their time to vanish */

struct pause {
	pid_t pid;
	DIR *tasks; /* of /proc/PID/task: stays with this process, whatever becomes of its id */
	VEC(struct tracee) tracees;
	struct reaper *reaper; /* NULL: not needed yet */
	size_t n_held;
	bool held;
	bool moved; /* some thread vanished, in this round */
};

static int64_t now_ns(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void nap(void)
{
	struct timespec time = {.tv_nsec = NAP_NS};
	(void)nanosleep(&time, NULL);
}

int pause_open(pid_t pid, struct pause **ret_pause)
{
	if (pid <= 0 || pid == getpid())
		return TACHY_EINVAL;
	int fd = proc_tasks_open(pid);
	if (fd < 0)
		return fd;
	struct tracee leader = {.tid = pid, .state = TRACEE_GONE};
	struct pause *pause = calloc(1, sizeof *pause);
	if (!pause || !(pause->tasks = fdopendir(fd))) {
		(void)close(fd);
		free(pause);
		return TACHY_ENOMEM;
	}
	pause->pid = pid;
	if (!vec_push(&pause->tracees, leader)) {
		pause_close(pause);
		return TACHY_ENOMEM;
	}
	*ret_pause = pause;
	return 0;
}

/* ---- the list ------------------------------------------------------------------------------- */

static bool entry_tid(const char *name, pid_t *ret_tid)
{
	char *end;
	if (!isdigit((unsigned char)name[0]))
		return false;
	unsigned long value = strtoul(name, &end, 10);
	if (*end || value == 0 || value > INT32_MAX)
		return false;
	*ret_tid = (pid_t)value;
	return true;
}

/* The entry of `tid`. The kernel lists threads in the order of their birth, as we keep them, so that
 * it mostly is the one at `guess`. */
static struct tracee *find(struct pause *pause, pid_t tid, size_t guess)
{
	struct tracee *at = pause->tracees.at;
	if (guess < pause->tracees.n && at[guess].tid == tid)
		return &at[guess];
	for (size_t i = 0; i < pause->tracees.n; i++)
		if (at[i].tid == tid)
			return &at[i];
	return NULL;
}

/* Some thread that we held is not there any more. If that was by an exec, the leader's id, held or not
 * until then, stands for another thread. */
static void check_leader(struct pause *pause)
{
	struct tracee *leader = &pause->tracees.at[0], now = *leader;
	if (leader->state == TRACEE_STOPPED) {
		now.state = TRACEE_ASKED;
		tracee_look(&now);
		if (now.state == TRACEE_STOPPED)
			return;
	}
	tracee_recheck(pause->pid, leader);
	if (leader->state == TRACEE_LOST)
		leader->state = TRACEE_GONE;
}

/* True when threads were lost, which then have been looked for. */
static bool find_lost(struct pause *pause)
{
	bool lost = false;
	for (size_t i = 0; i < pause->tracees.n; i++) {
		if (pause->tracees.at[i].state == TRACEE_LOST) {
			pause->tracees.at[i].state = TRACEE_GONE;
			lost = true;
		}
	}
	if (lost)
		check_leader(pause);
	return lost;
}

/* Lets go of what is no thread of the target any more, and forgets it when that is done. True when
 * there was one that we had held. */
static bool drop_unlisted(struct pause *pause)
{
	struct tracee *at = pause->tracees.at;
	bool held = false;
	size_t n = 0;
	for (size_t i = 0; i < pause->tracees.n; i++) {
		bool keep = i == 0 || (at[i].listed && at[i].state != TRACEE_GONE);
		if (!keep && at[i].traced) {
			held = true;
			tracee_examine(pause->pid, &at[i]);
		}
		if (keep || !tracee_release(pause->pid, &at[i]))
			at[n++] = at[i];
	}
	pause->tracees.n = n;
	return held;
}

/* Reads the list of threads. 1 when there may be new ones, 0, TACHY_EGONE, TACHY_ENOMEM. */
static int list(struct pause *pause)
{
	size_t n = 0;
	int result = 0;
	pid_t tid;
	for (size_t i = 0; i < pause->tracees.n; i++)
		pause->tracees.at[i].listed = false;
	rewinddir(pause->tasks);
	for (struct dirent *entry; (entry = readdir(pause->tasks)) != NULL;) {
		if (!entry_tid(entry->d_name, &tid))
			continue;
		struct tracee *tracee = find(pause, tid, n++);
		struct tracee fresh = {.tid = tid, .state = TRACEE_FREE, .listed = true};
		if (tracee && tracee->state != TRACEE_GONE) {
			tracee->listed = true;
			continue;
		}
		if (tracee) /* another thread under an id that we knew */
			*tracee = fresh;
		else if (!vec_push(&pause->tracees, fresh))
			return TACHY_ENOMEM;
		result = 1;
	}
	if (drop_unlisted(pause)) {
		check_leader(pause);
		result = 1;
	}
	if (n == 0) /* while one executes, the list can be empty for a moment */
		return proc_tasks_count(dirfd(pause->tasks)) ? 1 : TACHY_EGONE;
	return result;
}

/* Whether the threads that we know are as many as there are. */
static bool is_complete(const struct pause *pause)
{
	size_t n = 0;
	for (size_t i = 0; i < pause->tracees.n; i++)
		n += pause->tracees.at[i].listed && pause->tracees.at[i].state != TRACEE_GONE;
	return n > 0 && proc_tasks_count(dirfd(pause->tasks)) == n;
}

/* ---- stop ----------------------------------------------------------------------------------- */

/* A leader that was dead may have come to life by an exec. True when it has. */
static bool leader_revived(struct pause *pause)
{
	struct proc_stat stat;
	struct tracee *leader = &pause->tracees.at[0];
	if (leader->state != TRACEE_DEAD ||
	    (proc_thread_stat_read(pause->pid, pause->pid, &stat) == 0 && stat.state == 'Z'))
		return false;
	leader->state = leader->traced ? TRACEE_LOST : TRACEE_FREE;
	return true;
}

static int seize_free(struct pause *pause)
{
	for (size_t i = 0; i < pause->tracees.n; i++) {
		struct tracee *tracee = &pause->tracees.at[i];
		if (tracee->state != TRACEE_FREE)
			continue;
		int code = tracee_seize(pause->pid, tracee);
		if (code < 0)
			return code;
		pause->moved |= tracee->state == TRACEE_GONE;
	}
	return 0;
}

static int seize_known(struct pause *pause)
{
	(void)leader_revived(pause);
	/* only from three threads on can one be lost between one that executes and one to be seized */
	if (!pause->reaper && pause->tracees.n > 2)
		(void)reaper_create(&pause->reaper);
	reaper_watch(pause->reaper, pause->tracees.at, pause->tracees.n);
	int code = seize_free(pause);
	reaper_rest(pause->reaper);
	return code;
}

/* Waits until the thread no longer runs, for whatever reason. False when time is up. */
static bool wait_for(struct pause *pause, struct tracee *tracee, int64_t deadline)
{
	int64_t examined = 0;
	for (unsigned i = 0; tracee->state == TRACEE_ASKED; i++) {
		tracee_look(tracee);
		if (tracee->state != TRACEE_ASKED)
			break;
		int64_t now = now_ns();
		if (examined == 0) {
			examined = now;
		} else if (now - examined > EXAMINE_EVERY_NS) {
			tracee_examine(pause->pid, tracee);
			examined = now;
		}
		if (now > deadline)
			return false;
		if (i < SPIN_MAX)
			(void)sched_yield();
		else
			nap();
	}
	pause->moved |= tracee->state == TRACEE_GONE;
	return true;
}

static int wait_all(struct pause *pause, int64_t deadline)
{
	for (size_t i = 0; i < pause->tracees.n; i++)
		if (!wait_for(pause, &pause->tracees.at[i], deadline))
			return TACHY_EAGAIN;
	return 0;
}

/* Looks once more at one that we hold. False when it is not held, or not by what we know of it. */
static bool is_still_held(struct pause *pause, struct tracee *tracee)
{
	struct proc_stat stat;
	enum tracee_state before = tracee->state;
	switch (before) {
	case TRACEE_STOPPED:
		tracee->state = TRACEE_ASKED;
		tracee_look(tracee);
		break;
	case TRACEE_DEEP:
		tracee_examine(pause->pid, tracee);
		break;
	case TRACEE_DEAD:
		if (proc_thread_stat_read(pause->pid, tracee->tid, &stat) < 0 || stat.state != 'Z')
			tracee->state = tracee->traced ? TRACEE_LOST : TRACEE_FREE;
		break;
	default:
		break;
	}
	return tracee->state == before;
}

/* Whether those that were counted are those that we know: an exec by one that we do not know ends all the others,
 * and the new program may have as many threads by now. It ends the leader first of all, so that a leader that is
 * still held tells enough. */
static bool are_held(struct pause *pause)
{
	bool held = is_still_held(pause, &pause->tracees.at[0]);
	if (held && pause->tracees.at[0].state == TRACEE_STOPPED)
		return true;
	for (size_t i = 1; i < pause->tracees.n; i++)
		held &= is_still_held(pause, &pause->tracees.at[i]);
	return held;
}

/* One time around. 1 when everybody is held, 0 when somebody new may be there. */
static int go_round(struct pause *pause, int64_t deadline)
{
	pause->moved = false;
	int code = seize_known(pause);
	if (code == 0)
		code = wait_all(pause, deadline);
	if (code < 0)
		return code;
	bool moved = find_lost(pause) || leader_revived(pause);
	if (pause->moved) {
		check_leader(pause);
		moved = true;
	}
	if (!moved && is_complete(pause))
		return are_held(pause);
	code = list(pause);
	if (code < 0 || moved)
		return code < 0 ? code : 0;
	return code == 0 && are_held(pause);
}

static int hold_all(struct pause *pause)
{
	int64_t deadline = now_ns() + STOP_MAX_NS;
	int code = pause->tracees.at[0].listed ? 0 : list(pause);
	for (unsigned i = 0; code >= 0; i++) {
		code = go_round(pause, deadline);
		if (code == 1)
			return 0;
		if (code == 0 && i > HURRIED_ROUNDS_MAX)
			nap();
		if (code == 0 && now_ns() > deadline)
			code = TACHY_ELIMIT;
	}
	return code;
}

/* ---- resume --------------------------------------------------------------------------------- */

/* True when nobody is traced any more. */
static bool release_all(struct pause *pause, bool examine)
{
	bool all = true;
	for (size_t i = 0; i < pause->tracees.n; i++) {
		struct tracee *tracee = &pause->tracees.at[i];
		if (examine && tracee->traced && tracee->state != TRACEE_STOPPED)
			tracee_examine(pause->pid, tracee);
		all &= tracee_release(pause->pid, tracee);
	}
	return !find_lost(pause) && all;
}

static int resume_until(struct pause *pause, int64_t deadline)
{
	pause->held = false;
	bool all = release_all(pause, false);
	for (unsigned i = 0; !all && now_ns() < deadline; i++) {
		if (i > 0)
			nap();
		all = release_all(pause, true);
	}
	return all ? 0 : TACHY_EAGAIN;
}

/* ---- the face ------------------------------------------------------------------------------ */

static size_t count_held(const struct pause *pause)
{
	size_t n = 0;
	for (size_t i = 0; i < pause->tracees.n; i++) {
		enum tracee_state state = pause->tracees.at[i].state;
		n += pause->tracees.at[i].listed &&
		     (state == TRACEE_STOPPED || state == TRACEE_DEEP);
	}
	return n;
}

int pause_stop(struct pause *pause)
{
	if (pause->held)
		return TACHY_EINVAL;
	int code = hold_all(pause);
	pause->n_held = code < 0 ? 0 : count_held(pause);
	if (code == 0 && pause->n_held == 0)
		code = TACHY_EGONE; /* a zombie */
	pause->held = true;
	if (code < 0)
		(void)resume_until(pause, now_ns() + CLOSE_MAX_NS);
	return code;
}

size_t pause_n_threads(const struct pause *pause)
{
	return pause->n_held;
}

int pause_resume(struct pause *pause)
{
	return resume_until(pause, now_ns() + RESUME_MAX_NS);
}

void pause_close(struct pause *pause)
{
	if (!pause)
		return;
	(void)resume_until(pause, now_ns() + CLOSE_MAX_NS);
	reaper_destroy(pause->reaper);
	if (pause->tasks)
		(void)closedir(pause->tasks);
	vec_done(&pause->tracees);
	free(pause);
}
