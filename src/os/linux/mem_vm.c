/* SPDX-License-Identifier: MIT
 * A live process through process_vm_readv(2). Hides the splitting at IOV_MAX segments and the
 * kernel's way of reporting a bad segment: it stops there and returns the bytes before it.
 * process_vm_readv may cut inside a segment too, at a page that is not mapped.
 *
 * Invariant: after one call either everything was read, or we know the one segment that failed; it
 * stays not done, and reading goes on behind it.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/uio.h>

#include "os/mem.h"
#include "os/proc.h"

#define READ_MAX   (1u << 30) /* the kernel moves less than 2 GB in a call */
#define OTHERS_MAX 3          /* threads that end one after the other */

struct mem_vm {
	struct mem mem; /* first: a struct mem * is a struct mem_vm * */
	pid_t pid;
	pid_t tid; /* the thread that it is asked for by: proc_living_id */
};

static int map_errno(int errno_value)
{
	return errno_value == EINVAL ? TACHY_EFAULT : error_from_errno(errno_value);
}

/* The first thread has no memory of its process's any more when it ends before the others do. */
static ssize_t call(struct mem_vm *vm, const struct iovec *local, size_t n_local,
		    const struct iovec *remote, size_t n)
{
	for (int i = 0;; i++) {
		vm->mem.n_vm_readv++;
		ssize_t got = process_vm_readv(vm->tid, local, n_local, remote, n, 0);
		if (got >= 0 || errno != ESRCH)
			return got;
		pid_t living = proc_living_id(vm->pid);
		errno = ESRCH;
		if (living == vm->tid || i == OTHERS_MAX)
			return -1;
		vm->tid = living;
	}
}

static int read_one(struct mem *mem, raddr addr, void *dest, size_t size)
{
	struct mem_vm *vm = (struct mem_vm *)mem;
	struct iovec local = {dest, size};
	struct iovec remote = {(void *)(uintptr_t)addr, size};
	if (size == 0 || size > READ_MAX)
		return size ? TACHY_EINVAL : 0;
	ssize_t n = call(vm, &local, 1, &remote, 1);
	if (n < 0)
		return map_errno(errno);
	mem->n_bytes += (size_t)n;
	return (size_t)n == size ? 0 : TACHY_EFAULT;
}

/* Marks what `bytes` cover; the index of the first segment not wholly read. */
static size_t mark_done(struct mem_segment *segments, size_t n, size_t bytes)
{
	size_t i = 0;
	for (; i < n && bytes >= segments[i].size; i++) {
		segments[i].done = true;
		bytes -= segments[i].size;
	}
	return i;
}

/* Whether `dest` begins where `before` ends: then the kernel need not know of two. */
static bool follows(const struct iovec *before, const uint8_t *dest)
{
	return (const uint8_t *)before->iov_base + before->iov_len == dest;
}

/* One system call for up to MEM_SEGMENTS_MAX segments. How many were dealt with: those that are done,
 * and the one that stopped it, which is not. */
static int read_batch(struct mem_vm *vm, struct mem_segment *segments, size_t n, size_t *ret_dealt)
{
	struct iovec local[MEM_SEGMENTS_MAX], remote[MEM_SEGMENTS_MAX];
	size_t wanted = 0, n_local = 0;
	for (size_t i = 0; i < n; i++) {
		remote[i] = (struct iovec){(void *)(uintptr_t)segments[i].addr, segments[i].size};
		wanted += segments[i].size;
		if (n_local && follows(&local[n_local - 1], segments[i].dest))
			local[n_local - 1].iov_len += segments[i].size;
		else
			local[n_local++] = (struct iovec){segments[i].dest, segments[i].size};
	}
	ssize_t got = wanted ? call(vm, local, n_local, remote, n) : 0;
	if (got < 0 && map_errno(errno) != TACHY_EFAULT)
		return map_errno(errno);
	size_t bytes = got < 0 ? 0 : (size_t)got;
	vm->mem.n_bytes += bytes;
	size_t done = mark_done(segments, n, bytes);
	*ret_dealt = done < n ? done + 1 : n;
	return done < n ? TACHY_EFAULT : 0;
}

static int read_many(struct mem *mem, struct mem_segment *segments, size_t n)
{
	int result = 0;
	for (size_t i = 0; i < n; i++)
		segments[i].done = false;
	for (size_t at = 0, dealt = n; at < n; at += dealt) {
		size_t batch = n - at < MEM_SEGMENTS_MAX ? n - at : MEM_SEGMENTS_MAX;
		int code = read_batch((struct mem_vm *)mem, segments + at, batch, &dealt);
		if (code < 0 && code != TACHY_EFAULT)
			return code;
		if (code < 0)
			result = code;
	}
	return result;
}

static void vm_close(struct mem *mem)
{
	free(mem);
}

static const struct mem_ops ops = {
	.name = "process_vm_readv",
	.read = read_one,
	.read_many = read_many,
	.close = vm_close,
};

/* Whether the call is let at all. EPERM may come from seccomp, which forbids the call, or from the
 * rules of ptrace, which forbid /proc/PID/mem too: then that says so. */
static int try_call(pid_t pid, raddr probe)
{
	char byte;
	struct iovec local = {&byte, 1}, remote = {(void *)(uintptr_t)probe, 1};
	if (process_vm_readv(pid, &local, 1, &remote, 1, 0) >= 0)
		return 0;
	return errno == EFAULT ? 0 : errno == ENOSYS ? TACHY_EPLATFORM : error_from_errno(errno);
}

int mem_open_process(pid_t pid, raddr probe, struct mem **ret_mem)
{
	pid_t tid = proc_living_id(pid);
	int code = try_call(tid, probe);
	if (code == TACHY_EPLATFORM || code == TACHY_EPERM)
		return mem_open_file(pid, ret_mem);
	if (code < 0)
		return code;
	struct mem_vm *vm = calloc(1, sizeof *vm);
	if (!vm)
		return TACHY_ENOMEM;
	vm->mem.ops = &ops;
	vm->mem.n_vm_readv = 1;
	vm->pid = pid;
	vm->tid = tid;
	*ret_mem = &vm->mem;
	return 0;
}
