/* SPDX-License-Identifier: MIT
 * Hides the form of ELF's dynamic section and hash tables in memory. libelf reads files; this is what
 * the dynamic loader itself reads (System V ABI, "Dynamic Linking"; the GNU hash table is described
 * in glibc's elf/dl-lookup.c). Constants and offsets are those of elf.h for 64-bit ELF.
 */
#include "obj/elf_image.h"

#include <elf.h>
#include <string.h>

#define PHDRS_MAX         64
#define DYNAMIC_BYTES_MAX (256 * sizeof(Elf64_Dyn)) /* real ones have 20 to 40 entries */
#define CHAIN_MAX         4096                      /* symbols in one bucket */
#define CHAIN_READ        16                        /* hashes of a GNU chain read at a time */
#define NAME_MAX_BYTES    128

static int get(const struct elf_image *image, raddr addr, void *dest, size_t size)
{
	return image->reader.read(image->reader.context, addr, dest, size);
}

static int get_u32(const struct elf_image *image, raddr addr, uint32_t *ret)
{
	return get(image, addr, ret, sizeof *ret);
}

static bool is_ours(const uint8_t ident[EI_NIDENT])
{
	const uint16_t one = 1;
	uint8_t little;
	memcpy(&little, &one, 1);
	return memcmp(ident, ELFMAG, SELFMAG) == 0 && ident[EI_CLASS] == ELFCLASS64 &&
	       ident[EI_DATA] == (little ? ELFDATA2LSB : ELFDATA2MSB);
}

static raddr end_of(const struct elf_image *image)
{
	return image->n_segments ? image->segments[image->n_segments - 1].end : image->base;
}

static bool covers(const struct elf_image *image, raddr addr)
{
	return image->n_segments && addr >= image->base && addr < end_of(image);
}

/* An address of the dynamic section: glibc has added the bias, musl has not, and before the loader
 * has run nobody has. */
static raddr fix(const struct elf_image *image, uint64_t value)
{
	return covers(image, value) ? value : value + image->bias;
}

static int add_load(struct elf_image *image, const Elf64_Phdr *load)
{
	if (image->n_segments == 0)
		image->bias = image->base - (load->p_vaddr - load->p_offset);
	if (image->n_segments == ELF_IMAGE_SEGMENTS_MAX)
		return TACHY_ELIMIT;
	raddr start = image->bias + load->p_vaddr;
	if (load->p_memsz > UINT64_MAX - start)
		return TACHY_ECORRUPT;
	image->segments[image->n_segments++] = (struct elf_image_segment){
		.start = start,
		.end = start + load->p_memsz,
		.write = (load->p_flags & PF_W) != 0,
		.exec = (load->p_flags & PF_X) != 0,
	};
	return 0;
}

/* Reads the program headers: segments, and where the dynamic section lies. */
static int read_headers(struct elf_image *image, Elf64_Phdr *ret_dynamic)
{
	Elf64_Ehdr header;
	Elf64_Phdr table[PHDRS_MAX];
	int code = get(image, image->base, &header, sizeof header);
	if (code < 0)
		return code;
	if (!is_ours(header.e_ident) || header.e_phentsize != sizeof table[0] ||
	    header.e_phnum == 0)
		return TACHY_ECORRUPT;
	size_t n = header.e_phnum < PHDRS_MAX ? header.e_phnum : PHDRS_MAX;
	code = get(image, image->base + header.e_phoff, table, n * sizeof table[0]);
	for (size_t i = 0; i < n && code >= 0; i++) {
		if (table[i].p_type == PT_LOAD)
			code = add_load(image, &table[i]);
		else if (table[i].p_type == PT_INTERP)
			image->has_interp = true;
		else if (table[i].p_type == PT_DYNAMIC)
			*ret_dynamic = table[i];
	}
	if (code < 0)
		return code;
	return image->n_segments ? 0 : TACHY_ECORRUPT;
}

static void keep_entry(struct elf_image *image, int64_t tag, uint64_t value)
{
	switch (tag) {
	case DT_SYMTAB:
		image->symtab = fix(image, value);
		break;
	case DT_STRTAB:
		image->strtab = fix(image, value);
		break;
	case DT_STRSZ:
		image->strtab_size = value;
		break;
	case DT_GNU_HASH:
		image->gnu_hash = fix(image, value);
		break;
	case DT_HASH:
		image->sysv_hash = fix(image, value);
		break;
	case DT_SONAME:
		image->soname = value;
		break;
	case DT_NEEDED:
		image->n_needed++;
		break;
	case DT_DEBUG:
		image->has_debug = true;
		image->debug = value;
		break;
	default:
		break;
	}
}

