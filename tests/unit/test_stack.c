/* SPDX-License-Identifier: MIT
 * stack.c
 */
#include "cases.h"

#include "base/error.h"
#include "base/hash.h"
#include "fake_alloc.h"
#include "model/stack.h"

static str_id text(struct stacks *stacks, const char *words)
{
	str_id id = 0;
	assert_int_equal(strtab_add(stacks->strings, words, strlen(words), &id), 0);
	return id;
}

static frame_id frame(struct stacks *stacks, const char *name, int32_t line)
{
	struct function function = {text(stacks, name), text(stacks, "a.py"), 1,
				    TACHY_FRAME_PYTHON};
	struct frame made = {0, {line, line, 4, 9}};
	frame_id id = UINT32_MAX;
	assert_int_equal(stacks_function(stacks, &function, &made.function), 0);
	assert_int_equal(stacks_frame(stacks, &made, &id), 0);
	return id;
}

static stack_id push(struct stacks *stacks, stack_id parent, frame_id leaf)
{
	stack_id id = UINT32_MAX;
	assert_int_equal(stacks_push(stacks, parent, leaf, &id), 0);
	return id;
}

static void test_markers_are_there(void **state)
{
	static const struct {
		const char *name;
		enum tachy_frame_kind kind;
	} wants[] = {{"<native>", TACHY_FRAME_NATIVE},
		     {"<GC>", TACHY_FRAME_GC},
		     {"<cut>", TACHY_FRAME_CUT}};
	struct stacks stacks;

	(void)state;
	assert_int_equal(stacks_init(&stacks), 0);
	const frame_id ids[] = {stacks.native, stacks.gc, stacks.cut};
	for (size_t i = 0; i < N_OF(ids); i++) {
		struct tachy_frame told;
		stacks_describe(&stacks, ids[i], &told);
		assert_string_equal(told.function, wants[i].name);
		assert_string_equal(told.file, "");
		assert_int_equal(told.kind, wants[i].kind);
		assert_int_equal(told.line, 0);
		assert_int_equal(told.column, -1);
	}
	assert_int_equal(stacks_node(&stacks, STACK_EMPTY)->depth, 0);
	assert_int_equal(stacks_node(&stacks, 12345)->depth, 0);
	stacks_done(&stacks);
}

static void test_equal_things_have_equal_ids(void **state)
{
	struct stacks stacks;

	(void)state;
	assert_int_equal(stacks_init(&stacks), 0);
	frame_id f = frame(&stacks, "f", 10), g = frame(&stacks, "g", 20);
	assert_int_equal(frame(&stacks, "f", 10), f);
	assert_int_not_equal(frame(&stacks, "f", 11), f);
	assert_int_not_equal(f, g);
	stack_id a = push(&stacks, STACK_EMPTY, f), b = push(&stacks, a, g),
		 c = push(&stacks, a, f);
	assert_int_not_equal(b, c);
	assert_int_equal(push(&stacks, push(&stacks, STACK_EMPTY, f), g), b);
	assert_int_not_equal(push(&stacks, push(&stacks, STACK_EMPTY, g), f), b);
	assert_int_equal(stacks_node(&stacks, b)->depth, 2);
	assert_int_equal(stacks_node(&stacks, b)->parent, a);
	assert_int_equal(stacks_node(&stacks, b)->frame, g);
	struct tachy_frame told;
	stacks_describe(&stacks, g, &told);
	assert_string_equal(told.function, "g");
	assert_string_equal(told.file, "a.py");
	assert_int_equal(told.line, 20);
	assert_int_equal(told.end_column, 9);
	stacks_describe(&stacks, UINT32_MAX, &told); /* of nobody: the cut marker, no crash */
	assert_int_equal(told.kind, TACHY_FRAME_CUT);
	stacks_done(&stacks);
}

