/* SPDX-License-Identifier: MIT
 * roster.c: who comes and goes
 */
#include "cases.h"

#include "fake_target.h"
#include "sampler/roster.h"

#define N 4u

struct world {
	struct fake_target fakes[N];
	struct roster roster;
};

/* Four targets that the roster will own. */
static void begin(struct world *w)
{
	const struct target_options options = {.mode = TACHY_MODE_WALL};
	assert_int_equal(roster_init(&w->roster), 0);
	w->roster.keeps_leavers = true;
	for (unsigned i = 0; i < N; i++) {
		fake_target_open(&w->fakes[i], 12, &options);
		w->fakes[i].attachment.pid = (pid_t)(100 + i);
		w->fakes[i].target->visit = i + 1;
	}
}

static void finish(struct world *w)
{
	roster_done(&w->roster);
	for (unsigned i = 0; i < N; i++) {
		w->fakes[i].target = NULL;
		fake_target_close(&w->fakes[i]);
	}
}

static void let_in(struct world *w, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		pid_t leaver;
		struct target *target = roster_next(&w->roster, &leaver);
		assert_ptr_equal(target, w->fakes[i].target);
		assert_int_equal(leaver, 0);
		assert_int_equal(roster_admit(&w->roster, target, TACHY_SNAPSHOT_PARALLEL, false,
					      7999, NULL),
				 0);
	}
}

static void they_come_in_order(void **state)
{
	struct world w;
	pid_t leaver;
	(void)state;
	begin(&w);
	assert_true(roster_is_empty(&w.roster));
	assert_int_equal(roster_join(&w.roster, w.fakes[0].target), 0);
	assert_int_equal(roster_join(&w.roster, w.fakes[1].target), 0);
	assert_int_equal(roster_leave(&w.roster, 100), 0);
	assert_int_equal(roster_join(&w.roster, w.fakes[2].target), 0);
	assert_false(roster_is_empty(&w.roster));
	let_in(&w, 2);
	assert_null(roster_next(&w.roster, &leaver));
	assert_int_equal(leaver, 100);
	/* fakes[2] is still on its way, and fakes[3] comes behind it: both go with the roster */
	assert_int_equal(roster_join(&w.roster, w.fakes[3].target), 0);
	assert_int_equal(w.roster.members.n, 2);
	assert_int_equal(w.roster.members.at[0]->last_tick_ns, 7000);
	finish(&w);
}

static void a_closed_door_makes_nobody_wait(void **state)
{
	struct world w;
	pid_t leaver;
	(void)state;
	begin(&w);
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(roster_join(&w.roster, w.fakes[i].target), 0);
	pthread_mutex_lock(&w.roster.door);
	assert_null(roster_next(&w.roster, &leaver));
	assert_int_equal(leaver, 0);
	pthread_mutex_unlock(&w.roster.door);
	let_in(&w, N);
	assert_null(roster_next(&w.roster, &leaver));
	finish(&w);
}

static void leavers_are_told_once(void **state)
{
	struct world w;
	struct roster_leaver leavers[8];
	(void)state;
	begin(&w);
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(roster_join(&w.roster, w.fakes[i].target), 0);
	let_in(&w, N);
	member_destroy(roster_remove(&w.roster, 1));
	member_destroy(roster_remove(&w.roster, 0));
	assert_int_equal(w.roster.members.n, 2);
	assert_int_equal(roster_take_leavers(&w.roster, leavers, 1), 1);
	assert_int_equal(leavers[0].pid, 101);
	assert_int_equal(leavers[0].visit, 2);
	assert_int_equal(roster_take_leavers(&w.roster, leavers, 8), 1);
	assert_int_equal(leavers[0].pid, 100);
	assert_int_equal(roster_take_leavers(&w.roster, leavers, 8), 0);
	finish(&w);
}

static void they_stand_by_cpu(void **state)
{
	static const int cpus[N] = {2, -1, 0, 1};
	struct world w;
	(void)state;
	begin(&w);
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(roster_join(&w.roster, w.fakes[i].target), 0);
	let_in(&w, N);
	for (unsigned i = 0; i < N; i++)
		w.roster.members.at[i]->snapshot.rider_cpu = cpus[i];
	w.roster.seat.cpu = 1;
	size_t first = roster_order(&w.roster);
	for (unsigned i = 1; i < N; i++)
		assert_true(w.roster.members.at[i - 1]->snapshot.rider_cpu <=
			    w.roster.members.at[i]->snapshot.rider_cpu);
	assert_int_equal(w.roster.members.at[first]->snapshot.rider_cpu, 1);
	w.roster.seat.cpu = 7; /* nobody there: from the beginning */
	assert_int_equal(roster_order(&w.roster), 0);
	w.roster.seat.cpu = -1; /* we sit nowhere, and must not try to get up */
	finish(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_come_in_order),
		cmocka_unit_test(a_closed_door_makes_nobody_wait),
		cmocka_unit_test(leavers_are_told_once),
		cmocka_unit_test(they_stand_by_cpu),
	};
	return cmocka_run_group_tests_name("roster", tests, NULL, NULL);
}
