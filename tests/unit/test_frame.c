/* SPDX-License-Identifier: MIT
 * frame.c on stacks made by hand, in the layouts of all versions: whole ones, broken ones, ones that lead
 * in circles, and copies that a running target left half old, half new.
 */
#include "cases.h"

#include <sys/wait.h>
#include <unistd.h>

#include "cpython/frame.h"
#include "fake_alloc.h"
#include "fake_python.h"

#define CIRCLE_MAX 16384 /* frames of a circle that may be met before it is noticed */

struct world {
	struct py py;
	struct mem_view view;
	struct stacks stacks;
	struct code_cache codes;
	struct py_thread thread;
	struct py_code f[4];
	struct raw_stack raw;
};

static void open_world(struct world *w, unsigned minor)
{
	char name[] = "f0";
	memset(w, 0, sizeof *w);
	py_init(&w->py, fake_mem_create(), minor);
	mem_view_init(&w->view, &w->py.fake->mem);
	assert_int_equal(stacks_init(&w->stacks), 0);
	code_cache_init(&w->codes, w->py.l, &w->stacks);
	py_thread_start(&w->py, &w->thread, 0);
	for (int i = 0; i < 4; i++, name[1]++)
		w->f[i] = py_code(&w->py, name, "a.py", 10 * i);
}

static void close_world(struct world *w)
{
	vec_done(&w->raw.frames);
	code_cache_done(&w->codes);
	stacks_done(&w->stacks);
	mem_view_done(&w->view);
	mem_close(&w->py.fake->mem);
}

static void for_versions(unsigned from, unsigned to, void (*test)(struct world *w))
{
	struct world *w = malloc(sizeof *w);
	assert_non_null(w);
	for (unsigned minor = from; minor <= to; minor++) {
		open_world(w, minor);
		test(w);
		close_world(w);
	}
	free(w);
}

/* A new tick, and the walk. */
static int walk_with(struct world *w, bool entries)
{
	struct thread_state state;
	struct frame_walk_options options = {.entries = entries};
	int rc = mem_view_begin(&w->view);
	if (rc >= 0)
		rc = thread_read(&w->view, w->py.l, w->thread.addr, NULL, &state);
	return rc < 0 ? rc : frame_walk(&w->view, w->py.l, &state, &options, &w->raw);
}

static int walk(struct world *w)
{
	return walk_with(w, false);
}

/* The walk has met the thread's Python frames and nothing else. */
static void check_whole(struct world *w)
{
	size_t n = 0;
	assert_int_equal(w->raw.status, 0);
	assert_false(w->raw.cut);
	for (size_t i = w->thread.n; i > 0; i--) {
		const struct py_code *code = w->thread.frames[i - 1].code;
		if (!code)
			continue;
		assert_true(n < w->raw.frames.n);
		const struct raw_frame *frame = &w->raw.frames.at[n++];
		assert_int_equal(frame->addr, w->thread.frames[i - 1].addr);
		assert_int_equal(frame->code, code->addr);
		assert_int_equal(frame->at, 8);
		assert_int_equal(frame->flags.kind, RAW_PYTHON);
	}
	assert_int_equal(w->raw.frames.n, n);
}

static void call(struct world *w, size_t n)
{
	for (size_t i = 0; i < n; i++)
		py_call(&w->py, &w->thread, &w->f[i % 4]);
}

/* ---- whole stacks --------------------------------------------------------------------------- */

static void walk_chain(struct world *w)
{
	assert_int_equal(walk(w), 0);
	assert_int_equal(w->raw.frames.n, 0); /* no frame at all */
	assert_false(w->raw.cut);
	for (int n = 1; n < 40; n++) {
		call(w, 1);
		assert_int_equal(walk(w), 0);
		check_whole(w);
	}
	for (int n = 0; n < 39; n++) {
		py_return(&w->py, &w->thread);
		assert_int_equal(walk(w), 0);
		check_whole(w);
	}
	assert_int_equal(w->raw.frames.n, 0);
}

static void test_chain(void **state)
{
	(void)state;
	for_versions(8, 15, walk_chain);
}

