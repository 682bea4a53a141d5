/* SPDX-License-Identifier: MIT
 * perf_event_open(2) with PERF_TYPE_BREAKPOINT. Every hit puts a record into the ring buffer that we share
 * with the kernel, from inside the trap, before the thread goes on: a buffer whose head has not moved is
 * proof that nothing was written. PERF_EVENT_IOC_REFRESH(1) makes the event disable itself at its first.
 */
#include "os/watch.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BUFFER_PAGES 2u /* the kernel's page and one of records, which are never read */

struct watch {
	int fd;
	pid_t tid;
	size_t buffer_size;
	struct perf_event_mmap_page *buffer;
	uint64_t head; /* where the buffer's head stood when armed */
};

static struct perf_event_attr describe(raddr addr, uint32_t size)
{
	struct perf_event_attr attr;
	memset(&attr, 0, sizeof attr);
	attr.type = PERF_TYPE_BREAKPOINT;
	attr.size = sizeof attr;
	attr.bp_type = HW_BREAKPOINT_W;
	attr.bp_addr = addr;
	attr.bp_len = size;
	attr.sample_period = 1;
	attr.wakeup_events = 1;
	attr.disabled = 1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	return attr;
}

static int code_of(int errno_value)
{
	switch (errno_value) {
	case EACCES:
	case EPERM:
		return TACHY_EPERM;
	case ENOSPC:
	case EBUSY:
		return TACHY_EAGAIN;
	case ESRCH:
		return TACHY_EGONE;
	case ENOMEM:
		return TACHY_ENOMEM;
	default:
		return TACHY_EPLATFORM;
	}
}

static uint64_t head_now(const struct watch *watch)
{
	uint64_t head = *(const volatile __u64 *)&watch->buffer->data_head;
	atomic_thread_fence(memory_order_acquire);
	return head;
}

static void close_event(struct watch *watch)
{
	if (watch->buffer)
		munmap(watch->buffer, watch->buffer_size);
	if (watch->fd >= 0)
		close(watch->fd);
	watch->buffer = NULL;
	watch->fd = -1;
}

static int open_event(struct watch *watch, raddr addr, uint32_t size)
{
	struct perf_event_attr attr = describe(addr, size);
	watch->fd = (int)syscall(SYS_perf_event_open, &attr, watch->tid, -1, -1,
				 PERF_FLAG_FD_CLOEXEC);
	if (watch->fd < 0)
		return code_of(errno);
	void *buffer = mmap(NULL, watch->buffer_size, PROT_READ | PROT_WRITE, MAP_SHARED, watch->fd,
			    0);
	if (buffer == MAP_FAILED) {
		int code = code_of(errno);
		close_event(watch);
		return code;
	}
	watch->buffer = buffer;
	return 0;
}

int watch_open(pid_t tid, struct watch **ret_watch)
{
	struct watch *watch = calloc(1, sizeof *watch);
	if (!watch)
		return TACHY_ENOMEM;
	watch->fd = -1;
	watch->tid = tid;
	watch->buffer_size = BUFFER_PAGES * (size_t)sysconf(_SC_PAGESIZE);
	*ret_watch = watch;
	return 0;
}

/* The kernel may keep the old place when it is asked to modify an event that a thread is running with:
 * a fresh event is sure. It happens once in many ticks. */
int watch_arm(struct watch *watch, raddr addr, uint32_t size)
{
	close_event(watch);
	int rc = open_event(watch, addr, size);
	if (rc < 0)
		return rc;
	watch->head = head_now(watch);
	if (ioctl(watch->fd, PERF_EVENT_IOC_REFRESH, 1) < 0) {
		rc = code_of(errno);
		close_event(watch);
	}
	return rc;
}

bool watch_was_hit(const struct watch *watch)
{
	return !watch->buffer || head_now(watch) != watch->head;
}

void watch_close(struct watch *watch)
{
	if (!watch)
		return;
	close_event(watch);
	free(watch);
}
