/* SPDX-License-Identifier: MIT
 * instruction.c on bytecode made by hand: inline caches, instrumented and compiled instructions, the copies
 * of threads without a GIL, and all of it led astray.
 */
#include "cases.h"

#include "cpython/frame.h"
#include "cpython/instruction.h"
#include "fake_python.h"

struct world {
	struct py py;
	struct mem_view view;
	struct stacks stacks;
	struct code_cache codes;
	struct instruction_reader reader;
	struct py_code code;
	uint32_t index;
};

static void open_world(struct world *w, unsigned minor)
{
	memset(w, 0, sizeof *w);
	py_init(&w->py, fake_mem_create(), minor);
	mem_view_init(&w->view, &w->py.fake->mem);
	assert_int_equal(stacks_init(&w->stacks), 0);
	code_cache_init(&w->codes, w->py.l, &w->stacks);
	instruction_reader_init(&w->reader, w->py.l);
	w->code = py_code(&w->py, "f", "f.py", 1);
}

static void close_world(struct world *w)
{
	instruction_reader_done(&w->reader);
	code_cache_done(&w->codes);
	stacks_done(&w->stacks);
	mem_view_done(&w->view);
	mem_close(&w->py.fake->mem);
}

static uint8_t number(const struct world *w, const char *name)
{
	uint8_t code = py_opcode(&w->py, name);
	if (!code)
		fail_msg("no %s in 3.%u", name, w->py.l->minor);
	return code;
}

static void put(struct world *w, uint32_t unit, const char *name, uint8_t argument)
{
	raddr at = w->code.addr + w->py.l->code.bytecode + unit * 2u;
	fake_put_u8(w->py.fake, at, number(w, name));
	fake_put_u8(w->py.fake, at + 1, argument);
}

static struct opcode read_in(struct world *w, raddr bytecode, int64_t at)
{
	struct opcode opcode = {1, 1};
	assert_int_equal(mem_view_begin(&w->view), 0);
	assert_int_equal(code_cache_get(&w->codes, &w->view, w->code.addr, 0, 0, &w->index), 0);
	assert_int_equal(instruction_read(&w->reader, &w->view,
					  code_cache_entry(&w->codes, w->index), w->index, bytecode,
					  at, &opcode),
			 0);
	return opcode;
}

static struct opcode read_at(struct world *w, int64_t at)
{
	return read_in(w, w->code.addr + w->py.l->code.bytecode, at);
}

static void check_at(struct world *w, int64_t at, const char *name, const char *base)
{
	struct opcode opcode = read_at(w, at);
	frame_id id;
	struct tachy_frame told;
	assert_int_equal(code_cache_frame(&w->codes, w->index, at, opcode, &id), 0);
	stacks_describe(&w->stacks, id, &told);
	assert_string_equal(told.opcode, name);
	assert_string_equal(told.base_opcode, base);
}

static void for_versions(unsigned from, unsigned to, void (*test)(struct world *w))
{
	for (unsigned minor = from; minor <= to; minor++) {
		struct world w;
		open_world(&w, minor);
		test(&w);
		close_world(&w);
	}
}

static void plain_and_specialised(struct world *w)
{
	put(w, 0, "RESUME", 0);
	put(w, 1, "CALL_PY_EXACT_ARGS", 1);
	check_at(w, 0, "RESUME", "RESUME");
	check_at(w, 2, "CALL_PY_EXACT_ARGS", "CALL");
	put(w, 1, "CALL", 1); /* what was there before is no answer to what is there now */
	check_at(w, 2, "CALL", "CALL");
	for (int64_t at = -2; at <= PY_CODE_UNITS * 2; at += PY_CODE_UNITS * 2 + 2)
		assert_int_equal(read_at(w, at).code, 0);
}

static void reads_what_stands_there(void **state)
{
	(void)state;
	for_versions(11, 15, plain_and_specialised);
}

