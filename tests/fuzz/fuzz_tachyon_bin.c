/* SPDX-License-Identifier: MIT
 * Any bytes as a recording of CPython's own profiler; also with a right beginning and end, to get past the
 * first checks.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "record/tachyon_bin.h"

#define SAMPLES_MAX 200000u
#define CALLS_MAX   100000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct checker {
	struct sink sink; /* first */
	const struct profile *profile;
	uint64_t n;
};

static int check_sample(struct sink *sink, const struct sample *sample)
{
	struct checker *checker = (struct checker *)sink;
	if (sample->thread >= checker->profile->threads.n || !sample->n_ticks ||
	    sample->stack >= checker->profile->stacks.nodes.n)
		abort();
	return ++checker->n > SAMPLES_MAX ? TACHY_EAGAIN : 0;
}

static const char *name(unsigned minor, uint8_t code, const char **ret_base)
{
	*ret_base = minor > 14 ? "BASE" : NULL;
	return code % 2 ? "NAME" : NULL;
}

static void read_all(uint8_t *data, size_t size)
{
	static const struct sink_ops ops = {.name = "check", .sample = check_sample};
	struct tachyon_bin *bin;
	struct tachy_error err = {0};
	struct recording_state state;
	struct tachy_stats stats;
	struct profile *profile;
	int rc = 1;
	if (profile_create(&profile) < 0) {
		free(data);
		return;
	}
	struct checker checker = {{&ops}, profile, 0};
	if (tachyon_bin_open(data, size, profile, name, &bin, &err) < 0) {
		if (!err.text[0])
			abort();
		profile_destroy(profile);
		return;
	}
	for (unsigned n = 0; rc > 0; n++) {
		rc = tachyon_bin_next(bin, &checker.sink);
		if (n > CALLS_MAX)
			abort();
	}
	tachyon_bin_state(bin, &state);
	tachyon_bin_stats(bin, &stats);
	if (rc == 0 && state.end == RECORDING_OPEN)
		abort();
	tachyon_bin_close(bin);
	profile_destroy(profile);
}

static uint8_t *copy_of(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	if (copy && size)
		memcpy(copy, data, size);
	return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = copy_of(data, size);
	if (copy)
		read_all(copy, size);
	if (size < 100)
		return 0;
	copy = copy_of(data, size);
	if (!copy)
		return 0;
	static const uint8_t magic[8] = {'H', 'C', 'A', 'T', 1, 0, 0, 0};
	uint64_t at = size - 32 - (size - 96) / 4; /* strings and frames, about */
	memcpy(copy, magic, sizeof magic);
	memcpy(copy + 40, &at, sizeof at);
	at += (size - 96) / 8;
	memcpy(copy + 48, &at, sizeof at);
	memset(copy + 56, 0, 4);
	memset(copy + size - 32, 0, 8);
	uint64_t all = size;
	memcpy(copy + size - 24, &all, sizeof all);
	copy[size - 32] = data[0] % 8;
	copy[size - 28] = data[1] % 4;
	read_all(copy, size);
	return 0;
}
