/* SPDX-License-Identifier: MIT
 * The profile as a table for a terminal: what was sampled, the rows of all threads or of one after the
 * other, and what the columns mean. Counts are thread samples (stacks); times are the real time that
 * the samples stand for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "export/export.h"
#include "export/facts.h"
#include "export/rows.h"
#include "export/table_cells.h"
#include "export/table_processes.h"

#define LINE_ROOM    2048
#define LINE_COLUMNS 200 /* of lines about the run, where there is no terminal */

/* ---- order ----------------------------------------------------------------------------------- */

static int by_name(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	int order = strcmp(a->frame.function, b->frame.function);
	if (order == 0)
		order = strcmp(a->frame.file, b->frame.file);
	if (order == 0)
		order = (a->frame.first_line > b->frame.first_line) -
			(a->frame.first_line < b->frame.first_line);
	return order ? order : (a->frame.line > b->frame.line) - (a->frame.line < b->frame.line);
}

static int by_own(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	if (a->own != b->own)
		return a->own < b->own ? 1 : -1;
	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	return by_name(left, right);
}

static int by_total(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	if (a->total != b->total)
		return a->total < b->total ? 1 : -1;
	return by_own(left, right);
}

static void sort_rows(struct rows *rows, enum export_sort sort)
{
	static int (*const orders[])(const void *, const void *) = {
		[EXPORT_SORT_OWN] = by_own,
		[EXPORT_SORT_TOTAL] = by_total,
		[EXPORT_SORT_NAME] = by_name,
	};
	size_t n = 0;
	for (size_t i = 0; i < rows->rows.n; i++)
		if (rows->rows.at[i].total > 0)
			rows->rows.at[n++] = rows->rows.at[i];
	rows->rows.n = n;
	if (n > 1)
		qsort(rows->rows.at, n, sizeof *rows->rows.at, orders[sort]);
}

/* One block of rows: of all threads, or of one. Gives the number of rows left out in *ret_hidden. */
static int write_rows(struct table *table, const struct profile *profile, uint32_t thread,
		      size_t *ret_hidden)
{
	struct rows rows;
	int rc = rows_init(profile, thread, table->options->lines, &rows);
	if (rc < 0)
		return rc;
	sort_rows(&rows, table->options->sort);
	uint64_t longest = 0;
	size_t n = rows.rows.n, limit = table->options->limit;
	for (size_t i = 0; i < n; i++)
		if (rows.rows.at[i].total_ns > longest)
			longest = rows.rows.at[i].total_ns;
	table_pick_unit(table, longest);
	table->n_samples = rows.n_samples;
	table_head(table);
	for (size_t i = 0; i < n && (limit == 0 || i < limit); i++)
		table_row(table, &rows.rows.at[i]);
	*ret_hidden += limit > 0 && n > limit ? n - limit : 0;
	rows_done(&rows);
	return table->out->status;
}

/* ---- what stands above and below --------------------------------------------------------------- */

/* A line of our own making, cut to the terminal. */
static void put_line(const struct table *table, const char *line)
{
	char fitted[LINE_ROOM];
	size_t columns = table->options->width ? table->options->width : LINE_COLUMNS;
	(void)utf8_fit(fitted, sizeof fitted, line, columns, UTF8_CUT_END);
	out_text(table->out, fitted);
	out_char(table->out, '\n');
}

static int write_run(const struct table *table, const struct profile *profile,
		     const struct tachy_stats *stats)
{
	char line[FACTS_LINE_MAX];
	facts_line(profile, stats, line);
	put_line(table, line);
	if (profile->processes.n > 1)
		return table_processes(table, profile, put_line);
	if (profile->processes.n) {
		facts_process_line(profile, 0, line);
		put_line(table, line);
	}
	return 0;
}

static void write_summary(const struct table *table, size_t n_hidden)
{
	char line[128];
	out_char(table->out, '\n');
	put_line(table,
		 "own: the function was running; total: it or what it called (once per stack);");
	put_line(table,
		 "counted in stacks of one thread; times are real time, late and lost ones in.");
	if (n_hidden == 0)
		return;
	(void)snprintf(line, sizeof line, "%zu more function%s not shown; --limit 0 shows all.",
		       n_hidden, n_hidden == 1 ? "" : "s");
	put_line(table, line);
}

/* ---- one block per thread ---------------------------------------------------------------------- */

struct thread_share {
	uint32_t thread;
	uint64_t n_samples;
};

static int by_samples(const void *left, const void *right)
{
	const struct thread_share *a = left, *b = right;
	if (a->n_samples != b->n_samples)
		return a->n_samples < b->n_samples ? 1 : -1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

static struct thread_share *share_by_thread(const struct profile *profile)
{
	struct thread_share *shares = calloc(profile->threads.n + 1, sizeof *shares);
	if (!shares)
		return NULL;
	for (uint32_t i = 0; i < profile->threads.n; i++)
		shares[i].thread = i;
	for (size_t i = 0; i < profile->counts.n; i++)
		if (profile->counts.at[i].thread < profile->threads.n)
			shares[profile->counts.at[i].thread].n_samples +=
				profile->counts.at[i].n_samples;
	qsort(shares, profile->threads.n, sizeof *shares, by_samples);
	return shares;
}

static void write_thread(const struct table *table, const struct profile *profile,
			 const struct thread_share *share)
{
	const struct profile_thread *thread = &profile->threads.at[share->thread];
	char line[LINE_ROOM], process[48] = "";
	if (profile->processes.n > 1)
		(void)snprintf(process, sizeof process, " of pid %lld",
			       (long long)profile->processes.at[thread->process].pid);
	(void)snprintf(line, sizeof line, "thread %s (%llu)%s%s: %llu stacks, %.1f%% of all",
		       strtab_get(profile->stacks.strings, thread->name),
		       (unsigned long long)thread->tid, process, thread->main ? ", main" : "",
		       (unsigned long long)share->n_samples,
		       profile->n_samples
			       ? 100.0 * (double)share->n_samples / (double)profile->n_samples
			       : 0);
	out_char(table->out, '\n');
	put_line(table, line);
}

static int write_threads(struct table *table, const struct profile *profile, size_t *ret_hidden)
{
	struct thread_share *shares = share_by_thread(profile);
	int rc = shares ? 0 : TACHY_ENOMEM;
	for (size_t i = 0; rc >= 0 && i < profile->threads.n && shares[i].n_samples > 0; i++) {
		write_thread(table, profile, &shares[i]);
		rc = write_rows(table, profile, shares[i].thread, ret_hidden);
	}
	free(shares);
	return rc;
}

int table_write(const struct profile *profile, const struct tachy_stats *stats,
		const struct export_options *options, struct out *out)
{
	struct table table;
	size_t n_hidden = 0;
	table_init(&table, options, out);
	int rc = write_run(&table, profile, stats);
	if (rc < 0)
		return rc;
	if (!options->by_thread || profile->threads.n == 0) {
		out_char(out, '\n');
		rc = write_rows(&table, profile, ROWS_ALL_THREADS, &n_hidden);
	} else {
		rc = write_threads(&table, profile, &n_hidden);
	}
	if (rc >= 0 && !options->no_summary)
		write_summary(&table, n_hidden);
	return rc < 0 ? rc : out->status;
}
