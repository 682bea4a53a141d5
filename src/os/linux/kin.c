/* SPDX-License-Identifier: MIT
 * The family: a list of its pids, kept by events (proc_events.h) or by looking (newborn.h). Hides which of
 * the two it is. Invariant: every pid of the list was told as born, and has not been told as ended.
 *
 * An end that the kernel tells is that of a process's first thread: others may go on ("headless"), and
 * mostly end a moment later.
 */
#include "os/kin.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/map.h"
#include "base/vec.h"
#include "os/linux/newborn.h"
#include "os/linux/proc_events.h"
#include "os/proc.h"

#define HEADLESS_MS 20u
#define DRAIN_MAX   4096 /* messages in a row before we tell what they said */

#define NS_PER_MS UINT64_C(1000000)
/* While looking: how often, and how much of the time each kind of look may take at most. */
#define LOOK_NS      NS_PER_MS
#define YOUNG_NS     (1000 * NS_PER_MS) /* so long an exec is looked for at every look */
#define CHECK_NS     (20 * NS_PER_MS)   /* the others' exec and end */
#define SCAN_NS      (1000 * NS_PER_MS)
#define TIMES_COST   20u

struct relative {
	pid_t pid;
	uint64_t born_ns, start_time, start_stack; /* 0 unknown */
	bool headless;
};

struct kin {
	VEC(struct relative) relatives;
	struct map by_pid; /* -> index */
	VEC(struct kin_event) queue;
	size_t n_told; /* of the queue */
	size_t n_headless;
	int events;    /* descriptor; -1: we look */
	struct newborn newborn;
	uint64_t checked_ns, scanned_ns, look_cost_ns, check_cost_ns, scan_cost_ns;
	bool out_of_memory;
};

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now;
	(void)clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

/* What a look costs: on a busy machine it takes longer without costing more. */
static uint64_t spent_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* ---- the family ---------------------------------------------------------------------------- */

static void tell(struct kin *kin, enum kin_change change, pid_t pid, pid_t parent)
{
	struct kin_event event = {change, pid, parent};
	kin->out_of_memory |= !vec_push(&kin->queue, event);
}

static struct relative *find(const struct kin *kin, pid_t pid)
{
	uint64_t i;
	if (!kin->relatives.n || !map_get(&kin->by_pid, (uint64_t)pid, &i))
		return NULL;
	return &kin->relatives.at[i];
}

static void add(struct kin *kin, pid_t pid, pid_t parent, const struct proc_stat *stat)
{
	struct relative relative = {.pid = pid, .born_ns = now_ns()};
	if (find(kin, pid))
		return;
	if (stat) {
		relative.start_time = stat->start_time;
		relative.start_stack = stat->start_stack;
	}
	if (!vec_reserve(&kin->relatives, kin->relatives.n + 1) ||
	    !map_put(&kin->by_pid, (uint64_t)pid, kin->relatives.n)) {
		kin->out_of_memory = true;
		return;
	}
	kin->relatives.at[kin->relatives.n++] = relative;
	tell(kin, KIN_BORN, pid, parent);
}

static void drop(struct kin *kin, pid_t pid)
{
	struct relative *relative = find(kin, pid);
	if (!relative)
		return;
	kin->n_headless -= relative->headless;
	kin->relatives.n--;
	*relative = kin->relatives.at[kin->relatives.n];
	map_remove(&kin->by_pid, (uint64_t)pid);
	if (relative->pid != pid)
		(void)map_put(&kin->by_pid, (uint64_t)relative->pid,
			      (uint64_t)(relative - kin->relatives.at));
	tell(kin, KIN_ENDED, pid, 0);
}

/* Who of the kin it comes from; 0: from nobody. One whose parent has ended is known by its session, which
 * cannot be entered but by birth, or by its process group, which takes in nobody from elsewhere. */
static pid_t ancestor(const struct kin *kin, const struct proc_stat *stat)
{
	const pid_t pids[] = {stat->ppid, stat->session, stat->pgrp};
	for (size_t i = 0; i < sizeof pids / sizeof pids[0]; i++) {
		const struct relative *relative = find(kin, pids[i]);
		if (relative && relative->start_time <= stat->start_time)
			return relative->pid;
	}
	return 0;
}

