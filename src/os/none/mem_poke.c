/* SPDX-License-Identifier: MIT */
#include "os/mem_poke.h"

int mem_poke_u64(pid_t pid, raddr addr, uint64_t value)
{
	(void)pid;
	(void)addr;
	(void)value;
	return TACHY_EPLATFORM;
}
