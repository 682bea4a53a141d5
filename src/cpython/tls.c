/* SPDX-License-Identifier: MIT
 * Looks into the C library's thread descriptor. Hides where the library's own words about it lie
 * (symbols of ld.so, or of the program when that is static), and what its struct pthread looks like.
 *
 * Nothing is believed by name: the files are asked for their symbols whatever they are called, the
 * likely ones first; an offset of the thread id counts only when it gives the ids of real threads.
 */
#include "cpython/tls.h"

#include <string.h>

#include "base/map.h"
#include "obj/elf_file.h"
#include "obj/elf_image.h"
#include "os/cpu.h"
#include "os/proc.h"

#define IMAGES_MAX      1024u     /* files looked at */
#define RSEQ_OFFSET_MAX (1 << 20) /* from the thread pointer: the area is part of the static TLS */

/* ---- restartable sequences ------------------------------------------------------------------ */

static int read_mem(void *context, raddr addr, void *dest, size_t size)
{
	return mem_read(context, addr, dest, size);
}

static bool begins_file(const struct proc_map *map)
{
	return map->offset == 0 && map->inode != 0 && map->read;
}

/* ld.so exports the symbols; only the order depends on this. */
static bool is_likely(const struct proc_map *map)
{
	const char *slash = strrchr(map->path, '/'), *name = slash ? slash + 1 : map->path;
	return strncmp(name, "ld-", 3) == 0 || strncmp(name, "ld.so", 5) == 0 ||
	       strncmp(name, "libc.so", 7) == 0 || strncmp(name, "libc-", 5) == 0;
}

struct rseq_words { /* where the target has them; 0 absent */
	raddr offset, size;
};

/* True when the module exports them. */
static bool ask_dynamic(const struct elf_image *image, struct rseq_words *words)
{
	if (!image->has_dynamic || elf_image_symbol(image, "__rseq_offset", &words->offset) < 0)
		return false;
	return elf_image_symbol(image, "__rseq_size", &words->size) >= 0;
}

/* The same for a static program, which has them in its symbol table unless it was stripped. */
static bool ask_static(pid_t pid, const struct proc_map *map, struct rseq_words *words)
{
	const char *const names[] = {"__rseq_offset", "__rseq_size"};
	struct elf_symbol symbols[2] = {{0, 0}, {0, 0}};
	struct elf_file *elf;
	uint64_t bias;
	int fd = proc_map_open(pid, map);
	if (fd < 0 || elf_file_open(fd, &elf) < 0)
		return false;
	bool found = elf_file_symbols(elf, ELF_TABLE_STATIC, names, 2, symbols) == 2 &&
		     elf_file_bias(elf, map->start, &bias) >= 0;
	elf_file_close(elf);
	if (found)
		*words = (struct rseq_words){symbols[0].addr + bias, symbols[1].addr + bias};
	return found;
}

static bool ask_module(pid_t pid, struct mem *mem, const struct proc_map *map,
		       struct rseq_words *words)
{
	struct elf_image image;
	struct elf_reader reader = {.read = read_mem, .context = mem};
	if (elf_image_open(reader, map->start, &image) < 0)
		return false;
	if (ask_dynamic(&image, words))
		return true;
	return !image.has_interp && image.n_needed == 0 && ask_static(pid, map, words);
}

static bool find_words(pid_t pid, struct mem *mem, const struct proc_maps *maps,
		       struct rseq_words *words)
{
	unsigned n_asked = 0;
	for (int likely = 1; likely >= 0; likely--) {
		for (size_t i = 0; i < maps->n && n_asked < IMAGES_MAX; i++) {
			const struct proc_map *map = &maps->at[i];
			if (!begins_file(map) || is_likely(map) != (likely == 1))
				continue;
			n_asked++;
			if (ask_module(pid, mem, map, words))
				return true;
		}
	}
	return false;
}

static int read_words(struct mem *mem, const struct rseq_words *words, int64_t *ret_offset)
{
	int64_t offset;
	uint32_t size;
	int code = mem_read(mem, words->offset, &offset, sizeof offset);
	if (code >= 0)
		code = mem_read(mem, words->size, &size, sizeof size);
	if (code < 0)
		return code;
	if (size == 0) /* the library has it, the kernel has not, or it was switched off */
		return TACHY_ENOENT;
	if (offset < -RSEQ_OFFSET_MAX || offset > RSEQ_OFFSET_MAX || offset % 4 != 0)
		return TACHY_ECORRUPT;
	*ret_offset = offset;
	return 0;
}

int tls_rseq_offset(pid_t pid, struct mem *mem, int64_t *ret_offset)
{
	struct proc_maps maps;
	struct rseq_words words = {0, 0};
	int code = proc_maps_read(pid, &maps);
	if (code < 0)
		return code;
	bool found = find_words(pid, mem, &maps, &words);
	proc_maps_done(&maps);
	return found ? read_words(mem, &words, ret_offset) : TACHY_ENOENT;
}

