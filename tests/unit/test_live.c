/* SPDX-License-Identifier: MIT
 * api/live.c: what is told is complete and in order, and what does not fit is counted.
 */
#include "cases.h"

#include <pthread.h>
#include <unistd.h>

#include "api/session_handle.h"
#include "tachyscope/tachyscope.h"

struct stage {
	struct tachy_session *session;
	struct tachy_live *live;
	struct profile *profile;
	uint32_t thread;
	uint64_t n_ticks;
};

static void open_stage(struct stage *stage, size_t n_events)
{
	struct tachy_session_options options;
	struct profile_thread thread = {.interpreter = 7, .tid = 11, .main = true};
	struct sink *sink;
	tachy_session_options_init(&options);
	*stage = (struct stage){0};
	assert_int_equal(tachy_session_create(&options, &stage->session, NULL), 0);
	assert_int_equal(tachy_session_live(stage->session, n_events, &stage->live, NULL), 0);
	stage->profile = stage->session->profile;
	assert_int_equal(profile_add_process(stage->profile, 42, "python x.py", "3.12.1",
					     &thread.process),
			 0);
	assert_int_equal(profile_add_thread(stage->profile, &thread, &stage->thread), 0);
	sink = &stage->session->sinks.sink;
	assert_int_equal(sink->ops->begin(sink, stage->profile), 0);
}

static stack_id push_frame(struct stage *stage, stack_id parent, const char *name, int32_t line)
{
	struct stacks *stacks = &stage->profile->stacks;
	struct function function = {.first_line = 1, .kind = TACHY_FRAME_PYTHON};
	struct frame frame = {.at = {line, line, 0, 1}};
	stack_id id;
	frame_id top;
	assert_int_equal(strtab_add(stacks->strings, name, strlen(name), &function.name), 0);
	assert_int_equal(stacks_function(stacks, &function, &frame.function), 0);
	assert_int_equal(stacks_frame(stacks, &frame, &top), 0);
	assert_int_equal(stacks_push(stacks, parent, top, &id), 0);
	return id;
}

static void give(struct stage *stage, stack_id stack, uint64_t n)
{
	struct sample sample = {.time_ns = 5,
				.weight_ns = n * 1000,
				.n_ticks = n,
				.thread = stage->thread,
				.stack = stack,
				.states = TACHY_STATE_GIL};
	struct sink *sink = &stage->session->sinks.sink;
	assert_int_equal(sink->ops->sample(sink, &sample), 0);
	stage->n_ticks += n;
}

/* A reader that believes nothing: ids without gaps, nothing referred to that was not told. */
struct reader {
	uint32_t n[TACHY_LIVE_SAMPLE];
	uint64_t n_ticks;
	char name[64]; /* of the last function told, and of the thread */
	char thread[64];
};

static void take(struct reader *reader, const struct tachy_live_event *event)
{
	if (event->kind == TACHY_LIVE_SAMPLE) {
		assert_true(event->id < reader->n[TACHY_LIVE_THREAD]);
		assert_true(event->sample.stack < reader->n[TACHY_LIVE_STACK]);
		reader->n_ticks += event->sample.n_ticks;
		return;
	}
	if (event->kind == TACHY_LIVE_THREAD && event->id < reader->n[TACHY_LIVE_THREAD])
		reader->n[TACHY_LIVE_THREAD]--;
	assert_int_equal(event->id, reader->n[event->kind]);
	reader->n[event->kind]++;
	if (event->kind == TACHY_LIVE_STACK) {
		assert_true(event->stack.parent < event->id);
		assert_true(event->stack.frame < reader->n[TACHY_LIVE_FRAME]);
	} else if (event->kind == TACHY_LIVE_FRAME) {
		assert_true(event->frame.function < reader->n[TACHY_LIVE_FUNCTION]);
	} else if (event->kind == TACHY_LIVE_THREAD) {
		assert_true(event->thread.process < reader->n[TACHY_LIVE_PROCESS]);
		snprintf(reader->thread, sizeof reader->thread, "%s", event->thread.name);
	} else if (event->kind == TACHY_LIVE_FUNCTION) {
		snprintf(reader->name, sizeof reader->name, "%s", event->function.name);
	}
}

