/* SPDX-License-Identifier: MIT
 * The ELF modules of a process, in the order in which a Python is looked for, and what the parts of
 * find share while they look.
 */
#ifndef CPYTHON_FIND_MODULE_H
#define CPYTHON_FIND_MODULE_H

#include "base/vec.h"
#include "obj/elf_file.h"
#include "obj/elf_image.h"
#include "os/mem.h"
#include "os/proc.h"

/* Cheap guesses where Python is. They order the search and decide nothing else. */
enum module_rank {
	MODULE_PROGRAM, /* mapped first: mostly the executable */
	MODULE_NAMED,   /* "python" in its file name */
	MODULE_OTHER
};

struct module {
	size_t first,
		n; /* mappings: maps.at[first] .. [first + n - 1], .bss that follows included */
	raddr start, end; /* addresses */
	uint64_t offset;  /* in the file, of the first mapping; normally 0: the ELF header */
	enum module_rank rank;
	const char *path; /* borrowed from the maps */
	bool image_tried;
	int image_code; /* what opening the image gave */
	struct elf_image image;
};

struct finder {
	pid_t pid;
	struct mem *mem; /* borrowed */
	struct proc_maps maps;
	VEC(struct module) modules; /* by rank, then address */
	uint8_t *chunk;             /* owned; SCAN_CHUNK bytes, made at first use */
	int fatal;                  /* a TACHY_E* that ends the search: EPERM, EGONE; 0 */
};

/* Reads the maps and groups them. What can hold no interpreter (nothing writable, nothing
 * executable) is left out. */
int finder_init(struct finder *finder, pid_t pid, struct mem *mem);
void finder_done(struct finder *finder);

/* Whether the process's maps are what they were at finder_init. While a program is being loaded, or
 * replaced by another (exec), a search may fall between two states. */
bool finder_is_stable(const struct finder *finder);

/* mem_read, which notes in finder->fatal what makes going on useless. */
int finder_read(struct finder *finder, raddr addr, void *dest, size_t size);
/* The word at `addr`; 0 when it cannot be read. */
uint64_t finder_word(struct finder *finder, raddr addr);

/* A symbol that the module defines for others, from its image in memory; 0: none. */
raddr module_symbol(struct finder *finder, struct module *module, const char *name);
/* The module's image, opened at first use, or NULL. */
const struct elf_image *module_image(struct finder *finder, struct module *module);
/* The module's file, as mapped. TACHY_ENOENT when out of reach. The bias is that of the mapping. */
int module_file(struct finder *finder, const struct module *module, struct elf_file **ret_elf,
		uint64_t *ret_bias);
/* The module that `addr` lies in, or NULL. */
struct module *module_at(struct finder *finder, raddr addr);

#endif
