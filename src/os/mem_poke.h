/* SPDX-License-Identifier: MIT
 * The one place that writes into another process: eight bytes, for --anchor, which is off by default.
 */
#ifndef OS_MEM_POKE_H
#define OS_MEM_POKE_H

#include <sys/types.h>

#include "base/error.h"
#include "base/load.h"

/* Codes as mem_read. */
int mem_poke_u64(pid_t pid, raddr addr, uint64_t value);

#endif
