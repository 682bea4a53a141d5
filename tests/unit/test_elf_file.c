/* SPDX-License-Identifier: MIT
 * elf_file.c, which reads files, and elf_image.c, which reads the same from memory: on ourselves, and on
 * files that are cut or damaged.
 */
#include "cases.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "obj/elf_file.h"
#include "obj/elf_image.h"
#include "os/proc.h"

int elf_test_variable __attribute__((section(".elf_test"))) = 5;

static struct elf_file *open_self(void)
{
	struct elf_file *elf = NULL;
	int fd = open("/proc/self/exe", O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(elf_file_open(fd, &elf), 0);
	return elf;
}

/* Where the program's first page lies. */
static raddr own_start(void)
{
	struct proc_maps maps;
	struct stat st;
	raddr start = 0;
	assert_int_equal(stat("/proc/self/exe", &st), 0);
	assert_int_equal(proc_maps_read(getpid(), &maps), 0);
	for (size_t i = 0; i < maps.n && !start; i++)
		if (maps.at[i].inode == st.st_ino && maps.at[i].offset == 0)
			start = maps.at[i].start;
	proc_maps_done(&maps);
	assert_int_not_equal(start, 0);
	return start;
}

static void finds_sections_and_symbols(void **state)
{
	static const char *const wanted[] = {"no_such_symbol", "elf_test_variable", "main"};
	struct elf_file *elf = open_self();
	struct elf_range range;
	struct elf_symbol symbols[3];
	uint64_t bias;
	(void)state;
	assert_int_equal(elf_file_bias(elf, own_start(), &bias), 0);
	assert_int_equal(elf_file_section(elf, ".elf_test", &range), 0);
	assert_int_equal(range.addr + bias, (uintptr_t)&elf_test_variable);
	assert_int_equal(range.size, sizeof elf_test_variable);
	assert_int_equal(elf_file_section(elf, ".no_such_section", &range), TACHY_ENOENT);
	assert_int_equal(elf_file_symbols(elf, ELF_TABLE_STATIC, wanted, 3, symbols), 2);
	assert_int_equal(symbols[0].addr, 0);
	assert_int_equal(symbols[1].addr + bias, (uintptr_t)&elf_test_variable);
	assert_int_equal(symbols[1].size, sizeof elf_test_variable);
	assert_int_not_equal(symbols[2].addr, 0);
	assert_int_equal(elf_file_symbol(elf, ELF_TABLE_STATIC, "elf_test_variable", &symbols[0]),
			 0);
	assert_int_equal(elf_file_symbol(elf, ELF_TABLE_DYNAMIC, "no_such_symbol", &symbols[0]),
			 TACHY_ENOENT);
	assert_true(elf_file_writable(elf, &range));
	uintptr_t variable = (uintptr_t)&elf_test_variable - bias;
	assert_true(variable >= range.addr && variable < range.addr + range.size);
	elf_file_close(elf);
	elf_file_close(NULL);
}

/* ---- a small library, made by hand -------------------------------------------------------------- */

struct small_elf {
	Elf64_Ehdr header;
	Elf64_Phdr load[2];
	Elf64_Phdr dynamic_header, note_header;
	Elf64_Dyn dynamic[8];
	struct {
		uint32_t name_size, desc_size, type;
		char name[4];
		uint8_t desc[8];
	} note;
	Elf64_Sym symbols[3];
	char strings[32]; /* \0 first \0 second \0 small.so */
	uint32_t gnu[4];  /* buckets, first symbol, bloom words, bloom shift */
	uint64_t bloom[1];
	uint32_t buckets[1], chain[2];
	uint32_t sysv[2 + 1 + 3];
	char names[48];
	Elf64_Shdr sections[4];
};

static uint32_t hash_gnu(const char *name)
{
	uint32_t h = 5381;
	while (*name)
		h = h * 33 + (unsigned char)*name++;
	return h;
}

#define AT(member) offsetof(struct small_elf, member)

static void make_headers(struct small_elf *elf)
{
	const uint16_t one = 1;
	memcpy(elf->header.e_ident, ELFMAG, SELFMAG);
	elf->header.e_ident[EI_CLASS] = ELFCLASS64;
	elf->header.e_ident[EI_DATA] = *(const uint8_t *)&one ? ELFDATA2LSB : ELFDATA2MSB;
	elf->header.e_ident[EI_VERSION] = EV_CURRENT;
	elf->header.e_type = ET_DYN;
	elf->header.e_machine = EM_X86_64;
	elf->header.e_version = EV_CURRENT;
	elf->header.e_ehsize = sizeof elf->header;
	elf->header.e_phoff = AT(load);
	elf->header.e_phentsize = sizeof elf->load[0];
	elf->header.e_phnum = 4;
	elf->header.e_shoff = AT(sections);
	elf->header.e_shentsize = sizeof elf->sections[0];
	elf->header.e_shnum = 4;
	elf->header.e_shstrndx = 3;
	elf->load[0] = (Elf64_Phdr){.p_type = PT_LOAD,
				    .p_flags = PF_R | PF_X,
				    .p_filesz = sizeof *elf,
				    .p_memsz = sizeof *elf,
				    .p_align = 4096};
	elf->load[1] = (Elf64_Phdr){.p_type = PT_LOAD,
				    .p_flags = PF_R | PF_W,
				    .p_vaddr = 0x3000,
				    .p_memsz = 0x500};
	elf->dynamic_header = (Elf64_Phdr){.p_type = PT_DYNAMIC,
					   .p_offset = AT(dynamic),
					   .p_vaddr = AT(dynamic),
					   .p_filesz = sizeof elf->dynamic,
					   .p_memsz = sizeof elf->dynamic};
	elf->note_header = (Elf64_Phdr){.p_type = PT_NOTE,
					.p_offset = AT(note),
					.p_vaddr = AT(note),
					.p_filesz = sizeof elf->note,
					.p_memsz = sizeof elf->note,
					.p_align = 4};
}

static void make_tables(struct small_elf *elf)
{
	memcpy(elf->strings, "\0first\0second\0small.so", 23);
	elf->symbols[1] = (Elf64_Sym){.st_name = 1,
				      .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
				      .st_shndx = 1,
				      .st_value = 0x3010,
				      .st_size = 8};
	elf->symbols[2] = (Elf64_Sym){.st_name = 7,
				      .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
				      .st_shndx = 1,
				      .st_value = 0x3020,
				      .st_size = 16};
	elf->gnu[0] = 1, elf->gnu[1] = 1, elf->gnu[2] = 1, elf->gnu[3] = 6;
	elf->bloom[0] = UINT64_MAX;
	elf->buckets[0] = 1;
	elf->chain[0] = hash_gnu("first") & ~1u;
	elf->chain[1] = hash_gnu("second") | 1;
	elf->sysv[0] = 1, elf->sysv[1] = 3, elf->sysv[2] = 2; /* bucket -> 2 -> 1 -> 0 */
	elf->sysv[3 + 2] = 1;
	const Elf64_Dyn dynamic[] = {{DT_SYMTAB, {AT(symbols)}},
				     {DT_STRTAB, {AT(strings)}},
				     {DT_STRSZ, {sizeof elf->strings}},
				     {DT_GNU_HASH, {AT(gnu)}},
				     {DT_HASH, {AT(sysv)}},
				     {DT_SONAME, {14}},
				     {DT_NEEDED, {1}},
				     {DT_NULL, {0}}};
	memcpy(elf->dynamic, dynamic, sizeof dynamic);
	elf->note.name_size = 4, elf->note.desc_size = 8, elf->note.type = NT_GNU_BUILD_ID;
	memcpy(elf->note.name, "GNU", 4);
	memcpy(elf->note.desc, "\1\2\3\4\5\6\7\10", 8);
}

static void make_sections(struct small_elf *elf)
{
	memcpy(elf->names, "\0.dynsym\0.dynstr\0.shstrtab", 27);
	elf->sections[1] = (Elf64_Shdr){.sh_name = 1,
					.sh_type = SHT_DYNSYM,
					.sh_addr = AT(symbols),
					.sh_offset = AT(symbols),
					.sh_size = sizeof elf->symbols,
					.sh_link = 2,
					.sh_entsize = sizeof elf->symbols[0],
					.sh_addralign = 8};
	elf->sections[2] = (Elf64_Shdr){.sh_name = 9,
					.sh_type = SHT_STRTAB,
					.sh_offset = AT(strings),
					.sh_size = sizeof elf->strings,
					.sh_addralign = 1};
	elf->sections[3] = (Elf64_Shdr){.sh_name = 17,
					.sh_type = SHT_STRTAB,
					.sh_offset = AT(names),
					.sh_size = sizeof elf->names,
					.sh_addralign = 1};
}

static struct small_elf make_small(void)
{
	struct small_elf elf;
	memset(&elf, 0, sizeof elf);
	make_headers(&elf);
	make_tables(&elf);
	make_sections(&elf);
	return elf;
}

static int open_bytes(const void *bytes, size_t size, struct elf_file **ret_elf)
{
	int fd = memfd_create("elf", 0);
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, bytes, size), 0);
	return elf_file_open(fd, ret_elf);
}