static size_t read_all(struct stage *stage, struct reader *reader)
{
	struct tachy_live_event events[7];
	size_t n, total = 0;
	while ((n = tachy_live_read(stage->live, events, N_OF(events))) > 0) {
		for (size_t i = 0; i < n; i++)
			take(reader, &events[i]);
		total += n;
	}
	return total;
}

static void names_come_before_samples(void **state)
{
	struct stage stage;
	struct reader reader = {.n = {[TACHY_LIVE_STACK] = 1}};
	(void)state;
	open_stage(&stage, 0);
	assert_int_equal(read_all(&stage, &reader), 0);
	stack_id root = push_frame(&stage, STACK_EMPTY, "root", 3);
	give(&stage, push_frame(&stage, root, "leaf", 5), 2);
	/* a process, a thread, three markers and two functions with their frames, two stacks, a sample */
	assert_int_equal(read_all(&stage, &reader), 1 + 1 + 5 + 5 + 2 + 1);
	assert_string_equal(reader.name, "leaf");
	assert_string_equal(reader.thread, "");
	give(&stage, root, 1);
	assert_int_equal(read_all(&stage, &reader), 1); /* nothing is told twice */
	assert_int_equal(profile_set_thread_name(stage.profile, 0, "worker"), 0);
	give(&stage, root, 1);
	assert_int_equal(read_all(&stage, &reader), 2);
	assert_string_equal(reader.thread, "worker");
	assert_int_equal(reader.n_ticks, 4);
	assert_int_equal(tachy_live_dropped(stage.live), 0);
	assert_int_equal(stage.profile->n_samples, 4); /* the profile has them as well */
	tachy_session_free(stage.session);
}

/* A full ring loses samples, counted, and never a name. */
static void full_ring(void **state)
{
	struct stage stage;
	struct reader reader = {.n = {[TACHY_LIVE_STACK] = 1}};
	uint64_t seed = 3;
	stack_id stack = STACK_EMPTY;
	(void)state;
	open_stage(&stage, 64);
	for (unsigned i = 0; i < 20000; i++) {
		char name[32];
		if (dice(&seed) % 3 == 0) {
			snprintf(name, sizeof name, "f%u", i);
			stack = push_frame(&stage, i % 50 ? stack : STACK_EMPTY, name, (int32_t)i);
		}
		give(&stage, stack, 1 + dice(&seed) % 3);
		if (dice(&seed) % 40 == 0)
			read_all(&stage, &reader);
	}
	read_all(&stage, &reader);
	assert_true(tachy_live_dropped(stage.live) > 0);
	assert_int_equal(reader.n_ticks + tachy_live_dropped(stage.live), stage.n_ticks);
	assert_int_equal(stage.profile->n_samples, stage.n_ticks);
	give(&stage, stack, 1);
	read_all(&stage, &reader);
	assert_int_equal(reader.n[TACHY_LIVE_STACK], stage.profile->stacks.nodes.n);
	assert_int_equal(reader.n[TACHY_LIVE_FUNCTION], stage.profile->stacks.functions.n);
	tachy_session_free(stage.session);
}

struct race {
	struct stage stage;
	struct reader reader;
	atomic_bool over;
};

static void *read_in_thread(void *arg)
{
	struct race *race = arg;
	struct tachy_stats stats;
	bool over;
	do {
		over = atomic_load(&race->over);
		read_all(&race->stage, &race->reader);
		tachy_live_stats(race->stage.live, &stats);
		/* two halves of one report */
		if (stats.samples_captured != stats.samples_attempted)
			abort();
	} while (!over);
	return NULL;
}

static void two_threads(void **state)
{
	struct race *race = calloc(1, sizeof *race);
	struct sampler *sampler;
	pthread_t thread;
	stack_id stack = STACK_EMPTY;
	(void)state;
	race->reader.n[TACHY_LIVE_STACK] = 1;
	open_stage(&race->stage, 256);
	sampler = &race->stage.session->sampler;
	assert_int_equal(pthread_create(&thread, NULL, read_in_thread, race), 0);
	for (unsigned i = 0; i < 100000; i++) {
		struct tachy_stats stats = {.samples_attempted = i, .samples_captured = i};
		char name[32];
		if (i % 100 == 0) {
			snprintf(name, sizeof name, "f%u", i);
			stack = push_frame(&race->stage, STACK_EMPTY, name, (int32_t)i);
		}
		give(&race->stage, stack, 1);
		sampler->watcher(sampler->watcher_arg, &stats);
	}
	atomic_store(&race->over, true);
	pthread_join(thread, NULL);
	assert_int_equal(race->reader.n_ticks + tachy_live_dropped(race->stage.live), 100000);
	tachy_session_free(race->stage.session);
	free(race);
}

