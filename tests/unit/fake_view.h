/* SPDX-License-Identifier: MIT
 * A view of a memory that counts what it is asked, for cmocka tests.
 */
#ifndef FAKE_VIEW_H
#define FAKE_VIEW_H

#include "cases.h"

#include "fake_mem.h"
#include "os/mem_view.h"

#define BASE       0x7f0000000000u
#define PAGE       FAKE_PAGE

struct world {
	struct fake_mem *fake;
	struct mem_view view;
};

/* Every 8 bytes of the target hold their own address. */
static inline void map_numbered(struct fake_mem *fake, raddr addr, size_t size)
{
	fake_map(fake, addr, size);
	raddr start = addr & ~(raddr)(PAGE - 1);
	for (raddr at = start; at < addr + size; at += 8)
		fake_put_u64(fake, at, at);
}

static inline int set_up(void **state)
{
	struct world *world = calloc(1, sizeof *world);
	if (!world)
		return -1;
	world->fake = fake_mem_create();
	mem_view_init(&world->view, &world->fake->mem);
	*state = world;
	return 0;
}

static inline int tear_down(void **state)
{
	struct world *world = *state;
	mem_view_done(&world->view);
	mem_close(&world->fake->mem);
	free(world);
	return 0;
}

static inline void check_span(struct span span, raddr addr, uint32_t size)
{
	assert_int_equal(span.size, size);
	for (size_t off = 0; off + 8 <= size; off += 8)
		assert_int_equal(load_u64(span, off), addr + off);
}

static inline void hot(struct world *w, raddr addr, uint32_t size)
{
	struct span span;
	assert_int_equal(mem_view_hot(&w->view, addr, size, &span), 0);
	check_span(span, addr, size);
}

static inline void cold(struct world *w, raddr addr, uint32_t size)
{
	struct span span;
	assert_int_equal(mem_view_cold(&w->view, addr, size, &span), 0);
	check_span(span, addr, size);
}

static inline void begin(struct world *w)
{
	assert_int_equal(mem_view_begin(&w->view), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
