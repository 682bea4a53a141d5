/* SPDX-License-Identifier: MIT
 * Any bytes as the memory of a process that may hold a Python: an image (mem_image.h) whose first range
 * begins with what is taken for _PyRuntime, and which is scanned as a module's data.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cpython/find_check.h"
#include "cpython/find_scan.h"
#include "os/mem_image.h"

#define RANGES_MAX 64
#define CALLS_MAX  200000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool count_hit(void *context, raddr candidate)
{
	struct verdict verdict;
	verdict_reach(context, candidate, &verdict);
	return verdict.kind == VERDICT_HOLDS;
}

static void look(struct finder *finder, raddr start)
{
	struct verdict verdict;
	char version[SCAN_VERSION_MAX];
	verdict_reach(finder, start, &verdict);
	const char *what;
	if (verdict.kind == VERDICT_HOLDS && layout_check(&verdict.layout, &what) < 0)
		abort();
	(void)verdict_try_minor(finder, start, 9, &verdict);
	(void)scan_runtimes(finder, &finder->modules.at[0], count_hit, finder);
	if (scan_version(finder, &finder->modules.at[0], 0, version) &&
	    version_text_hex(version) == 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct finder finder = {0};
	struct span bytes = {data, size};
	if (size < 32 || mem_image_from_bytes(data, size, &finder.mem) < 0)
		return 0;
	raddr start = load_u64(bytes, 16);
	uint64_t length = load_u64(bytes, 24);
	if (length == 0 || length > size || start > UINT64_MAX - length) {
		mem_close(finder.mem);
		return 0;
	}
	struct proc_map map = {
		.start = start, .end = start + length, .read = true, .write = true, .path = ""};
	struct module module = {.n = 1, .start = start, .end = start + length, .path = ""};
	if (vec_push(&finder.modules, module)) {
		finder.maps.at = &map;
		finder.maps.n = 1;
		look(&finder, start);
	}
	if (finder.mem->n_other > CALLS_MAX)
		abort(); /* a loop without a bound */
	vec_done(&finder.modules);
	free(finder.chunk);
	mem_close(finder.mem);
	return 0;
}
