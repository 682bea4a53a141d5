/* SPDX-License-Identifier: MIT
 * A fake target with a program of one to three threads, for cmocka tests.
 */
#ifndef FAKE_WORLD_H
#define FAKE_WORLD_H

#include "cases.h"

#include "fake_target.h"

#define ANY UINT32_MAX
#define MS  1000000u

struct world {
	struct fake_target t;
	struct py_code f[6];
	struct py_thread main, other, third;
};

static inline void open_with(struct world *w, unsigned minor, const struct target_options *options)
{
	char name[] = "f0";
	fake_target_open(&w->t, minor, options);
	py_thread_start(&w->t.py, &w->main, 0);
	py_set_gil(&w->t.py, w->main.addr, true, 1);
	for (int i = 0; i < 6; i++, name[1]++)
		w->f[i] = py_code(&w->t.py, name, "a.py", 10 * i);
}

static inline void open_world(struct world *w, unsigned minor)
{
	const struct target_options options = {.no_gc = true};
	open_with(w, minor, &options);
}

static inline void for_versions(unsigned from, unsigned to, void (*test)(struct world *w))
{
	struct world *w = calloc(1, sizeof *w);
	assert_non_null(w);
	for (unsigned minor = from; minor <= to; minor++) {
		open_world(w, minor);
		test(w);
		fake_target_close(&w->t);
	}
	free(w);
}

static inline void call(struct world *w, struct py_thread *thread, int f)
{
	py_call(&w->t.py, thread, &w->f[f]);
}

static inline void ticks(struct world *w, int n)
{
	for (int i = 0; i < n; i++)
		assert_int_equal(fake_target_tick(&w->t, MS, true, false), 0);
}

static inline void check_total(struct world *w, uint32_t thread, const char *words, uint64_t n)
{
	struct fake_total total = fake_target_total(&w->t, thread, words);
	if (total.n != n)
		fail_msg("3.%u, %s of thread %u: %u samples, not %u", w->t.py.l->minor,
			 words ? words : "all", thread, (unsigned)total.n, (unsigned)n);
}

static inline void flush(struct world *w)
{
	assert_int_equal(target_flush(w->t.target), 0);
}

/* The GIL goes to `thread`. */
static inline void take_gil(struct world *w, const struct py_thread *thread)
{
	static uint64_t number = 100;
	py_set_gil(&w->t.py, thread->addr, true, ++number);
}

#endif
