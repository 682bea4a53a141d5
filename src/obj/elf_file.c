/* SPDX-License-Identifier: MIT
 * Hides libelf. Read with pread, not mapped: a file that is truncated under our hands must give an
 * error, not a SIGBUS. Invariant: an open elf_file is a 64-bit ELF in our byte order; every string
 * and table entry is looked at only inside the bytes libelf gave.
 */
#include "obj/elf_file.h"

#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECTIONS_MAX    65536u
#define TABLE_BYTES_MAX (256u << 20) /* of one symbol table */

struct elf_file {
	int fd;
	Elf *elf;
};

static unsigned char native_order(void)
{
	const uint16_t one = 1;
	uint8_t first;
	memcpy(&first, &one, 1);
	return first ? ELFDATA2LSB : ELFDATA2MSB;
}

static bool usable(Elf *elf)
{
	GElf_Ehdr header;
	return elf && elf_kind(elf) == ELF_K_ELF && gelf_getclass(elf) == ELFCLASS64 &&
	       gelf_getehdr(elf, &header) && header.e_ident[EI_DATA] == native_order();
}

int elf_file_open(int fd, struct elf_file **ret_elf)
{
	struct elf_file *file = calloc(1, sizeof *file);
	if (!file) {
		(void)close(fd);
		return TACHY_ENOMEM;
	}
	file->fd = fd;
	if (elf_version(EV_CURRENT) != EV_NONE)
		file->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!usable(file->elf)) {
		elf_file_close(file);
		return TACHY_ECORRUPT;
	}
	*ret_elf = file;
	return 0;
}

void elf_file_close(struct elf_file *file)
{
	if (!file)
		return;
	(void)elf_end(file->elf);
	(void)close(file->fd);
	free(file);
}

typedef bool section_test(const struct elf_file *file, const GElf_Shdr *header, const void *wanted);

/* The first section that passes. */
static Elf_Scn *find_section(const struct elf_file *file, section_test *test, const void *wanted,
			     GElf_Shdr *ret_header)
{
	Elf_Scn *section = NULL;
	for (unsigned i = 0; i < SECTIONS_MAX; i++) {
		section = elf_nextscn(file->elf, section);
		if (!section || !gelf_getshdr(section, ret_header))
			return NULL;
		if (test(file, ret_header, wanted))
			return section;
	}
	return NULL;
}

static bool has_name(const struct elf_file *file, const GElf_Shdr *header, const void *wanted)
{
	size_t strings;
	if (elf_getshdrstrndx(file->elf, &strings) < 0)
		return false;
	const char *name = elf_strptr(file->elf, strings, header->sh_name);
	return name && strcmp(name, wanted) == 0;
}

static bool has_type(const struct elf_file *file, const GElf_Shdr *header, const void *wanted)
{
	(void)file;
	return header->sh_type == *(const GElf_Word *)wanted;
}

int elf_file_section(const struct elf_file *file, const char *name, struct elf_range *ret_range)
{
	GElf_Shdr header;
	if (!find_section(file, has_name, name, &header))
		return TACHY_ENOENT;
	*ret_range = (struct elf_range){.addr = header.sh_addr,
					.size = header.sh_size,
					.offset = header.sh_offset};
	return 0;
}

struct symbol_table {
	Elf_Data *symbols, *strings;
	size_t n;
};

static int open_table(const struct elf_file *file, enum elf_table which, struct symbol_table *ret)
{
	GElf_Word type = which == ELF_TABLE_DYNAMIC ? SHT_DYNSYM : SHT_SYMTAB;
	GElf_Shdr header;
	Elf_Scn *section = find_section(file, has_type, &type, &header);
	if (!section || header.sh_size > TABLE_BYTES_MAX)
		return TACHY_ENOENT;
	Elf_Scn *names = elf_getscn(file->elf, header.sh_link);
	struct symbol_table table = {.symbols = elf_getdata(section, NULL)};
	if (names)
		table.strings = elf_getdata(names, NULL);
	if (!table.symbols || !table.symbols->d_buf || table.symbols->d_type != ELF_T_SYM)
		return TACHY_ECORRUPT;
	if (!table.strings || !table.strings->d_buf)
		return TACHY_ECORRUPT;
	table.n = table.symbols->d_size / sizeof(Elf64_Sym);
	*ret = table;
	return 0;
}

static bool is_defined(const GElf_Sym *symbol)
{
	int type = GELF_ST_TYPE(symbol->st_info);
	return symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 && type != STT_TLS &&
	       type != STT_SECTION && type != STT_FILE;
}

static bool is_named(const struct symbol_table *table, const GElf_Sym *symbol, const char *name,
		     size_t len)
{
	struct span strings = {table->strings->d_buf, table->strings->d_size};
	return span_has(strings, symbol->st_name, len + 1) &&
	       memcmp(strings.data + symbol->st_name, name, len + 1) == 0;
}

