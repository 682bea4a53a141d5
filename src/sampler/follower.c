/* SPDX-License-Identifier: MIT
 * Keeps for each descendant whether it is sampled, and when to look at it next: what is young is looked at
 * often, since a Python takes some ten milliseconds to become one; what has proved to be none, ever more
 * rarely. A child by fork has all its parent's addresses, and so is a target at once.
 *
 * A forked child is left alone for a moment first: most that are about to execute another program do it in
 * that time, and were they sampled, their parent's stack would be shown a second time under another pid.
 *
 * Invariant: `guests` is the thread's alone; other threads leave their wishes in `asked`.
 */
#include "sampler/follower.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "os/cpu.h"
#include "os/kin.h"
#include "sampler/anchor.h"

#define NS_PER_MS    UINT64_C(1000000)
#define WAIT_MS      20u             /* at most until a wish is seen */
#define GRACE_NS     (2 * NS_PER_MS) /* for a forked child */
#define VFORK_NS     (1 * NS_PER_MS) /* until one that shares its parent's memory is looked at again */
#define START_NS     (2 * NS_PER_MS)   /* after an exec */
#define LOOK_NS      (1 * NS_PER_MS)   /* between looks at a Python that starts; or */
#define LOOK_COSTS   4u                /* so many times what a look cost */
#define STARTING_NS  (500 * NS_PER_MS) /* so long; then */
#define LATE_LOOK_NS (50 * NS_PER_MS)
#define DOUBT_NS \
	(2 * NS_PER_MS) /* after the first look at what is no Python (yet); half as much again
				       * each time */
#define DOUBT_MAX_NS (5000 * NS_PER_MS)
#define NEVER_NS     (100 * NS_PER_MS) /* who is none after so long: others of that program are none */
#define FILES_MAX    64u
#define YOUNG_NS     (2000 * NS_PER_MS) /* who may still become a Python is waited for so long */
#define EVENTS_N     256
#define LEAVERS_N    64

/* What became of those who executed a file. */
struct file_fate {
	uint64_t dev, inode;
	bool python; /* else none of them was one */
};

struct guest {
	pid_t pid, parent;
	bool sampled;
	bool root;
	bool forked;                 /* and has executed nothing since: it looks like `like` */
	uint64_t since_ns;           /* born, or executed what it is now */
	uint64_t due_ns;             /* of the next look */
	uint64_t exe_dev, exe_inode; /* of the file it executes; 0 unknown */
	uint64_t doubt_ns;           /* the last pause after a look at no Python */
	uint32_t visit;              /* of its target */
	struct attachment *like; /* owned; its own or its parent's, without memory; NULL unknown */
};

struct wish {
	pid_t pid;
	const struct attachment *known;
};

struct follower {
	struct follower_aims aims;
	struct kin *kin;
	VEC(struct guest) guests;
	uint32_t n_visits;
	struct file_fate files[FILES_MAX];
	uint32_t n_files;     /* ever; the oldest give way */
	pthread_mutex_t lock; /* of `asked` */
	VEC(struct wish) asked;
	atomic_bool stop;
	bool started;
	pthread_t thread; /* if started */
};

/* ---- guests -------------------------------------------------------------------------------- */

static struct guest *find(struct follower *follower, pid_t pid)
{
	for (size_t i = 0; i < follower->guests.n; i++)
		if (follower->guests.at[i].pid == pid)
			return &follower->guests.at[i];
	return NULL;
}

static void set_like(struct guest *guest, const struct attachment *like)
{
	free(guest->like);
	guest->like = like ? malloc(sizeof *guest->like) : NULL;
	if (!guest->like)
		return;
	*guest->like = *like;
	guest->like->mem = NULL;
}

static void remove_guest(struct follower *follower, struct guest *guest)
{
	free(guest->like);
	*guest = follower->guests.at[--follower->guests.n];
}

/* It is, or may be, another program from now on. */
static void begin_anew(struct guest *guest)
{
	guest->sampled = guest->forked = false;
	guest->doubt_ns = 0;
	guest->since_ns = clock_now_ns();
	guest->due_ns = guest->since_ns + START_NS;
}

/* ---- files --------------------------------------------------------------------------------- */

