/* SPDX-License-Identifier: MIT
 * sched_setaffinity(2) and its kin. Hides how many CPUs a mask needs room for, and struct sched_attr,
 * which the C library does not know.
 *
 * The mask to go back to is kept per thread, since pinning is: the only variable state of the library
 * outside of its handles.
 */
#include "os/cpu.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"

#define CPUS_MAX  8192 /* CONFIG_NR_CPUS goes no further */
#define WORD_BITS (8 * sizeof(unsigned long))
#define SLICE_NS  100000u /* the shortest that the scheduler grants (kernel/sched/syscalls.c) */

struct cpu_mask {
	unsigned long words[CPUS_MAX / WORD_BITS];
};

static _Thread_local struct {
	struct cpu_mask mask;
	bool known; /* `mask` is where we may run when not pinned */
	bool pinned;
	bool real_time; /* by us */
	int n_cpus;
} home;

static int set_mask(const struct cpu_mask *mask)
{
	return syscall(SYS_sched_setaffinity, 0, sizeof mask->words, mask->words) < 0
		       ? error_from_errno(errno)
		       : 0;
}

/* The allowed CPUs can change while we are not pinned: ask each time. */
static int learn_home(void)
{
	if (home.pinned)
		return 0;
	struct cpu_mask mask = {{0}};
	if (syscall(SYS_sched_getaffinity, 0, sizeof mask.words, mask.words) < 0)
		return error_from_errno(errno);
	home.mask = mask;
	home.known = true;
	return 0;
}

static bool in_range(int cpu)
{
	return cpu >= 0 && cpu < CPUS_MAX;
}

/* Until cpu_unpin_self. */
static int confine_self(const struct cpu_mask *mask)
{
	int code = set_mask(mask);
	if (code == 0)
		home.pinned = true;
	return code;
}

int cpu_pin_self(int cpu)
{
	struct cpu_mask one = {{0}};
	if (!in_range(cpu))
		return TACHY_EINVAL;
	int code = learn_home();
	if (code < 0)
		return code;
	one.words[(size_t)cpu / WORD_BITS] = 1ul << ((size_t)cpu % WORD_BITS);
	return confine_self(&one);
}

int cpu_leave_self(int cpu)
{
	if (!in_range(cpu))
		return TACHY_EINVAL;
	int code = learn_home();
	if (code < 0)
		return code;
	struct cpu_mask others = home.mask;
	others.words[(size_t)cpu / WORD_BITS] &= ~(1ul << ((size_t)cpu % WORD_BITS));
	return confine_self(&others); /* the kernel refuses an empty one */
}

int cpu_unpin_self(void)
{
	if (!home.pinned)
		return 0;
	int code = set_mask(&home.mask);
	if (code == 0)
		home.pinned = false;
	return code;
}

bool cpu_allowed(int cpu)
{
	if (!in_range(cpu) || (!home.known && learn_home() < 0))
		return false;
	return home.mask.words[(size_t)cpu / WORD_BITS] >> ((size_t)cpu % WORD_BITS) & 1;
}

int cpu_current(void)
{
	return sched_getcpu();
}

/* "0-3,8-11": the last number is the highest CPU that can ever be there. */
static int possible_cpus(void)
{
	char text[512];
	if (io_read_small("/sys/devices/system/cpu/possible", text, sizeof text) <= 0)
		return 0;
	size_t at = strcspn(text, "\n");
	while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9')
		at--;
	long last = strtol(text + at, NULL, 10);
	return last >= 0 && last < CPUS_MAX ? (int)last + 1 : 0;
}

int cpu_count(void)
{
	if (home.n_cpus)
		return home.n_cpus;
	int n = possible_cpus();
	long configured = n ? n : sysconf(_SC_NPROCESSORS_CONF);
	home.n_cpus = configured > 0 && configured <= CPUS_MAX ? (int)configured : 1;
	return home.n_cpus;
}

/* linux/sched/types.h, as of version 1 of the struct */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	uint32_t util_min, util_max;
};

#define FLAG_RESET_ON_FORK 1u

static bool set_attributes(struct attributes attr)
{
	attr.size = sizeof attr;
	return syscall(SYS_sched_setattr, 0, &attr, 0) == 0;
}

void cpu_prompt_self(bool rests)
{
	struct attributes attr = {.size = sizeof attr}, real_time;
	(void)prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);
	if (syscall(SYS_sched_getattr, 0, &attr, sizeof attr, 0) < 0)
		return;
	if (attr.policy != SCHED_OTHER && attr.policy != SCHED_BATCH && !home.real_time)
		return; /* somebody chose that on purpose */
	real_time = (struct attributes){.policy = SCHED_FIFO,
					.flags = FLAG_RESET_ON_FORK,
					.priority = 1};
	if (rests && set_attributes(real_time)) {
		home.real_time = true;
		return;
	}
	if (home.real_time)
		attr = (struct attributes){.policy = SCHED_OTHER};
	home.real_time = false;
	attr.flags &= FLAG_RESET_ON_FORK;
	attr.runtime = SLICE_NS;
	attr.deadline = attr.period = 0;
	(void)set_attributes(attr);
}
