/* SPDX-License-Identifier: MIT
 * Hides how mappings become modules: a module is a run of mappings of one file with rising offsets,
 * and the nameless one that touches its end, which is .bss. The same file mapped twice is two
 * modules. Invariant: modules do not overlap.
 */
#include "cpython/find_module.h"

#include <stdlib.h>
#include <string.h>

static int read_for_image(void *context, raddr addr, void *dest, size_t size)
{
	return finder_read(context, addr, dest, size);
}

int finder_read(struct finder *finder, raddr addr, void *dest, size_t size)
{
	if (finder->fatal)
		return finder->fatal;
	int code = mem_read(finder->mem, addr, dest, size);
	if (code == TACHY_EPERM || code == TACHY_EGONE || code == TACHY_ENOMEM)
		finder->fatal = code;
	return code;
}

uint64_t finder_word(struct finder *finder, raddr addr)
{
	uint64_t word = 0;
	return finder_read(finder, addr, &word, sizeof word) < 0 ? 0 : word;
}

/* Another part of the same file. Offsets rise, but two segments that share a page of the file are
 * mapped from the same offset with other rights; offset 0 again with the same rights is a second copy. */
static bool continues(const struct proc_map *before, const struct proc_map *map)
{
	if (map->inode == 0 || map->dev != before->dev || map->inode != before->inode)
		return false;
	return map->offset > before->offset ||
	       (map->offset == before->offset &&
		(map->exec != before->exec || map->write != before->write));
}

static bool is_nameless(const struct proc_map *map)
{
	return map->inode == 0 && map->path[0] == '\0';
}

/* How many mappings from `first` on are one module. */
static size_t extent(const struct proc_maps *maps, size_t first)
{
	const struct proc_map *last_file = &maps->at[first];
	size_t end = first + 1;
	for (size_t i = first + 1; i < maps->n; i++) {
		const struct proc_map *map = &maps->at[i];
		if (continues(last_file, map)) {
			last_file = map;
			end = i + 1;
		} else if (is_nameless(map) && map->write && map->start == maps->at[i - 1].end) {
			end = i + 1; /* .bss */
		} else if (!is_nameless(map) || map->read) {
			break; /* else a gap that the loader keeps free between segments */
		}
	}
	return end - first;
}

/* "libpython3.12.so.1.0", "python3", but no extension module ("_json.cpython-312-....so"). */
static bool name_hints(const char *path)
{
	const char *name = strrchr(path, '/');
	name = name ? name + 1 : path;
	return strstr(name, "python") != NULL && strstr(name, "cpython-") == NULL;
}

static bool any_with(const struct proc_maps *maps, const struct module *module, bool exec,
		     bool write)
{
	for (size_t i = module->first; i < module->first + module->n; i++)
		if ((exec && maps->at[i].exec) || (write && maps->at[i].write))
			return true;
	return false;
}

static int compare_rank(const void *a, const void *b)
{
	const struct module *x = a, *y = b;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

static struct module module_from(const struct proc_maps *maps, size_t first, size_t n)
{
	return (struct module){
		.first = first,
		.n = n,
		.start = maps->at[first].start,
		.end = maps->at[first + n - 1].end,
		.offset = maps->at[first].offset,
		.path = maps->at[first].path,
	};
}

static int group(struct finder *finder)
{
	const struct proc_maps *maps = &finder->maps;
	bool program_seen = false;
	for (size_t i = 0, n; i < maps->n; i += n) {
		n = 1;
		if (maps->at[i].inode == 0)
			continue;
		n = extent(maps, i);
		struct module module = module_from(maps, i, n);
		bool exec = any_with(maps, &module, true, false);
		if (!exec && !any_with(maps, &module, false, true))
			continue;
		module.rank = exec && !program_seen     ? MODULE_PROGRAM
			      : name_hints(module.path) ? MODULE_NAMED
							: MODULE_OTHER;
		program_seen |= exec;
		if (!vec_push(&finder->modules, module))
			return TACHY_ENOMEM;
	}
	if (finder->modules.n)
		qsort(finder->modules.at, finder->modules.n, sizeof finder->modules.at[0],
		      compare_rank);
	return 0;
}

int finder_init(struct finder *finder, pid_t pid, struct mem *mem)
{
	*finder = (struct finder){.pid = pid, .mem = mem};
	int code = proc_maps_read(pid, &finder->maps);
	if (code < 0)
		return code;
	code = group(finder);
	if (code < 0)
		finder_done(finder);
	return code;
}

void finder_done(struct finder *finder)
{
	free(finder->chunk);
	vec_done(&finder->modules);
	proc_maps_done(&finder->maps);
}

/* Files and their places; nameless memory comes and goes in any running program. */
static size_t next_file(const struct proc_maps *maps, size_t i)
{
	while (i < maps->n && maps->at[i].inode == 0)
		i++;
	return i;
}

bool finder_is_stable(const struct finder *finder)
{
	const struct proc_maps *before = &finder->maps;
	struct proc_maps now;
	if (proc_maps_read(finder->pid, &now) < 0)
		return false;
	size_t i = next_file(before, 0), k = next_file(&now, 0);
	while (i < before->n && k < now.n && before->at[i].start == now.at[k].start &&
	       before->at[i].inode == now.at[k].inode) {
		i = next_file(before, i + 1);
		k = next_file(&now, k + 1);
	}
	bool stable = i >= before->n && k >= now.n;
	proc_maps_done(&now);
	return stable;
}

const struct elf_image *module_image(struct finder *finder, struct module *module)
{
	struct elf_reader reader = {.read = read_for_image, .context = finder};
	if (!module->image_tried) {
		module->image_tried = true;
		module->image_code = module->offset ? TACHY_ENOENT
						    : elf_image_open(reader, module->start,
								     &module->image);
	}
	return module->image_code == 0 ? &module->image : NULL;
}

raddr module_symbol(struct finder *finder, struct module *module, const char *name)
{
	const struct elf_image *image = module_image(finder, module);
	raddr addr;
	return image && elf_image_symbol(image, name, &addr) == 0 ? addr : 0;
}

int module_file(struct finder *finder, const struct module *module, struct elf_file **ret_elf,
		uint64_t *ret_bias)
{
	struct elf_file *elf;
	int fd = proc_map_open(finder->pid, &finder->maps.at[module->first]);
	if (fd < 0)
		return fd;
	int code = elf_file_open(fd, &elf);
	if (code < 0)
		return code;
	code = elf_file_bias(elf, module->start, ret_bias);
	if (code < 0) {
		elf_file_close(elf);
		return code;
	}
	*ret_elf = elf;
	return 0;
}

struct module *module_at(struct finder *finder, raddr addr)
{
	for (size_t i = 0; i < finder->modules.n; i++) {
		struct module *module = &finder->modules.at[i];
		if (addr >= module->start && addr < module->end)
			return module;
	}
	return NULL;
}
