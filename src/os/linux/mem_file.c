/* SPDX-License-Identifier: MIT
 * A live process through /proc/PID/mem, opened read-only: for where process_vm_readv is refused
 * (seccomp) or missing. Hides that one preadv cannot jump: each segment is a call of its own, except
 * that neighbours which follow on each other in the target share one.
 *
 * The descriptor belongs to the memory that the process had when it was opened: after an exec or the
 * end of the process it reads nothing (0 bytes). The kernel answers EIO for what is not mapped.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "os/mem.h"
#include "os/proc.h"

#define JOIN_MAX 64 /* neighbours in one preadv */

struct mem_file {
	struct mem mem; /* first */
	pid_t pid;
	int fd;
};

static int map_errno(const struct mem_file *file, int errno_value)
{
	switch (errno_value) {
	case 0: /* nothing at all: the memory is gone */
		return TACHY_EGONE;
	case EIO:
	case EFAULT:
	case EINVAL:
	case EOVERFLOW:
		return kill(file->pid, 0) < 0 && errno == ESRCH ? TACHY_EGONE : TACHY_EFAULT;
	default:
		return error_from_errno(errno_value);
	}
}

/* One call. The bytes read, which may be fewer than asked for where a hole begins. */
static int read_vector(struct mem_file *file, const struct iovec *parts, int n, raddr addr,
		       size_t *ret_bytes)
{
	if (addr > (raddr)INT64_MAX)
		return TACHY_EFAULT;
	ssize_t got;
	do {
		file->mem.n_other++;
		got = preadv(file->fd, parts, n, (off_t)addr);
	} while (got < 0 && errno == EINTR);
	if (got <= 0)
		return map_errno(file, got < 0 ? errno : 0);
	file->mem.n_bytes += (size_t)got;
	*ret_bytes = (size_t)got;
	return 0;
}

static int read_one(struct mem *mem, raddr addr, void *dest, size_t size)
{
	uint8_t *to = dest;
	while (size > 0) {
		struct iovec part = {to, size};
		size_t bytes = 0;
		int code = read_vector((struct mem_file *)mem, &part, 1, addr, &bytes);
		if (code < 0)
			return code;
		addr += bytes;
		to += bytes;
		size -= bytes;
	}
	return 0;
}

/* How many segments from the first on follow each other without a gap. */
static size_t run_length(const struct mem_segment *segments, size_t n)
{
	size_t i = 1;
	while (i < n && i < JOIN_MAX &&
	       segments[i - 1].addr + segments[i - 1].size == segments[i].addr)
		i++;
	return i;
}

/* Reads a run; what a short answer does not cover is read one by one. */
static int read_run(struct mem *mem, struct mem_segment *segments, size_t n)
{
	struct iovec parts[JOIN_MAX];
	size_t bytes = 0, i = 0;
	int result = 0;
	for (size_t k = 0; k < n; k++)
		parts[k] = (struct iovec){segments[k].dest, segments[k].size};
	if (n > 1) {
		int code = read_vector((struct mem_file *)mem, parts, (int)n, segments[0].addr,
				       &bytes);
		if (code < 0 && code != TACHY_EFAULT)
			return code;
		for (; i < n && bytes >= segments[i].size; i++) {
			segments[i].done = true;
			bytes -= segments[i].size;
		}
	}
	for (; i < n; i++) {
		int code = read_one(mem, segments[i].addr, segments[i].dest, segments[i].size);
		if (code < 0 && code != TACHY_EFAULT)
			return code;
		segments[i].done = code == 0;
		if (code < 0)
			result = code;
	}
	return result;
}

static int read_many(struct mem *mem, struct mem_segment *segments, size_t n)
{
	int result = 0;
	for (size_t i = 0; i < n; i++)
		segments[i].done = false;
	for (size_t at = 0, run; at < n; at += run) {
		run = run_length(segments + at, n - at);
		int code = read_run(mem, segments + at, run);
		if (code < 0 && code != TACHY_EFAULT)
			return code;
		if (code < 0)
			result = code;
	}
	return result;
}

static void file_close(struct mem *mem)
{
	(void)close(((struct mem_file *)mem)->fd);
	free(mem);
}

static const struct mem_ops ops = {
	.name = "/proc/PID/mem",
	.read = read_one,
	.read_many = read_many,
	.close = file_close,
};

int mem_open_file(pid_t pid, struct mem **ret_mem)
{
	char path[64];
	(void)snprintf(path, sizeof path, "/proc/%d/mem", (int)proc_living_id(pid));
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? TACHY_EGONE : error_from_errno(errno);
	struct mem_file *file = calloc(1, sizeof *file);
	if (!file) {
		(void)close(fd);
		return TACHY_ENOMEM;
	}
	file->mem.ops = &ops;
	file->mem.n_other = 1;
	file->pid = pid;
	file->fd = fd;
	*ret_mem = &file->mem;
	return 0;
}