/* Caches hold anything, opcodes by their looks too. */
static void inside_a_cache(struct world *w)
{
	const uint32_t n = w->py.l->code_unit_caches_call;
	put(w, 0, "RESUME", 0);
	put(w, 1, "CALL_PY_EXACT_ARGS", 1);
	for (uint32_t i = 0; i < n; i++)
		put(w, 2 + i, "CALL", 1);
	put(w, 2 + n, "POP_TOP", 0);
	for (int64_t unit = 1; unit <= 1 + n; unit++)
		for (int again = 0; again < 2; again++)
			check_at(w, unit * 2, "CALL_PY_EXACT_ARGS", "CALL");
	check_at(w, (2 + n) * 2, "POP_TOP", "POP_TOP");
}

static void finds_the_start_of_an_instruction(void **state)
{
	(void)state;
	for_versions(11, 12, inside_a_cache);
}

/* Where the original of unit `unit` is kept, by monitoring with `stride` bytes an entry. */
static raddr monitor(struct world *w, uint32_t unit, uint8_t stride, raddr *ret_instruction)
{
	const struct layout *l = w->py.l;
	raddr monitoring = py_alloc(&w->py, 256), lines = py_alloc(&w->py, 1024);
	raddr instructions = py_alloc(&w->py, 256);
	py_set64(&w->py, w->code.addr, l->code.monitoring, monitoring);
	py_set64(&w->py, monitoring, l->monitoring.lines, lines);
	py_set64(&w->py, monitoring, l->monitoring.instructions, instructions);
	*ret_instruction = instructions + unit;
	if (l->minor < 14)
		return lines + unit * 2u;
	fake_put_u8(w->py.fake, lines, stride);
	return lines + 1 + unit * stride;
}

static void instrumented(struct world *w)
{
	raddr instruction, line = monitor(w, 1, 5, &instruction);
	put(w, 0, "RESUME", 0);
	put(w, 1, "INSTRUMENTED_CALL", 0);
	check_at(w, 2, "INSTRUMENTED_CALL", "CALL");
	put(w, 1, "INSTRUMENTED_LINE", 0);
	fake_put_u8(w->py.fake, line, number(w, "INSTRUMENTED_INSTRUCTION"));
	fake_put_u8(w->py.fake, instruction, number(w, "INSTRUMENTED_CALL"));
	check_at(w, 2, "INSTRUMENTED_LINE", "CALL");
	fake_put_u8(w->py.fake, line, number(w, "CALL_PY_EXACT_ARGS"));
	check_at(w, 2, "INSTRUMENTED_LINE", "CALL");
	put(w, 1, "INSTRUMENTED_INSTRUCTION", 0);
	check_at(w, 2, "INSTRUMENTED_INSTRUCTION", "CALL");
	py_set64(&w->py, w->code.addr, w->py.l->code.monitoring,
		 0); /* gone, or nonsense: as it is */
	check_at(w, 2, "INSTRUMENTED_INSTRUCTION", "INSTRUMENTED_INSTRUCTION");
	py_set64(&w->py, w->code.addr, w->py.l->code.monitoring, 0x1234);
	check_at(w, 2, "INSTRUMENTED_INSTRUCTION", "INSTRUMENTED_INSTRUCTION");
}

static void tells_what_is_instrumented(void **state)
{
	(void)state;
	for_versions(12, 15, instrumented);
}

static void compiled(struct world *w)
{
	const struct layout *l = w->py.l;
	raddr array = py_alloc(&w->py, 64), executor = py_alloc(&w->py, 128);
	put(w, 1, "ENTER_EXECUTOR", 2);
	check_at(w, 2, "ENTER_EXECUTOR", "ENTER_EXECUTOR");
	py_set64(&w->py, w->code.addr, l->code.executors, array);
	fake_put_u32(w->py.fake, array + l->executor.size, 3);
	fake_put_u64(w->py.fake, array + l->executor.item + 16, executor);
	fake_put_u8(w->py.fake, executor + l->executor.opcode, number(w, "JUMP_BACKWARD"));
	check_at(w, 2, "ENTER_EXECUTOR", "JUMP_BACKWARD");
	fake_put_u32(w->py.fake, array + l->executor.size, 2); /* then there is no number 2 */
	check_at(w, 2, "ENTER_EXECUTOR", "ENTER_EXECUTOR");
	fake_put_u32(w->py.fake, array + l->executor.size, UINT32_MAX);
	check_at(w, 2, "ENTER_EXECUTOR", "ENTER_EXECUTOR");
}