static void refusals(void **state)
{
	struct tachy_error err;
	struct tachy_live *live = NULL;
	struct tachy_session_options options;
	struct tachy_session *session;
	(void)state;
	tachy_session_options_init(&options);
	assert_int_equal(tachy_session_create(&options, &session, NULL), 0);
	assert_int_equal(tachy_session_set_mode(session, TACHY_MODE_CPU), TACHY_EINVAL);
	assert_int_equal(tachy_session_live(session, (size_t)1 << 40, &live, &err), TACHY_EINVAL);
	assert_int_equal(tachy_session_live(session, 64, &live, &err), 0);
	assert_int_equal(tachy_session_live(session, 64, &live, &err), TACHY_EINVAL);
	assert_int_equal(tachy_session_set_rate(session, -1), TACHY_EINVAL);
	assert_int_equal(tachy_session_set_rate(session, 2e6), TACHY_EINVAL);
	assert_int_equal(tachy_session_set_mode(session, (enum tachy_mode)9), TACHY_EINVAL);
	assert_int_equal(tachy_session_set_rate(session, 500), 0);
	assert_int_equal(tachy_session_set_mode(session, TACHY_MODE_GIL), 0);
	tachy_session_free(session);
}

/* What is saved while sampling goes on: the cells of the mode, in a form that somebody else reads. */
static void saved_in_a_mode(void **state)
{
	struct stage stage;
	struct tachy_error err = {0};
	char path[] = "/tmp/tachyscope-live-XXXXXX", text[256] = "";
	int fd = mkstemp(path);
	(void)state;
	assert_true(fd >= 0);
	open_stage(&stage, 0);
	give(&stage, push_frame(&stage, STACK_EMPTY, "held", 3), 2);
	struct sample idle = {.n_ticks = 5, .stack = push_frame(&stage, STACK_EMPTY, "idle", 4)};
	assert_int_equal(profile_count_sample(stage.profile, &idle), 0);
	assert_int_equal(tachy_session_set_mode(stage.session, TACHY_MODE_GIL), 0);
	assert_int_equal(tachy_session_save(stage.session, tachy_format_by_name("collapsed"), NULL,
					    path, &err),
			 0);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fread(text, 1, sizeof text - 1, file), strlen("held (:1) 2\n"));
	assert_string_equal(text, "held (:1) 2\n");
	(void)fclose(file);
	(void)close(fd);
	(void)remove(path);
	assert_int_equal(stage.profile->n_samples, 7);
	tachy_session_free(stage.session);
}

static void usage_and_source(void **state)
{
	struct tachy_session_options options;
	struct tachy_session *session;
	struct tachy_usage usage;
	char *bytes;
	size_t size;
	(void)state;
	assert_int_equal(tachy_usage_read(getpid(), 0, &usage), 0);
	assert_int_equal(usage.state, 'R');
	assert_int_equal(usage.n_threads, 1);
	assert_int_equal(tachy_usage_read(getpid(), (uint64_t)getpid(), &usage), 0);
	assert_int_equal(tachy_usage_read(0x7ffffffe, 0, &usage), TACHY_EGONE);
	tachy_session_options_init(&options);
	assert_int_equal(tachy_session_create(&options, &session, NULL), 0);
	assert_int_equal(tachy_session_source(session, TEST_SOURCE_ROOT "/meson.build", &bytes,
					      &size),
			 0);
	assert_true(size > 100 && bytes[0] == '#');
	free(bytes);
	assert_true(tachy_session_source(session, "/nowhere/x.py", &bytes, &size) < 0);
	assert_true(tachy_session_source(session, "/tmp", &bytes, &size) < 0);
	tachy_session_free(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_come_before_samples),
		cmocka_unit_test(full_ring),
		cmocka_unit_test(two_threads),
		cmocka_unit_test(refusals),
		cmocka_unit_test(saved_in_a_mode),
		cmocka_unit_test(usage_and_source),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
