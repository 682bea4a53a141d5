/* SPDX-License-Identifier: MIT
 * A target's memory under a test's control: pages that are mapped, written and unmapped by hand, every
 * call counted, the last batch remembered, and a hook that lets the target move while it is read.
 */
#ifndef FAKE_MEM_H
#define FAKE_MEM_H

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "os/mem.h"

#define FAKE_PAGE 4096u

struct fake_range {
	raddr addr;
	size_t size;
	uint8_t *bytes; /* owned */
};

struct fake_mem {
	struct mem mem; /* first */
	VEC(struct fake_range) ranges;
	VEC(struct mem_segment) batch; /* the last one: dest is not to be used */
	uint64_t n_read, n_read_many;
	int fail;        /* what every call gives; 0: nothing fails */
	uint64_t fail_after; /* calls and segments until then; 0: at once */
	/* before each segment or single read: the target goes on running */
	void (*before)(struct fake_mem *fake, raddr addr, void *arg);
	void *before_arg;
};

/* The byte of the target at `addr`; NULL: not mapped. *ret_left: how many lie behind it. */
static inline uint8_t *fake_at(struct fake_mem *fake, raddr addr, size_t *ret_left)
{
	for (size_t i = 0; i < fake->ranges.n; i++) {
		struct fake_range *range = &fake->ranges.at[i];
		if (addr < range->addr || addr - range->addr >= range->size)
			continue;
		*ret_left = range->size - (size_t)(addr - range->addr);
		return range->bytes + (addr - range->addr);
	}
	return NULL;
}

static inline int fake_copy(struct fake_mem *fake, raddr addr, uint8_t *dest, size_t size)
{
	if (fake->before)
		fake->before(fake, addr, fake->before_arg);
	if (fake->fail && fake->fail_after == 0)
		return fake->fail;
	fake->fail_after -= fake->fail_after > 0;
	while (size > 0) {
		size_t left = 0;
		uint8_t *from = fake_at(fake, addr, &left);
		if (!from)
			return TACHY_EFAULT;
		size_t n = left < size ? left : size;
		memcpy(dest, from, n);
		fake->mem.n_bytes += n;
		dest += n;
		addr += n;
		size -= n;
	}
	return 0;
}

static inline int fake_read(struct mem *mem, raddr addr, void *dest, size_t size)
{
	struct fake_mem *fake = (struct fake_mem *)mem;
	fake->n_read++;
	mem->n_vm_readv++;
	return fake_copy(fake, addr, dest, size);
}

static inline int fake_read_many(struct mem *mem, struct mem_segment *segments, size_t n)
{
	struct fake_mem *fake = (struct fake_mem *)mem;
	int result = 0;
	fake->n_read_many++;
	mem->n_vm_readv += (n + MEM_SEGMENTS_MAX - 1) / MEM_SEGMENTS_MAX;
	fake->batch.n = 0;
	for (size_t i = 0; i < n; i++) {
		int rc = fake_copy(fake, segments[i].addr, segments[i].dest, segments[i].size);
		segments[i].done = rc == 0;
		if (!vec_push(&fake->batch, segments[i]))
			abort();
		if (rc < 0 && rc != TACHY_EFAULT)
			return rc;
		result = rc < 0 ? rc : result;
	}
	return result;
}

static inline void fake_close(struct mem *mem)
{
	struct fake_mem *fake = (struct fake_mem *)mem;
	for (size_t i = 0; i < fake->ranges.n; i++)
		free(fake->ranges.at[i].bytes);
	vec_done(&fake->ranges);
	vec_done(&fake->batch);
	free(fake);
}

static const struct mem_ops fake_ops = {
	.name = "fake",
	.read = fake_read,
	.read_many = fake_read_many,
	.close = fake_close,
};

/* To be closed with mem_close(&fake->mem). */
static inline struct fake_mem *fake_mem_create(void)
{
	struct fake_mem *fake = calloc(1, sizeof *fake);
	if (!fake)
		abort();
	fake->mem.ops = &fake_ops;
	return fake;
}

/* Maps whole pages, filled with zeros, around [addr, addr + size). They must not be mapped yet. */
static inline void fake_map(struct fake_mem *fake, raddr addr, size_t size)
{
	raddr start = addr & ~(raddr)(FAKE_PAGE - 1);
	raddr end = (addr + size + FAKE_PAGE - 1) & ~(raddr)(FAKE_PAGE - 1);
	struct fake_range range = {start, (size_t)(end - start), calloc(1, (size_t)(end - start))};
	if (!range.bytes || !vec_push(&fake->ranges, range))
		abort();
}

/* Unmaps what one fake_map around `addr` mapped. */
static inline void fake_unmap(struct fake_mem *fake, raddr addr)
{
	for (size_t i = 0; i < fake->ranges.n; i++) {
		struct fake_range *range = &fake->ranges.at[i];
		if (addr < range->addr || addr - range->addr >= range->size)
			continue;
		free(range->bytes);
		*range = fake->ranges.at[--fake->ranges.n];
		return;
	}
	abort();
}

static inline void fake_put(struct fake_mem *fake, raddr addr, const void *bytes, size_t size)
{
	size_t left = 0;
	uint8_t *to = fake_at(fake, addr, &left);
	if (!to || left < size)
		abort(); /* the test is wrong */
	memcpy(to, bytes, size);
}

static inline void fake_put_u64(struct fake_mem *fake, raddr addr, uint64_t value)
{
	fake_put(fake, addr, &value, sizeof value);
}

static inline void fake_put_u32(struct fake_mem *fake, raddr addr, uint32_t value)
{
	fake_put(fake, addr, &value, sizeof value);
}

static inline void fake_put_u16(struct fake_mem *fake, raddr addr, uint16_t value)
{
	fake_put(fake, addr, &value, sizeof value);
}

static inline void fake_put_u8(struct fake_mem *fake, raddr addr, uint8_t value)
{
	fake_put(fake, addr, &value, sizeof value);
}

/* Calls of either kind so far. */
static inline uint64_t fake_calls(const struct fake_mem *fake)
{
	return fake->n_read + fake->n_read_many;
}

#endif
