/* SPDX-License-Identifier: MIT
 * spans.c and phases.c: runs of ticks as intervals, and states as longer ones.
 */
#include "cases.h"

#include "captured.h"
#include "export/phases.h"
#include "export/spans.h"

#define MS 1000000u

static struct profile *timeline_of(size_t n_threads)
{
	struct profile *profile = sample_profile();
	profile->keeps_timeline = true;
	profile->start_ns = 1000 * MS;
	for (size_t i = 0; i < n_threads; i++)
		(void)sample_thread(profile, 0, 100 + i, "t");
	return profile;
}

static void add(struct profile *profile, uint32_t thread, uint64_t time_ns, uint64_t weight_ns,
		uint64_t n, uint32_t states)
{
	struct sample sample = {profile->start_ns + time_ns, weight_ns, n, thread, 0, states};
	assert_int_equal(profile_count_sample(profile, &sample), 0);
}

static void runs_become_intervals(void **state)
{
	static const struct {
		uint64_t time, weight, n, begin, end; /* in tenths of milliseconds */
	} cases[] = {
		{10, 10, 1, 0, 10},    /* the first tick weighs from the start on */
		{20, 30, 3, 10, 40},   /* follows at once */
		{51, 11, 1, 40, 51},   /* a late tick: its weight tells */
		{62, 21, 2, 51, 72},   /* estimated 51.5: less than half a tick off */
		{90, 10, 1, 80, 90},   /* a gap of eight */
		{99, 20, 2, 90, 110},  /* estimated before the end of the last: put behind it */
		{400, 0, 1, 400, 400}, /* weighs nothing */
	};
	struct profile *profile = timeline_of(1);
	struct spans spans;
	size_t n;
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++)
		add(profile, 0, cases[i].time * MS / 10, cases[i].weight * MS / 10, cases[i].n, 0);
	assert_int_equal(spans_init(profile, &spans), 0);
	const struct span *at = spans_of_thread(&spans, 0, &n);
	assert_int_equal(n, N_OF(cases));
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(at[i].begin_ns, cases[i].begin * MS / 10);
		assert_int_equal(at[i].end_ns, cases[i].end * MS / 10);
	}
	assert_null(spans_of_thread(&spans, 1, &n));
	assert_int_equal(n, 0);
	spans_done(&spans);
	profile_destroy(profile);
}

/* Whatever comes, in whatever order: rows by thread, no overlap, weights kept. */
static void any_timeline(void **state)
{
	uint64_t seed = 5;
	(void)state;
	for (int round = 0; round < 50; round++) {
		struct profile *profile = timeline_of(4);
		struct spans spans;
		uint64_t weights[4] = {0}, n_seen = 0;
		for (int i = 0; i < 200; i++) {
			uint32_t thread = (uint32_t)(dice(&seed) % 4);
			uint64_t weight = dice(&seed) % (5 * MS);
			add(profile, thread, dice(&seed) % (500 * MS), weight, dice(&seed) % 5 + 1,
			    0);
			weights[thread] += weight;
		}
		profile->timeline.at[7].time_ns = 3; /* before the run began */
		profile->timeline.at[8].thread = 99; /* of nobody */
		weights[0] = weights[1] = weights[2] = weights[3] = 0;
		for (size_t i = 0; i < profile->timeline.n; i++)
			if (profile->timeline.at[i].thread < 4)
				weights[profile->timeline.at[i].thread] +=
					profile->timeline.at[i].weight_ns;
		assert_int_equal(spans_init(profile, &spans), 0);
		for (uint32_t thread = 0; thread < 4; thread++) {
			size_t n;
			const struct span *at = spans_of_thread(&spans, thread, &n);
			for (size_t i = 0; i < n; i++) {
				assert_int_equal(at[i].thread, thread);
				assert_true(at[i].begin_ns <= at[i].end_ns);
				assert_true(i == 0 || at[i - 1].end_ns <= at[i].begin_ns);
				weights[thread] -= at[i].end_ns - at[i].begin_ns;
			}
			n_seen += n;
			assert_int_equal(weights[thread], 0);
		}
		assert_int_equal(n_seen, 199);
		spans_done(&spans);
		profile_destroy(profile);
	}
}

struct seen {
	char text[512];
};

static void note(void *ctx, const struct phase_kind *kind, uint64_t begin_ns, uint64_t end_ns)
{
	struct seen *seen = ctx;
	size_t used = strlen(seen->text);
	(void)snprintf(seen->text + used, sizeof seen->text - used, "%s %u-%u; ", kind->name,
		       (unsigned)(begin_ns / MS), (unsigned)(end_ns / MS));
}

static void states_become_phases(void **state)
{
	struct profile *profile = timeline_of(1);
	struct spans spans;
	struct seen seen = {""};
	size_t n;
	uint32_t cpu = TACHY_STATE_CPU_KNOWN | TACHY_STATE_ON_CPU;
	(void)state;
	add(profile, 0, 1 * MS, 1 * MS, 1, TACHY_STATE_GIL | cpu);
	add(profile, 0, 2 * MS, 2 * MS, 2, TACHY_STATE_GIL | TACHY_STATE_GC | cpu);
	add(profile, 0, 4 * MS, 1 * MS, 1, TACHY_STATE_GIL_WAITING | TACHY_STATE_CPU_KNOWN);
	add(profile, 0, 5 * MS, 1 * MS, 1, TACHY_STATE_GIL); /* the kernel was not asked */
	add(profile, 0, 9 * MS, 1 * MS, 1, TACHY_STATE_GIL); /* a gap before */
	add(profile, 0, 10 * MS, 1 * MS, 1, TACHY_STATE_EXCEPTION);
	assert_int_equal(spans_init(profile, &spans), 0);
	const struct span *at = spans_of_thread(&spans, 0, &n);
	phases_walk(at, n, note, &seen);
	assert_string_equal(seen.text,
			    "holds GIL 0-3; holds GIL 4-5; holds GIL 8-9; waits for GIL 3-4; "
			    "on CPU 0-3; off CPU 3-4; GC 1-3; exception 9-10; ");
	spans_done(&spans);
	profile_destroy(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_become_intervals),
		cmocka_unit_test(any_timeline),
		cmocka_unit_test(states_become_phases),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