static int read_dynamic(struct elf_image *image, const Elf64_Phdr *dynamic)
{
	uint8_t bytes[DYNAMIC_BYTES_MAX];
	size_t size = dynamic->p_memsz < sizeof bytes ? (size_t)dynamic->p_memsz : sizeof bytes;
	int code = get(image, image->bias + dynamic->p_vaddr, bytes, size);
	if (code < 0)
		return code;
	struct span entries = {bytes, size};
	for (size_t at = 0; span_has(entries, at, sizeof(Elf64_Dyn)); at += sizeof(Elf64_Dyn)) {
		int64_t tag = load_i64(entries, at);
		if (tag == DT_NULL)
			break;
		keep_entry(image, tag, load_u64(entries, at + 8));
	}
	image->has_dynamic = true;
	return 0;
}

int elf_image_open(struct elf_reader reader, raddr base, struct elf_image *ret_image)
{
	struct elf_image image = {.reader = reader, .base = base};
	Elf64_Phdr dynamic = {0};
	int code = read_headers(&image, &dynamic);
	if (code == 0 && dynamic.p_memsz)
		code = read_dynamic(&image, &dynamic);
	if (code == 0)
		*ret_image = image;
	return code;
}

/* Whether symbol `index` is `name`, and defined here. TACHY_ENOENT: no. */
static int check_symbol(const struct elf_image *image, uint32_t index, const char *name, size_t len,
			raddr *ret_addr)
{
	Elf64_Sym symbol;
	char text[NAME_MAX_BYTES];
	int code = get(image, image->symtab + (uint64_t)index * sizeof symbol, &symbol,
		       sizeof symbol);
	if (code < 0)
		return code;
	if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) == STT_TLS)
		return TACHY_ENOENT;
	if (symbol.st_name >= image->strtab_size || len + 1 > image->strtab_size - symbol.st_name)
		return TACHY_ENOENT;
	code = get(image, image->strtab + symbol.st_name, text, len + 1);
	if (code < 0)
		return code;
	if (memcmp(text, name, len + 1) != 0)
		return TACHY_ENOENT;
	*ret_addr = symbol.st_shndx == SHN_ABS ? symbol.st_value : image->bias + symbol.st_value;
	return 0;
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t h = 5381;
	for (; *name; name++)
		h = h * 33 + (unsigned char)*name;
	return h;
}

struct gnu_table {
	uint32_t n_buckets, first_symbol, n_bloom, bloom_shift;
	raddr bloom, buckets, chains;
};

static int open_gnu(const struct elf_image *image, struct gnu_table *ret)
{
	uint32_t head[4];
	int code = get(image, image->gnu_hash, head, sizeof head);
	if (code < 0)
		return code;
	struct gnu_table table = {head[0], head[1], head[2], head[3], 0, 0, 0};
	if (table.n_buckets == 0 || table.n_bloom == 0)
		return TACHY_ENOENT;
	table.bloom = image->gnu_hash + sizeof head;
	table.buckets = table.bloom + (uint64_t)table.n_bloom * 8;
	table.chains = table.buckets + (uint64_t)table.n_buckets * 4;
	*ret = table;
	return 0;
}

/* The filter says for most absent names that they are absent. */
static int pass_bloom(const struct elf_image *image, const struct gnu_table *table, uint32_t hash)
{
	uint64_t word;
	int code = get(image, table->bloom + (uint64_t)(hash / 64 % table->n_bloom) * 8, &word,
		       sizeof word);
	if (code < 0)
		return code;
	uint64_t second = table->bloom_shift < 32 ? hash >> table->bloom_shift : 0;
	return (word >> (hash % 64)) & (word >> (second % 64)) & 1 ? 0 : TACHY_ENOENT;
}

/* Up to CHAIN_READ hashes from symbol `index` on; how many. */
static int read_chain(const struct elf_image *image, const struct gnu_table *table, uint32_t index,
		      uint32_t chain[CHAIN_READ])
{
	raddr at = table->chains + (uint64_t)(index - table->first_symbol) * 4;
	if (get(image, at, chain, CHAIN_READ * sizeof chain[0]) == 0)
		return CHAIN_READ;
	int code = get_u32(image, at, chain); /* the end of the mapping is near */
	return code < 0 ? code : 1;
}

