/* SPDX-License-Identifier: MIT
 * process_vm_writev(2), and nothing else.
 */
#include "os/mem_poke.h"

#include <errno.h>
#include <sys/uio.h>

int mem_poke_u64(pid_t pid, raddr addr, uint64_t value)
{
	struct iovec from = {&value, sizeof value};
	struct iovec to = {(void *)(uintptr_t)addr, sizeof value};
	ssize_t n = process_vm_writev(pid, &from, 1, &to, 1, 0);
	if (n == (ssize_t)sizeof value)
		return 0;
	return n < 0 ? error_from_errno(errno) : TACHY_EFAULT;
}
