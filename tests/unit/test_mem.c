/* SPDX-License-Identifier: MIT
 * mem_vm.c, mem_file.c and mem_image.c: the same seam, so mostly the same tests, run on each.
 */
#include "cases.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/mem.h"
#include "os/mem_image.h"

/* Three pages, the middle one not mapped, in this process and in its child alike. */
#define PAGE 4096u
static uint8_t *pages;
static pid_t child;

static raddr at(size_t off)
{
	return (raddr)(uintptr_t)(pages + off);
}

static uint8_t expected(size_t off)
{
	return (uint8_t)(off * 7 + off / 256);
}

static int start_child(void **state)
{
	(void)state;
	pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return -1;
	for (size_t i = 0; i < 3 * PAGE; i++)
		pages[i] = expected(i);
	(void)munmap(pages + PAGE, PAGE);
	child = fork();
	if (child == 0) {
		for (;;)
			(void)pause();
	}
	return child < 0 ? -1 : 0;
}

static int end_child(void **state)
{
	(void)state;
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	return munmap(pages, 3 * PAGE);
}

static struct mem *open_image(void)
{
	struct mem *mem;
	assert_int_equal(mem_image_create(&mem), 0);
	assert_int_equal(mem_image_add(mem, at(0), pages, 100), 0); /* two ranges that touch */
	assert_int_equal(mem_image_add(mem, at(100), pages + 100, PAGE - 100), 0);
	assert_int_equal(mem_image_add(mem, at(2 * PAGE), pages + 2 * PAGE, PAGE), 0);
	return mem;
}

static struct mem *open_kind(int kind)
{
	struct mem *mem = NULL;
	if (kind == 0)
		assert_int_equal(mem_open_process(child, at(0), &mem), 0);
	else if (kind == 1)
		assert_int_equal(mem_open_file(child, &mem), 0);
	else
		mem = open_image();
	return mem;
}

#define N_KINDS 3
static const char *const names[N_KINDS] = {"process_vm_readv", "/proc/PID/mem", "image"};

static void reads_one(void **state)
{
	(void)state;
	for (int kind = 0; kind < N_KINDS; kind++) {
		uint8_t bytes[300];
		struct mem *mem = open_kind(kind);
		assert_string_equal(mem->ops->name, names[kind]);
		assert_int_equal(mem_read(mem, at(50), bytes, sizeof bytes), 0);
		for (size_t i = 0; i < sizeof bytes; i++)
			assert_int_equal(bytes[i], expected(50 + i));
		uint64_t before = mem->n_bytes, calls = mem->n_vm_readv + mem->n_other;
		assert_int_equal(mem_read(mem, at(0), bytes, 0), 0);
		assert_int_equal(mem_read(mem, at(2 * PAGE), bytes, 10), 0);
		assert_int_equal(mem->n_bytes, before + 10);
		assert_true(mem->n_vm_readv + mem->n_other > calls);
		assert_int_equal(mem->n_vm_readv > 1, kind == 0);
		mem_close(mem);
	}
	mem_close(NULL);
}

static void holes_are_faults(void **state)
{
	static const raddr nowhere[] = {0, 8, 0xffffffffffffff00u, 0x8000000000000000u,
					0x00007fffffffff00u};
	uint8_t bytes[64];
	(void)state;
	for (int kind = 0; kind < N_KINDS; kind++) {
		struct mem *mem = open_kind(kind);
		assert_int_equal(mem_read(mem, at(PAGE), bytes, 1), TACHY_EFAULT);
		assert_int_equal(mem_read(mem, at(PAGE - 8), bytes, 16), TACHY_EFAULT);
		assert_int_equal(mem_read(mem, at(PAGE - 8), bytes, 8), 0);
		for (size_t i = 0; i < N_OF(nowhere); i++)
			assert_int_equal(mem_read(mem, nowhere[i], bytes, sizeof bytes),
					 TACHY_EFAULT);
		mem_close(mem);
	}
}

/* Many small pieces, some of them bad: the first and last, neighbours, ones that run into the hole. */
static void many_with_holes(void **state)
{
	enum { N = 2500 };
	static struct mem_segment segments[N];
	static uint8_t bytes[N][16];
	uint64_t seed = 7;
	(void)state;
	for (int kind = 0; kind < N_KINDS; kind++) {
		struct mem *mem = open_kind(kind);
		memset(bytes, 0xee, sizeof bytes);
		for (size_t i = 0; i < N; i++) {
			size_t off = (size_t)(dice(&seed) % (3 * PAGE - 16));
			if (i % 3)
				off = off % (PAGE - 16); /* mostly good ones */
			if (i == 0 || i == N - 1 || i == MEM_SEGMENTS_MAX)
				off = PAGE + 100;
			segments[i] =
				(struct mem_segment){.addr = at(off), .size = 16, .dest = bytes[i]};
		}
		segments[5].size = 0;
		assert_int_equal(mem_read_many(mem, segments, N), TACHY_EFAULT);
		for (size_t i = 0; i < N; i++) {
			size_t off = (size_t)(segments[i].addr - at(0));
			bool good = off + 16 <= PAGE || off >= 2 * PAGE || i == 5;
			assert_int_equal(segments[i].done, good);
			for (size_t k = 0; good && k < segments[i].size; k++)
				assert_int_equal(bytes[i][k], expected(off + k));
		}
		mem_close(mem);
	}
}