static int walk_gnu_chain(const struct elf_image *image, const struct gnu_table *table,
			  uint32_t index, const char *name, raddr *ret_addr)
{
	uint32_t hash = gnu_hash(name), chain[CHAIN_READ];
	size_t len = strlen(name);
	for (int i = 0, have = 0, n = 0; n < CHAIN_MAX; i++, n++, index++) {
		if (i == have) {
			have = read_chain(image, table, index, chain);
			if (have < 0)
				return have;
			i = 0;
		}
		if ((chain[i] | 1) == (hash | 1)) {
			int code = check_symbol(image, index, name, len, ret_addr);
			if (code != TACHY_ENOENT)
				return code;
		}
		if (chain[i] & 1)
			return TACHY_ENOENT;
	}
	return TACHY_ENOENT;
}

static int look_up_gnu(const struct elf_image *image, const char *name, raddr *ret_addr)
{
	struct gnu_table table;
	uint32_t hash = gnu_hash(name), index;
	int code = open_gnu(image, &table);
	if (code == 0)
		code = pass_bloom(image, &table, hash);
	if (code == 0)
		code = get_u32(image, table.buckets + (uint64_t)(hash % table.n_buckets) * 4,
			       &index);
	if (code < 0)
		return code;
	if (index < table.first_symbol)
		return TACHY_ENOENT;
	return walk_gnu_chain(image, &table, index, name, ret_addr);
}

static uint32_t sysv_hash(const char *name)
{
	uint32_t h = 0;
	for (; *name; name++) {
		h = (h << 4) + (unsigned char)*name;
		uint32_t top = h & 0xf0000000u;
		h ^= top >> 24;
		h &= ~top;
	}
	return h;
}

static int look_up_sysv(const struct elf_image *image, const char *name, raddr *ret_addr)
{
	uint32_t head[2], index; /* n_buckets, n_chains */
	int code = get(image, image->sysv_hash, head, sizeof head);
	if (code < 0)
		return code;
	if (head[0] == 0)
		return TACHY_ENOENT;
	raddr buckets = image->sysv_hash + sizeof head, chains = buckets + (uint64_t)head[0] * 4;
	code = get_u32(image, buckets + (uint64_t)(sysv_hash(name) % head[0]) * 4, &index);
	for (size_t n = 0; code == 0 && n < CHAIN_MAX; n++) {
		if (index == 0 || index >= head[1])
			return TACHY_ENOENT;
		code = check_symbol(image, index, name, strlen(name), ret_addr);
		if (code != TACHY_ENOENT)
			return code;
		code = get_u32(image, chains + (uint64_t)index * 4, &index);
	}
	return code < 0 ? code : TACHY_ENOENT;
}

int elf_image_symbol(const struct elf_image *image, const char *name, raddr *ret_addr)
{
	if (!image->symtab || !image->strtab || strlen(name) + 1 > NAME_MAX_BYTES)
		return TACHY_ENOENT;
	if (image->gnu_hash)
		return look_up_gnu(image, name, ret_addr);
	return image->sysv_hash ? look_up_sysv(image, name, ret_addr) : TACHY_ENOENT;
}

int elf_image_soname(const struct elf_image *image, char *buf, size_t size)
{
	if (!image->soname || !image->strtab || size == 0 || image->soname >= image->strtab_size)
		return TACHY_ENOENT;
	uint64_t left = image->strtab_size - image->soname;
	size_t n = left < size - 1 ? (size_t)left : size - 1;
	int code = get(image, image->strtab + image->soname, buf, n);
	if (code < 0)
		return code;
	buf[n] = '\0';
	return 0;
}

/* struct r_debug of link.h: int r_version; r_map; r_brk; enum r_state, 0 = RT_CONSISTENT. The loader
 * enters its address into DT_DEBUG when it starts, and sets the state when it is done. */
bool elf_image_loading(const struct elf_image *image)
{
	uint8_t bytes[28];
	if (!image->has_interp || !image->has_debug)
		return false;
	if (image->debug == 0)
		return true;
	if (get(image, image->debug, bytes, sizeof bytes) < 0)
		return false;
	struct span debug = {bytes, sizeof bytes};
	return load_u32(debug, 0) == 0 || load_u32(debug, 24) != 0;
}
