/* SPDX-License-Identifier: MIT
 * Once warm, a tick allocates nothing: neither over Pythons made by hand, of every version, nor over the
 * machine's own python3, in every way of taking a snapshot.
 */
#include "fake_world.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fake_alloc.h"
#include "sampler/snapshot.h"

#define WARM_TICKS  400
#define TICKS       300
#define QUIET_TICKS 200 /* of a real program without a new stack: it is warm then */
#define REAL_TICKS  8000

/* ---- by hand -------------------------------------------------------------------------------- */

static void turn(struct world *w, int i)
{
	raddr heap = w->t.py.heap;
	struct py_thread *thread = i % 3 ? &w->main : &w->other;
	take_gil(w, thread);
	for (int k = 0; k < 1 + i % 5; k++)
		call(w, thread, k % 6);
	if (i % 7 == 0)
		py_resume(&w->t.py, thread, &w->f[2], 0);
	assert_int_equal(fake_target_tick(&w->t, MS, true, i % 2), 0);
	while (thread->n > 1)
		py_return(&w->t.py, thread);
	assert_int_equal(fake_target_tick(&w->t, MS, false, true), 0);
	w->t.py.heap = heap;
	if (i % 10 == 0)
		flush(w);
}

static void tick_warm(struct world *w)
{
	call(w, &w->main, 0);
	py_thread_start(&w->t.py, &w->other, 0);
	call(w, &w->other, 1);
	assert_true(vec_reserve(&w->t.py.fake->batch,
				4096)); /* the fake's own memory is not at stake */
	for (int i = 0; i < WARM_TICKS; i++)
		turn(w, i);
	fake_alloc_arm(-1);
	for (int i = 0; i < TICKS; i++)
		turn(w, i);
	uint64_t n = fake_alloc_disarm();
	if (n)
		fail_msg("3.%u: %u allocations in %d ticks", w->t.py.l->minor, (unsigned)n,
			 2 * TICKS);
}

static void test_by_hand(void **state)
{
	(void)state;
	if (!FAKE_ALLOC_COUNTS)
		skip();
	for_versions(8, 15, tick_warm);
}

/* ---- the machine's own ---------------------------------------------------------------------- */

static const char program[] =
	"import threading, time\n"
	"def down(n):\n"
	"    return n and down(n - 1)\n"
	"def counts(n):\n"
	"    yield from range(n)\n"
	"def work():\n"
	"    while True:\n"
	"        down(4); sum(counts(4))\n"
	"def idle():\n"
	"    while True: time.sleep(0.001)\n"
	"for f in (work, idle, idle): threading.Thread(target=f, daemon=True).start()\n"
	"work()\n";

static pid_t start_python(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* an assertion that fails leaves nobody behind */
		execlp("python3", "python3", "-c", program, (char *)NULL);
		_exit(127);
	}
	return pid;
}

static void sleep_ms(long ms)
{
	struct timespec time = {ms / 1000, ms % 1000 * 1000000};
	nanosleep(&time, NULL);
}

/* 0 once it runs its threads; else why not. */
static int attach(pid_t pid, struct attachment *attachment)
{
	int rc = TACHY_EAGAIN;
	for (int i = 0; i < 200 && rc < 0; i++) {
		sleep_ms(20);
		rc = attachment_open(pid, attachment, NULL);
	}
	sleep_ms(200);
	return rc;
}

struct real {
	pid_t pid;
	struct attachment attachment;
	struct profile *profile;
	struct fake_sink sink;
	struct target *target;
	struct snapshot snapshot;
	uint64_t now_ns, n_good;
};

static void tick_real(struct real *w)
{
	struct timespec pause = {0, 50000};
	nanosleep(&pause, NULL);
	w->now_ns += MS;
	if (snapshot_take(&w->snapshot) < 0)
		return;
	w->n_good++;
	assert_true(target_commit(w->target, w->now_ns, MS) >= 0);
	assert_true(target_flush(w->target) >= 0);
}

/* Every function, place and stack that we have heard of, and every thread. */
static size_t n_known(const struct real *w)
{
	return w->profile->stacks.nodes.n + w->profile->counts.n + w->profile->threads.n +
	       w->target->codes.entries.n;
}

/* Ticks until nothing new comes, then counts allocations. What is new after all is not counted. */
static uint64_t count_allocations(struct real *w, uint64_t *ret_ticks)
{
	uint64_t n = 0;
	size_t known = n_known(w);
	for (int i = 0, quiet = 0; i < REAL_TICKS && *ret_ticks < TICKS; i++, quiet++) {
		fake_alloc_arm(-1);
		tick_real(w);
		uint64_t n_tick = fake_alloc_disarm();
		if (n_known(w) != known) {
			known = n_known(w);
			quiet = 0;
		} else if (quiet >= QUIET_TICKS) {
			n += n_tick;
			++*ret_ticks;
		}
	}
	return n;
}

static void run_real(struct real *w, enum tachy_snapshot wanted)
{
	const struct target_options options = {.mode = TACHY_MODE_WALL};
	uint64_t n_ticks = 0;
	assert_int_equal(profile_create(&w->profile), 0);
	w->sink = (struct fake_sink){.sink.ops = &fake_sink_ops, .profile = w->profile};
	assert_int_equal(target_create(&w->attachment, w->profile, &w->sink.sink, &options,
				       &w->target),
			 0);
	assert_int_equal(snapshot_init(&w->snapshot, w->target, wanted, false, NULL, NULL), 0);
	uint64_t n = count_allocations(w, &n_ticks);
	snapshot_done(&w->snapshot);
	print_message("snapshot %d: %u ticks counted, %u taken in all\n", (int)wanted,
		      (unsigned)n_ticks, (unsigned)w->n_good);
	target_destroy(w->target);
	profile_destroy(w->profile);
	assert_int_equal(n, 0);
	assert_true(n_ticks > 0 && w->n_good > 100);
}

static void test_real(void **state)
{
	static const enum tachy_snapshot ways[] = {TACHY_SNAPSHOT_AUTO, TACHY_SNAPSHOT_PARALLEL,
						   TACHY_SNAPSHOT_STOP};
	struct real w = {.pid = start_python()};

	(void)state;
	assert_true(w.pid > 0);
	int rc = attach(w.pid, &w.attachment);
	for (size_t i = 0; FAKE_ALLOC_COUNTS && rc == 0 && i < N_OF(ways); i++)
		run_real(&w, ways[i]);
	if (rc == 0)
		attachment_done(&w.attachment);
	kill(w.pid, SIGKILL);
	waitpid(w.pid, NULL, 0);
	if (!FAKE_ALLOC_COUNTS || rc < 0)
		skip(); /* no python3, or we are not let */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_real),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