/* 2000 frames, over many chunks where there are chunks; once known, one batch. */
static void walk_deep(struct world *w)
{
	call(w, 2000);
	for (int tick = 0; tick < 4; tick++) {
		assert_int_equal(walk(w), 0);
		check_whole(w);
	}
	uint64_t calls = fake_calls(w->py.fake);
	assert_int_equal(walk(w), 0);
	check_whole(w);
	assert_int_equal(fake_calls(w->py.fake), calls + 1);
	for (int n = 0; n < 1990; n++)
		py_return(&w->py, &w->thread);
	assert_int_equal(walk(w), 0);
	check_whole(w);
}

static void test_deep(void **state)
{
	(void)state;
	for_versions(8, 15, walk_deep);
}

static void walk_instructions(struct world *w)
{
	static const int32_t ats[] = {-2, 0, 2, 100, 198};
	call(w, 2);
	for (size_t i = 0; i < N_OF(ats); i++) {
		if (ats[i] < 0 && w->py.l->lines == LINES_PEP626)
			continue; /* f_lasti is -1 there, not -2 bytes */
		py_frame_at(&w->py, py_leaf(&w->thread), &w->f[1], ats[i]);
		assert_int_equal(walk(w), 0);
		assert_int_equal(w->raw.frames.at[0].at, ats[i]);
		assert_int_equal(w->raw.frames.at[1].at, 8);
	}
}

static void test_instructions(void **state)
{
	(void)state;
	for_versions(8, 15, walk_instructions);
}

/* Python, C, Python; and a generator in the heap. */
static void walk_entries(struct world *w)
{
	py_call_from_c(&w->py, &w->thread, &w->f[0]);
	call(w, 2);
	py_call_from_c(&w->py, &w->thread, &w->f[1]);
	py_resume(&w->py, &w->thread, &w->f[2], 0);
	call(w, 2);
	assert_int_equal(walk(w), 0);
	check_whole(w);
	if (w->py.l->frames == FRAMES_OBJECTS)
		return;
	for (size_t i = 0; i < w->raw.frames.n;
	     i++) { /* leaf first: 2 calls, generator, from C, 2 calls, from C */
		bool from_c = i == 3 || i == 6;
		assert_int_equal(w->raw.frames.at[i].flags.from_c, from_c);
	}
	assert_int_equal(w->raw.frames.at[2].flags.owner, w->py.l->owner.generator);
	assert_int_equal(walk_with(w, true), 0);
	if (w->py.l->minor < 12)
		return;
	assert_int_equal(w->raw.frames.n, 8); /* the one at the bottom is called by nobody */
	assert_int_equal(w->raw.frames.at[4].flags.kind, RAW_ENTRY);
	assert_int_equal(w->raw.frames.at[4].code, 0);
}

static void test_entries(void **state)
{
	(void)state;
	for_versions(8, 15, walk_entries);
}

/* ---- broken chains -------------------------------------------------------------------------- */

static void break_chain(struct world *w)
{
	for (size_t k = 0; k < 6; k++) { /* the frame `k` above the root leads nowhere */
		w->thread.n = 0;
		w->thread.top = w->thread.chunk = 0;
		call(w, 6);
		py_set64(&w->py, w->thread.frames[k].addr, w->py.l->frame.back, 0x1000);
		assert_int_equal(walk(w), 0);
		assert_true(w->raw.cut);
		assert_int_equal(w->raw.status, TACHY_EFAULT);
		assert_int_equal(w->raw.frames.n, 6 - k);
		assert_int_equal(w->raw.frames.at[0].addr, py_leaf(&w->thread));
	}
	if (w->py.l->frames == FRAMES_CFRAME)
		py_set64(&w->py, w->thread.cframe, w->py.l->cframe.current_frame, 0x1000);
	else
		py_set64(&w->py, w->thread.addr,
			 w->py.l->frames == FRAMES_OBJECTS ? w->py.l->tstate.frame
							   : w->py.l->tstate.current_frame,
			 0x1000);
	assert_int_equal(walk(w), TACHY_EFAULT);
	w->py.fake->fail = TACHY_EGONE;
	assert_int_equal(walk(w), TACHY_EGONE);
}