int tls_rseq_cpu(struct mem *mem, uint64_t thread_id, int64_t offset, int *ret_cpu)
{
	uint32_t cpu;
	int code = mem_read(mem, thread_id + (uint64_t)offset + TLS_RSEQ_CPU_ID, &cpu, sizeof cpu);
	if (code < 0)
		return code;
	if ((int32_t)cpu < 0) /* RSEQ_CPU_ID_UNINITIALIZED, RSEQ_CPU_ID_REGISTRATION_FAILED */
		return TACHY_ENOENT;
	if (cpu >= (uint32_t)cpu_count())
		return TACHY_ECORRUPT;
	*ret_cpu = (int)cpu;
	return 0;
}

/* ---- the kernel's thread id ----------------------------------------------------------------- */

#define SCAN_SIZE        2048u /* bytes of struct pthread that are looked at */
#define SCAN_SLOTS       (SCAN_SIZE / 4)
#define SCAN_THREADS_MAX 64u

/* Of the libraries that we know, in this order where several offsets would do. */
static const uint32_t known_offsets[] = {
	720, /* glibc, x86-64 */
	208, /* glibc, aarch64 */
	48,  /* musl 1.2, x86-64 */
};

struct scan {
	struct map tids;                /* ids of real threads, as the target sees them */
	struct map seen;                /* slot << 32 | id */
	uint16_t n_matches[SCAN_SLOTS]; /* threads that have an id of their own there */
	size_t n_read;                  /* threads looked at */
};

static int fill_tids(pid_t pid, struct map *ret_map)
{
	struct proc_tids tids = {0};
	int code = proc_tids_read(pid, &tids);
	for (size_t i = 0; i < tids.n && code >= 0; i++)
		if (!map_put(ret_map, (uint64_t)tids.at[i].ns_tid, 1))
			code = TACHY_ENOMEM;
	proc_tids_done(&tids);
	return code;
}

/* An id that several threads have at the same place is not theirs: it counts once. */
static bool note_slot(struct scan *scan, uint32_t slot, uint32_t value)
{
	uint64_t ignored, key = (uint64_t)slot << 32 | value;
	if (value == 0 || !map_get(&scan->tids, value, &ignored) ||
	    map_get(&scan->seen, key, &ignored))
		return true;
	scan->n_matches[slot]++;
	return map_put(&scan->seen, key, 1);
}

/* A descriptor can lie near the end of its mapping: what can be read is read. */
static int scan_thread(struct scan *scan, struct mem *mem, raddr thread_id)
{
	uint8_t bytes[SCAN_SIZE];
	size_t size = sizeof bytes;
	int code = mem_read(mem, thread_id, bytes, size);
	if (code == TACHY_EFAULT) {
		size = 4096 - thread_id % 4096 < sizeof bytes ? 4096 - thread_id % 4096
							      : sizeof bytes;
		code = mem_read(mem, thread_id, bytes, size);
	}
	if (code < 0)
		return code == TACHY_EFAULT ? 0 : code; /* that thread has ended */
	struct span span = {bytes, size};
	for (uint32_t slot = 0; slot < size / 4; slot++)
		if (!note_slot(scan, slot, load_u32(span, slot * 4)))
			return TACHY_ENOMEM;
	scan->n_read++;
	return 0;
}

/* The offset at which most threads have an id, the known ones first; it must be more than half. */
static int best_offset(const struct scan *scan, uint32_t *ret_offset)
{
	uint32_t best = SCAN_SLOTS;
	for (size_t i = 0; i < sizeof known_offsets / sizeof *known_offsets; i++) {
		uint32_t slot = known_offsets[i] / 4;
		if (best == SCAN_SLOTS || scan->n_matches[slot] > scan->n_matches[best])
			best = slot;
	}
	for (uint32_t slot = 0; slot < SCAN_SLOTS; slot++)
		if (scan->n_matches[slot] > scan->n_matches[best])
			best = slot;
	if (scan->n_matches[best] * 2u <= scan->n_read)
		return TACHY_ENOENT;
	*ret_offset = best * 4;
	return 0;
}

int tls_tid_offset(pid_t pid, struct mem *mem, const uint64_t *thread_ids, size_t n,
		   uint32_t *ret_offset)
{
	struct scan scan = {.n_read = 0};
	map_init(&scan.tids);
	map_init(&scan.seen);
	int code = fill_tids(pid, &scan.tids);
	for (size_t i = 0; i < n && i < SCAN_THREADS_MAX && code >= 0; i++)
		code = scan_thread(&scan, mem, thread_ids[i]);
	if (code >= 0)
		code = best_offset(&scan, ret_offset);
	map_done(&scan.tids);
	map_done(&scan.seen);
	return code;
}
