/* SPDX-License-Identifier: MIT
 * An ELF file, read through libelf. Nothing in the file is believed: what is truncated or absurd
 * gives TACHY_ECORRUPT or TACHY_ENOENT.
 *
 * Addresses are those written in the file; add elf_file_bias() of a mapping for the target's.
 */
#ifndef OBJ_ELF_FILE_H
#define OBJ_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/load.h"

struct elf_file;

#define ELF_BUILD_ID_MAX 64
#define ELF_SEGMENTS_MAX 256

struct elf_range {
	uint64_t addr, size; /* size 0: none */
	uint64_t offset;     /* in the file */
};

/* Takes a descriptor over in success and failure alike: it is closed in elf_file_close at the latest.
 * TACHY_ECORRUPT: no ELF of this machine's word size and byte order. */
int elf_file_open(int fd, struct elf_file **ret_elf);
void elf_file_close(struct elf_file *elf); /* NULL is fine */

/* The section of that name; TACHY_ENOENT. */
int elf_file_section(const struct elf_file *elf, const char *name, struct elf_range *ret_range);

enum elf_table { ELF_TABLE_DYNAMIC, ELF_TABLE_STATIC }; /* .dynsym, .symtab */

struct elf_symbol {
	uint64_t addr, size;
};

/* A defined symbol by name; TACHY_ENOENT. One walk over the table for all `n` names: found ones get
 * their address, others keep addr 0. The number found. */
int elf_file_symbols(const struct elf_file *elf, enum elf_table table, const char *const *names,
		     size_t n, struct elf_symbol *ret_symbols);
int elf_file_symbol(const struct elf_file *elf, enum elf_table table, const char *name,
		    struct elf_symbol *ret_symbol);

/* What to add to an address of the file for one of the target's, when the file's first loaded page
 * (offset of the first PT_LOAD, rounded down) is mapped at `start`. TACHY_ENOENT without PT_LOAD. */
int elf_file_bias(const struct elf_file *elf, raddr start, uint64_t *ret_bias);

/* True when something is to be loaded writable: the image from `*ret_data` to the end of .bss. */
bool elf_file_writable(const struct elf_file *elf, struct elf_range *ret_data);

/* The GNU build id, its length as result (0: none). */
size_t elf_file_build_id(const struct elf_file *elf, uint8_t id[ELF_BUILD_ID_MAX]);

#endif
