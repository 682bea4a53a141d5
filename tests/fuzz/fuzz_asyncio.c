/* SPDX-License-Identifier: MIT
 * A whole target whose asyncio makes no sense: lists, sets, tasks, coroutines, names and who awaits whom, in every
 * layout. Whatever it is, a tick ends soon, with an error or with samples.
 *
 * Input: version, flags (1: running tasks only, 2: a raw .AsyncioDebug follows), then changes to an asyncio made
 * by hand: place (2 bytes), kind (1 byte), value (5 bytes) each.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake_asyncio.h"

#define N_VERSIONS  8
#define RUNNING     0x01u
#define RAW_DEBUG   0x02u
#define CHANGE_SIZE 8u
#define CHANGES_MAX 100u
#define N_PLACES    40
#define CPU_MS_MAX  2000 /* of one input, sanitizers and a busy machine included */

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

static void note_all(struct places *places, const struct fake_asyncio *a)
{
	for (uint32_t i = 0; i < N_FAKE_TASKS; i++) {
		note(places, a->tasks[i]);
		note(places, a->coroutines[i]);
		note(places, a->names[i]);
	}
	note(places, a->set);
	note(places, a->table);
	note(places, a->future);
	note(places, a->coroutine_type);
	note(places, a->task_type);
	note(places, a->future_type);
	note(places, a->iter_type);
	note(places, a->weakref_type);
	note(places, a->function_type);
	note(places, a->int_type);
	note(places, a->code.addr);
	note(places, a->thread.addr + FAKE_RUNNING_LOOP);
	note(places, a->py->interp + a->py->l->interp.size - 64);
}

/* A word, half word or byte near one of the places becomes a number, or another place. */
static void change(struct fake_target *w, const struct places *places, const uint8_t *c)
{
	uint32_t where = c[0] | (uint32_t)c[1] << 8;
	raddr addr = places->at[where % places->n] + (where / places->n) % 512;
	uint64_t value = c[3] | (uint64_t)c[4] << 8 | (uint64_t)c[5] << 16 | (uint64_t)c[6] << 24 |
			 (uint64_t)c[7] << 40;
	size_t left, size = 1u << (c[2] & 3);
	if (c[2] & 4)
		value = places->at[value % places->n] + ((c[2] & 8) ? value / places->n % 256 : 0);
	if (c[2] & 16)
		value = ~value;
	uint8_t *to = fake_at(w->py.fake, addr & ~(raddr)(size - 1), &left);
	if (to && left >= size)
		memcpy(to, &value, size);
}

/* Found by its interpreter from then on. */
static void locate(struct fake_target *w, const struct fake_asyncio *a, const uint8_t *debug)
{
	struct asyncio *asyncio = &w->target->tasks->interps.at[0]->asyncio;
	fake_asyncio_locate(a, asyncio);
	if (debug && w->py.l->minor >= 14)
		(void)asyncio_layout_by_debug(w->py.l, (struct span){debug, ASYNCIO_DEBUG_SIZE},
					      &asyncio->fields);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fake_asyncio a;
	static struct fake_target w;
	struct places places = {.n = 0};
	if (size < 2)
		return 0;
	const struct target_options options = {.async_mode = data[1] & RUNNING ? TACHY_ASYNC_RUNNING
									       : TACHY_ASYNC_ALL};
	const uint8_t *debug = NULL, *rest = data + 2;
	size_t n = size - 2;
	if ((data[1] & RAW_DEBUG) && n >= ASYNCIO_DEBUG_SIZE) {
		debug = rest;
		rest += ASYNCIO_DEBUG_SIZE;
		n -= ASYNCIO_DEBUG_SIZE;
	}
	fake_target_open(&w, 8 + data[0] % N_VERSIONS, &options);
	fake_asyncio_init(&a, &w.py);
	note_all(&places, &a);
	clock_t start = clock();
	(void)fake_target_tick(&w, 1000, true, false);
	if (w.target->tasks->interps.n) {
		locate(&w, &a, debug);
		(void)fake_target_tick(&w, 1000, true, false);
		n = n / CHANGE_SIZE < CHANGES_MAX ? n / CHANGE_SIZE : CHANGES_MAX;
		for (size_t i = 0; i < n; i++)
			change(&w, &places, rest + i * CHANGE_SIZE);
	}
	for (int i = 0; i < 3; i++) /* checked, salvaged, stopped */
		(void)fake_target_tick(&w, 1000, i != 2, i > 0);
	target_tasks_keep(w.target, UINT64_MAX);
	(void)target_flush(w.target);
	if ((clock() - start) / (CLOCKS_PER_SEC / 1000) > CPU_MS_MAX)
		abort();
	fake_target_close(&w);
	return 0;
}
