/* SPDX-License-Identifier: MIT
 * A saved memory image behind the seam of mem.h: for tests, for fuzzing, for looking at a target
 * that is no longer there.
 *
 * The form, all numbers little endian:
 *     8 bytes   "TACHYMEM"
 *     u32       1 (version)
 *     u32       n, number of ranges (at most MEM_IMAGE_RANGES_MAX)
 *     n times   u64 addr, u64 size
 *     then the bytes of each range, in the same order, nothing between them
 * Ranges may come in any order; where two overlap the first one counts. A range whose bytes are
 * cut off by the end of the file is as long as what is there.
 */
#ifndef OS_MEM_IMAGE_H
#define OS_MEM_IMAGE_H

#include "os/mem.h"

#define MEM_IMAGE_MAGIC "TACHYMEM"
#define MEM_IMAGE_RANGES_MAX 65536

/* `bytes` is copied. TACHY_ECORRUPT when it does not begin as described. */
int mem_image_from_bytes(const uint8_t *bytes, size_t size, struct mem **ret_mem);
int mem_image_open(const char *path, struct mem **ret_mem);

/* For tests that build one by hand: an empty image, and ranges put into it. The bytes are copied. */
int mem_image_create(struct mem **ret_mem);
int mem_image_add(struct mem *mem, raddr addr, const void *bytes, size_t size);

#endif