static void reads_the_small_one(void **state)
{
	struct small_elf small = make_small();
	struct elf_file *elf;
	struct elf_symbol symbol;
	struct elf_range range;
	uint8_t id[ELF_BUILD_ID_MAX];
	uint64_t bias;
	(void)state;
	assert_int_equal(open_bytes(&small, sizeof small, &elf), 0);
	assert_int_equal(elf_file_symbol(elf, ELF_TABLE_DYNAMIC, "second", &symbol), 0);
	assert_int_equal(symbol.addr, 0x3020);
	assert_int_equal(symbol.size, 16);
	assert_int_equal(elf_file_symbol(elf, ELF_TABLE_STATIC, "second", &symbol), TACHY_ENOENT);
	assert_int_equal(elf_file_symbol(elf, ELF_TABLE_DYNAMIC, "secon", &symbol), TACHY_ENOENT);
	assert_int_equal(elf_file_section(elf, ".dynstr", &range), 0);
	assert_int_equal(range.offset, AT(strings));
	assert_true(elf_file_writable(elf, &range));
	assert_int_equal(range.addr, 0x3000);
	assert_int_equal(range.size, 0x500);
	assert_int_equal(elf_file_build_id(elf, id), 8);
	assert_memory_equal(id, "\1\2\3\4\5\6\7\10", 8);
	assert_int_equal(elf_file_bias(elf, 0x7000000, &bias), 0);
	assert_int_equal(bias, 0x7000000);
	elf_file_close(elf);
}

