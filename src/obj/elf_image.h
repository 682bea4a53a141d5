/* SPDX-License-Identifier: MIT
 * An ELF module as it lies in a process's memory: its program headers and dynamic section, no file
 * needed. This is how symbols are found in deleted, replaced and unreachable files, and it is faster
 * than opening one: a look-up by GNU hash costs a few small reads.
 *
 * Nothing read is believed: absurd values give TACHY_ECORRUPT, every loop has a bound.
 */
#ifndef OBJ_ELF_IMAGE_H
#define OBJ_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/load.h"

/* How to read the memory it lies in. `read` gives all bytes, or a negative TACHY_E*. */
struct elf_reader {
	int (*read)(void *context, raddr addr, void *dest, size_t size);
	void *context; /* borrowed */
};

#define ELF_IMAGE_SEGMENTS_MAX 16

struct elf_image_segment {
	raddr start, end; /* in the target; end includes .bss */
	bool write, exec;
};

struct elf_image {
	struct elf_reader reader;
	raddr base;     /* where the ELF header lies */
	uint64_t bias;  /* target address - address in the file */
	size_t n_segments;
	struct elf_image_segment segments[ELF_IMAGE_SEGMENTS_MAX];
	bool has_interp; /* PT_INTERP: a program for the dynamic loader */
	bool has_dynamic;
	raddr symtab, strtab, gnu_hash, sysv_hash; /* 0: none */
	uint64_t strtab_size;
	uint64_t soname; /* offset in strtab; 0: none */
	raddr debug;     /* struct r_debug of the dynamic loader (DT_DEBUG); 0: none yet */
	bool has_debug;  /* there is a DT_DEBUG entry */
	size_t n_needed; /* DT_NEEDED entries */
};

/* Reads headers and dynamic section of the module whose ELF header lies at `base`. */
int elf_image_open(struct elf_reader reader, raddr base, struct elf_image *ret_image);

/* Address, in the target, of a symbol that the module defines for others; TACHY_ENOENT. */
int elf_image_symbol(const struct elf_image *image, const char *name, raddr *ret_addr);

/* The module's own name for itself (DT_SONAME), cut to fit; TACHY_ENOENT. */
int elf_image_soname(const struct elf_image *image, char *buf, size_t size);

/* True while the dynamic loader is at work: not everything the program needs is mapped and
 * relocated yet. False for what has no loader. */
bool elf_image_loading(const struct elf_image *image);

#endif