static void many_all_good(void **state)
{
	enum { N = 3000 };
	static struct mem_segment segments[N];
	static uint8_t bytes[N];
	(void)state;
	for (int kind = 0; kind < N_KINDS; kind++) {
		struct mem *mem = open_kind(kind);
		for (size_t i = 0; i < N; i++) /* neighbours: /proc/PID/mem joins them */
			segments[i] =
				(struct mem_segment){.addr = at(i), .size = 1, .dest = &bytes[i]};
		uint64_t calls = mem->n_vm_readv + mem->n_other;
		assert_int_equal(mem_read_many(mem, segments, N), 0);
		calls = mem->n_vm_readv + mem->n_other - calls;
		for (size_t i = 0; i < N; i++)
			assert_true(segments[i].done && bytes[i] == expected(i));
		if (kind == 0)
			assert_int_equal(calls, (N + MEM_SEGMENTS_MAX - 1) / MEM_SEGMENTS_MAX);
		if (kind == 1)
			assert_true(calls <= N / 60);
		assert_int_equal(mem_read_many(mem, segments, 0), 0);
		mem_close(mem);
	}
}

static void the_dead_are_gone(void **state)
{
	uint8_t byte;
	struct mem_segment segment = {.addr = at(0), .size = 1, .dest = &byte};
	struct mem *mems[2];
	(void)state;
	pid_t old = child;
	child = fork();
	if (child == 0) {
		for (;;)
			(void)pause();
	}
	for (int kind = 0; kind < 2; kind++)
		mems[kind] = open_kind(kind);
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	for (int kind = 0; kind < 2; kind++) {
		assert_int_equal(mem_read(mems[kind], at(0), &byte, 1), TACHY_EGONE);
		assert_int_equal(mem_read_many(mems[kind], &segment, 1), TACHY_EGONE);
		mem_close(mems[kind]);
	}
	struct mem *untouched = NULL;
	assert_int_equal(mem_open_process(child, 0, &untouched), TACHY_EGONE);
	assert_int_equal(mem_open_file(child, &untouched), TACHY_EGONE);
	assert_null(untouched);
	child = old;
}

/* In a process that may not call process_vm_readv. The exit status tells. */
static int under_seccomp(unsigned int answer)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | answer),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {N_OF(filter), filter};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		return 77;
	struct mem *mem;
	uint8_t byte = 0;
	if (mem_open_process(getpid(), at(0), &mem) < 0)
		return 1;
	if (strcmp(mem->ops->name, names[1]) != 0 || mem_read(mem, at(9), &byte, 1) < 0)
		return 2;
	mem_close(mem);
	return byte == expected(9) ? 0 : 3;
}

static void falls_back_to_the_file(void **state)
{
	static const unsigned int answers[] = {ENOSYS, EPERM};
	(void)state;
	for (size_t i = 0; i < N_OF(answers); i++) {
		pid_t pid = fork();
		if (pid == 0)
			_exit(under_seccomp(answers[i]));
		int status;
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		if (WEXITSTATUS(status) == 77)
			skip();
		assert_int_equal(WEXITSTATUS(status), 0);
	}
}

/* Another user's process, seen by one without rights. */
static void the_forbidden_is_denied(void **state)
{
	(void)state;
	if (getuid() != 0)
		skip();
	pid_t pid = fork();
	if (pid == 0) {
		struct mem *mem;
		if (setgid(65534) < 0 || setuid(65534) < 0)
			_exit(77);
		_exit(mem_open_process(child, at(0), &mem) == TACHY_EPERM ? 0 : 1);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
}

static size_t put_u64(uint8_t *to, uint64_t value)
{
	memcpy(to, &value, sizeof value);
	return sizeof value;
}

static void images_from_bytes(void **state)
{
	uint8_t file[256] = MEM_IMAGE_MAGIC, byte;
	struct mem *mem;
	size_t n = 8;
	(void)state;
	n += put_u64(file + n, 1 | (uint64_t)3 << 32);
	n += put_u64(file + n, 0x1000);
	n += put_u64(file + n, 4);
	n += put_u64(file + n, 0x1002); /* lies over the first, which counts */
	n += put_u64(file + n, 4);
	n += put_u64(file + n, 0x2000);
	n += put_u64(file + n, 1000); /* cut off by the end */
	memcpy(file + n, "abcdefghij", 10);
	assert_int_equal(mem_image_from_bytes(file, n + 10, &mem), 0);
	char text[8] = "";
	assert_int_equal(mem_read(mem, 0x1000, text, 6), 0);
	assert_string_equal(text, "abcdgh");
	assert_int_equal(mem_read(mem, 0x2000, text, 2), 0);
	assert_memory_equal(text, "ij", 2);
	assert_int_equal(mem_read(mem, 0x2002, &byte, 1), TACHY_EFAULT);
	mem_close(mem);

	for (size_t size = 0; size < 16; size++)
		assert_int_equal(mem_image_from_bytes(file, size, &mem), TACHY_ECORRUPT);
	for (size_t size = 16; size < n + 10; size++) { /* cut anywhere */
		assert_int_equal(mem_image_from_bytes(file, size, &mem), 0);
		mem_close(mem);
	}
	file[8] = 2; /* another version */
	assert_int_equal(mem_image_from_bytes(file, n, &mem), TACHY_ECORRUPT);
	file[8] = 1;
	memset(file + 16, 0xff, 7); /* a range past the end of memory */
	file[23] = 0xff;
	assert_int_equal(mem_image_from_bytes(file, n + 10, &mem), TACHY_ECORRUPT);
	assert_int_equal(mem_image_open("/no/such/image", &mem), TACHY_ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_one),
		cmocka_unit_test(holes_are_faults),
		cmocka_unit_test(many_with_holes),
		cmocka_unit_test(many_all_good),
		cmocka_unit_test(the_dead_are_gone),
		cmocka_unit_test(falls_back_to_the_file),
		cmocka_unit_test(the_forbidden_is_denied),
		cmocka_unit_test(images_from_bytes),
	};
	return cmocka_run_group_tests(tests, start_child, end_child);
}
