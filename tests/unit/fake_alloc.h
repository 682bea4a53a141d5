/* SPDX-License-Identifier: MIT
 * The allocator of a test program, watched: counts what is asked for while armed, and runs out of
 * memory on demand. Include it in one .c of the program. Under AddressSanitizer, whose allocator
 * must stay in place, it counts only; with a C library that has no __libc_malloc it does neither.
 */
#ifndef FAKE_ALLOC_H
#define FAKE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FAKE_ALLOC_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define FAKE_ALLOC_ASAN 1
#endif

struct fake_alloc {
	_Atomic uint64_t n; /* allocations since armed */
	_Atomic bool armed;
	_Atomic int64_t left; /* how many still succeed; below 0: all of them */
};

static struct fake_alloc fake_alloc = {.left = -1};

/* One allocation. False: it shall fail. */
static inline bool fake_alloc_step(void)
{
	if (!fake_alloc.armed)
		return true;
	fake_alloc.n++;
	if (fake_alloc.left == 0)
		return false;
	fake_alloc.left -= fake_alloc.left > 0;
	return true;
}

#if defined(FAKE_ALLOC_ASAN)
#define FAKE_ALLOC_COUNTS 1
#define FAKE_ALLOC_FAILS  0
void __sanitizer_malloc_hook(const volatile void *block, size_t size);
void __sanitizer_malloc_hook(const volatile void *block, size_t size)
{
	(void)block;
	(void)size;
	fake_alloc_step();
}
#elif defined(__GLIBC__)
#define FAKE_ALLOC_COUNTS 1
#define FAKE_ALLOC_FAILS  1
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *block, size_t size);

void *malloc(size_t size)
{
	return fake_alloc_step() ? __libc_malloc(size) : NULL;
}

void *calloc(size_t n, size_t size)
{
	return fake_alloc_step() ? __libc_calloc(n, size) : NULL;
}

void *realloc(void *block, size_t size)
{
	return fake_alloc_step() ? __libc_realloc(block, size) : NULL;
}
#else
#define FAKE_ALLOC_COUNTS 0
#define FAKE_ALLOC_FAILS  0
#endif

/* From here on: `n_good` allocations succeed, then all fail; -1: none fails. */
static inline void fake_alloc_arm(int64_t n_good)
{
	fake_alloc.n = 0;
	fake_alloc.left = n_good;
	fake_alloc.armed = true;
}

/* Back to normal. How many allocations there were. */
static inline uint64_t fake_alloc_disarm(void)
{
	fake_alloc.armed = false;
	fake_alloc.left = -1;
	return fake_alloc.n;
}

#endif
