/* SPDX-License-Identifier: MIT
 * The floor under every profiler that reads from outside: a bare loop of process_vm_readv, nothing decoded.
 *
 * usage: floor PID SECONDS SEGMENTS BYTES
 * Reads SEGMENTS segments of BYTES together in one call (1024 per call), each on pages of its own that are
 * present in the target's memory: the first on the main thread's C stack, the second in the libpython or
 * python mapping that is written to, the others spread over the heap. Prints one line of JSON.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define PAGE              4096u
#define SEGMENTS_MAX      65536u
#define SEGMENTS_PER_CALL 1024u
#define CANDIDATES_MAX    262144u
#define CALLS_PER_LOOK    64 /* at the clock */

enum kind { KIND_STACK, KIND_LIBRARY, KIND_HEAP, N_KINDS };

struct pages {
	size_t n;
	uint64_t *at; /* owned; starts of runs of present pages, apart from each other */
};

static void fail(const char *what)
{
	fprintf(stderr, "floor: %s\n", what);
	exit(1);
}

static uint64_t clock_ns(clockid_t which)
{
	struct timespec now;
	clock_gettime(which, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool is_present(int pagemap, uint64_t addr)
{
	uint64_t entry;
	off_t where = (off_t)(addr / PAGE * sizeof entry);
	return pread(pagemap, &entry, sizeof entry, where) == (ssize_t)sizeof entry && entry >> 63;
}

static bool run_is_present(int pagemap, uint64_t addr, uint64_t n_pages)
{
	for (uint64_t i = 0; i < n_pages; i++)
		if (!is_present(pagemap, addr + i * PAGE))
			return false;
	return true;
}

static void add_runs(struct pages *pages, int pagemap, uint64_t start, uint64_t end,
		     uint64_t n_pages)
{
	uint64_t step = n_pages * PAGE;
	for (uint64_t addr = start; addr + step <= end && pages->n < CANDIDATES_MAX;)
		if (run_is_present(pagemap, addr, n_pages)) {
			pages->at[pages->n++] = addr;
			addr += step;
		} else {
			addr += PAGE;
		}
}

/* -1: a mapping that a profiler would not read. */
static int kind_of(const char *permissions, const char *path)
{
	if (permissions[0] != 'r' || permissions[1] != 'w')
		return -1;
	if (strstr(path, "[stack]"))
		return KIND_STACK;
	if (strstr(path, "python"))
		return KIND_LIBRARY;
	return path[0] == '\0' || strstr(path, "[heap]") ? KIND_HEAP : -1;
}

static void find_pages(int pid, uint64_t n_pages, struct pages found[N_KINDS])
{
	char path[64], line[4352];
	snprintf(path, sizeof path, "/proc/%d/pagemap", pid);
	int pagemap = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof path, "/proc/%d/maps", pid);
	FILE *maps = fopen(path, "re");
	if (pagemap < 0 || !maps)
		fail("cannot read the target's maps");
	while (fgets(line, sizeof line, maps)) {
		uint64_t start, end;
		char permissions[8], name[4096] = "";
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s %4095[^\n]", &start, &end,
			   permissions, name) < 3)
			continue;
		int kind = kind_of(permissions, name);
		if (kind >= 0)
			add_runs(&found[kind], pagemap, start, end, n_pages);
	}
	fclose(maps);
	close(pagemap);
}

/* The `i`th of `n` places, spread evenly. */
static uint64_t place(const struct pages *pages, size_t i, size_t n)
{
	return pages->at[i * pages->n / n];
}

static void plan(struct pages found[N_KINDS], size_t n_segments, size_t size,
		 struct iovec *ret_segments)
{
	size_t i = 0;
	if (found[KIND_STACK].n)
		ret_segments[i++].iov_base =
			(void *)(uintptr_t)found[KIND_STACK].at[found[KIND_STACK].n - 1];
	if (i < n_segments && found[KIND_LIBRARY].n)
		ret_segments[i++].iov_base = (void *)(uintptr_t)found[KIND_LIBRARY].at[0];
	size_t n_heap = n_segments - i;
	if (n_heap > found[KIND_HEAP].n)
		fail("the target has too few pages for that many segments");
	for (size_t k = 0; k < n_heap; k++)
		ret_segments[i++].iov_base = (void *)(uintptr_t)place(&found[KIND_HEAP], k, n_heap);
	for (i = 0; i < n_segments; i++)
		ret_segments[i].iov_len = size;
}

static void read_all(int pid, char *room, const struct iovec *segments, size_t n_segments,
		     size_t size)
{
	for (size_t i = 0; i < n_segments; i += SEGMENTS_PER_CALL) {
		size_t n = n_segments - i < SEGMENTS_PER_CALL ? n_segments - i : SEGMENTS_PER_CALL;
		struct iovec local = {room, n * size};
		if (process_vm_readv(pid, &local, 1, segments + i, n, 0) != (ssize_t)(n * size))
			fail("process_vm_readv did not read everything");
	}
}

static void find_and_plan(int pid, size_t n_segments, size_t size, struct iovec *ret_segments)
{
	struct pages found[N_KINDS] = {{0, NULL}};
	for (int kind = 0; kind < N_KINDS; kind++)
		if (!(found[kind].at = calloc(CANDIDATES_MAX, sizeof *found[kind].at)))
			fail("out of memory");
	find_pages(pid, (size + PAGE - 1) / PAGE, found);
	plan(found, n_segments, size, ret_segments);
	for (int kind = 0; kind < N_KINDS; kind++)
		free(found[kind].at);
}

static void measure(int pid, double seconds, const struct iovec *segments, size_t n_segments,
		    size_t size)
{
	char *room = malloc(SEGMENTS_PER_CALL * size);
	if (!room)
		fail("out of memory");
	uint64_t n_samples = 0, start = clock_ns(CLOCK_MONOTONIC), now;
	uint64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	do {
		for (int i = 0; i < CALLS_PER_LOOK; i++)
			read_all(pid, room, segments, n_segments, size);
		n_samples += CALLS_PER_LOOK;
		now = clock_ns(CLOCK_MONOTONIC);
	} while ((double)(now - start) < seconds * 1e9);
	cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	free(room);
	printf("{\"attempts\": %" PRIu64 ", \"errors\": 0, \"wall_s\": %.6f, \"cpu_s\": %.6f}\n",
	       n_samples, (double)(now - start) / 1e9, (double)cpu / 1e9);
}

int main(int argc, char **argv)
{
	static struct iovec segments[SEGMENTS_MAX];
	if (argc != 5)
		fail("usage: floor PID SECONDS SEGMENTS BYTES");
	int pid = atoi(argv[1]);
	double seconds = atof(argv[2]);
	size_t n_segments = strtoul(argv[3], NULL, 10), n_bytes = strtoul(argv[4], NULL, 10);
	if (n_segments < 1 || n_segments > SEGMENTS_MAX || n_bytes < n_segments)
		fail("there must be a segment at least, and a byte in each");
	find_and_plan(pid, n_segments, n_bytes / n_segments, segments);
	measure(pid, seconds, segments, n_segments, n_bytes / n_segments);
	return 0;
}