/* Deep and wide; ids grow without gaps, each found again. */
static void test_many(void **state)
{
	enum { DEPTH = 30000, WIDTH = 64 };
	struct stacks stacks;
	frame_id frames[WIDTH];

	(void)state;
	assert_int_equal(stacks_init(&stacks), 0);
	for (int i = 0; i < WIDTH; i++)
		frames[i] = frame(&stacks, "f", i);
	for (int round = 0; round < 2; round++) {
		stack_id stack = STACK_EMPTY;
		for (uint32_t i = 0; i < DEPTH; i++) {
			stack = push(&stacks, stack, frames[i % WIDTH]);
			assert_int_equal(stack, i + 1);
			assert_int_equal(stacks_node(&stacks, stack)->depth, i + 1);
		}
		assert_int_equal(stacks.nodes.n, DEPTH + 1);
	}
	stacks_done(&stacks);
}

/* Two unequal things whose hashes are the same get ids of their own. */
static void test_a_taken_hash(void **state)
{
	struct stacks stacks;
	struct frame want = {0, {77, 77, 1, 2}};
	frame_id id, again;

	(void)state;
	assert_int_equal(stacks_init(&stacks), 0);
	frame_id other = frame(&stacks, "other", 5);
	uint64_t hash = hash_bytes(&want, sizeof want);
	assert_true(map_put(&stacks.frame_by_hash, hash, other));
	assert_true(map_put(&stacks.frame_by_hash, hash + 1, other));
	assert_int_equal(stacks_frame(&stacks, &want, &id), 0);
	assert_int_not_equal(id, other);
	assert_int_equal(stacks_frame(&stacks, &want, &again), 0);
	assert_int_equal(id, again);
	struct function function = {text(&stacks, "x"), 0, 3, TACHY_FRAME_PYTHON};
	function_id made, made_again;
	hash = hash_bytes(&function, sizeof function);
	assert_true(map_put(&stacks.function_by_hash, hash, 0));
	assert_int_equal(stacks_function(&stacks, &function, &made), 0);
	assert_int_not_equal(made, 0);
	assert_int_equal(stacks_function(&stacks, &function, &made_again), 0);
	assert_int_equal(made, made_again);
	stacks_done(&stacks);
}

static void test_out_of_memory(void **state)
{
	struct stacks stacks;
	int n_good = 0, n_failed = 0;

	(void)state;
	if (!FAKE_ALLOC_FAILS)
		skip();
	for (int rc = -1; rc < 0; n_good++) {
		fake_alloc_arm(n_good);
		rc = stacks_init(&stacks);
		fake_alloc_disarm();
		assert_true(rc == 0 || rc == TACHY_ENOMEM);
	}
	assert_true(n_good > 3);
	frame_id leaf = frame(&stacks, "f", 1);
	for (uint32_t i = 0; i < 2000; i++) {
		stack_id id = UINT32_MAX;
		struct frame made = {0, {(int32_t)i, 0, -1, -1}};
		frame_id other = UINT32_MAX;
		struct function function = {i, 0, 0, TACHY_FRAME_PYTHON};
		function_id third = UINT32_MAX;
		size_t n = stacks.nodes.n, n_frames = stacks.frames.n,
		       n_functions = stacks.functions.n;
		fake_alloc_arm(i % 2);
		if (stacks_push(&stacks, (stack_id)n - 1, leaf, &id) < 0) {
			n_failed++;
			assert_int_equal(stacks.nodes.n, n);
			assert_int_equal(id, UINT32_MAX);
		}
		fake_alloc_arm(i % 2);
		if (stacks_frame(&stacks, &made, &other) < 0)
			assert_int_equal(stacks.frames.n, n_frames);
		fake_alloc_arm(i % 2);
		if (stacks_function(&stacks, &function, &third) < 0)
			assert_int_equal(stacks.functions.n, n_functions);
		fake_alloc_disarm();
		push(&stacks, (stack_id)n - 1, leaf);
		assert_int_equal(stacks.nodes.n, n + 1);
		assert_int_equal(stacks_frame(&stacks, &made, &other), 0);
		assert_int_equal(stacks_function(&stacks, &function, &third), 0);
	}
	assert_true(n_failed > 3);
	stacks_done(&stacks);
	stacks_done(&stacks); /* twice is fine */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_markers_are_there),
		cmocka_unit_test(test_equal_things_have_equal_ids),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_a_taken_hash),
		cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
