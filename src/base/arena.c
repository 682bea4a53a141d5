/* SPDX-License-Identifier: MIT
 * A chain of blocks, filled from the front. A reset goes back to the first block and frees none.
 */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE_MIN 65536u
#define ALIGNMENT 16u

struct arena_block {
	struct arena_block *next;
	size_t size;
	_Alignas(ALIGNMENT) unsigned char data[];
};

void arena_init(struct arena *arena)
{
	memset(arena, 0, sizeof *arena);
}

void arena_done(struct arena *arena)
{
	struct arena_block *block = arena->first;
	while (block) {
		struct arena_block *next = block->next;
		free(block);
		block = next;
	}
	arena_init(arena);
}

void arena_reset(struct arena *arena)
{
	arena->current = arena->first;
	arena->used = 0;
}

static struct arena_block *block_create(size_t size)
{
	size_t room = size > BLOCK_SIZE_MIN ? size : BLOCK_SIZE_MIN;
	struct arena_block *block = malloc(sizeof *block + room);
	if (block) {
		block->next = NULL;
		block->size = room;
	}
	return block;
}

/* Makes `current` a block with room for `size` bytes: the next of the chain, or a new one before it. */
static int advance(struct arena *arena, size_t size)
{
	struct arena_block *next = arena->current ? arena->current->next : arena->first;
	if (!next || next->size < size) {
		struct arena_block *fresh = block_create(size);
		if (!fresh)
			return -1;
		fresh->next = next;
		if (arena->current)
			arena->current->next = fresh;
		else
			arena->first = fresh;
		next = fresh;
	}
	arena->current = next;
	arena->used = 0;
	return 0;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	if (size > (size_t)-1 / 2)
		return NULL;
	size_t need = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	if (!arena->current || need > arena->current->size - arena->used)
		if (advance(arena, need) < 0)
			return NULL;
	void *place = arena->current->data + arena->used;
	arena->used += need;
	return place;
}

char *arena_strndup(struct arena *arena, const char *text, size_t len)
{
	char *copy = arena_alloc(arena, len + 1);
	if (copy) {
		memcpy(copy, text, len);
		copy[len] = '\0';
	}
	return copy;
}
