/* SPDX-License-Identifier: MIT
 * Any bytes as the memory of a Python whose threads are asked for their names. Two bytes choose the
 * layout (minor version; 1 debug, 2 free-threaded), the rest is an image (mem_image.h); its first range
 * holds the interpreter's word for sys.modules. The corpus is written by tests/unit/test_names.c.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cpython/names.h"
#include "os/mem_image.h"

#define INTERP    0x7e0000000000u
#define CALLS_MAX 400000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct names {
	int n;
	size_t n_bytes;
};

static void take(void *arg, uint64_t ident, const char *name)
{
	struct names *names = arg;
	(void)ident;
	names->n++;
	names->n_bytes += strlen(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mem *mem;
	struct mem_view view;
	struct names names = {0, 0};
	if (size < 2)
		return 0;
	const struct layout *layout = layout_find(3, data[0], data[1] & 1, data[1] >> 1 & 1);
	if (!layout || mem_image_from_bytes(data + 2, size - 2, &mem) < 0)
		return 0;
	mem_view_init(&view, mem);
	int n = names_read(&view, layout, INTERP, take, &names);
	if (n >= 0 ? n != names.n : names.n != 0)
		abort();
	if (mem->n_other > CALLS_MAX)
		abort(); /* a loop without a bound */
	mem_view_done(&view);
	mem_close(mem);
	return 0;
}
