/* SPDX-License-Identifier: MIT
 * Memory that is given back all at once. After it has grown to its working size a reset-and-refill
 * cycle allocates nothing.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *first, *current;
	size_t used; /* bytes of `current` */
};

void arena_init(struct arena *arena);
void arena_done(struct arena *arena);
void arena_reset(struct arena *arena); /* keeps the blocks */
/* Aligned to 16 bytes, not cleared; NULL when memory is out. */
void *arena_alloc(struct arena *arena, size_t size);
char *arena_strndup(struct arena *arena, const char *text, size_t len);

#endif
