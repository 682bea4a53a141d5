/* SPDX-License-Identifier: MIT
 * Any bytes at a runtime's start: layout_from_debug_offsets gives an error or a layout that
 * layout_check accepts. Inputs without the cookie also run with it, to get past the first check.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cpython/layout_debug.h"

#define WHAT_MAX 64 /* "tstate.last_profiled_frame_seq" is the longest */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse(const uint8_t *data, size_t size)
{
	struct layout layout;
	const char *what = NULL;
	int r = layout_from_debug_offsets((struct span){data, size}, &layout, &what);

	if (r < 0 && (what == NULL || strlen(what) > WHAT_MAX))
		abort();
	if (r == 0 && layout_check(&layout, &what) != 0)
		abort();
	if (r > 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy;

	parse(data, size);
	if (size < LAYOUT_DEBUG_COOKIE_SIZE ||
	    memcmp(data, LAYOUT_DEBUG_COOKIE, LAYOUT_DEBUG_COOKIE_SIZE) == 0)
		return 0;
	copy = malloc(size);
	if (copy == NULL)
		return 0;
	memcpy(copy, data, size);
	memcpy(copy, LAYOUT_DEBUG_COOKIE, LAYOUT_DEBUG_COOKIE_SIZE);
	parse(copy, size);
	free(copy);
	return 0;
}
