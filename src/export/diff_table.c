/* SPDX-License-Identifier: MIT
 * What changed between two runs, as a table: functions that are in both by the change of their time, then
 * the new and the gone ones. Times are real time, so that runs at different rates can be compared.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "export/diff_profile.h"
#include "export/export.h"
#include "export/table_cells.h"

#define LINE_ROOM    2048
#define LINE_COLUMNS 200
#define TIME_COLUMNS 10
#define NAME_MIN     24

enum kind { KIND_BOTH, KIND_NEW, KIND_GONE };

struct change {
	const struct row *now, *base; /* of one function */
	double own_ns, total_ns;      /* how much more than in the base */
	enum export_sort sort;
};

struct changes {
	struct diff_profile diff;
	struct rows now, base; /* equal indices are equal functions */
	VEC(struct change) rows;
};

/* ---- gathering --------------------------------------------------------------------------------- */

/* The counts of one side only: rows are numbered by frames, of which both have the same. */
static int sum_up(const struct diff_profile *diff, bool base, bool lines, struct rows *ret_rows)
{
	struct profile side = *diff->both; /* borrows everything */
	side.counts.at += base ? diff->n_counts : 0;
	side.counts.n = base ? side.counts.n - diff->n_counts : diff->n_counts;
	return rows_init(&side, ROWS_ALL_THREADS, lines, ret_rows);
}

static void changes_done(struct changes *changes)
{
	rows_done(&changes->now);
	rows_done(&changes->base);
	vec_done(&changes->rows);
	diff_profile_done(&changes->diff);
}

static int gather(const struct profile *profile, const struct export_options *options,
		  struct changes *changes)
{
	memset(changes, 0, sizeof *changes);
	int rc = diff_profile_init(profile, options->base, &changes->diff);
	if (rc >= 0)
		rc = sum_up(&changes->diff, false, options->lines, &changes->now);
	if (rc >= 0)
		rc = sum_up(&changes->diff, true, options->lines, &changes->base);
	for (size_t i = 0; rc >= 0 && i < changes->now.rows.n; i++) {
		const struct row *now = &changes->now.rows.at[i], *base = &changes->base.rows.at[i];
		struct change change = {now, base, (double)now->own_ns - (double)base->own_ns,
					(double)now->total_ns - (double)base->total_ns,
					options->sort};
		if ((now->total > 0 || base->total > 0) && !vec_push(&changes->rows, change))
			rc = TACHY_ENOMEM;
	}
	return rc;
}

static enum kind kind_of(const struct change *change)
{
	return change->base->total == 0  ? KIND_NEW
	       : change->now->total == 0 ? KIND_GONE
					 : KIND_BOTH;
}

static int by_name(const struct change *a, const struct change *b)
{
	int order = strcmp(a->now->frame.function, b->now->frame.function);
	if (order == 0)
		order = strcmp(a->now->frame.file, b->now->frame.file);
	if (order == 0)
		order = (a->now->frame.first_line > b->now->frame.first_line) -
			(a->now->frame.first_line < b->now->frame.first_line);
	return order ? order
		     : (a->now->frame.line > b->now->frame.line) -
			       (a->now->frame.line < b->now->frame.line);
}

static int compare(const void *left, const void *right)
{
	const struct change *a = left, *b = right;
	/* what is in one run only had a time in that run only: all of it, not its own, tells more */
	bool own = a->sort != EXPORT_SORT_TOTAL && kind_of(a) == KIND_BOTH;
	if (kind_of(a) != kind_of(b))
		return kind_of(a) < kind_of(b) ? -1 : 1;
	if (a->sort == EXPORT_SORT_NAME)
		return by_name(a, b);
	double first_a = fabs(own ? a->own_ns : a->total_ns);
	double first_b = fabs(own ? b->own_ns : b->total_ns);
	double second_a = fabs(own ? a->total_ns : a->own_ns);
	double second_b = fabs(own ? b->total_ns : b->own_ns);
	if (first_a != first_b)
		return first_a < first_b ? 1 : -1;
	if (second_a != second_b)
		return second_a < second_b ? 1 : -1;
	return by_name(a, b);
}

/* ---- what stands above ----------------------------------------------------------------------------- */

static const char *mode_name(const struct profile *profile)
{
	static const char *const names[] = {[TACHY_MODE_WALL] = "wall",
					    [TACHY_MODE_CPU] = "cpu",
					    [TACHY_MODE_GIL] = "gil",
					    [TACHY_MODE_EXCEPTION] = "exception"};
	return names[profile->mode];
}

static const char *python_of(const struct profile *profile)
{
	return profile->processes.n
		       ? strtab_get(profile->stacks.strings, profile->processes.at[0].version)
		       : "?";
}

static void put_line(const struct table *table, const char *line)
{
	char fitted[LINE_ROOM];
	size_t columns = table->options->width ? table->options->width : LINE_COLUMNS;
	(void)utf8_fit(fitted, sizeof fitted, line, columns, UTF8_CUT_END);
	out_text(table->out, fitted);
	out_char(table->out, '\n');
}

