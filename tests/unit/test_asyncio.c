/* SPDX-License-Identifier: MIT
 * asyncio's layouts, tasks and who awaits them, made by hand in every version; what of it can be wrong.
 */
#include "cases.h"

#include "base/error.h"
#include "fake_asyncio.h"

struct world {
	struct fake_mem *fake;
	struct py py;
	struct fake_asyncio a;
	struct mem_view view;
	struct asyncio asyncio;
	struct task_graph graph;
};

static void world_open(struct world *w, unsigned minor)
{
	memset(w, 0, sizeof *w);
	w->fake = fake_mem_create();
	py_init(&w->py, w->fake, minor);
	fake_asyncio_init(&w->a, &w->py);
	mem_view_init(&w->view, &w->fake->mem);
	asyncio_init(&w->asyncio, w->py.l, w->py.interp);
	fake_asyncio_locate(&w->a, &w->asyncio);
	task_graph_init(&w->graph);
}

static void world_close(struct world *w)
{
	task_graph_done(&w->graph);
	asyncio_done(&w->asyncio);
	mem_view_done(&w->view);
	mem_close(&w->fake->mem);
}

static int look(struct world *w, bool all, bool strict)
{
	struct task_thread thread = {.addr = w->a.thread.addr, .current = TASK_NONE};
	assert_true(mem_view_begin(&w->view) >= 0);
	task_graph_reset(&w->graph);
	assert_true(vec_push(&w->graph.threads, thread));
	return asyncio_read(&w->asyncio, &w->view, all, strict, &w->graph);
}

static const struct raw_task *task_at(const struct world *w, raddr addr)
{
	uint64_t i;
	return map_get(&w->graph.by_addr, addr, &i) && !w->graph.tasks.at[i].done
		       ? &w->graph.tasks.at[i]
		       : NULL;
}

static bool waits_for(const struct world *w, uint32_t waiter, uint32_t task)
{
	const struct raw_task *of = task_at(w, w->a.tasks[task]);
	for (uint32_t i = 0; i < of->n_waiters; i++)
		if (w->graph.tasks.at[w->graph.waiters.at[of->first_waiter + i]].addr ==
		    w->a.tasks[waiter])
			return true;
	return false;
}

static void a_graph_is_read_in_every_version(void **state)
{
	static struct world w;
	(void)state;
	for (unsigned minor = 8; minor <= 15; minor++) {
		world_open(&w, minor);
		assert_int_equal(look(&w, true, true), 0);
		assert_int_equal(w.graph.tasks.n, N_FAKE_TASKS);
		for (uint32_t i = 0; i < N_FAKE_TASKS; i++) {
			const struct raw_task *task = task_at(&w, w.a.tasks[i]);
			char name[16];
			snprintf(name, sizeof name, "task %u", i);
			assert_non_null(task);
			assert_int_equal(task->name_len, strlen(name));
			assert_memory_equal(w.graph.names.chars.at + task->name_at, name,
					    strlen(name));
			assert_int_equal(task->coroutine.state,
					 i ? COROUTINE_SUSPENDED : COROUTINE_RUNNING);
			assert_int_equal(task->n_frames, i ? 1 : 0);
			assert_true(i == 0 || waits_for(&w, i - 1, i));
			assert_true(task->current == (minor >= 14 && i == 0));
		}
		assert_true(task_at(&w, w.a.tasks[3])->coroutine.awaited == w.a.future);
		/* a set of waiters, 3.14+ */
		assert_int_equal(task_at(&w, w.a.tasks[3])->n_waiters, minor >= 14 ? 3 : 1);
		world_close(&w);
	}
}

static void warm_readings_take_one_call(void **state)
{
	static struct world w;
	(void)state;
	for (unsigned minor = 8; minor <= 15; minor++) {
		world_open(&w, minor);
		for (int i = 0; i < 6; i++)
			assert_int_equal(look(&w, true, true), 0);
		uint64_t before = fake_calls(w.fake);
		assert_int_equal(look(&w, true, true), 0);
		assert_int_equal(fake_calls(w.fake) - before, 1);
		world_close(&w);
	}
}