static struct file_fate *find_file(struct follower *follower, const struct guest *guest)
{
	uint32_t n = follower->n_files < FILES_MAX ? follower->n_files : FILES_MAX;
	for (uint32_t i = 0; i < n && guest->exe_inode; i++)
		if (follower->files[i].inode == guest->exe_inode &&
		    follower->files[i].dev == guest->exe_dev)
			return &follower->files[i];
	return NULL;
}

static void keep_fate(struct follower *follower, const struct guest *guest, bool python)
{
	struct file_fate *file = find_file(follower, guest);
	if (!guest->exe_inode)
		return;
	if (file)
		file->python |= python;
	else
		follower->files[follower->n_files++ % FILES_MAX] =
			(struct file_fate){guest->exe_dev, guest->exe_inode, python};
}

static void learn_file(struct guest *guest)
{
	struct proc_identity identity = {0};
	(void)proc_identity_read(guest->pid, &identity);
	guest->exe_dev = identity.exe_dev;
	guest->exe_inode = identity.exe_inode;
}

/* ---- looking ------------------------------------------------------------------------------- */

/* Makes a target of the attachment, which is the target's from then on. */
static int join(struct follower *follower, struct guest *guest, const struct attachment *found)
{
	const struct follower_aims *aims = &follower->aims;
	struct target_options options = aims->options;
	struct attachment *own = malloc(sizeof *own);
	struct target *target;
	if (!own)
		return TACHY_ENOMEM;
	*own = *found;
	attachment_prepare(own);
	options.anchor = options.anchor && anchor_possible(&own->runtime.layout);
	options.opcodes = options.opcodes && target_tells_opcodes(own);
	options.other_root = aims->has_other_root(aims->arg, guest->pid);
	int rc = target_create(own, aims->profile, aims->sink, &options, &target);
	if (rc < 0) {
		free(own);
		return rc;
	}
	set_like(guest, own);
	guest->exe_dev = own->identity.exe_dev;
	guest->exe_inode = own->identity.exe_inode;
	keep_fate(follower, guest, true);
	target->visit = guest->visit = ++follower->n_visits;
	target->owned = own;
	rc = sampler_add(aims->sampler, target);
	if (rc < 0) {
		target->owned = NULL;
		target_destroy(target);
		free(own);
	}
	return rc;
}

/* CPU time of this thread: on a busy machine a look takes long without costing more. */
static uint64_t spent_ns(void)
{
	struct timespec spent;
	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
	return (uint64_t)spent.tv_sec * 1000000000u + (uint64_t)spent.tv_nsec;
}

static int open_guest(struct guest *guest, struct attachment *ret_found)
{
	if (guest->forked && guest->like) {
		int rc = attachment_open_fork(guest->pid, guest->like, ret_found);
		if (rc != TACHY_EEXEC)
			return rc;
	}
	guest->forked = false;
	return attachment_open(guest->pid, ret_found, NULL);
}

/* Until the next look at who was no Python at the last one. */
static uint64_t doubt(struct follower *follower, struct guest *guest, uint64_t age_ns)
{
	const struct file_fate *file = find_file(follower, guest);
	if (file && file->python && age_ns < STARTING_NS)
		return LOOK_NS;
	guest->doubt_ns = guest->doubt_ns ? guest->doubt_ns + guest->doubt_ns / 2 : DOUBT_NS;
	if (guest->doubt_ns > DOUBT_MAX_NS)
		guest->doubt_ns = DOUBT_MAX_NS;
	if (!file && age_ns > NEVER_NS)
		keep_fate(follower, guest, false);
	if (file && !file->python && guest->doubt_ns < NEVER_NS)
		guest->doubt_ns = NEVER_NS;
	return guest->doubt_ns;
}

static uint64_t pause_after(struct follower *follower, struct guest *guest, int rc,
			    uint64_t cost_ns)
{
	uint64_t age_ns = clock_now_ns() - guest->since_ns, pause_ns;
	if (error_class(rc) == TACHY_CLASS_TRANSIENT)
		pause_ns = age_ns < STARTING_NS ? LOOK_NS : LATE_LOOK_NS;
	else
		pause_ns = doubt(follower, guest, age_ns);
	return pause_ns > cost_ns * LOOK_COSTS ? pause_ns : cost_ns * LOOK_COSTS;
}

