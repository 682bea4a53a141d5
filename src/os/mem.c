/* SPDX-License-Identifier: MIT
 * What all implementations of the seam share.
 */
#include "os/mem.h"

void mem_close(struct mem *mem)
{
	if (mem)
		mem->ops->close(mem);
}
