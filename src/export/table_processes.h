/* SPDX-License-Identifier: MIT
 * The processes of a profile, as lines of the table.
 */
#ifndef EXPORT_TABLE_PROCESSES_H
#define EXPORT_TABLE_PROCESSES_H

#include "export/table_cells.h"
#include "model/profile.h"

/* Stacks, share, pid, version and command of each process, the most sampled first, as many as a block of
 * functions has rows; for a profile of several. `put_line` writes a line of text. 0 or TACHY_ENOMEM. */
int table_processes(const struct table *table, const struct profile *profile,
		    void (*put_line)(const struct table *table, const char *line));

#endif
