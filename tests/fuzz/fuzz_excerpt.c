/* SPDX-License-Identifier: MIT
 * Any bytes as a source file, any lines wanted of it. What is told agrees with what is written, and the
 * text is that of the file, whatever is asked.
 *
 * Input: context (signed byte), number of wanted lines, a distance from line to line for each, the file.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "export/source_excerpt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct counted {
	uint64_t n_bytes, n_ends; /* "\n" as JSON has it */
	char last;
};

static int count(void *ctx, const char *data, size_t len)
{
	struct counted *counted = ctx;
	counted->n_bytes += len;
	for (size_t i = 0; i < len; i++) {
		counted->n_ends += counted->last == '\\' && data[i] == 'n';
		counted->last = counted->last == '\\' && data[i] == '\\' ? 0 : data[i];
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct out out;
	int32_t wanted[256];
	struct excerpt excerpt = {.wanted = wanted};
	struct counted counted = {0, 0, 0};
	struct excerpt_told told;
	struct json_out json;
	if (size < 2 || size < 2 + (size_t)data[1])
		return 0;
	excerpt.context = (int8_t)data[0];
	excerpt.n_wanted = data[1];
	for (size_t i = 0; i < excerpt.n_wanted; i++)
		wanted[i] = (i ? wanted[i - 1] : 0) + data[2 + i] + 1;
	excerpt.bytes = (const char *)data + 2 + excerpt.n_wanted;
	excerpt.size = size - 2 - excerpt.n_wanted;
	(void)source_is_python("/a/b", excerpt.bytes, excerpt.size);
	out_init_to(&out, count, &counted);
	json_init(&json, &out);
	source_excerpt_write(&excerpt, &json, &told);
	if (out_flush(&out) != 0 || told.n_shown != counted.n_ends || told.n_lines < 0 ||
	    told.n_shown > (uint64_t)told.n_lines || told.n_beyond > excerpt.n_wanted)
		abort();
	if (excerpt.context < 0 && told.n_shown != (uint64_t)told.n_lines)
		abort();
	return 0;
}
