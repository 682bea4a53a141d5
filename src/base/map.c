/* SPDX-License-Identifier: MIT
 * A slot is in use when its generation is the map's: clearing is one increment.
 */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define SLOTS_MIN 64u

struct map_slot {
	uint64_t key, value;
	uint32_t generation;
};

void map_init(struct map *map)
{
	memset(map, 0, sizeof *map);
	map->generation = 1;
}

void map_done(struct map *map)
{
	free(map->slots);
	map_init(map);
}

void map_clear(struct map *map)
{
	map->n = 0;
	if (++map->generation == 0) { /* wrapped: old marks could come back to life */
		if (map->slots)
			memset(map->slots, 0, (map->mask + 1) * sizeof *map->slots);
		map->generation = 1;
	}
}

/* The slot that holds `key`, or the free one where it would go. */
static struct map_slot *find_slot(const struct map *map, uint64_t key)
{
	size_t i = (size_t)hash_u64(key) & map->mask;
	while (map->slots[i].generation == map->generation && map->slots[i].key != key)
		i = (i + 1) & map->mask;
	return &map->slots[i];
}

bool map_get(const struct map *map, uint64_t key, uint64_t *ret_value)
{
	if (!map->n)
		return false;
	const struct map_slot *slot = find_slot(map, key);
	if (slot->generation != map->generation)
		return false;
	*ret_value = slot->value;
	return true;
}

static bool grow(struct map *map)
{
	size_t room = map->slots ? (map->mask + 1) * 2 : SLOTS_MIN;
	struct map bigger = {calloc(room, sizeof *map->slots), room - 1, map->n, 1};
	if (!bigger.slots)
		return false;
	for (size_t i = 0; map->slots && i <= map->mask; i++) {
		if (map->slots[i].generation != map->generation)
			continue;
		struct map_slot *slot = find_slot(&bigger, map->slots[i].key);
		*slot = map->slots[i];
		slot->generation = 1;
	}
	free(map->slots);
	*map = bigger;
	return true;
}

bool map_put(struct map *map, uint64_t key, uint64_t value)
{
	if ((!map->slots || (map->n + 1) * 2 > map->mask + 1) && !grow(map))
		return false;
	struct map_slot *slot = find_slot(map, key);
	if (slot->generation != map->generation)
		map->n++;
	*slot = (struct map_slot){key, value, map->generation};
	return true;
}

/* The hole is closed by moving later keys of the run back to where a look-up can still reach them. */
void map_remove(struct map *map, uint64_t key)
{
	if (!map->n)
		return;
	struct map_slot *slot = find_slot(map, key);
	if (slot->generation != map->generation)
		return;
	size_t hole = (size_t)(slot - map->slots);
	for (size_t i = (hole + 1) & map->mask; map->slots[i].generation == map->generation;
	     i = (i + 1) & map->mask) {
		size_t home = (size_t)hash_u64(map->slots[i].key) & map->mask;
		if (((i - home) & map->mask) < ((i - hole) & map->mask))
			continue; /* its home lies behind the hole */
		map->slots[hole] = map->slots[i];
		hole = i;
	}
	map->slots[hole].generation = map->generation - 1;
	map->n--;
}