static void tells_what_was_compiled(void **state)
{
	(void)state;
	for_versions(13, 15, compiled);
}

static void reads_the_copy_of_a_thread(void **state)
{
	(void)state;
	for (unsigned minor = 14; minor <= 15; minor++) {
		struct world w;
		open_world(&w, minor | PY_FREE_THREADED);
		raddr copy = py_code_copy(&w.py, &w.code, 2);
		put(&w, 1, "CALL", 1);
		fake_put_u8(w.py.fake, copy + 2, number(&w, "CALL_PY_EXACT_ARGS"));
		assert_int_equal(read_at(&w, 2).code, number(&w, "CALL"));
		assert_int_equal(read_in(&w, copy, 2).code, number(&w, "CALL_PY_EXACT_ARGS"));
		assert_int_equal(read_in(&w, copy, 2).base, number(&w, "CALL"));
		assert_int_equal(read_in(&w, 0, 2).code, 0);
		assert_int_equal(read_in(&w, 0x1000, 2).code, 0);
		close_world(&w);
	}
}

/* The leaf first. */
static struct raw_frame walked(struct world *w, const struct py_thread *thread, size_t i)
{
	struct thread_state state;
	struct frame_walk_options options = {0};
	struct raw_stack stack = {0};
	assert_int_equal(mem_view_begin(&w->view), 0);
	assert_int_equal(thread_read(&w->view, w->py.l, thread->addr, NULL, &state), 0);
	assert_int_equal(frame_walk(&w->view, w->py.l, &state, &options, &stack), 0);
	assert_int_equal(stack.frames.n, 2);
	struct raw_frame frame = stack.frames.at[i];
	vec_done(&stack.frames);
	return frame;
}

static void counts_from_the_copy_of_a_thread(void **state)
{
	static struct py_thread thread;
	(void)state;
	for (unsigned minor = 14; minor <= 15; minor++) {
		struct world w;
		open_world(&w, minor | PY_FREE_THREADED);
		struct py_code other = py_code(&w.py, "g", "g.py", 1);
		py_thread_start(&w.py, &thread, 0);
		raddr caller = py_call(&w.py, &thread, &other);
		raddr leaf = py_call(&w.py, &thread, &w.code);
		raddr copy = py_code_copy(&w.py, &w.code, 2);
		py_frame_at_copy(&w.py, leaf, copy, 2, 24);
		assert_int_equal(walked(&w, &thread, 0).at, 24);
		assert_int_equal(walked(&w, &thread, 0).bytecode, copy);
		assert_int_equal(walked(&w, &thread, 1).at, 8);
		assert_int_equal(walked(&w, &thread, 1).bytecode,
				 other.addr + w.py.l->code.bytecode);
		/* no such copy, no array at all: it stands nowhere, so it is not taken for live */
		for (uint32_t i = 1; i < 6; i += 4) {
			py_set32(&w.py, leaf, w.py.l->frame.tlbc_index, i);
			assert_true(walked(&w, &thread, 0).at > PY_CODE_UNITS * 2);
		}
		py_frame_at_copy(&w.py, caller, copy, 1, 24);
		assert_true(walked(&w, &thread, 1).at > PY_CODE_UNITS * 2);
		close_world(&w);
	}
}

static bool leaves_at(struct world *w, int64_t at)
{
	assert_int_equal(mem_view_begin(&w->view), 0);
	assert_int_equal(code_cache_get(&w->codes, &w->view, w->code.addr, 0, 0, &w->index), 0);
	return instruction_leaves(&w->reader, &w->view, code_cache_entry(&w->codes, w->index),
				  w->index, w->code.addr + w->py.l->code.bytecode, at);
}