/* Everything is asked of whatever opens; nothing may crash. */
static void ask_all(struct elf_file *elf)
{
	struct elf_symbol symbol;
	struct elf_range range;
	uint8_t id[ELF_BUILD_ID_MAX];
	uint64_t bias;
	(void)elf_file_section(elf, ".dynsym", &range);
	(void)elf_file_symbol(elf, ELF_TABLE_DYNAMIC, "second", &symbol);
	(void)elf_file_symbol(elf, ELF_TABLE_STATIC, "second", &symbol);
	(void)elf_file_bias(elf, 0x1000, &bias);
	(void)elf_file_writable(elf, &range);
	assert_true(elf_file_build_id(elf, id) <= sizeof id);
	elf_file_close(elf);
}

static void refuses_what_is_no_elf(void **state)
{
	struct small_elf small = make_small();
	struct elf_file *elf = NULL;
	(void)state;
	assert_int_equal(open_bytes("", 0, &elf), TACHY_ECORRUPT);
	assert_int_equal(open_bytes("#!/bin/sh\n", 10, &elf), TACHY_ECORRUPT);
	small.header.e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(open_bytes(&small, sizeof small, &elf), TACHY_ECORRUPT);
	small.header.e_ident[EI_CLASS] = ELFCLASS64;
	small.header.e_ident[EI_DATA] =
		(unsigned char)(ELFDATA2LSB + ELFDATA2MSB - small.header.e_ident[EI_DATA]);
	assert_int_equal(open_bytes(&small, sizeof small, &elf), TACHY_ECORRUPT);
	assert_null(elf);
	assert_int_equal(elf_file_open(open("/tmp", O_RDONLY), &elf), TACHY_ECORRUPT);
}

static void survives_damage(void **state)
{
	struct small_elf small = make_small();
	struct elf_file *elf;
	uint64_t seed = 99;
	(void)state;
	for (size_t size = 0; size < sizeof small; size++)
		if (open_bytes(&small, size, &elf) == 0)
			ask_all(elf);
	for (int i = 0; i < 3000; i++) {
		struct small_elf damaged = small;
		for (uint64_t k = dice(&seed) % 4 + 1; k > 0; k--)
			((uint8_t *)&damaged)[dice(&seed) % sizeof damaged] = (uint8_t)dice(&seed);
		if (open_bytes(&damaged, sizeof damaged, &elf) == 0)
			ask_all(elf);
	}
}

/* ---- images ------------------------------------------------------------------------------------- */

struct memory {
	raddr addr;
	const uint8_t *bytes;
	size_t size;
	size_t n_reads;
};

static int read_memory(void *context, raddr addr, void *dest, size_t size)
{
	struct memory *memory = context;
	memory->n_reads++;
	if (addr < memory->addr || addr - memory->addr > memory->size ||
	    size > memory->size - (size_t)(addr - memory->addr))
		return TACHY_EFAULT;
	memcpy(dest, memory->bytes + (addr - memory->addr), size);
	return 0;
}

#define BASE 0x7f0000000000u

