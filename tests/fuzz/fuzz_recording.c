/* SPDX-License-Identifier: MIT
 * Any bytes as a recording, and as the body and the tail of its second block, behind right checksums. Whatever
 * is read, samples refer to threads and stacks that the profile has, and a recording comes to an end.
 *
 * First byte: 0: the rest is the file; else so many 256ths of the rest are the tail.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/io.h"
#include "record/block.h"
#include "record/recording.h"

#define SAMPLES_MAX 200000u /* a zstd bomb is no harm, but takes long */
#define BLOCKS_MAX  100000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct checker {
	struct sink sink; /* first */
	const struct profile *profile;
	uint64_t n;
};

static int check_sample(struct sink *sink, const struct sample *sample)
{
	struct checker *checker = (struct checker *)sink;
	const struct profile *profile = checker->profile;
	if (sample->thread >= profile->threads.n || sample->stack >= profile->stacks.nodes.n ||
	    sample->n_ticks == 0)
		abort();
	if (profile->threads.at[sample->thread].process >= profile->processes.n)
		abort();
	return ++checker->n > SAMPLES_MAX ? TACHY_EAGAIN : 0;
}

static void check_names(const struct profile *profile)
{
	const struct stacks *stacks = &profile->stacks;
	for (size_t i = 1; i < stacks->nodes.n; i++)
		if (stacks->nodes.at[i].parent >= i ||
		    stacks->nodes.at[i].frame >= stacks->frames.n)
			abort();
	for (size_t i = 0; i < stacks->frames.n; i++)
		if (stacks->frames.at[i].function >= stacks->functions.n)
			abort();
}

static void read_all(int fd)
{
	static const struct sink_ops ops = {.name = "check", .sample = check_sample};
	struct recording *recording;
	struct recording_state state;
	struct tachy_error err = {0};
	struct profile *profile;
	int rc = 1;
	if (profile_create(&profile) < 0)
		return;
	struct checker checker = {{&ops}, profile, 0};
	if (recording_open(fd, profile, &recording, &err) < 0) {
		if (!err.text[0])
			abort();
		profile_destroy(profile);
		return;
	}
	for (unsigned n = 0; rc > 0; n++) {
		rc = recording_next(recording, &checker.sink);
		if (n > BLOCKS_MAX)
			abort();
	}
	recording_state(recording, &state);
	if (rc == 0 && state.end == RECORDING_OPEN)
		abort();
	check_names(profile);
	recording_close(recording);
	profile_destroy(profile);
}

static void put_block(struct block_packer *packer, int fd, uint32_t number, const uint8_t *body,
		      size_t size, size_t tail_size)
{
	struct block_body head = {
		.bytes = {.at = (uint8_t *)(uintptr_t)body, .n = size - tail_size}};
	struct bytes tail = {.at = (uint8_t *)(uintptr_t)body + head.bytes.n, .n = tail_size};
	struct bytes block = {0};
	if (block_pack(packer, number, &head, &tail, &block) == 0)
		(void)io_write_all(fd, block.at, block.n);
	bytes_done(&block);
}

static void write_file(int fd, const uint8_t *data, size_t size)
{
	/* START: version "x", rate 1000, mode wall, no flags, unit 1000 ns, start 0 and 16 us */
	static const uint8_t start[] = {1,    18,   1, 'x', 0,    0, 0, 0,    0,    0x40,
					0x8f, 0x40, 0, 0,   0xe8, 7, 0, 0x80, 0x80, 1};
	uint8_t head[RECORDING_HEAD_SIZE];
	struct block_packer *packer;
	if (data[0] == 0) {
		(void)io_write_all(fd, data + 1, size - 1);
		return;
	}
	if (block_packer_create(&packer) < 0)
		return;
	recording_head_put(head);
	(void)io_write_all(fd, head, sizeof head);
	put_block(packer, fd, 0, start, sizeof start, 0);
	put_block(packer, fd, 1, data + 1, size - 1, (size - 1) * data[0] / 256);
	block_packer_destroy(packer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = size ? memfd_create("fuzz", MFD_CLOEXEC) : -1;
	if (fd < 0)
		return 0;
	write_file(fd, data, size);
	if (lseek(fd, 0, SEEK_SET) == 0)
		read_all(fd);
	(void)close(fd);
	return 0;
}