static void test_broken_chain(void **state)
{
	(void)state;
	for_versions(8, 15, break_chain);
}

/* What the thread state says of its data stack makes no sense: frame by frame, then. */
static void break_chunk(struct world *w)
{
	static const struct {
		uint64_t chunk, top;
	} cases[] = {{0, 0},
		     {0x1000, 0x2000},
		     {0x2000, 0x1000},
		     {PY_CHUNKS, UINT64_MAX},
		     {UINT64_MAX - 8, 8}};
	call(w, 5);
	for (size_t i = 0; i < N_OF(cases); i++) {
		py_set64(&w->py, w->thread.addr, w->py.l->tstate.datastack_chunk, cases[i].chunk);
		py_set64(&w->py, w->thread.addr, w->py.l->tstate.datastack_top, cases[i].top);
		assert_int_equal(walk(w), 0);
		check_whole(w);
	}
}

static void test_broken_chunk(void **state)
{
	(void)state;
	for_versions(11, 15, break_chunk);
}

/* ---- circles -------------------------------------------------------------------------------- */

/* Runs `test` where a loop that never ends can be stopped; each must end soon. */
static void must_end(unsigned minor, bool (*test)(struct world *w), const char *what)
{
	fflush(NULL);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct world *w = malloc(sizeof *w);
		must_end_soon();
		open_world(w, minor);
		bool good = test(w);
		_exit(good ? 0 : 1);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status != 0)
		fail_msg("3.%u, %s: %s", minor, what,
			 WIFSIGNALED(status) ? "did not end" : "not marked as cut");
}

static bool ends_cut(struct world *w, bool entries)
{
	int rc = walk_with(w, entries);
	bool cut = w->raw.cut && w->raw.frames.n <= CIRCLE_MAX;
	close_world(w);
	return rc < 0 || cut;
}

static bool circle_of(struct world *w, size_t n)
{
	call(w, n + 3);
	py_set64(&w->py, w->thread.frames[3].addr, w->py.l->frame.back,
		 w->thread.frames[n + 2].addr);
	return ends_cut(w, true);
}

static bool circle_of_one(struct world *w)
{
	return circle_of(w, 1);
}

static bool circle_of_two(struct world *w)
{
	return circle_of(w, 2);
}

static bool circle_of_many(struct world *w)
{
	return circle_of(w, 1000);
}

/* Frames that are not reported must not be followed for ever either. */
static bool circle_of_entries(struct world *w)
{
	call(w, 2);
	py_enter_c(&w->py, &w->thread);
	py_set64(&w->py, py_leaf(&w->thread), w->py.l->frame.back, py_leaf(&w->thread));
	return ends_cut(w, false);
}

static bool circle_of_popped_leaves(struct world *w)
{
	call(w, 1);
	py_set64(&w->py, py_leaf(&w->thread), w->py.l->frame.code, 0);
	py_set64(&w->py, py_leaf(&w->thread), w->py.l->frame.back, py_leaf(&w->thread));
	return ends_cut(w, false);
}

/* A chunk that is its own predecessor, and a thousand frames that lie in none. */
static bool circle_of_chunks(struct world *w)
{
	call(w, 1);
	for (int i = 0; i < 1000; i++)
		py_resume(&w->py, &w->thread, &w->f[0], 0);
	py_set64(&w->py, w->thread.chunk, w->py.l->stack_chunk.previous, w->thread.chunk);
	int rc = walk(w);
	size_t n = w->raw.frames.n;
	close_world(w);
	return rc < 0 || n == 1001;
}

static void test_circles(void **state)
{
	static const struct {
		const char *what;
		bool (*test)(struct world *w);
		unsigned from;
	} cases[] = {
		{"a frame that calls itself", circle_of_one, 8},
		{"two frames in a circle", circle_of_two, 8},
		{"a thousand frames in a circle", circle_of_many, 8},
		{"a leaf without code that calls itself", circle_of_popped_leaves, 8},
		{"a C entry that calls itself", circle_of_entries, 12},
		{"a chunk before itself", circle_of_chunks, 11},
	};

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++)
		for (unsigned minor = cases[i].from; minor <= 15; minor++)
			must_end(minor, cases[i].test, cases[i].what);
}

