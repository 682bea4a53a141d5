/* SPDX-License-Identifier: MIT
 * cpython/tls on ourselves: what it finds from outside is what we know from inside. Targets with other
 * C libraries are for the end-to-end tests.
 */
#include "cases.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cpython/tls.h"
#include "fake_mem.h"

#define N_THREADS 4

struct thread {
	pthread_t handle;
	_Atomic pid_t tid;
};

static _Atomic int enough;

static void *run(void *arg)
{
	struct thread *thread = arg;
	thread->tid = (pid_t)syscall(SYS_gettid);
	while (!enough)
		sched_yield();
	return NULL;
}

static struct mem *open_self(void)
{
	struct mem *mem = NULL;
	assert_int_equal(mem_open_process(getpid(), 0, &mem), 0);
	return mem;
}

static void check_tids(const struct thread *threads, size_t n)
{
	uint64_t ids[N_THREADS + 1];
	uint32_t offset;
	struct mem *mem = open_self();
	for (size_t i = 0; i < n; i++)
		ids[i] = (uint64_t)threads[i].handle;
	assert_int_equal(tls_tid_offset(getpid(), mem, ids, n, &offset), 0);
	for (size_t i = 0; i < n; i++) {
		uint32_t tid;
		assert_int_equal(mem_read(mem, ids[i] + offset, &tid, sizeof tid), 0);
		assert_int_equal(tid, threads[i].tid);
	}
	mem_close(mem);
}

static void test_tid_offset(void **state)
{
	(void)state;
	struct thread threads[N_THREADS + 1] = {
		{.handle = pthread_self(), .tid = (pid_t)syscall(SYS_gettid)}};
	enough = 0;
	check_tids(threads, 1);
	for (size_t i = 1; i <= N_THREADS; i++) {
		assert_int_equal(pthread_create(&threads[i].handle, NULL, run, &threads[i]), 0);
		while (threads[i].tid == 0)
			sched_yield();
	}
	check_tids(threads, N_THREADS + 1);
	check_tids(threads + 2, 1);
	enough = 1;
	for (size_t i = 1; i <= N_THREADS; i++)
		(void)pthread_join(threads[i].handle, NULL);
}

static void test_no_tid(void **state)
{
	(void)state;
	struct fake_mem *fake = fake_mem_create();
	const uint64_t ids[] = {0x10000, 0x20ff0, 0x30000,
				0}; /* zeros, the end of a mapping, nothing */
	uint32_t offset = 1;
	fake_map(fake, 0x10000, FAKE_PAGE);
	fake_map(fake, 0x20000, FAKE_PAGE);
	for (size_t n = 0; n <= N_OF(ids); n++)
		assert_int_equal(tls_tid_offset(getpid(), &fake->mem, ids, n, &offset),
				 TACHY_ENOENT);
	for (raddr at = 0x10000; at < 0x11000; at += 4) /* the same everywhere is that of nobody */
		fake_put_u32(fake, at, (uint32_t)getpid());
	fake_put_u32(fake, 0x20ff8, (uint32_t)getpid());
	assert_int_equal(tls_tid_offset(getpid(), &fake->mem, ids + 1, 1, &offset), 0);
	assert_int_equal(offset, 8);
	assert_int_equal(tls_tid_offset(getpid(), &fake->mem, ids, 2, &offset), TACHY_ENOENT);
	fake->fail = TACHY_EGONE;
	assert_int_equal(tls_tid_offset(getpid(), &fake->mem, ids, 1, &offset), TACHY_EGONE);
	mem_close(&fake->mem);
}

static void test_rseq(void **state)
{
	(void)state;
	int64_t offset = 0;
	int cpu = -1;
	const ptrdiff_t *own = dlsym(RTLD_DEFAULT, "__rseq_offset");
	const unsigned *size = dlsym(RTLD_DEFAULT, "__rseq_size");
	struct mem *mem = open_self();
	int code = tls_rseq_offset(getpid(), mem, &offset);
	if (own && size && *size) {
		uint64_t self = (uint64_t)pthread_self();
		assert_int_equal(code, 0);
		assert_int_equal(offset, *own);
		assert_int_equal(tls_rseq_cpu(mem, self, offset, &cpu), 0);
		assert_true(cpu >= 0);
		assert_int_equal(tls_rseq_cpu(mem, 0, 0, &cpu), TACHY_EFAULT);
	} else {
		assert_int_equal(code, TACHY_ENOENT);
	}
	mem_close(mem);
}

static void test_rseq_cpu(void **state)
{
	(void)state;
	struct fake_mem *fake = fake_mem_create();
	int cpu = -7;
	fake_map(fake, 0x10000, FAKE_PAGE);
	assert_int_equal(tls_rseq_cpu(&fake->mem, 0x10020, -32, &cpu), 0);
	assert_int_equal(cpu, 0);
	fake_put_u32(fake, 0x10004, UINT32_MAX); /* RSEQ_CPU_ID_UNINITIALIZED */
	assert_int_equal(tls_rseq_cpu(&fake->mem, 0x10020, -32, &cpu), TACHY_ENOENT);
	fake_put_u32(fake, 0x10004, 1u << 20);
	assert_int_equal(tls_rseq_cpu(&fake->mem, 0x10020, -32, &cpu), TACHY_ECORRUPT);
	assert_int_equal(cpu, 0);
	mem_close(&fake->mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tid_offset),
		cmocka_unit_test(test_no_tid),
		cmocka_unit_test(test_rseq),
		cmocka_unit_test(test_rseq_cpu),
	};
	return cmocka_run_group_tests_name("tls", tests, NULL, NULL);
}
