/* SPDX-License-Identifier: MIT
 * A profile and samples made by dice, and a sink that compares what a recording gives back with them.
 */
#ifndef FAKE_RECORDING_H
#define FAKE_RECORDING_H

#include <unistd.h>

#include "cases.h"

#include "base/error.h"
#include "model/sink.h"
#include "record/recorder.h"
#include "record/recording.h"

#define FAKE_THREADS 5

struct made {
	struct profile *profile;
	VEC(struct sample) samples;
	uint64_t seed, time_ns;
};

static inline str_id made_string(struct made *made, const char *text)
{
	str_id id;
	assert_true(strtab_add(made->profile->stacks.strings, text, strlen(text), &id) >= 0);
	return id;
}

static inline stack_id made_push(struct made *made, stack_id parent, unsigned number)
{
	struct stacks *stacks = &made->profile->stacks;
	struct function function;
	struct frame frame;
	char text[64];
	stack_id id;
	memset(&function, 0, sizeof function);
	memset(&frame, 0, sizeof frame);
	(void)snprintf(text, sizeof text, "f%u.<locals>.\xc3\xa9\xe2\x82\xac;\n", number % 50);
	function.name = made_string(made, text);
	(void)snprintf(text, sizeof text, "/srv/module_%u.py", number % 7);
	function.file = made_string(made, text);
	function.first_line = (int32_t)(number % 50) * 100;
	assert_int_equal(stacks_function(stacks, &function, &frame.function), 0);
	frame.at = (struct location){function.first_line + (int32_t)(number % 11),
				     number % 3 ? function.first_line + 12 : 0, number % 3 ? 4 : -1,
				     number % 3 ? 40 : -1};
	if (number % 5 == 0) {
		frame.opcode = made_string(made, "LOAD_ATTR_SLOT");
		frame.base_opcode = made_string(made, "LOAD_ATTR");
	}
	assert_int_equal(stacks_frame(stacks, &frame, &frame.function), 0);
	assert_int_equal(stacks_push(stacks, parent, frame.function, &id), 0);
	return id;
}

static inline void made_begin(struct made *made)
{
	uint32_t process, index;
	*made = (struct made){.seed = 4711, .time_ns = 1000000000};
	assert_int_equal(profile_create(&made->profile), 0);
	made->profile->rate_hz = 1000;
	made->profile->opcodes = true;
	made->profile->start_ns = made->time_ns;
	made->profile->start_unix_ns = UINT64_C(1700000000123456789);
	assert_int_equal(profile_add_process(made->profile, 4242, "python3 a b", "3.13.1",
					     &process),
			 0);
	for (uint32_t i = 0; i < FAKE_THREADS; i++) {
		struct profile_thread thread = {.process = process,
						.interpreter = i == 3,
						.tid = 4242 + i,
						.main = i == 0};
		assert_int_equal(profile_add_thread(made->profile, &thread, &index), 0);
	}
}

/* The next sample, in whole microseconds: mostly the thread's own next run, now and then a stack never seen before. */
static inline struct sample made_next(struct made *made)
{
	uint64_t turn = dice(&made->seed);
	stack_id stack = STACK_EMPTY;
	for (unsigned depth = (unsigned)(turn % 20), i = 0; i < depth; i++)
		stack = made_push(made, stack, i * 7 + (unsigned)(turn >> 20) % 3);
	made->time_ns += turn % 4 ? 900000 + (turn >> 30) % 200 * 1000 : 0;
	struct sample sample = {.time_ns = made->time_ns,
				.n_ticks = turn % 3 ? 1 : 1 + (turn >> 8) % 90,
				.thread = (uint32_t)(turn >> 40) % FAKE_THREADS,
				.stack = stack,
				.states = TACHY_STATE_GIL_KNOWN | ((turn >> 50) % 8)};
	sample.weight_ns = sample.n_ticks * 1000000 + (turn >> 33) % 5000 * 1000;
	assert_true(vec_push(&made->samples, sample));
	return sample;
}

static inline void made_end(struct made *made)
{
	profile_destroy(made->profile);
	vec_done(&made->samples);
}

/* ---- what comes back --------------------------------------------------------------------------------- */

struct checker {
	struct sink sink; /* first */
	const struct made *made;
	const struct profile *profile;
	size_t n;
	uint64_t n_samples;
};

static inline void check_stacks(const struct stacks *a, stack_id x, const struct stacks *b,
				stack_id y)
{
	assert_int_equal(stacks_node(a, x)->depth, stacks_node(b, y)->depth);
	while (stacks_node(a, x)->depth) {
		struct tachy_frame f, g;
		stacks_describe(a, stacks_node(a, x)->frame, &f);
		stacks_describe(b, stacks_node(b, y)->frame, &g);
		assert_string_equal(f.function, g.function);
		assert_string_equal(f.file, g.file);
		assert_string_equal(f.opcode, g.opcode);
		assert_string_equal(f.base_opcode, g.base_opcode);
		assert_int_equal(f.first_line, g.first_line);
		assert_int_equal(f.line, g.line);
		assert_int_equal(f.end_line, g.end_line);
		assert_int_equal(f.column, g.column);
		assert_int_equal(f.end_column, g.end_column);
		assert_int_equal(f.kind, g.kind);
		x = stacks_node(a, x)->parent;
		y = stacks_node(b, y)->parent;
	}
}

static inline int checker_sample(struct sink *sink, const struct sample *sample)
{
	struct checker *checker = (struct checker *)sink;
	const struct made *made = checker->made;
	assert_true(checker->n < made->samples.n);
	const struct sample *want = &made->samples.at[checker->n++];
	checker->n_samples += sample->n_ticks;
	assert_int_equal(sample->time_ns, want->time_ns);
	assert_int_equal(sample->weight_ns, want->weight_ns);
	assert_int_equal(sample->n_ticks, want->n_ticks);
	assert_int_equal(sample->states, want->states);
	const struct profile_thread *a = &made->profile->threads.at[want->thread],
				    *b = &checker->profile->threads.at[sample->thread];
	assert_int_equal(a->tid, b->tid);
	assert_int_equal(a->interpreter, b->interpreter);
	assert_int_equal(a->main, b->main);
	check_stacks(&made->profile->stacks, want->stack, &checker->profile->stacks, sample->stack);
	return 0;
}

static const struct sink_ops checker_ops = {.name = "checker", .sample = checker_sample};

/* Reads all of `fd`, comparing; the caller closes and destroys. Negative: it could not be opened. */
static inline int check_reading(int fd, const struct made *made, struct profile **ret_profile,
				struct checker *checker, struct recording_state *ret_state)
{
	struct recording *recording;
	struct tachy_error err = {0};
	assert_int_equal(profile_create(ret_profile), 0);
	*checker = (struct checker){{&checker_ops}, made, *ret_profile, 0, 0};
	int rc = recording_open(fd, *ret_profile, &recording, &err);
	if (rc < 0) {
		assert_true(err.text[0] != 0);
		profile_destroy(*ret_profile);
		*ret_profile = NULL;
		return rc;
	}
	while ((rc = recording_next(recording, &checker->sink)) > 0)
		;
	assert_int_equal(rc, 0);
	recording_state(recording, ret_state);
	assert_int_equal(ret_state->n_samples, checker->n_samples);
	recording_close(recording);
	return 0;
}

#endif