/* ---- signs of a live frame ------------------------------------------------------------------ */

static size_t count_dead(struct world *w)
{
	assert_int_equal(walk(w), 0);
	for (size_t i = 0; i < w->raw.frames.n; i++) {
		struct raw_frame *frame = &w->raw.frames.at[i];
		if (frame->flags.kind == RAW_PYTHON)
			assert_int_equal(code_cache_get(&w->codes, &w->view, frame->code, 0, 0,
							&frame->code_index),
					 0);
	}
	return frame_count_dead(w->py.l, &w->codes, &w->raw, w->raw.frames.n, true);
}

/* Nothing of what is alive is taken for dead. */
static void look_at_living(struct world *w)
{
	assert_int_equal(count_dead(w), 0);
	py_call_from_c(&w->py, &w->thread, &w->f[0]);
	assert_int_equal(count_dead(w), 0);
	call(w, 10);
	assert_int_equal(count_dead(w), 0);
	py_call_from_c(&w->py, &w->thread, &w->f[1]);
	assert_int_equal(count_dead(w), 0);
	py_resume(&w->py, &w->thread, &w->f[2], 0);
	assert_int_equal(count_dead(w), 0);
	call(w, 500); /* over chunks */
	assert_int_equal(count_dead(w), 0);
	py_resume(&w->py, &w->thread, &w->f[2], 0);
	assert_int_equal(count_dead(w), 0);
	while (w->thread.n) {
		py_return(&w->py, &w->thread);
		assert_int_equal(count_dead(w), 0);
	}
}

static void test_living_frames(void **state)
{
	(void)state;
	for_versions(8, 15, look_at_living);
}

/* 8 frames; the one that is `k` below the leaf gets a sign of death: it and what is above it goes. */
static void stack_of_eight(struct world *w)
{
	w->thread.n = 0;
	w->thread.top = w->thread.chunk = 0;
	call(w, 8);
	assert_int_equal(count_dead(w), 0);
}

static raddr below_leaf(const struct world *w, size_t k)
{
	return w->thread.frames[w->thread.n - 1 - k].addr;
}

static void outside_its_bytecode(struct world *w)
{
	static const int32_t ats[] = {PY_CODE_UNITS * 2, PY_CODE_UNITS * 2 + 2000, 1 << 24, -4,
				      -2000};
	for (size_t i = 0; i < N_OF(ats); i++) {
		for (size_t k = 0; k < 8; k++) {
			stack_of_eight(w);
			if (ats[i] < 0 && w->py.l->frames == FRAMES_OBJECTS)
				continue; /* below 0 is "not begun" there */
			py_frame_at(&w->py, below_leaf(w, k), &w->f[(7 - k) % 4], ats[i]);
			assert_int_equal(count_dead(w), k + 1);
		}
	}
}

static void test_outside_its_bytecode(void **state)
{
	(void)state;
	for_versions(8, 15, outside_its_bytecode);
}

static void not_executing(struct world *w)
{
	for (size_t k = 0; k < 8; k++) {
		stack_of_eight(w);
		py_set8(&w->py, below_leaf(w, k), w->py.l->frame.executing, 0);
		py_set8(&w->py, below_leaf(w, k), w->py.l->frame.state,
			(uint8_t)-1); /* FRAME_SUSPENDED.. */
		assert_int_equal(count_dead(w), k + 1);
	}
}

static void test_not_executing(void **state)
{
	(void)state;
	for_versions(8, 10, not_executing);
}

/* The caller runs, so it has no Python callee: what seems to be called by it is left over. */
static void caller_runs(struct world *w)
{
	for (size_t k = 1; k < 8; k++) {
		stack_of_eight(w);
		py_set_running(&w->py, below_leaf(w, k), true);
		assert_int_equal(count_dead(w), k + 1);
	}
}

