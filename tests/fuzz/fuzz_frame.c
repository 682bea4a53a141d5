/* SPDX-License-Identifier: MIT
 * A whole target over memory that makes no sense: interpreters, threads, frames, code objects, strings and
 * line tables, in every layout. Whatever it is, a tick ends soon, with an error or with samples.
 *
 * Input: version, flags, then either (RAW) the bytes of the memory from _PyRuntime on, or changes to a
 * Python made by hand: place (2 bytes), kind (1 byte), value (5 bytes) each.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake_target.h"

#define N_VERSIONS  8
#define RAW         0x80u
#define NATIVE      0x01u
#define OPCODES     0x02u
#define NO_GIL      0x04u /* from 3.13 on: the build without one */
#define CHANGE_SIZE 8u
#define CHANGES_MAX 200u
#define RAW_MAX     (256u * 1024)
#define N_PLACES    16
#define CPU_MS_MAX \
	2000 /* of one input, sanitizers and a busy machine included; mostly it is under 5 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct places {
	raddr at[N_PLACES]; /* of things that lead to others */
	size_t n;
};

static void note(struct places *places, raddr addr)
{
	if (places->n < N_PLACES)
		places->at[places->n++] = addr;
}

/* Three threads that call functions, with an entry from C, a generator, and a data stack of two chunks. */
static void populate(struct fake_target *w, struct py_thread *threads, struct py_code *codes,
		     struct places *places)
{
	struct py *py = &w->py;
	codes[0] = py_code(py, "one", "one.py", 1);
	codes[1] = py_code(py, "two", "two.py", 100);
	for (int i = 0; i < 3; i++) {
		py_thread_start(py, &threads[i], 0);
		py_call(py, &threads[i], &codes[0]);
		py_call_from_c(py, &threads[i], &codes[1]);
		py_resume(py, &threads[i], &codes[0], 0);
		for (int k = 0; i == 0 && k < 300; k++)
			py_call(py, &threads[i], &codes[k % 2]);
		note(places, threads[i].addr);
		note(places, py_leaf(&threads[i]));
		note(places, threads[i].frames[0].addr);
	}
	if (py->l->code.tlbc != LAYOUT_NONE) {
		raddr copy = py_code_copy(py, &codes[1], 1);
		py_frame_at_copy(py, py_leaf(&threads[0]), copy, 1, 8);
	}
	py_set_gil(py, threads[0].addr, true, 7);
	note(places, py->runtime);
	note(places, py->interp);
	note(places, threads[0].chunk);
	note(places, codes[0].addr);
	note(places, codes[1].addr);
	note(places, codes[0].name);
	note(places, codes[0].table);
}

/* One change: a word, half word or byte near one of the places becomes a number, or another place. */
static void change(struct fake_target *w, const struct places *places, const uint8_t *c)
{
	uint32_t where = c[0] | (uint32_t)c[1] << 8;
	raddr addr = places->at[where % places->n] + (where / places->n) % 1024;
	uint64_t value = c[3] | (uint64_t)c[4] << 8 | (uint64_t)c[5] << 16 | (uint64_t)c[6] << 24 |
			 (uint64_t)c[7] << 40;
	size_t left, size = 1u << (c[2] & 3);
	if (c[2] & 4)
		value = places->at[value % places->n] + ((c[2] & 8) ? value / places->n % 512 : 0);
	if (c[2] & 16)
		value = ~value;
	uint8_t *to = fake_at(w->py.fake, addr & ~(raddr)(size - 1), &left);
	if (to && left >= size)
		memcpy(to, &value, size);
}

static void map_raw(struct fake_target *w, const uint8_t *bytes, size_t size)
{
	size_t n = size < RAW_MAX ? size : RAW_MAX;
	size_t left, room = w->py.l->runtime.size < n ? w->py.l->runtime.size : n;
	if (fake_at(w->py.fake, PY_RUNTIME, &left) && room)
		memcpy(fake_at(w->py.fake, PY_RUNTIME, &left), bytes, room);
	if (n)
		fake_put(w->py.fake, PY_HEAP, bytes, n);
	fake_put_u64(w->py.fake, PY_RUNTIME + w->py.l->runtime.interpreters_head, PY_HEAP);
}

static void tick_all(struct fake_target *w)
{
	for (int i = 0; i < 4;
	     i++) /* checked, salvaged, stopped, and once more with all of it learned */
		(void)fake_target_tick(w, 1000, i != 2, i > 0);
	(void)target_flush(w->target);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct py_thread threads[3];
	static struct fake_target w;
	struct py_code codes[2];
	struct places places = {.n = 0};
	if (size < 2)
		return 0;
	unsigned minor = 8 + data[0] % N_VERSIONS;
	const struct target_options options = {
		.native = data[1] & NATIVE,
		.opcodes = (data[1] & OPCODES) && minor >= OPCODE_MINOR_MIN,
	};
	fake_target_open(&w, minor | (minor >= 13 && data[1] & NO_GIL ? PY_FREE_THREADED : 0),
			 &options);
	clock_t start = clock();
	if (data[1] & RAW) {
		map_raw(&w, data + 2, size - 2);
	} else {
		populate(&w, threads, codes, &places);
		(void)fake_target_tick(&w, 1000, true, false);
		size_t n = (size - 2) / CHANGE_SIZE < CHANGES_MAX ? (size - 2) / CHANGE_SIZE
								  : CHANGES_MAX;
		for (size_t i = 0; i < n; i++)
			change(&w, &places, data + 2 + i * CHANGE_SIZE);
		py_set_gil(&w.py, threads[0].addr, true, 8);
	}
	tick_all(&w);
	if ((clock() - start) / (CLOCKS_PER_SEC / 1000) > CPU_MS_MAX)
		abort();
	fake_target_close(&w);
	return 0;
}
