/* SPDX-License-Identifier: MIT
 * Finds what asyncio says about itself to debuggers, 3.14+: the section .AsyncioDebug, in the module _asyncio or
 * in whatever it was linked into. Names of files play no part in the answer.
 */
#ifndef CPYTHON_ASYNCIO_FIND_H
#define CPYTHON_ASYNCIO_FIND_H

#include <sys/types.h>

#include "cpython/asyncio_layout.h"
#include "os/mem.h"

/* Looks through the files of the process's modules, then through their writable memory, since a file may be
 * gone. TACHY_ENOENT: nowhere, as long as nobody has imported asyncio. Else errors as proc_maps_read. */
int asyncio_find(pid_t pid, struct mem *mem, const struct layout *layout,
		 struct asyncio_layout *ret_fields);

#endif
