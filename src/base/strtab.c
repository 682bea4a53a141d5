/* SPDX-License-Identifier: MIT
 * Text lives in an arena; ids index a vector of pointers; a table of ids, probed by hash, finds equal
 * text. The table is at most half full.
 */
#include "base/strtab.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/vec.h"

#define SLOTS_MIN 256u

struct entry {
	const char *text;
	size_t len;
	uint64_t hash;
};

struct strtab {
	struct arena texts;
	VEC(struct entry) entries;
	uint32_t *slots; /* id + 1, 0 free */
	size_t mask;
};

static void insert_slot(struct strtab *tab, uint32_t id)
{
	size_t i = (size_t)tab->entries.at[id].hash & tab->mask;
	while (tab->slots[i])
		i = (i + 1) & tab->mask;
	tab->slots[i] = id + 1;
}

static int resize(struct strtab *tab, size_t room)
{
	uint32_t *slots = calloc(room, sizeof *slots);
	if (!slots)
		return TACHY_ENOMEM;
	free(tab->slots);
	tab->slots = slots;
	tab->mask = room - 1;
	for (size_t id = 0; id < tab->entries.n; id++)
		insert_slot(tab, (uint32_t)id);
	return 0;
}

int strtab_create(struct strtab **ret_tab)
{
	struct strtab *tab = calloc(1, sizeof *tab);
	if (!tab)
		return TACHY_ENOMEM;
	arena_init(&tab->texts);
	str_id empty;
	if (resize(tab, SLOTS_MIN) < 0 || strtab_add(tab, "", 0, &empty) < 0) {
		strtab_destroy(tab);
		return TACHY_ENOMEM;
	}
	*ret_tab = tab;
	return 0;
}

void strtab_destroy(struct strtab *tab)
{
	if (!tab)
		return;
	arena_done(&tab->texts);
	vec_done(&tab->entries);
	free(tab->slots);
	free(tab);
}

static int append(struct strtab *tab, const char *text, size_t len, uint64_t hash, str_id *ret_id)
{
	if (tab->entries.n >= UINT32_MAX - 1)
		return TACHY_ENOMEM;
	if ((tab->entries.n + 1) * 2 > tab->mask + 1 && resize(tab, (tab->mask + 1) * 2) < 0)
		return TACHY_ENOMEM;
	char *copy = arena_strndup(&tab->texts, text, len);
	struct entry entry = {copy, len, hash};
	if (!copy || !vec_push(&tab->entries, entry))
		return TACHY_ENOMEM;
	*ret_id = (str_id)(tab->entries.n - 1);
	insert_slot(tab, *ret_id);
	return 0;
}

int strtab_add(struct strtab *tab, const char *text, size_t len, str_id *ret_id)
{
	uint64_t hash = hash_bytes(text, len);
	if (!tab->slots)
		return TACHY_EINVAL; /* a borrower */
	for (size_t i = (size_t)hash & tab->mask; tab->slots[i]; i = (i + 1) & tab->mask) {
		const struct entry *entry = &tab->entries.at[tab->slots[i] - 1];
		if (entry->hash == hash && entry->len == len &&
		    memcmp(entry->text, text, len) == 0) {
			*ret_id = tab->slots[i] - 1;
			return 0;
		}
	}
	return append(tab, text, len, hash, ret_id);
}

const char *strtab_get(const struct strtab *tab, str_id id)
{
	return id < tab->entries.n ? tab->entries.at[id].text : "";
}

int strtab_borrow(const struct strtab *tab, size_t n, struct strtab **borrower)
{
	if (!*borrower && !(*borrower = calloc(1, sizeof **borrower)))
		return TACHY_ENOMEM;
	struct strtab *to = *borrower;
	size_t have = to->entries.n, left = tab->entries.n - have;
	if (n > left)
		n = left;
	if (!vec_reserve(&to->entries, have + n))
		return TACHY_ENOMEM;
	if (n > 0)
		memcpy(to->entries.at + have, tab->entries.at + have, n * sizeof *to->entries.at);
	to->entries.n += n;
	return n < left;
}

size_t strtab_count(const struct strtab *tab)
{
	return tab->entries.n;
}