/* The first that is still looked for and has the symbol's name; -1. */
static int match(const struct symbol_table *table, const GElf_Sym *symbol, const char *const *names,
		 size_t n, const struct elf_symbol *found)
{
	for (size_t i = 0; i < n; i++)
		if (!found[i].addr && is_named(table, symbol, names[i], strlen(names[i])))
			return (int)i;
	return -1;
}

int elf_file_symbols(const struct elf_file *file, enum elf_table which, const char *const *names,
		     size_t n, struct elf_symbol *ret_symbols)
{
	struct symbol_table table;
	memset(ret_symbols, 0, n * sizeof *ret_symbols);
	int code = open_table(file, which, &table), found = 0;
	if (code < 0)
		return code == TACHY_ENOENT ? 0 : code;
	for (size_t i = 0; i < table.n && (size_t)found < n; i++) {
		GElf_Sym symbol;
		if (!gelf_getsym(table.symbols, (int)i, &symbol))
			break;
		if (!is_defined(&symbol))
			continue;
		int at = match(&table, &symbol, names, n, ret_symbols);
		if (at < 0)
			continue;
		ret_symbols[at] = (struct elf_symbol){.addr = symbol.st_value,
						      .size = symbol.st_size};
		found++;
	}
	return found;
}

int elf_file_symbol(const struct elf_file *file, enum elf_table table, const char *name,
		    struct elf_symbol *ret_symbol)
{
	struct elf_symbol symbol;
	int found = elf_file_symbols(file, table, &name, 1, &symbol);
	if (found <= 0)
		return found < 0 ? found : TACHY_ENOENT;
	*ret_symbol = symbol;
	return 0;
}

/* The next program header of `type` from *at on; *at moves behind it. */
static bool next_segment(const struct elf_file *file, GElf_Word type, size_t *at, GElf_Phdr *ret)
{
	size_t n;
	if (elf_getphdrnum(file->elf, &n) < 0)
		return false;
	for (; *at < n && *at < ELF_SEGMENTS_MAX; (*at)++) {
		if (gelf_getphdr(file->elf, (int)*at, ret) && ret->p_type == type) {
			(*at)++;
			return true;
		}
	}
	return false;
}

int elf_file_bias(const struct elf_file *file, raddr start, uint64_t *ret_bias)
{
	GElf_Phdr load;
	size_t at = 0;
	long page = sysconf(_SC_PAGESIZE);
	if (page <= 0 || !next_segment(file, PT_LOAD, &at, &load))
		return TACHY_ENOENT;
	*ret_bias = start - (load.p_vaddr & ~((uint64_t)page - 1));
	return 0;
}

bool elf_file_writable(const struct elf_file *file, struct elf_range *ret_data)
{
	struct elf_range range = {0};
	uint64_t end = 0;
	GElf_Phdr load;
	for (size_t at = 0; next_segment(file, PT_LOAD, &at, &load);) {
		if (!(load.p_flags & PF_W) || load.p_memsz > UINT64_MAX - load.p_vaddr)
			continue;
		if (!range.size)
			range = (struct elf_range){.addr = load.p_vaddr, .offset = load.p_offset};
		if (load.p_vaddr + load.p_memsz > end)
			end = load.p_vaddr + load.p_memsz;
		range.size = end > range.addr ? end - range.addr : 0;
	}
	if (!range.size)
		return false;
	*ret_data = range;
	return true;
}

/* The descriptor of the first NT_GNU_BUILD_ID in a block of notes. */
static size_t find_build_id(Elf_Data *data, uint8_t id[ELF_BUILD_ID_MAX])
{
	GElf_Nhdr note;
	size_t name, desc;
	for (size_t at = 0; data && (at = gelf_getnote(data, at, &note, &name, &desc)) > 0;) {
		struct span bytes = {data->d_buf, data->d_size};
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    !span_has(bytes, name, 4) || memcmp(bytes.data + name, "GNU", 4) != 0)
			continue;
		if (note.n_descsz > ELF_BUILD_ID_MAX || !span_has(bytes, desc, note.n_descsz))
			return 0;
		memcpy(id, bytes.data + desc, note.n_descsz);
		return note.n_descsz;
	}
	return 0;
}

size_t elf_file_build_id(const struct elf_file *file, uint8_t id[ELF_BUILD_ID_MAX])
{
	GElf_Phdr notes;
	for (size_t at = 0; next_segment(file, PT_NOTE, &at, &notes);) {
		Elf_Data *data =
			elf_getdata_rawchunk(file->elf, (int64_t)notes.p_offset, notes.p_filesz,
					     notes.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
		size_t len = find_build_id(data, id);
		if (len)
			return len;
	}
	return 0;
}
