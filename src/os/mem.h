/* SPDX-License-Identifier: MIT
 * The memory of another process, behind one seam: a live process (process_vm_readv, or
 * /proc/PID/mem where that is refused), a saved image, or a fake in tests. Reads only.
 *
 * Every implementation counts its real system calls and bytes in `struct mem`.
 */
#ifndef OS_MEM_H
#define OS_MEM_H

#include <sys/types.h>

#include "base/error.h"
#include "base/load.h"

struct mem;

/* One piece of a batched read. */
struct mem_segment {
	raddr addr;
	uint32_t size;  /* bytes */
	bool done;      /* out: all of it was read */
	uint8_t *dest;  /* borrowed, room for `size` bytes */
};

#define MEM_SEGMENTS_MAX 1024 /* of one system call (IOV_MAX) */

struct mem_ops {
	const char *name;
	/* All of it, or a TACHY_E*: EFAULT not mapped, EGONE, EPERM. */
	int (*read)(struct mem *mem, raddr addr, void *dest, size_t size);
	/* In order. 0 when every segment is done; TACHY_EFAULT when some are not (the others are);
	 * other codes as read(), with nothing promised about `done`. Any n: the implementation splits. */
	int (*read_many)(struct mem *mem, struct mem_segment *segments, size_t n);
	void (*close)(struct mem *mem); /* frees */
};

struct mem {
	const struct mem_ops *ops;
	uint64_t n_vm_readv, n_other; /* system calls so far */
	uint64_t n_bytes;             /* bytes read so far */
};

static inline int mem_read(struct mem *mem, raddr addr, void *dest, size_t size)
{
	return mem->ops->read(mem, addr, dest, size);
}

static inline int mem_read_many(struct mem *mem, struct mem_segment *segments, size_t n)
{
	return mem->ops->read_many(mem, segments, n);
}

void mem_close(struct mem *mem); /* NULL is fine */

/* A live process. Tries process_vm_readv on `probe` (a readable address, 0: none) and falls back to
 * /proc/PID/mem, opened read-only, on ENOSYS or a seccomp refusal. TACHY_EPERM when neither is let. */
int mem_open_process(pid_t pid, raddr probe, struct mem **ret_mem);
/* /proc/PID/mem at once. */
int mem_open_file(pid_t pid, struct mem **ret_mem);

#endif