static void put_run(const struct table *table, const char *what, const struct profile *profile,
		    const struct tachy_stats *stats)
{
	char line[LINE_ROOM], lost[80] = "";
	if (stats)
		(void)snprintf(lost, sizeof lost, ", %llu lost, %llu late",
			       (unsigned long long)stats->samples_lost,
			       (unsigned long long)stats->samples_late);
	(void)snprintf(line, sizeof line,
		       "%s %llu stacks, %.2f s in %.2f s%s, %s mode, Python %s: %s", what,
		       (unsigned long long)profile->n_samples, (double)profile->weight_ns / 1e9,
		       (double)profile->duration_ns / 1e9, lost, mode_name(profile),
		       python_of(profile),
		       profile->processes.n ? strtab_get(profile->stacks.strings,
							 profile->processes.at[0].command)
					    : "");
	put_line(table, line);
}

static void put_doubts(const struct table *table, const struct profile *now,
		       const struct profile *base, const struct diff_profile *diff)
{
	char line[256];
	if (now->mode != base->mode) {
		(void)snprintf(line, sizeof line,
			       "the modes differ (%s, base %s): their times do not mean the same",
			       mode_name(now), mode_name(base));
		put_line(table, line);
	}
	if (strcmp(python_of(now), python_of(base)) != 0)
		put_line(table, "the Python versions differ: names of functions may, too");
	if (diff->n_files_moved > 0) {
		(void)snprintf(
			line, sizeof line,
			"%zu file%s of the base lie%s under another path now: found by its end",
			diff->n_files_moved, diff->n_files_moved == 1 ? "" : "s",
			diff->n_files_moved == 1 ? "s" : "");
		put_line(table, line);
	}
}

/* ---- rows ------------------------------------------------------------------------------------------------ */

static void put_head(const struct table *table)
{
	char head[160], own[16], total[16];
	(void)snprintf(own, sizeof own, "own %s", table->unit.name);
	(void)snprintf(total, sizeof total, "total %s", table->unit.name);
	(void)snprintf(head, sizeof head, "%*s%*s%*s%*s%*s%*s  function (file:line)", TIME_COLUMNS,
		       "change", TIME_COLUMNS, own, TIME_COLUMNS, "was", TIME_COLUMNS, "change",
		       TIME_COLUMNS, total, TIME_COLUMNS, "was");
	table_title(table, head);
}

static void put_change(const struct table *table, const struct change *change)
{
	table_time(table, TIME_COLUMNS, change->own_ns, true);
	table_time(table, TIME_COLUMNS, (double)change->now->own_ns, false);
	table_time(table, TIME_COLUMNS, (double)change->base->own_ns, false);
	table_time(table, TIME_COLUMNS, change->total_ns, true);
	table_time(table, TIME_COLUMNS, (double)change->now->total_ns, false);
	table_time(table, TIME_COLUMNS, (double)change->base->total_ns, false);
	table_name(table, change->now);
	out_char(table->out, '\n');
}

static void put_kind(const struct table *table, const struct changes *changes, enum kind kind,
		     const char *title)
{
	char line[64];
	size_t n = 0, limit = table->options->limit;
	for (size_t i = 0; i < changes->rows.n; i++)
		n += kind_of(&changes->rows.at[i]) == kind;
	(void)snprintf(line, sizeof line, "%s: %zu", title, n);
	out_char(table->out, '\n');
	table_title(table, line);
	if (n == 0)
		return;
	put_head(table);
	size_t shown = 0;
	for (size_t i = 0; i < changes->rows.n && (limit == 0 || shown < limit); i++) {
		if (kind_of(&changes->rows.at[i]) != kind)
			continue;
		put_change(table, &changes->rows.at[i]);
		shown++;
	}
	if (shown < n) {
		(void)snprintf(line, sizeof line, "%zu more; --limit 0 shows all.", n - shown);
		put_line(table, line);
	}
}

int diff_write(const struct profile *profile, const struct tachy_stats *stats,
	       const struct export_options *options, struct out *out)
{
	struct changes changes;
	struct table table;
	uint64_t longest = 0;
	int rc = gather(profile, options, &changes);
	if (rc < 0)
		goto done;
	if (changes.rows.n > 1)
		qsort(changes.rows.at, changes.rows.n, sizeof *changes.rows.at, compare);
	table_init(&table, options, out);
	if (options->width)
		table.name_columns = options->width > 6 * TIME_COLUMNS + 2 + NAME_MIN
					     ? options->width - 6 * TIME_COLUMNS - 2
					     : NAME_MIN;
	for (size_t i = 0; i < changes.rows.n; i++) {
		uint64_t now = changes.rows.at[i].now->total_ns;
		uint64_t base = changes.rows.at[i].base->total_ns;
		longest = now > longest ? now : longest;
		longest = base > longest ? base : longest;
	}
	table_pick_unit(&table, longest);
	put_run(&table, "now: ", profile, stats);
	if (options->base) {
		put_run(&table, "base:", options->base, options->base_stats);
		put_doubts(&table, profile, options->base, &changes.diff);
	}
	put_kind(&table, &changes, KIND_BOTH, "functions in both");
	put_kind(&table, &changes, KIND_NEW, "new functions");
	put_kind(&table, &changes, KIND_GONE, "gone functions");
	rc = out->status;
done:
	changes_done(&changes);
	return rc;
}