static int look(struct follower *follower, struct guest *guest)
{
	struct attachment found;
	uint64_t start = clock_now_ns(), spent = spent_ns();
	if (guest->forked && proc_shares_memory(guest->pid, guest->parent)) {
		guest->due_ns = start + VFORK_NS;
		return 0;
	}
	int rc = open_guest(guest, &found);
	if (rc >= 0) {
		rc = join(follower, guest, &found);
		if (rc < 0)
			attachment_done(&found);
		guest->sampled = true;
		return rc;
	}
	guest->due_ns = clock_now_ns() + pause_after(follower, guest, rc, spent_ns() - spent);
	return rc == TACHY_ENOMEM ? rc : 0;
}

static int look_at_due(struct follower *follower)
{
	int rc = 0;
	for (size_t i = 0; rc >= 0 && i < follower->guests.n; i++) {
		struct guest *guest = &follower->guests.at[i];
		if (!guest->sampled && guest->due_ns <= clock_now_ns())
			rc = look(follower, guest);
	}
	return rc;
}

/* ---- what happens -------------------------------------------------------------------------- */

static int take_born(struct follower *follower, const struct kin_event *event)
{
	struct guest guest = {.pid = event->pid, .parent = event->parent};
	const struct guest *parent = event->parent ? find(follower, event->parent) : NULL;
	guest.since_ns = clock_now_ns();
	guest.due_ns = guest.since_ns;
	if (find(follower, event->pid))
		return 0;
	if (parent && parent->like) {
		set_like(&guest, parent->like);
		guest.forked = guest.like != NULL;
		guest.due_ns += GRACE_NS;
	} else if (parent) {
		guest.due_ns += START_NS;
	}
	if (vec_push(&follower->guests, guest))
		return 0;
	free(guest.like);
	return TACHY_ENOMEM;
}

static int take_exec(struct follower *follower, struct guest *guest)
{
	int rc = 0;
	if (guest->sampled)
		rc = roster_leave(&follower->aims.sampler->roster, guest->pid);
	set_like(guest, NULL);
	begin_anew(guest);
	learn_file(guest);
	const struct file_fate *file = find_file(follower, guest);
	if (file && !file->python)
		guest->due_ns = guest->since_ns + NEVER_NS;
	return rc;
}

static int take_event(struct follower *follower, const struct kin_event *event)
{
	struct guest *guest;
	if (event->change == KIN_BORN)
		return take_born(follower, event);
	guest = find(follower, event->pid);
	if (guest && event->change == KIN_EXEC)
		return take_exec(follower, guest);
	if (guest)
		remove_guest(follower, guest);
	return 0;
}

/* Who left the sampler by itself may have executed another Python. */
static void take_leavers(struct follower *follower)
{
	struct roster_leaver leavers[LEAVERS_N];
	size_t n = roster_take_leavers(&follower->aims.sampler->roster, leavers, LEAVERS_N);
	for (size_t i = 0; i < n; i++) {
		struct guest *guest = find(follower, leavers[i].pid);
		if (!guest || !guest->sampled || guest->visit != leavers[i].visit)
			continue;
		begin_anew(guest);
	}
}

/* A root that ended in the meantime is no failure. */
static int grant(struct follower *follower, const struct wish *wish)
{
	struct guest guest = {.pid = wish->pid, .root = true, .since_ns = clock_now_ns()};
	struct guest *there = find(follower, wish->pid);
	if (there) {
		there->root = true;
	} else {
		guest.due_ns = guest.since_ns;
		if (wish->known) {
			guest.sampled = true;
			set_like(&guest, wish->known);
			guest.exe_dev = wish->known->identity.exe_dev;
			guest.exe_inode = wish->known->identity.exe_inode;
			keep_fate(follower, &guest, true);
		}
		if (!vec_push(&follower->guests, guest)) {
			free(guest.like);
			return TACHY_ENOMEM;
		}
	}
	int rc = kin_follow(follower->kin, wish->pid);
	if (rc == TACHY_EGONE && !there)
		remove_guest(follower, find(follower, wish->pid));
	return rc == TACHY_ENOMEM ? rc : 0;
}

static int grant_all(struct follower *follower)
{
	struct wish wish;
	for (int rc = 0;;) {
		pthread_mutex_lock(&follower->lock);
		bool any = follower->asked.n > 0;
		if (any)
			wish = follower->asked.at[--follower->asked.n];
		pthread_mutex_unlock(&follower->lock);
		if (!any || rc < 0)
			return rc;
		rc = grant(follower, &wish);
	}
}