/* Looks whether it still is what it was. */
static void check(struct kin *kin, pid_t pid)
{
	struct proc_stat stat;
	struct relative *relative = find(kin, pid);
	int rc = proc_stat_read(pid, &stat);
	if (rc == TACHY_EGONE || (rc >= 0 && proc_stat_is_over(&stat)) ||
	    (rc >= 0 && relative->start_time && relative->start_time != stat.start_time)) {
		drop(kin, pid);
		return;
	}
	if (rc < 0)
		return;
	bool was_read = relative->start_time;
	relative->start_time = stat.start_time;
	/* the kernel shows 0 or 1 to those who may not know, and in the middle of an exec (fs/exec.c: the new
	 * memory is there before its stack), which is not over yet */
	if (stat.start_stack <= 1 || stat.start_stack == relative->start_stack)
		return;
	if (was_read)
		tell(kin, KIN_EXEC, pid, 0);
	relative->start_stack = stat.start_stack;
}

/* ---- all processes ------------------------------------------------------------------------- */

struct census {
	pid_t *pids;
	struct proc_stat *stats; /* by the same index; pid 0 there where it could not be read */
	size_t n;
};

static int take_census(struct census *ret)
{
	struct census census = {NULL, NULL, 0};
	int rc = proc_list(&census.pids, &census.n);
	if (rc < 0)
		return rc;
	census.stats = calloc(census.n + 1, sizeof *census.stats);
	if (!census.stats) {
		free(census.pids);
		return TACHY_ENOMEM;
	}
	for (size_t i = 0; i < census.n; i++)
		if (proc_stat_read(census.pids[i], &census.stats[i]) < 0 ||
		    proc_stat_is_over(&census.stats[i]) || census.stats[i].kernel_thread)
			census.pids[i] = 0;
	*ret = census;
	return 0;
}

/* Everybody who comes from one of ours, over and over until there is nobody new: a child may come before
 * its parent in the list. */
static int scan(struct kin *kin)
{
	struct census census;
	int rc = take_census(&census);
	if (rc < 0)
		return rc;
	for (size_t before = SIZE_MAX; before != kin->relatives.n;) {
		before = kin->relatives.n;
		for (size_t i = 0; i < census.n; i++) {
			pid_t from = census.pids[i] > 0 ? ancestor(kin, &census.stats[i]) : 0;
			if (from)
				add(kin, census.pids[i], from, &census.stats[i]);
		}
	}
	free(census.pids);
	free(census.stats);
	return 0;
}

static void check_all(struct kin *kin, bool headless_only, uint64_t born_since_ns)
{
	for (size_t i = kin->relatives.n; i-- > 0;) {
		const struct relative *relative = &kin->relatives.at[i];
		if ((relative->headless || !headless_only) && relative->born_ns >= born_since_ns)
			check(kin, relative->pid);
	}
}

/* ---- being told ---------------------------------------------------------------------------- */

static void take_end(struct kin *kin, pid_t pid)
{
	struct proc_stat stat;
	struct relative *relative = find(kin, pid);
	if (!relative)
		return;
	if (proc_stat_read(pid, &stat) < 0 || stat.n_threads <= 1) {
		drop(kin, pid);
		return;
	}
	kin->n_headless += !relative->headless;
	relative->headless = true;
}

static void take_event(struct kin *kin, const struct kin_event *event)
{
	switch (event->change) {
	case KIN_BORN:
		if (find(kin, event->parent))
			add(kin, event->pid, event->parent, NULL);
		break;
	case KIN_EXEC:
		if (find(kin, event->pid))
			tell(kin, KIN_EXEC, event->pid, 0);
		break;
	case KIN_ENDED:
		take_end(kin, event->pid);
		break;
	}
}

/* What is lost is made good by looking. */
static int drain(struct kin *kin)
{
	bool lost = false;
	for (int i = 0; i < DRAIN_MAX; i++) {
		struct kin_event event;
		int rc = proc_events_next(kin->events, &event);
		if (rc == 0)
			break;
		lost |= rc == TACHY_ELIMIT;
		if (rc == 1)
			take_event(kin, &event);
		else if (rc != TACHY_EAGAIN && rc != TACHY_ELIMIT)
			return rc;
	}
	if (!lost)
		return 0;
	check_all(kin, false, 0);
	return scan(kin);
}

static int wait_told(struct kin *kin, unsigned timeout_ms)
{
	struct pollfd ready = {kin->events, POLLIN, 0};
	if (kin->n_headless && timeout_ms > HEADLESS_MS)
		timeout_ms = HEADLESS_MS;
	(void)poll(&ready, 1, (int)timeout_ms);
	int rc = drain(kin);
	if (kin->n_headless)
		check_all(kin, true, 0);
	return rc;
}

