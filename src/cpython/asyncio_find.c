/* SPDX-License-Identifier: MIT
 * First the sections of the modules' files, those that are likely to be it before the others, then the words
 * themselves in writable memory: one of them is the size of an interpreter state, which we know, and all others
 * must lie in bounds.
 */
#include "cpython/asyncio_find.h"

#include <string.h>

#include "base/error.h"
#include "cpython/find_module.h"
#include "cpython/find_scan.h"

#define SECTION ".AsyncioDebug"

struct asyncio_search {
	struct finder finder;
	const struct layout *layout;
	struct asyncio_layout fields;
};

static bool look_section(struct asyncio_search *search, const struct module *module)
{
	struct elf_file *elf;
	struct elf_range section;
	uint64_t bias;
	uint8_t bytes[ASYNCIO_DEBUG_SIZE];
	if (module_file(&search->finder, module, &elf, &bias) < 0)
		return false;
	bool found = elf_file_section(elf, SECTION, &section) == 0 && section.addr &&
		     section.size >= sizeof bytes &&
		     finder_read(&search->finder, section.addr + bias, bytes, sizeof bytes) == 0 &&
		     asyncio_layout_by_debug(search->layout, (struct span){bytes, sizeof bytes},
					     &search->fields) == 0;
	elf_file_close(elf);
	return found;
}

static bool look_words(void *context, raddr addr, struct span bytes)
{
	struct asyncio_search *search = context;
	size_t skip = (size_t)(-addr & 7);
	for (size_t at = skip; span_has(bytes, at, ASYNCIO_DEBUG_SIZE); at += 8) {
		struct span words = span_sub(bytes, at, ASYNCIO_DEBUG_SIZE);
		if (load_u64(words, 56) == search->layout->interp.size &&
		    asyncio_layout_by_debug(search->layout, words, &search->fields) == 0)
			return true;
	}
	return false;
}

static bool look_memory(struct asyncio_search *search, const struct module *module)
{
	return scan_data(&search->finder, module, look_words, search);
}

/* 0: called what it is called in most places; 1: where it is linked in otherwise; 2: all others. */
static int rank(const struct module *module)
{
	if (strstr(module->path, "_asyncio"))
		return 0;
	return module->rank == MODULE_OTHER ? 2 : 1;
}

static bool look_at_all(struct asyncio_search *search,
			bool (*look)(struct asyncio_search *, const struct module *))
{
	const struct finder *finder = &search->finder;
	for (int now = 0; now <= 2; now++)
		for (size_t i = 0; i < finder->modules.n && !finder->fatal; i++)
			if (rank(&finder->modules.at[i]) == now &&
			    look(search, &finder->modules.at[i]))
				return true;
	return false;
}

int asyncio_find(pid_t pid, struct mem *mem, const struct layout *layout,
		 struct asyncio_layout *ret_fields)
{
	struct asyncio_search search = {.layout = layout};
	int rc = finder_init(&search.finder, pid, mem);
	if (rc < 0)
		return rc;
	bool found = look_at_all(&search, look_section) || look_at_all(&search, look_memory);
	rc = search.finder.fatal;
	finder_done(&search.finder);
	if (rc >= 0 && found)
		*ret_fields = search.fields;
	return rc < 0 ? rc : found ? 0 : TACHY_ENOENT;
}