static int open_image(struct memory *memory, const struct small_elf *small,
		      struct elf_image *ret_image)
{
	*memory = (struct memory){.addr = BASE,
				  .bytes = (const uint8_t *)small,
				  .size = sizeof *small};
	struct elf_reader reader = {.read = read_memory, .context = memory};
	return elf_image_open(reader, BASE, ret_image);
}

static void images_by_either_hash(void **state)
{
	(void)state;
	for (int relocated = 0; relocated < 2; relocated++) {
		for (int sysv = 0; sysv < 2; sysv++) {
			struct small_elf small = make_small();
			struct memory memory;
			struct elf_image image;
			raddr addr = 0;
			char name[32];
			if (sysv)
				small.dynamic[3].d_tag = 0x1234; /* no GNU hash */
			for (size_t i = 0; i < 5; i++)
				if (relocated && small.dynamic[i].d_tag != DT_STRSZ)
					small.dynamic[i].d_un.d_ptr += BASE;
			assert_int_equal(open_image(&memory, &small, &image), 0);
			assert_int_equal(image.bias, BASE);
			assert_int_equal(image.n_segments, 2);
			assert_int_equal(image.n_needed, 1);
			assert_int_equal(elf_image_symbol(&image, "first", &addr), 0);
			assert_int_equal(addr, BASE + 0x3010);
			assert_int_equal(elf_image_symbol(&image, "second", &addr), 0);
			assert_int_equal(addr, BASE + 0x3020);
			assert_int_equal(elf_image_symbol(&image, "third", &addr), TACHY_ENOENT);
			assert_int_equal(elf_image_symbol(&image, "", &addr), TACHY_ENOENT);
			assert_int_equal(elf_image_soname(&image, name, sizeof name), 0);
			assert_string_equal(name, "small.so");
			assert_int_equal(elf_image_soname(&image, name, 4), 0);
			assert_string_equal(name, "sma");
			assert_false(elf_image_loading(&image));
		}
	}
}

static void images_that_lie(void **state)
{
	struct small_elf small = make_small();
	struct memory memory;
	struct elf_image image;
	raddr addr;
	uint64_t seed = 5;
	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct small_elf damaged = small;
		for (uint64_t k = dice(&seed) % 4 + 1; k > 0; k--)
			((uint8_t *)&damaged)[dice(&seed) % sizeof damaged] = (uint8_t)dice(&seed);
		if (open_image(&memory, &damaged, &image) < 0)
			continue;
		(void)elf_image_symbol(&image, "second", &addr);
		image.gnu_hash = 0;
		(void)elf_image_symbol(&image, "second", &addr);
		(void)elf_image_loading(&image);
		assert_true(memory.n_reads < 20000);
	}
	small.chain[1] &= ~1u; /* a chain without end runs out of memory */
	small.buckets[0] = 1;
	assert_int_equal(open_image(&memory, &small, &image), 0);
	assert_true(elf_image_symbol(&image, "third", &addr) < 0);
	small.sysv[3 + 1] = 2; /* one that goes in a circle is cut */
	assert_int_equal(open_image(&memory, &small, &image), 0);
	image.gnu_hash = 0;
	assert_int_equal(elf_image_symbol(&image, "third", &addr), TACHY_ENOENT);
	assert_true(memory.n_reads < 20000);
}

/* What the dynamic loader itself says about its own C library. */
static void images_of_real_libraries(void **state)
{
	static const char *const names[] = {"malloc", "stdout", "strtoull", "environ"};
	Dl_info info;
	(void)state;
	for (size_t i = 0; i < N_OF(names); i++) {
		void *there = dlsym(RTLD_DEFAULT, names[i]);
		assert_true(there && dladdr(there, &info));
		struct memory memory = {.addr = (raddr)(uintptr_t)info.dli_fbase,
					.bytes = info.dli_fbase,
					.size = (size_t)1 << 24};
		struct elf_reader reader = {.read = read_memory, .context = &memory};
		struct elf_image image;
		raddr addr;
		assert_int_equal(elf_image_open(reader, memory.addr, &image), 0);
		assert_int_equal(elf_image_symbol(&image, names[i], &addr), 0);
		assert_int_equal(addr, (uintptr_t)there);
		assert_int_equal(elf_image_symbol(&image, "no_such_symbol", &addr), TACHY_ENOENT);
		assert_true(memory.n_reads < 30);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_sections_and_symbols), cmocka_unit_test(reads_the_small_one),
		cmocka_unit_test(refuses_what_is_no_elf),     cmocka_unit_test(survives_damage),
		cmocka_unit_test(images_by_either_hash),      cmocka_unit_test(images_that_lie),
		cmocka_unit_test(images_of_real_libraries),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
