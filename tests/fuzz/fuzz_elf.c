/* SPDX-License-Identifier: MIT
 * Any bytes as an ELF file, read through libelf, and as a module in memory.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "obj/elf_file.h"
#include "obj/elf_image.h"

#define BASE      0x400000u
#define READS_MAX 30000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct memory {
	const uint8_t *data;
	size_t size, n_reads;
};

static int read_memory(void *context, raddr addr, void *dest, size_t size)
{
	struct memory *memory = context;
	if (++memory->n_reads > READS_MAX)
		abort(); /* a loop without a bound */
	if (addr < BASE || addr - BASE > memory->size ||
	    size > memory->size - (size_t)(addr - BASE))
		return TACHY_EFAULT;
	memcpy(dest, memory->data + (addr - BASE), size);
	return 0;
}

static void as_image(const uint8_t *data, size_t size)
{
	struct memory memory = {.data = data, .size = size};
	struct elf_reader reader = {.read = read_memory, .context = &memory};
	struct elf_image image;
	raddr addr;
	char name[32];
	if (elf_image_open(reader, BASE, &image) < 0)
		return;
	(void)elf_image_symbol(&image, "_PyRuntime", &addr);
	(void)elf_image_symbol(&image, "second", &addr);
	image.gnu_hash = 0;
	(void)elf_image_symbol(&image, "second", &addr);
	if (elf_image_soname(&image, name, sizeof name) == 0 && strlen(name) >= sizeof name)
		abort();
	(void)elf_image_loading(&image);
}

static void as_file(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"_PyRuntime", "second"};
	struct elf_file *elf;
	struct elf_range range;
	struct elf_symbol symbols[2];
	uint8_t id[ELF_BUILD_ID_MAX];
	uint64_t bias;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0)
		return;
	if (io_write_all(fd, data, size) < 0) {
		(void)close(fd);
		return;
	}
	if (elf_file_open(fd, &elf) < 0)
		return;
	(void)elf_file_section(elf, ".PyRuntime", &range);
	if (elf_file_symbols(elf, ELF_TABLE_DYNAMIC, names, 2, symbols) > 2 ||
	    elf_file_symbols(elf, ELF_TABLE_STATIC, names, 2, symbols) > 2)
		abort();
	(void)elf_file_bias(elf, BASE, &bias);
	(void)elf_file_writable(elf, &range);
	if (elf_file_build_id(elf, id) > sizeof id)
		abort();
	elf_file_close(elf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	as_image(data, size);
	as_file(data, size);
	return 0;
}