/* ---- the thread ---------------------------------------------------------------------------- */

/* Until the next look is due. */
static unsigned wait_ms(const struct follower *follower)
{
	uint64_t now = clock_now_ns(), first = now + WAIT_MS * NS_PER_MS;
	for (size_t i = 0; i < follower->guests.n; i++) {
		const struct guest *guest = &follower->guests.at[i];
		if (!guest->sampled && guest->due_ns < first)
			first = guest->due_ns;
	}
	return first <= now ? 0 : (unsigned)((first - now + NS_PER_MS - 1) / NS_PER_MS);
}

/* Whether somebody may still come: while a root is there, or somebody may be a Python in a moment. */
static bool is_expecting(const struct follower *follower)
{
	uint64_t now = clock_now_ns();
	for (size_t i = 0; i < follower->guests.n; i++) {
		const struct guest *guest = &follower->guests.at[i];
		if (guest->root || (!guest->sampled && now - guest->since_ns < YOUNG_NS))
			return true;
	}
	return false;
}

static int step(struct follower *follower)
{
	struct kin_event events[EVENTS_N];
	int n = kin_wait(follower->kin, wait_ms(follower), events, EVENTS_N);
	int rc = grant_all(follower); /* a wish is older than what happened after it */
	for (int i = 0; rc >= 0 && i < n; i++)
		rc = take_event(follower, &events[i]);
	if (rc >= 0) {
		take_leavers(follower);
		rc = look_at_due(follower);
	}
	if (rc >= 0) {
		pthread_mutex_lock(&follower->lock);
		bool expecting = follower->asked.n > 0 || is_expecting(follower);
		atomic_store(&follower->aims.sampler->expecting, expecting);
		pthread_mutex_unlock(&follower->lock);
	}
	return n < 0 ? n : rc;
}

/* Without memory nobody new is found; who is sampled stays so. */
static void *run(void *arg)
{
	struct follower *follower = arg;
	cpu_prompt_self(true); /* on a busy machine a child would be over before we got to look */
	while (!atomic_load(&follower->stop) && step(follower) >= 0) {
	}
	atomic_store(&follower->aims.sampler->expecting, false);
	return NULL;
}

static int start_thread(struct follower *follower)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int rc = pthread_create(&follower->thread, NULL, run, follower);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc ? TACHY_ENOMEM : 0;
}

/* ---- the face ------------------------------------------------------------------------------ */

static void destroy_stopped(struct follower *follower)
{
	for (size_t i = 0; i < follower->guests.n; i++)
		free(follower->guests.at[i].like);
	vec_done(&follower->guests);
	vec_done(&follower->asked);
	kin_close(follower->kin);
	pthread_mutex_destroy(&follower->lock);
	free(follower);
}

int follower_create(const struct follower_aims *aims, struct follower **ret_follower)
{
	struct follower *follower = calloc(1, sizeof *follower);
	if (!follower)
		return TACHY_ENOMEM;
	follower->aims = *aims;
	atomic_init(&follower->stop, false);
	if (pthread_mutex_init(&follower->lock, NULL)) {
		free(follower);
		return TACHY_ENOMEM;
	}
	int rc = kin_open(false, &follower->kin);
	if (rc < 0) {
		destroy_stopped(follower);
		return rc;
	}
	aims->sampler->roster.keeps_leavers = true;
	*ret_follower = follower;
	return 0;
}

static int follow_first(struct follower *follower, const struct wish *wish)
{
	atomic_store(&follower->aims.sampler->expecting, true);
	int rc = grant(follower, wish);
	if (rc >= 0)
		rc = start_thread(follower);
	follower->started = rc >= 0;
	return rc;
}

int follower_follow(struct follower *follower, pid_t pid, const struct attachment *known)
{
	struct wish wish = {pid, known};
	if (!follower->started)
		return follow_first(follower, &wish);
	pthread_mutex_lock(&follower->lock);
	bool good = vec_push(&follower->asked, wish);
	if (good)
		atomic_store(&follower->aims.sampler->expecting, true);
	pthread_mutex_unlock(&follower->lock);
	return good ? 0 : TACHY_ENOMEM;
}

void follower_destroy(struct follower *follower)
{
	if (!follower)
		return;
	atomic_store(&follower->stop, true);
	if (follower->started)
		pthread_join(follower->thread, NULL);
	destroy_stopped(follower);
}
