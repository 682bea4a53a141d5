/* SPDX-License-Identifier: MIT
 * Hides the reading in pieces: from the end (where .bss is) to the beginning, with an overlap so that
 * nothing is cut in two. Only static data of modules is read, never heaps: _PyRuntime is a static
 * variable, and so is the buffer of Py_GetVersion() (Python/getversion.c).
 */
#define _GNU_SOURCE
#include "cpython/find_scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpython/find.h"
#include "cpython/find_check.h"
#include "cpython/layout.h"

#define OVERLAP         128u
#define NEXT_ID_MAX     (1ull << 31)
#define TABLE_MINOR_MIN 8
#define TABLE_MINOR_MAX 12

static bool visit_range(struct finder *finder, raddr start, raddr end, scan_visit *visit,
			void *context)
{
	for (raddr at = end; at > start;) {
		raddr from = at - start > SCAN_CHUNK - OVERLAP ? at - (SCAN_CHUNK - OVERLAP)
							       : start;
		size_t size = (size_t)(at - from);
		/* a little of what was seen before, so that the piece's end is no seam */
		if (at != end)
			size += end - at < OVERLAP ? (size_t)(end - at) : OVERLAP;
		if (finder_read(finder, from, finder->chunk, size) == 0) {
			struct span bytes = {finder->chunk, size};
			if (visit(context, from, bytes))
				return true;
		}
		if (finder->fatal)
			return false;
		at = from;
	}
	return false;
}

/* Where the module's own data end: .bss may have grown together with a neighbour. */
static raddr data_end(const struct module *module, raddr start, raddr end)
{
	const struct elf_image *image = &module->image;
	raddr last = 0;
	if (!module->image_tried || module->image_code < 0)
		return end;
	for (size_t i = 0; i < image->n_segments; i++)
		if (image->segments[i].end > last)
			last = image->segments[i].end;
	last = (last + 7) & ~(raddr)7;
	return last > start && last < end ? last : end;
}

static bool is_data(const struct proc_map *map)
{
	return map->read && map->write;
}

/* Visits runs of writable mappings, the last first. What touches is one run (.data and .bss are two
 * mappings), so that nothing is cut in two where they meet. */
bool scan_data(struct finder *finder, const struct module *module, scan_visit *visit, void *context)
{
	const struct proc_map *maps = finder->maps.at;
	size_t left = SCAN_MODULE_MAX;
	if (!finder->chunk)
		finder->chunk = malloc(SCAN_CHUNK);
	if (!finder->chunk) {
		finder->fatal = TACHY_ENOMEM;
		return false;
	}
	for (size_t i = module->first + module->n; i-- > module->first && left > 0;) {
		if (!is_data(&maps[i]))
			continue;
		raddr end = data_end(module, maps[i].start, maps[i].end);
		while (i > module->first && is_data(&maps[i - 1]) &&
		       maps[i - 1].end == maps[i].start)
			i--;
		raddr start = maps[i].start;
		if (end - start > left)
			end = start + left;
		left -= (size_t)(end - start);
		if (visit_range(finder, start, end, visit, context))
			return true;
	}
	return false;
}

struct runtime_scan {
	const struct finder *finder;
	scan_hit *hit;
	void *context;
	uint32_t heads[TABLE_MINOR_MAX - TABLE_MINOR_MIN +
		       1]; /* offsets of interpreters_head, each once */
	size_t n_heads;
};

static bool visit_cookies(const struct runtime_scan *scan, raddr addr, struct span bytes)
{
	const uint8_t *at = bytes.data, *end = bytes.data + bytes.size;
	while ((at = memmem(at, (size_t)(end - at), RUNTIME_COOKIE, 8)) != NULL) {
		raddr place = addr + (raddr)(at - bytes.data);
		if ((place & 7) == 0 && scan->hit(scan->context, place))
			return true;
		at++;
	}
	return false;
}

/* Whether the word is a pointer to something that can change, by the maps: no read. */
static bool leads_to_data(const struct runtime_scan *scan, uint64_t word)
{
	const struct proc_map *map = raddr_plausible(word) ? proc_maps_at(&scan->finder->maps, word)
							   : NULL;
	return map && map->write;
}

/* The words before and after interpreters_head in 3.8 to 3.12 (internal/pycore_runtime.h): `initialized`
 * (3.11+) or `core_initialized`, which are 1; `finalizing`, which is 0 in what is worth finding; then
 * struct pyinterpreters: mutex, head, main, next_id, of which three are pointers and the last is a
 * small number. Few places of memory are like that. */
static bool visit_pointers(const struct runtime_scan *scan, raddr addr, struct span bytes)
{
	for (size_t at = 24; at + 24 <= bytes.size; at += 8) {
		uint64_t next_id = load_u64(bytes, at + 16);
		if (load_u64(bytes, at) == 0 || load_u32(bytes, at - 24) != 1 ||
		    load_u64(bytes, at - 16) != 0 || next_id - 1 >= NEXT_ID_MAX)
			continue;
		if (!leads_to_data(scan, load_u64(bytes, at - 8)) ||
		    !leads_to_data(scan, load_u64(bytes, at)) ||
		    !leads_to_data(scan, load_u64(bytes, at + 8)))
			continue;
		for (size_t i = 0; i < scan->n_heads; i++)
			if (scan->hit(scan->context, addr + at - scan->heads[i]))
				return true;
	}
	return false;
}