static void only_running_ones_and_who_awaits_them(void **state)
{
	static struct world w;
	(void)state;
	world_open(&w, 14);
	fake_put_u64(w.fake, w.a.thread.addr + FAKE_RUNNING_TASK, w.a.tasks[2]);
	assert_int_equal(look(&w, false, true), 0);
	assert_int_equal(w.graph.tasks.n, 3);
	assert_null(task_at(&w, w.a.tasks[3]));
	assert_true(waits_for(&w, 1, 2) && waits_for(&w, 0, 1));
	world_close(&w);
}

static void numbers_are_names(void **state)
{
	static struct world w;
	(void)state;
	world_open(&w, 14);
	raddr number = py_alloc(&w.py, 64);
	py_set64(&w.py, number, w.py.l->object.ob_type, w.a.int_type);
	py_set64(&w.py, number, w.py.l->integer.tag, 2 << 3);
	py_set32(&w.py, number, w.py.l->integer.digit, 5);
	py_set32(&w.py, number, w.py.l->integer.digit + 4, 1);
	py_set64(&w.py, w.a.tasks[1], w.a.fields.name, number);
	assert_int_equal(look(&w, true, true), 0);
	const struct raw_task *task = task_at(&w, w.a.tasks[1]);
	assert_int_equal(task->name_len, strlen("Task-1073741829"));
	assert_memory_equal(w.graph.names.chars.at + task->name_at, "Task-1073741829", 15);
	world_close(&w);
}

/* Each makes the copy senseless: read again while it may be torn, left out when it is not. */
static void what_makes_no_sense_is_torn(void **state)
{
	static struct world w;
	(void)state;
	for (unsigned minor = 12; minor <= 15; minor++) {
		world_open(&w, minor);
		/* a name that is nowhere */
		py_set64(&w.py, w.a.tasks[1], w.a.fields.name, 0x1234560000);
		assert_int_equal(look(&w, true, true), TACHY_ETORN);
		assert_int_equal(look(&w, true, false), 0);
		assert_null(task_at(&w, w.a.tasks[1]));
		assert_non_null(task_at(&w, w.a.tasks[2]));
		py_set64(&w.py, w.a.tasks[1], w.a.fields.name, w.a.names[1]);
		/* coroutines that await each other */
		raddr frame = w.a.coroutines[1] + w.py.l->gen.iframe;
		fake_put_u64(w.fake, frame + w.py.l->frame.size + PY_FRAME_SLOTS * 8,
			     w.a.coroutines[1]);
		assert_int_equal(look(&w, true, true), TACHY_ETORN);
		/* the top of a stack that lies nowhere */
		py_set64(&w.py, frame, w.py.l->frame.stackpointer & ~7u, 0x7777777777);
		assert_int_equal(look(&w, true, true), TACHY_ETORN);
		world_close(&w);
	}
	/* a list whose nodes do not lead back */
	world_open(&w, 15);
	fake_put_u64(w.fake, w.a.tasks[2] + w.a.fields.node + 8, w.a.tasks[0]);
	assert_int_equal(look(&w, true, true), TACHY_ETORN);
	world_close(&w);
	/* a set of a size that none has */
	world_open(&w, 13);
	py_set64(&w.py, w.a.set, w.py.l->set.mask, 6);
	assert_int_equal(look(&w, true, true), TACHY_ETORN);
	world_close(&w);
}

static void tasks_that_are_done_do_not_count(void **state)
{
	static struct world w;
	(void)state;
	world_open(&w, 13);
	py_set32(&w.py, w.a.tasks[2], w.a.fields.state, 2);
	assert_int_equal(look(&w, true, true), 0);
	assert_null(task_at(&w, w.a.tasks[2]));
	assert_non_null(task_at(&w, w.a.tasks[1]));
	/* a member of the set that is no task at all is told */
	py_set64(&w.py, w.a.tasks[1], w.py.l->object.ob_type, py_type(&w.py, "cython_task"));
	assert_int_equal(look(&w, true, true), 0);
	assert_int_equal(w.graph.n_strange, 1);
	world_close(&w);
}

