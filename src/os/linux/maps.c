/* SPDX-License-Identifier: MIT
 * /proc/PID/maps: one line for each mapping,
 *     55d0c8a00000-55d0c8a2f000 r-xp 00002000 08:01 1234     /path with blanks\012 (deleted)
 * The kernel writes the path as it is but for newlines (\012); it may hold blanks, and end in
 * " (deleted)" because it was deleted or because it is called so. Written by fs/proc/task_mmu.c.
 *
 * Invariant: every path is NUL-terminated inside proc_maps.text, which is written in place.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/vec.h"
#include "os/proc.h"

struct cursor {
	char *at, *end;
};

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* A number in `base` with one digit or more, and 64 bits or less. */
static bool take_number(struct cursor *c, unsigned base, uint64_t *ret)
{
	uint64_t value = 0;
	const char *first = c->at;
	for (; c->at < c->end; c->at++) {
		int d = digit(*c->at);
		if (d < 0 || (unsigned)d >= base)
			break;
		if (value > (UINT64_MAX - (unsigned)d) / base)
			return false;
		value = value * base + (unsigned)d;
	}
	*ret = value;
	return c->at > first;
}

static bool take_char(struct cursor *c, char wanted)
{
	if (c->at >= c->end || *c->at != wanted)
		return false;
	c->at++;
	return true;
}

static bool take_flags(struct cursor *c, struct proc_map *map)
{
	if (c->end - c->at < 4)
		return false;
	map->read = c->at[0] == 'r';
	map->write = c->at[1] == 'w';
	map->exec = c->at[2] == 'x';
	map->shared = c->at[3] == 's';
	c->at += 4;
	return true;
}

static bool take_dev(struct cursor *c, uint64_t *ret_dev)
{
	uint64_t major, minor;
	if (!take_number(c, 16, &major) || !take_char(c, ':') || !take_number(c, 16, &minor))
		return false;
	if (major > UINT32_MAX || minor > UINT32_MAX)
		return false;
	*ret_dev = major << 32 | minor;
	return true;
}

static bool take_fixed(struct cursor *c, struct proc_map *map)
{
	return take_number(c, 16, &map->start) && take_char(c, '-') &&
	       take_number(c, 16, &map->end) && take_char(c, ' ') && take_flags(c, map) &&
	       take_char(c, ' ') && take_number(c, 16, &map->offset) && take_char(c, ' ') &&
	       take_dev(c, &map->dev) && take_char(c, ' ') && take_number(c, 10, &map->inode) &&
	       map->start < map->end;
}

/* \012 -> newline, in place. No other escape is ever written. */
static void unescape(char *path)
{
	char *to = strchr(path, '\\');
	if (!to)
		return;
	for (const char *from = to; *from;) {
		if (strncmp(from, "\\012", 4) == 0) {
			*to++ = '\n';
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
}

static void take_path(struct cursor *c, struct proc_map *map)
{
	static const char mark[] = " (deleted)";
	const size_t mark_len = sizeof mark - 1;
	while (c->at < c->end && *c->at == ' ')
		c->at++;
	*c->end = '\0';
	map->path = c->at;
	size_t len = strlen(c->at);
	if (map->inode && len > mark_len && strcmp(c->at + len - mark_len, mark) == 0) {
		map->deleted = true;
		c->at[len - mark_len] = '\0';
	}
	unescape(c->at);
}

/* Takes `text`, with room for a NUL at text[size], over: on failure it is freed. */
static int parse(char *text, size_t size, struct proc_maps *ret_maps)
{
	VEC(struct proc_map) maps = {0};
	bool cut = false;
	char *end = text + size;
	for (char *line = text; line < end;) {
		char *stop = memchr(line, '\n', (size_t)(end - line));
		if (!stop)
			stop = end;
		struct proc_map map = {0};
		struct cursor c = {line, stop};
		line = stop < end ? stop + 1 : end;
		if (!take_fixed(&c, &map))
			continue;
		if (maps.n == PROC_MAPS_MAX) {
			cut = true;
			break;
		}
		take_path(&c, &map);
		if (!vec_push(&maps, map)) {
			vec_done(&maps);
			free(text);
			return TACHY_ENOMEM;
		}
	}
	*ret_maps = (struct proc_maps){.at = maps.at, .n = maps.n, .cut = cut, .text = text};
	return 0;
}

int proc_maps_parse(const char *text, size_t size, struct proc_maps *ret_maps)
{
	char *copy = malloc(size + 1);
	if (!copy)
		return TACHY_ENOMEM;
	if (size)
		memcpy(copy, text, size);
	copy[size] = '\0';
	return parse(copy, size, ret_maps);
}

int proc_maps_read(pid_t pid, struct proc_maps *ret_maps)
{
	char path[64], *text;
	size_t size;
	(void)snprintf(path, sizeof path, "/proc/%d/maps", (int)proc_living_id(pid));
	int code = io_read_file(path, PROC_MAPS_TEXT_MAX, &text, &size);
	if (code == TACHY_ENOENT) { /* gone, or hidden from us: stat knows which */
		struct proc_stat stat;
		code = proc_stat_read(pid, &stat);
		return code < 0 ? code : TACHY_EGONE;
	}
	return code < 0 ? code : parse(text, size, ret_maps);
}

void proc_maps_done(struct proc_maps *maps)
{
	free(maps->at);
	free(maps->text);
	*maps = (struct proc_maps){0};
}

const struct proc_map *proc_maps_at(const struct proc_maps *maps, raddr addr)
{
	size_t low = 0, high = maps->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (maps->at[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < maps->n && maps->at[low].start <= addr ? &maps->at[low] : NULL;
}
