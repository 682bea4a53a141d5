/* SPDX-License-Identifier: MIT
 * Hash map from uint64_t to uint64_t: open addressing, linear probing, load factor at most 1/2.
 * Any key, any value. Emptied in constant time by map_clear (a generation number per slot), so that
 * it can serve things that live one tick.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot;

struct map {
	struct map_slot *slots;
	size_t mask; /* number of slots - 1; slots == NULL: 0 */
	size_t n;
	uint32_t generation;
};

void map_init(struct map *map);
void map_done(struct map *map);
void map_clear(struct map *map);
/* True and *ret_value when `key` is there. */
bool map_get(const struct map *map, uint64_t key, uint64_t *ret_value);
/* Adds or replaces. False when memory is out (nothing changed). */
bool map_put(struct map *map, uint64_t key, uint64_t value);
void map_remove(struct map *map, uint64_t key);

#endif