static void end_of_frames(struct world *w)
{
	const bool monitored = w->py.l->minor >= 12, counts_caches = w->py.l->minor < 13;
	const bool has_const = w->py.l->minor == 12 || w->py.l->minor == 13;
	const uint32_t n = w->py.l->code_unit_caches_call, end = 2 + n;
	put(w, 0, "RESUME", 0);
	put(w, 1, "CALL", 1);
	for (uint32_t i = 0; i < n; i++)
		put(w, 2 + i, "RETURN_VALUE", 0); /* caches hold anything */
	put(w, end, "RETURN_VALUE", 0);
	put(w, end + 1, "YIELD_VALUE", 0);
	put(w, end + 2, monitored ? "INSTRUMENTED_RETURN_VALUE" : "RETURN_VALUE", 0);
	put(w, end + 3, has_const ? "RETURN_CONST" : "RETURN_VALUE", 0);
	put(w, end + 4, "POP_TOP", 0);
	assert_false(leaves_at(w, 0));
	assert_false(leaves_at(w, 2));
	for (uint32_t i = 0; counts_caches && i < n;
	     i++) /* a caller points to its call's last one */
		assert_false(leaves_at(w, (2 + i) * 2));
	for (uint32_t i = 0; i < 4; i++)
		for (int again = 0; again < 2; again++)
			assert_true(leaves_at(w, (end + i) * 2));
	assert_false(leaves_at(w, (end + 4) * 2));
	put(w, end, "CALL", 0); /* of this place it is known */
	assert_true(leaves_at(w, end * 2));
	for (int64_t at = -2; at <= PY_CODE_UNITS * 2; at += PY_CODE_UNITS * 2 + 2)
		assert_false(leaves_at(w, at));
}

/* Other bytes lay there when it was first asked for, as when the code object was replaced in that instant. */
static void once_told_wrong(struct world *w)
{
	put(w, 4, "RETURN_VALUE", 0);
	assert_true(leaves_at(w, 8));
	put(w, 4, "POP_TOP", 0);
	for (int again = 0; again < 3; again++)
		assert_false(leaves_at(w, 8));
	put(w, 4, "RETURN_VALUE", 0); /* two readings agreed: they are believed */
	assert_false(leaves_at(w, 8));
}

static void start_once_told_wrong(struct world *w)
{
	const uint32_t n = w->py.l->code_unit_caches_call;
	for (uint32_t unit = 0; unit <= 1 + n; unit++)
		put(w, unit, "POP_TOP", 0);
	check_at(w, (1 + n) * 2, "POP_TOP", "POP_TOP");
	put(w, 1, "CALL", 1);
	for (int again = 0; again < 3; again++)
		check_at(w, (1 + n) * 2, "CALL", "CALL");
}

static void believes_no_single_reading(void **state)
{
	(void)state;
	for_versions(11, 15, once_told_wrong);
	for_versions(11, 12, start_once_told_wrong);
}

static void knows_what_ends_a_frame(void **state)
{
	(void)state;
	for_versions(11, 15, end_of_frames);
}

static void nothing_is_known(struct world *w)
{
	for (int64_t at = -2; at <= PY_CODE_UNITS * 2; at += 2)
		assert_false(leaves_at(w, at));
}

static void knows_nothing_of_older_versions(void **state)
{
	(void)state;
	for_versions(8, 10, nothing_is_known);
}

static void every_base_is_a_base(void **state)
{
	(void)state;
	for (unsigned minor = 11; minor <= 15; minor++) {
		for (unsigned code = 0; code < 256; code++) {
			const struct opcode_info *info = opcode_info(minor, (uint8_t)code);
			if (!info)
				continue;
			const struct opcode_info *base = opcode_info(minor, info->base);
			assert_non_null(base);
			assert_int_equal(base->base, info->base);
			assert_int_equal(base->n_caches, info->n_caches);
		}
	}
	assert_null(opcode_info(10, 1));
	assert_null(opcode_info(16, 1));
	assert_null(opcode_info(0, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_stands_there),
		cmocka_unit_test(finds_the_start_of_an_instruction),
		cmocka_unit_test(tells_what_is_instrumented),
		cmocka_unit_test(tells_what_was_compiled),
		cmocka_unit_test(reads_the_copy_of_a_thread),
		cmocka_unit_test(counts_from_the_copy_of_a_thread),
		cmocka_unit_test(knows_what_ends_a_frame),
		cmocka_unit_test(believes_no_single_reading),
		cmocka_unit_test(knows_nothing_of_older_versions),
		cmocka_unit_test(every_base_is_a_base),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
