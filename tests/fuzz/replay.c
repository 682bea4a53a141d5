/* SPDX-License-Identifier: MIT
 * Runs a fuzz target without a fuzzer: every corpus file named on the command line (or found in a
 * folder named there), then the same bytes cut short, with bytes changed, and spliced together, and
 * some made-up inputs. Deterministic: the same corpus gives the same inputs, so that a failure can
 * be seen again. Ends by itself after INPUTS_MAX inputs or SECONDS_MAX seconds.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define INPUTS_MAX     40000u
#define SECONDS_MAX    20
#define FILES_MAX      4096u
#define FILE_BYTES_MAX (1u << 22)
#define CUTS_MAX       64u
#define FLIPS_MAX      256u
#define SPLICES_MAX    32u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));

struct input {
	uint8_t *data;
	size_t size;
};

static struct input inputs[FILES_MAX];
static size_t n_inputs;
static unsigned long n_runs;
static time_t deadline;
static uint64_t seed = 0x9e3779b97f4a7c15u;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static size_t random_below(size_t bound)
{
	return bound ? (size_t)(next_random() % bound) : 0;
}

static bool enough(void)
{
	return n_runs >= INPUTS_MAX || time(NULL) >= deadline;
}

/* A copy of the exact size, so that a sanitizer sees the first byte read past it. */
static void run(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	if (!copy)
		abort();
	if (size)
		memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
	n_runs++;
}

static void keep(uint8_t *data, size_t size)
{
	if (n_inputs < FILES_MAX)
		inputs[n_inputs++] = (struct input){data, size};
	else
		free(data);
}

static void load_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = malloc(FILE_BYTES_MAX);
	if (!file || !data) {
		fprintf(stderr, "replay: cannot read %s\n", path);
		exit(1);
	}
	size_t size = fread(data, 1, FILE_BYTES_MAX, file);
	fclose(file);
	uint8_t *fitted = realloc(data, size ? size : 1);
	keep(fitted ? fitted : data, size);
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void load_path(const char *path)
{
	struct stat info;
	if (stat(path, &info) < 0)
		return;
	if (!S_ISDIR(info.st_mode)) {
		load_file(path);
		return;
	}
	struct dirent **entries;
	int n = scandir(path, &entries, visible, alphasort);
	for (int i = 0; i < n; i++) {
		char full[4096];
		snprintf(full, sizeof full, "%s/%s", path, entries[i]->d_name);
		load_file(full);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

/* Inputs that every parser should have met: nothing, zeros, ones, and noise of several sizes. */
static void invent(void)
{
	static const size_t sizes[] = {0, 1, 2, 7, 8, 16, 64, 255, 1024, 4096, 65536};
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		for (int fill = 0; fill < 3; fill++) {
			uint8_t *data = malloc(sizes[i] ? sizes[i] : 1);
			if (!data)
				abort();
			for (size_t k = 0; k < sizes[i]; k++)
				data[k] = fill == 0 ? 0 : fill == 1 ? 0xff : (uint8_t)next_random();
			keep(data, sizes[i]);
		}
	}
}

static void cut(const struct input *input)
{
	size_t step = input->size / CUTS_MAX + 1;
	for (size_t size = 0; size < input->size && !enough(); size += step)
		run(input->data, size);
}

static void flip(const struct input *input)
{
	static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
	uint8_t *data = malloc(input->size ? input->size : 1);
	if (!data)
		abort();
	for (unsigned i = 0; i < FLIPS_MAX && input->size && !enough(); i++) {
		memcpy(data, input->data, input->size);
		for (size_t changes = 1 + random_below(4); changes > 0; changes--) {
			uint8_t *at = &data[random_below(input->size)];
			if (i % 2)
				*at = values[random_below(sizeof values)];
			else
				*at = (uint8_t)(*at ^ 1u << random_below(8));
		}
		run(data, input->size);
	}
	free(data);
}

static void splice(const struct input *input)
{
	for (unsigned i = 0; i < SPLICES_MAX && !enough(); i++) {
		const struct input *other = &inputs[random_below(n_inputs)];
		size_t head = random_below(input->size + 1);
		size_t from = random_below(other->size + 1);
		size_t size = head + (other->size - from);
		uint8_t *data = malloc(size ? size : 1);
		if (!data)
			abort();
		if (head)
			memcpy(data, input->data, head);
		if (size > head)
			memcpy(data + head, other->data + from, size - head);
		run(data, size);
		free(data);
	}
}

int main(int argc, char **argv)
{
	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	deadline = time(NULL) + SECONDS_MAX;
	for (int i = 1; i < argc; i++)
		load_path(argv[i]);
	size_t n_files = n_inputs;
	invent();
	for (size_t i = 0; i < n_inputs; i++) /* all of them, whatever the clock says */
		run(inputs[i].data, inputs[i].size);
	for (size_t i = 0; i < n_inputs && !enough(); i++) {
		cut(&inputs[i]);
		flip(&inputs[i]);
		splice(&inputs[i]);
	}
	for (size_t i = 0; i < n_inputs; i++)
		free(inputs[i].data);
	printf("%lu inputs, %zu of them from %zu files\n", n_runs, n_files, n_files);
	return 0;
}
