/* SPDX-License-Identifier: MIT
 * Any bytes as a line table of any design. A look-up gives a place, whatever was looked up before it: a
 * table that is walked from marks says the same as one that was never asked anything else.
 *
 * Input: design, first line (4 bytes), the table.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cpython/linetable.h"

#define N_DESIGNS  3
#define N_LOOK_UPS 40
#define TABLE_MAX  (1u << 16) /* longer inputs are cut: huge tables are test_linetable's */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Spread over the table's instructions, a few of them out of it. */
static int64_t offset(int i, size_t size)
{
	return i == 0 ? -1 : i == 1 ? INT64_MAX : (int64_t)size * i / 4;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct linetable table;
	struct line_place places[N_LOOK_UPS], place;
	if (size < 5)
		return 0;
	enum linetable_design design = data[0] % N_DESIGNS;
	int32_t first_line = load_i32((struct span){data, size}, 1);
	size_t n = size - 5 < TABLE_MAX ? size - 5 : TABLE_MAX;
	struct span bytes = {data + 5, n};

	if (linetable_init(&table, design, first_line, bytes) < 0)
		return 0;
	for (int i = 0; i < N_LOOK_UPS; i++)
		if (linetable_find(&table, offset(i, n), &places[i]) < 0)
			abort();
	linetable_done(&table);
	for (int i = N_LOOK_UPS; i-- > 0;) {
		if (i % 10 == 9) { /* a table of its own for some */
			linetable_done(&table);
			if (linetable_init(&table, design, first_line, bytes) < 0)
				return 0;
		}
		if (linetable_find(&table, offset(i, n), &place) < 0)
			abort();
		if (memcmp(&place, &places[i], sizeof place) != 0)
			abort();
	}
	linetable_done(&table);
	return 0;
}
