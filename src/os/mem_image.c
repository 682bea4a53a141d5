/* SPDX-License-Identifier: MIT
 * Ranges of bytes as a memory. Invariant: every range's bytes lie inside `bytes` (one block, moved
 * when it grows, so ranges hold offsets), and addr + size does not wrap.
 */
#include "os/mem_image.h"

#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/vec.h"

#define HEADER_SIZE 16
#define ENTRY_SIZE 16
#define FILE_MAX ((size_t)1 << 30)

struct range {
	raddr addr;
	size_t size, at; /* at: where in `bytes` */
};

struct image {
	struct mem mem; /* first */
	VEC(struct range) ranges;
	VEC(uint8_t) bytes;
};

static const struct range *range_at(const struct image *image, raddr addr)
{
	for (size_t i = 0; i < image->ranges.n; i++) {
		const struct range *range = &image->ranges.at[i];
		if (addr >= range->addr && addr - range->addr < range->size)
			return range;
	}
	return NULL;
}

static int image_read(struct mem *mem, raddr addr, void *dest, size_t size)
{
	const struct image *image = (const struct image *)mem;
	uint8_t *to = dest;
	mem->n_other++;
	while (size > 0) {
		const struct range *range = range_at(image, addr);
		if (!range)
			return TACHY_EFAULT;
		size_t off = (size_t)(addr - range->addr), n = range->size - off;
		if (n > size)
			n = size;
		memcpy(to, image->bytes.at + range->at + off, n);
		mem->n_bytes += n;
		to += n;
		addr += n;
		size -= n;
	}
	return 0;
}

static int image_read_many(struct mem *mem, struct mem_segment *segments, size_t n)
{
	int result = 0;
	for (size_t i = 0; i < n; i++) {
		segments[i].done = image_read(mem, segments[i].addr, segments[i].dest,
					      segments[i].size) == 0;
		if (!segments[i].done)
			result = TACHY_EFAULT;
	}
	return result;
}

static void image_close(struct mem *mem)
{
	struct image *image = (struct image *)mem;
	vec_done(&image->ranges);
	vec_done(&image->bytes);
	free(image);
}

static const struct mem_ops ops = {
	.name = "image",
	.read = image_read,
	.read_many = image_read_many,
	.close = image_close,
};

int mem_image_create(struct mem **ret_mem)
{
	struct image *image = calloc(1, sizeof *image);
	if (!image)
		return TACHY_ENOMEM;
	image->mem.ops = &ops;
	*ret_mem = &image->mem;
	return 0;
}

int mem_image_add(struct mem *mem, raddr addr, const void *bytes, size_t size)
{
	struct image *image = (struct image *)mem;
	struct range range = {.addr = addr, .size = size, .at = image->bytes.n};
	if (size == 0)
		return 0;
	if (size - 1 > UINT64_MAX - addr || image->ranges.n == MEM_IMAGE_RANGES_MAX)
		return TACHY_EINVAL;
	if (!vec_reserve(&image->bytes, image->bytes.n + size) || !vec_push(&image->ranges, range))
		return TACHY_ENOMEM;
	memcpy(image->bytes.at + range.at, bytes, size);
	image->bytes.n += size;
	return 0;
}

static int add_ranges(struct mem *mem, struct span file)
{
	uint32_t n = load_u32(file, 12);
	size_t at = HEADER_SIZE + (size_t)n * ENTRY_SIZE;
	for (uint32_t i = 0; i < n && at < file.size; i++) {
		size_t entry = HEADER_SIZE + (size_t)i * ENTRY_SIZE, left = file.size - at;
		uint64_t size = load_u64(file, entry + 8);
		if (size > left)
			size = left;
		int code = mem_image_add(mem, load_u64(file, entry), file.data + at, (size_t)size);
		if (code == TACHY_ENOMEM)
			return code;
		if (code < 0) /* a range that wraps */
			return TACHY_ECORRUPT;
		at += (size_t)size;
	}
	return 0;
}

int mem_image_from_bytes(const uint8_t *bytes, size_t size, struct mem **ret_mem)
{
	struct span file = {bytes, size};
	struct mem *mem;
	if (!span_has(file, 0, HEADER_SIZE) || memcmp(bytes, MEM_IMAGE_MAGIC, 8) != 0)
		return TACHY_ECORRUPT;
	if (load_u32(file, 8) != 1 || load_u32(file, 12) > MEM_IMAGE_RANGES_MAX)
		return TACHY_ECORRUPT;
	int code = mem_image_create(&mem);
	if (code < 0)
		return code;
	code = add_ranges(mem, file);
	if (code < 0) {
		mem_close(mem);
		return code;
	}
	*ret_mem = mem;
	return 0;
}

int mem_image_open(const char *path, struct mem **ret_mem)
{
	char *bytes;
	size_t size;
	int code = io_read_file(path, FILE_MAX, &bytes, &size);
	if (code < 0)
		return code;
	code = mem_image_from_bytes((const uint8_t *)bytes, size, ret_mem);
	free(bytes);
	return code;
}
