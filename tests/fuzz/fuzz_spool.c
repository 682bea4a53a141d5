/* SPDX-License-Identifier: MIT
 * Any bytes as the output of a program and, cut in pieces, as keys of a terminal: lines hold no end of a
 * line and no escape, a view of them no character that a terminal obeys; the reader of keys comes to its
 * end.
 *
 * Input: length of the pieces, the bytes.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tui/grid.h"
#include "tui/key.h"
#include "tui/spool.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_lines(const struct spool *spool)
{
	static struct grid grid;
	if (!grid.cells && grid_resize(&grid, 1, 80) < 0)
		abort();
	for (size_t i = 0; i < spool_n_lines(spool); i++) {
		const char *line = spool_line(spool, i);
		if (strlen(line) > SPOOL_LINE_MAX || strpbrk(line, "\n\x1b\r\b"))
			abort();
		(void)grid_text(&grid, 0, 0, 80, STYLE_PLAIN, line);
		for (unsigned col = 0; col < 80; col++) {
			uint32_t c = grid_at(&grid, 0, col)->c;
			if (c < 0x20 || (c >= 0x7f && c < 0xa0))
				abort();
		}
	}
}

static void check_keys(const char *bytes, size_t size, size_t step)
{
	struct key_reader reader = {.n = 0};
	struct key key;
	size_t n = 0;
	for (size_t at = 0; at < size;) {
		size_t taken = key_feed(&reader, bytes + at, size - at < step ? size - at : step);
		at += taken;
		while (key_next(&reader, taken == 0, &key))
			n++;
		if (key.code < 0)
			abort();
	}
	while (key_next(&reader, true, &key))
		n++;
	if (reader.n || n > size)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct spool spool = {0};
	if (size < 2 || data[0] == 0)
		return 0;
	const char *bytes = (const char *)data + 1;
	for (size_t at = 0; at < size - 1; at += data[0]) {
		size_t left = size - 1 - at;
		if (spool_take(&spool, bytes + at, left < data[0] ? left : data[0]) < 0)
			abort();
	}
	check_lines(&spool);
	spool_done(&spool);
	check_keys(bytes, size - 1, data[0]);
	return 0;
}
