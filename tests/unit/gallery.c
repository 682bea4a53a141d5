/* SPDX-License-Identifier: MIT
 * The gallery is a table: a line per sample, its stack written as numbers of frames.
 */
#include "gallery.h"

#include "cases.h"

#define MS       1000000u
#define START_NS 5000000000u

struct painted {
	const char *name, *file;
	int32_t first_line, line, column;
	const char *opcode, *base_opcode;
	enum tachy_frame_kind kind;
};

static const struct painted frames[] = {
	{"<module>", "/srv/app/main.py", 1, 40, 0, "", "", TACHY_FRAME_PYTHON}, /* 0 */
	{"main", "/srv/app/main.py", 10, 12, 4, "", "", TACHY_FRAME_PYTHON},    /* 1 */
	{"main", "/srv/app/main.py", 10, 13, 4, "", "", TACHY_FRAME_PYTHON},    /* 2 */
	{"fib", "/srv/app/fib.py", 3, 5, 8, "BINARY_OP_ADD_INT", "BINARY_OP", TACHY_FRAME_PYTHON},
	{"fib", "/srv/app/fib.py", 3, 5, 8, "CALL_PY_EXACT_ARGS", "CALL", TACHY_FRAME_PYTHON},
	{"</script><script>alert(1)</script>", "<string>", 1, 1, -1, "", "",
	 TACHY_FRAME_PYTHON},                                                      /* 5 */
	{"a;b\nc\x1b[0m", "C:\\x\\\"y\".py", 2, 3, 0, "", "", TACHY_FRAME_PYTHON}, /* 6 */
	{"\xff\xfe<![CDATA[",
	 "/tmp/\xe2\x80\xae"
	 "yp.x",
	 7, 9, 1, "", "", TACHY_FRAME_PYTHON},
	{"Klasse.größe<T>.日本🐍", "/srv/größe.py", 100, 0, -1, "", "", TACHY_FRAME_PYTHON}, /* 8 */
	{"Task-1 & \"co\"", "", 0, 0, -1, "", "", TACHY_FRAME_TASK},                        /* 9 */
};

/* Frames by number; N, G and C are the markers. */
static const struct shot {
	uint32_t thread;
	uint64_t time, weight; /* microseconds */
	uint64_t n;
	const char *stack; /* root first */
	uint32_t states;
} shots[] = {
	{0, 1000, 1000, 1, "01", TACHY_STATE_GIL | TACHY_STATE_ON_CPU | TACHY_STATE_CPU_KNOWN},
	{0, 2000, 3000, 3, "023", TACHY_STATE_GIL | TACHY_STATE_ON_CPU | TACHY_STATE_CPU_KNOWN},
	{0, 5000, 1500, 1, "0234", TACHY_STATE_GIL | TACHY_STATE_ON_CPU | TACHY_STATE_CPU_KNOWN},
	{0, 6000, 1000, 1, "02344", TACHY_STATE_GIL | TACHY_STATE_CPU_KNOWN},
	{0, 7000, 2000, 2, "01G", TACHY_STATE_GIL | TACHY_STATE_GC | TACHY_STATE_CPU_KNOWN},
	/* a gap of five */
	{0, 14000, 2000, 2, "01N", TACHY_STATE_GIL_WAITING | TACHY_STATE_CPU_KNOWN},
	{0, 16000, 1000, 1, "", TACHY_STATE_CPU_KNOWN},
	{1, 1000, 5000, 5, "567", TACHY_STATE_GIL_WAITING},
	{1, 6000, 4000, 4, "56", TACHY_STATE_GIL | TACHY_STATE_EXCEPTION},
	{1, 10000, 5000, 5, "568", TACHY_STATE_GIL},
	{2, 4000, 6000, 6, "C09", 0},
	{2, 10000, 1000, 1, "C098", 0},
	{3, 3000, 1000, 1, "1", TACHY_STATE_GIL},
	{3, 4000, 3000, 3, "111", TACHY_STATE_GIL},
};

static str_id intern(struct stacks *stacks, const char *text)
{
	str_id id;
	assert_true(strtab_add(stacks->strings, text, strlen(text), &id) >= 0);
	return id;
}

