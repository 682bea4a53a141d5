/* SPDX-License-Identifier: MIT
 * The platform that is none: the live memories of os/mem.h. Saved images (mem_image.h) work anywhere.
 */
#include "os/mem.h"

int mem_open_process(pid_t pid, raddr probe, struct mem **ret_mem)
{
	(void)pid;
	(void)probe;
	(void)ret_mem;
	return TACHY_EPLATFORM;
}

int mem_open_file(pid_t pid, struct mem **ret_mem)
{
	(void)pid;
	(void)ret_mem;
	return TACHY_EPLATFORM;
}
