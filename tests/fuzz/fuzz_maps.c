/* SPDX-License-Identifier: MIT
 * Any text in place of /proc/PID/maps, stat and status: what is parsed holds together.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "os/proc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_maps(const char *text, size_t size)
{
	struct proc_maps maps;
	if (proc_maps_parse(text, size, &maps) < 0)
		abort();
	for (size_t i = 0; i < maps.n; i++) {
		const struct proc_map *map = &maps.at[i];
		if (map->start >= map->end)
			abort();
		if (map->path < maps.text || map->path + strlen(map->path) > maps.text + size)
			abort();
		(void)proc_maps_at(&maps, map->start);
	}
	proc_maps_done(&maps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct proc_stat stat;
	struct proc_status status;
	check_maps(text, size);
	if (proc_stat_parse(text, size, &stat) == 0 &&
	    memchr(stat.comm, '\0', sizeof stat.comm) == NULL)
		abort();
	(void)proc_status_parse(text, size, &status);
	return 0;
}