static frame_id paint(struct stacks *stacks, char letter)
{
	frame_id id;
	if (letter == 'N' || letter == 'G' || letter == 'C')
		return letter == 'N' ? stacks->native : letter == 'G' ? stacks->gc : stacks->cut;
	const struct painted *from = &frames[letter - '0'];
	struct function function = {intern(stacks, from->name), intern(stacks, from->file),
				    from->first_line, from->kind};
	struct frame frame = {.at = {from->line, from->line, from->column,
				     from->column < 0 ? -1 : from->column + 5},
			      .opcode = intern(stacks, from->opcode),
			      .base_opcode = intern(stacks, from->base_opcode)};
	assert_int_equal(stacks_function(stacks, &function, &frame.function), 0);
	assert_int_equal(stacks_frame(stacks, &frame, &id), 0);
	return id;
}

static void shoot(struct profile *profile, const struct shot *shot)
{
	struct sample sample = {.time_ns = START_NS + shot->time * 1000,
				.weight_ns = shot->weight * 1000,
				.n_ticks = shot->n,
				.thread = shot->thread,
				.states = shot->states};
	for (const char *at = shot->stack; *at; at++)
		assert_int_equal(stacks_push(&profile->stacks, sample.stack,
					     paint(&profile->stacks, *at), &sample.stack),
				 0);
	assert_int_equal(profile_count_sample(profile, &sample), 0);
}

static void add_thread(struct profile *profile, struct profile_thread thread, const char *name)
{
	uint32_t index;
	assert_int_equal(profile_add_thread(profile, &thread, &index), 0);
	assert_int_equal(profile_set_thread_name(profile, index, name), 0);
}

static struct profile *begin(void)
{
	struct profile *profile;
	assert_int_equal(profile_create(&profile), 0);
	profile_keep(profile, TACHY_TIMELINE_SAMPLES);
	profile->rate_hz = 1000;
	profile->start_ns = START_NS;
	profile->start_unix_ns = 1700000000123456789u;
	profile->duration_ns = 20u * MS;
	return profile;
}

struct profile *gallery_create(void)
{
	struct profile *profile = begin();
	uint32_t process;
	profile->opcodes = true;
	assert_int_equal(profile_add_process(profile, 100, "python3 app.py --x=</script>", "3.13.0",
					     &process),
			 0);
	assert_int_equal(profile_add_process(profile, 200, "wörker \"q\" \x1b[31m", "3.15.0",
					     &process),
			 0);
	add_thread(profile, (struct profile_thread){.tid = 100, .main = true}, "MainThread");
	add_thread(profile, (struct profile_thread){.tid = 101}, "</title>\xe2\x80\xae & <x>");
	add_thread(profile, (struct profile_thread){.process = 1, .tid = 200, .main = true}, "");
	add_thread(profile, (struct profile_thread){.tid = 100, .interpreter = 1}, "sub");
	for (size_t i = 0; i < N_OF(shots); i++)
		shoot(profile, &shots[i]);
	assert_int_equal(profile->n_samples, GALLERY_SAMPLES);
	assert_int_equal(profile->weight_ns, GALLERY_WEIGHT_NS);
	return profile;
}

struct profile *gallery_create_deep(uint32_t depth)
{
	struct profile *profile = begin();
	struct sample sample = {.weight_ns = MS, .n_ticks = 1};
	uint32_t process;
	stack_id stacks[2] = {STACK_EMPTY, STACK_EMPTY};
	assert_int_equal(profile_add_process(profile, 100, "deep", "3.13.0", &process), 0);
	add_thread(profile, (struct profile_thread){.tid = 100, .main = true}, "MainThread");
	for (uint32_t i = 0; i < depth; i++)
		assert_int_equal(stacks_push(&profile->stacks, stacks[0],
					     paint(&profile->stacks, i % 2 ? '3' : '1'),
					     &stacks[0]),
				 0);
	assert_int_equal(stacks_push(&profile->stacks, stacks[0], paint(&profile->stacks, '5'),
				     &stacks[1]),
			 0);
	for (uint32_t i = 0; i < 10; i++) {
		sample.time_ns = START_NS + (i + 1) * MS;
		sample.stack = stacks[i % 2];
		assert_int_equal(profile_count_sample(profile, &sample), 0);
	}
	return profile;
}
