/* SPDX-License-Identifier: MIT
 * How the rows of the table look; what is in them is table.c's and rows.c's.
 */
#ifndef EXPORT_TABLE_CELLS_H
#define EXPORT_TABLE_CELLS_H

#include "export/export.h"
#include "export/rows.h"

struct table_unit {
	const char *name;
	double ns;
	unsigned decimals;
};

struct table {
	struct out *out;
	const struct export_options *options;
	bool wide;           /* with total samples */
	size_t name_columns; /* of function and file; 0: unlimited */
	struct table_unit unit;
	uint64_t n_samples;  /* 100 % */
};

void table_init(struct table *table, const struct export_options *options, struct out *out);
/* So that the longest time of a block, `ns`, has a digit before the point. */
void table_pick_unit(struct table *table, uint64_t ns);
void table_head(const struct table *table);
void table_row(const struct table *table, const struct row *row);
/* The parts of a line: a time to the right in `width` columns, "+" before what is more than nothing where
 * `change`; and the last column. */
void table_time(const struct table *table, size_t width, double ns, bool change);
void table_name(const struct table *table, const struct row *row);
/* A line in the style of the head. */
void table_title(const struct table *table, const char *text);

#endif