static bool visit_for_runtime(void *context, raddr addr, struct span bytes)
{
	const struct runtime_scan *scan = context;
	return visit_cookies(scan, addr, bytes) || visit_pointers(scan, addr, bytes);
}

static void collect_heads(struct runtime_scan *scan)
{
	for (unsigned minor = TABLE_MINOR_MIN; minor <= TABLE_MINOR_MAX; minor++) {
		const struct layout *layout = layout_find(3, minor, false, false);
		bool seen = !layout;
		for (size_t i = 0; i < scan->n_heads && !seen; i++)
			seen = scan->heads[i] == layout->runtime.interpreters_head;
		if (!seen)
			scan->heads[scan->n_heads++] = layout->runtime.interpreters_head;
	}
}

bool scan_runtimes(struct finder *finder, const struct module *module, scan_hit *hit, void *context)
{
	struct runtime_scan scan = {.finder = finder, .hit = hit, .context = context};
	collect_heads(&scan);
	return scan_data(finder, module, visit_for_runtime, &scan);
}

/* ---- version text ---- */

static bool take_number(const char **at, unsigned *ret)
{
	unsigned value = 0, digits = 0;
	for (; **at >= '0' && **at <= '9' && digits < 3; (*at)++, digits++)
		value = value * 10 + (unsigned)(**at - '0');
	*ret = value;
	return digits > 0 && value < 256;
}

static uint32_t take_level(const char **at)
{
	unsigned serial = 0, level = 0xf;
	if (**at == 'a')
		level = 0xa;
	else if (**at == 'b')
		level = 0xb;
	else if (strncmp(*at, "rc", 2) == 0)
		level = 0xc;
	if (level == 0xf)
		return 0xf0;
	*at += level == 0xc ? 2 : 1;
	return take_number(at, &serial) && serial < 16 ? level << 4 | serial : 0;
}

/* Reads one version from *at on and moves behind it; 0: none. */
static uint32_t take_version(const char **at)
{
	unsigned major, minor, micro;
	if (!take_number(at, &major) || *(*at)++ != '.' || !take_number(at, &minor) ||
	    *(*at)++ != '.' || !take_number(at, &micro) || (major != 2 && major != 3))
		return 0;
	uint32_t level = take_level(at);
	return level ? major << 24 | minor << 16 | micro << 8 | level : 0;
}

uint32_t version_text_hex(const char *text)
{
	uint32_t hex = take_version(&text);
	return hex && (*text == '\0' || *text == '+' || *text == ' ') ? hex : 0;
}

struct version_scan {
	unsigned minor; /* 0: any */
	char start[8];  /* what the text begins with */
	char *ret_version;
};

/* "3.9.18 (" at the beginning of a buffer, that is, behind a NUL. */
static bool is_version(const struct version_scan *scan, struct span bytes, size_t at)
{
	char text[2 * SCAN_VERSION_MAX] = "";
	size_t size = bytes.size - at < sizeof text - 1 ? bytes.size - at : sizeof text - 1;
	if (at > 0 && bytes.data[at - 1] != '\0')
		return false;
	memcpy(text, bytes.data + at, size);
	const char *end = text;
	uint32_t hex = take_version(&end);
	size_t len = (size_t)(end - text);
	end += *end == '+';
	if (!hex || strncmp(end, " (", 2) != 0 || len >= SCAN_VERSION_MAX)
		return false;
	if (scan->minor && (hex >> 16 & 0xff) != scan->minor)
		return false;
	memcpy(scan->ret_version, text, len);
	scan->ret_version[len] = '\0';
	return true;
}

static bool visit_for_version(void *context, raddr addr, struct span bytes)
{
	const struct version_scan *scan = context;
	const uint8_t *at = bytes.data, *end = bytes.data + bytes.size;
	(void)addr;
	while ((at = memmem(at, (size_t)(end - at), scan->start, strlen(scan->start))) != NULL) {
		if (is_version(scan, bytes, (size_t)(at - bytes.data)))
			return true;
		at++;
	}
	return false;
}

bool scan_version(struct finder *finder, const struct module *module, unsigned minor,
		  char ret_version[SCAN_VERSION_MAX])
{
	struct version_scan scan = {.minor = minor, .start = "3.", .ret_version = ret_version};
	if (minor)
		(void)snprintf(scan.start, sizeof scan.start, "3.%u.", minor % 1000);
	if (scan_data(finder, module, visit_for_version, &scan))
		return true;
	memcpy(scan.start, "2.", 3);
	return minor == 0 && scan_data(finder, module, visit_for_version, &scan);
}