static void test_caller_runs(void **state)
{
	(void)state;
	for_versions(11, 15, caller_runs);
}

static void no_way_back(struct world *w)
{
	for (size_t k = 1; k < 8; k++) {
		stack_of_eight(w);
		fake_put_u16(w->py.fake, below_leaf(w, k) + w->py.l->frame.return_offset, 0);
		assert_int_equal(count_dead(w), k + 1);
	}
}

static void test_no_way_back(void **state)
{
	(void)state;
	for_versions(13, 15, no_way_back);
}

/* Frames of the data stack lie one right after the other. */
static void gap_between(struct world *w)
{
	for (size_t k = 1; k < 8; k++) {
		stack_of_eight(w);
		py_set64(&w->py, below_leaf(w, k - 1), w->py.l->frame.back,
			 below_leaf(w, k + (k < 7)));
		size_t dead = count_dead(w);
		if (k == 7) /* nothing was left out */
			assert_int_equal(dead, 0);
		else
			assert_int_equal(dead, k + 1);
	}
}

static void test_gap_between(void **state)
{
	(void)state;
	for_versions(11, 15, gap_between);
}

/* Up to 3.13: the leaf has saved its stack pointer, as for a callee that is not there. */
static void leaf_waits(struct world *w)
{
	stack_of_eight(w);
	py_set_running(&w->py, below_leaf(w, 0), false);
	assert_int_equal(count_dead(w), 1);
	py_frame_at(&w->py, below_leaf(w, 0), &w->f[3],
		    w->py.l->minor < 13 ? -2 : 0); /* it is new */
	assert_int_equal(count_dead(w), 0);
}

static void test_leaf_waits(void **state)
{
	(void)state;
	for_versions(11, 13, leaf_waits);
}

/* A generator is resumed by somebody: on the bottom of a stack it is one that was suspended meanwhile, and
 * its callers are missing. From 3.12 on an entry frame lies below everything that C code calls. */
static void generator_at_the_bottom(struct world *w)
{
	py_call_from_c(&w->py, &w->thread, &w->f[0]);
	raddr generator = py_resume(&w->py, &w->thread, &w->f[2], 0);
	call(w, 2);
	py_set64(&w->py, generator, w->py.l->frame.back, 0);
	py_set8(&w->py, generator, w->py.l->frame.is_entry, 1); /* by C code: next() */
	assert_int_equal(walk(w), 0);
	assert_true(w->raw.cut || count_dead(w) == 3);
}

static void test_generator_at_the_bottom(void **state)
{
	(void)state;
	for_versions(11, 15, generator_at_the_bottom);
}

/* ---- memory --------------------------------------------------------------------------------- */

static void no_memory(struct world *w)
{
	call(w, 200);
	assert_true(
		vec_reserve(&w->py.fake->batch, 4096)); /* the fake's own memory is not at stake */
	int n_good = 0, rc;
	do {
		vec_done(&w->raw.frames);
		fake_alloc_arm(n_good++);
		rc = walk(w);
		fake_alloc_disarm();
		assert_true(rc == TACHY_ENOMEM ||
			    (rc == 0 && (w->raw.status == TACHY_ENOMEM || !w->raw.cut)));
	} while (rc != 0 || w->raw.cut);
	check_whole(w);
	assert_true(n_good > 2);
}

static void test_out_of_memory(void **state)
{
	(void)state;
	if (!FAKE_ALLOC_FAILS)
		skip();
	for_versions(8, 15, no_memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_broken_chain),
		cmocka_unit_test(test_broken_chunk),
		cmocka_unit_test(test_circles),
		cmocka_unit_test(test_living_frames),
		cmocka_unit_test(test_outside_its_bytecode),
		cmocka_unit_test(test_not_executing),
		cmocka_unit_test(test_caller_runs),
		cmocka_unit_test(test_no_way_back),
		cmocka_unit_test(test_gap_between),
		cmocka_unit_test(test_leaf_waits),
		cmocka_unit_test(test_generator_at_the_bottom),
		cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