static void layouts_are_checked(void **state)
{
	const struct layout *old = layout_find(3, 12, false, false);
	const struct layout *new = layout_find(3, 15, false, false);
	struct py py = {.l = new};
	struct asyncio_layout fields;
	uint64_t words[13];
	struct span bytes = {(const uint8_t *)words, sizeof words};
	(void)state;
	assert_int_equal(asyncio_layout_by_size(old, 176, &fields), 0);
	assert_int_equal(fields.coro, 136);
	assert_int_equal(asyncio_layout_by_size(old, 8, &fields), TACHY_ECORRUPT);
	assert_int_equal(asyncio_layout_by_size(old, 1 << 20, &fields), TACHY_ECORRUPT);
	assert_int_equal(asyncio_layout_by_size(new, 168, &fields), TACHY_EVERSION);
	assert_int_equal(asyncio_layout_by_debug(old, bytes, &fields), TACHY_EVERSION);
	fake_asyncio_debug(&py, words);
	assert_int_equal(asyncio_layout_by_debug(new, bytes, &fields), 0);
	assert_int_equal(asyncio_layout_by_debug(new, (struct span){bytes.data, 96}, &fields),
			 TACHY_ECORRUPT);
	for (size_t i = 0; i < 13; i++) { /* each word is looked at */
		fake_asyncio_debug(&py, words);
		words[i] = UINT64_MAX - 15;
		assert_int_equal(asyncio_layout_by_debug(new, bytes, &fields), TACHY_ECORRUPT);
	}
}

/* Root first, names parted by ';'. */
static void stack_text(const struct stacks *stacks, stack_id id, char *text, size_t size)
{
	struct tachy_frame frame;
	char above[256] = "";
	text[0] = '\0';
	for (; id != STACK_EMPTY; id = stacks_node(stacks, id)->parent) {
		stacks_describe(stacks, stacks_node(stacks, id)->frame, &frame);
		snprintf(above, sizeof above, "%s%s%s", frame.function, text[0] ? ";" : "", text);
		snprintf(text, size, "%s", above);
	}
}

static uint64_t count_of(const struct profile *profile, const char *wanted)
{
	char text[256];
	uint64_t n = 0;
	for (size_t i = 0; i < profile->counts.n; i++) {
		stack_text(&profile->stacks, profile->counts.at[i].stack, text, sizeof text);
		n += strcmp(text, wanted) == 0 ? profile->counts.at[i].n_samples : 0;
	}
	return n;
}

static void tasks_become_stacks(void **state)
{
	static struct fake_target w;
	static struct fake_asyncio a;
	(void)state;
	for (unsigned minor = 8; minor <= 15; minor++) {
		const struct target_options options = {.async_mode = TACHY_ASYNC_ALL};
		fake_target_open(&w, minor, &options);
		fake_asyncio_init(&a, &w.py);
		assert_int_equal(fake_target_tick(&w, 1000, true, false), 0);
		fake_asyncio_locate(&a, &w.target->tasks->interps.at[0]->asyncio);
		for (int i = 0; i < 5; i++)
			assert_int_equal(fake_target_tick(&w, 1000, true, false), 0);
		assert_int_equal(target_flush(w.target), 0);
		/* the task that runs, and the one that awaits no other; that one by a way that leads to
		 * the first of those that await it */
		const char *leaf = minor >= 14 ? "task 0;work;task 3 (3 parents);work"
					       : "task 0;work;task 1;work;task 2;work;task 3;work";
		assert_int_equal(count_of(w.profile, "task 0;work"), 5);
		assert_int_equal(count_of(w.profile, leaf), 5);
		assert_int_equal(w.profile->n_samples, 10);
		fake_target_close(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_graph_is_read_in_every_version),
		cmocka_unit_test(warm_readings_take_one_call),
		cmocka_unit_test(only_running_ones_and_who_awaits_them),
		cmocka_unit_test(numbers_are_names),
		cmocka_unit_test(what_makes_no_sense_is_torn),
		cmocka_unit_test(tasks_that_are_done_do_not_count),
		cmocka_unit_test(layouts_are_checked),
		cmocka_unit_test(tasks_become_stacks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