/* ---- looking ------------------------------------------------------------------------------- */

static void look_at_newborn(void *arg, pid_t pid)
{
	struct kin *kin = arg;
	struct proc_stat stat;
	struct proc_status status;
	if (find(kin, pid) || proc_stat_read(pid, &stat) < 0 || proc_stat_is_over(&stat))
		return;
	pid_t from = ancestor(kin, &stat);
	if (from && proc_status_read(pid, &status) >= 0 && status.tgid == pid) /* not a thread */
		add(kin, pid, from, &stat);
}

static bool is_due(uint64_t since_ns, uint64_t every_ns, uint64_t cost_ns, uint64_t now)
{
	uint64_t least_ns = cost_ns * TIMES_COST;
	return now - since_ns >= (every_ns > least_ns ? every_ns : least_ns);
}

static int look(struct kin *kin)
{
	uint64_t start = now_ns(), spent = spent_ns();
	bool check_due = is_due(kin->checked_ns, CHECK_NS, kin->check_cost_ns, start);
	bool many = !newborn_each(&kin->newborn, look_at_newborn, kin);
	check_all(kin, false, check_due || start < YOUNG_NS ? 0 : start - YOUNG_NS);
	uint64_t cost = spent_ns() - spent;
	if (check_due) {
		kin->checked_ns = now_ns();
		kin->check_cost_ns = cost;
	} else {
		kin->look_cost_ns = cost;
	}
	if (!many && !is_due(kin->scanned_ns, SCAN_NS, kin->scan_cost_ns, start))
		return 0;
	spent = spent_ns();
	int rc = scan(kin);
	kin->scanned_ns = now_ns();
	kin->scan_cost_ns = spent_ns() - spent;
	return rc;
}

static int wait_looking(struct kin *kin, unsigned timeout_ms)
{
	uint64_t end = now_ns() + timeout_ms * NS_PER_MS, now;
	int rc;
	do {
		rc = look(kin);
		now = now_ns();
		/* of a look of the frequent kind: what is rare waits for its own cost to be worth it, and a long nap
		 * after it would miss who is born meanwhile */
		uint64_t nap_ns = kin->look_cost_ns * TIMES_COST;
		if (nap_ns < LOOK_NS)
			nap_ns = LOOK_NS;
		if (kin->queue.n == 0 && now < end)
			(void)nanosleep(&(struct timespec){(time_t)(nap_ns / 1000000000u),
							   (long)(nap_ns % 1000000000u)},
					NULL);
	} while (rc >= 0 && kin->queue.n == 0 && now < end);
	return rc;
}

/* ---- the face ------------------------------------------------------------------------------ */

int kin_open(bool look, struct kin **ret_kin)
{
	struct kin *kin = calloc(1, sizeof *kin);
	if (!kin)
		return TACHY_ENOMEM;
	map_init(&kin->by_pid);
	kin->events = look ? -1 : proc_events_open();
	newborn_init(&kin->newborn);
	*ret_kin = kin;
	return 0;
}

void kin_close(struct kin *kin)
{
	if (!kin)
		return;
	if (kin->events >= 0)
		(void)close(kin->events);
	newborn_done(&kin->newborn);
	vec_done(&kin->relatives);
	vec_done(&kin->queue);
	map_done(&kin->by_pid);
	free(kin);
}

bool kin_is_told(const struct kin *kin)
{
	return kin->events >= 0;
}

int kin_follow(struct kin *kin, pid_t pid)
{
	struct proc_stat stat;
	int rc = proc_stat_read(pid, &stat);
	if (rc < 0)
		return rc;
	add(kin, pid, 0, &stat);
	return scan(kin);
}

int kin_wait(struct kin *kin, unsigned timeout_ms, struct kin_event *ret_events, size_t max)
{
	int rc = 0;
	if (kin->n_told >= kin->queue.n) {
		kin->n_told = kin->queue.n = 0;
		rc = kin->events >= 0 ? wait_told(kin, timeout_ms) : wait_looking(kin, timeout_ms);
	}
	size_t n = kin->queue.n - kin->n_told;
	if (n > max)
		n = max;
	if (n)
		memcpy(ret_events, kin->queue.at + kin->n_told, n * sizeof *ret_events);
	kin->n_told += n;
	if (kin->out_of_memory)
		return TACHY_ENOMEM;
	return rc < 0 && n == 0 ? rc : (int)n;
}
