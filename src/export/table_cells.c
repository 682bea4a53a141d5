/* SPDX-License-Identifier: MIT
 * The lines of the table: numbers to the right, then function (file:line). On 80 columns the line ends
 * at the edge: file names give way first, then function names.
 */
#include "export/table_cells.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define WIDE_MIN 100 /* from here on the column of total samples is shown */
#define NAME_MIN 24  /* columns that the last column gets in any case */
#define FILE_MIN 14
#define FIT_ROOM 2048

#define STYLE_HEAD "\x1b[1m"
#define STYLE_DIM  "\x1b[2m"
#define STYLE_HOT  "\x1b[1;31m"
#define STYLE_COOL "\x1b[32m"
#define STYLE_WARM "\x1b[33m"
#define STYLE_OFF  "\x1b[0m"
#define HOT_SHARE  0.10
#define WARM_SHARE 0.02

static void style(const struct table *table, const char *sequence)
{
	if (table->options->color)
		out_text(table->out, sequence);
}

void table_init(struct table *table, const struct export_options *options, struct out *out)
{
	*table = (struct table){.out = out, .options = options};
	table->wide = options->width == 0 || options->width >= WIDE_MIN;
	size_t before = table->wide ? 50 : 42; /* columns of the numbers, and the gap */
	if (options->width)
		table->name_columns = options->width > before + NAME_MIN ? options->width - before
									 : NAME_MIN;
}

/* ---- cells ----------------------------------------------------------------------------------- */

void table_pick_unit(struct table *table, uint64_t ns)
{
	table->unit = (struct table_unit){"s", 1e9, 3};
	if (ns < 1000000)
		table->unit = (struct table_unit){"us", 1e3, 1};
	else if (ns < 1000000000)
		table->unit = (struct table_unit){"ms", 1e6, 2};
	else if (ns >= 1000 * UINT64_C(1000000000))
		table->unit.decimals = 1;
}

static void cell(const struct table *table, size_t width, double value, unsigned decimals,
		 const char *after)
{
	char text[OUT_FIXED_MAX];
	size_t len = out_format_fixed(text, value, decimals) + strlen(after);
	out_repeat(table->out, ' ', width > len ? width - len : 1);
	out_text(table->out, text);
	out_text(table->out, after);
}

static void count_cell(const struct table *table, uint64_t n)
{
	cell(table, 8, (double)n, 0, "");
}

static void share_cell(const struct table *table, uint64_t n)
{
	double share = table->n_samples ? (double)n / (double)table->n_samples : 0;
	const char *heat = share >= HOT_SHARE ? STYLE_HOT : share >= WARM_SHARE ? STYLE_WARM : "";
	style(table, heat);
	cell(table, 7, share * 100, 1, "%");
	if (heat[0])
		style(table, STYLE_OFF);
}

static void time_cell(const struct table *table, uint64_t ns)
{
	cell(table, 9, (double)ns / table->unit.ns, table->unit.decimals, "");
}

/* ---- the last column: function (file:line) ----------------------------------------------------- */

/* How many columns of `room` go to the function and to the file. */
static void share_room(size_t room, size_t *function, size_t *file)
{
	if (*function + *file <= room)
		return;
	size_t file_min = *file < FILE_MIN ? *file : FILE_MIN;
	size_t function_max = room > file_min ? room - file_min : 1;
	if (*function > function_max)
		*function = function_max;
	*file = room > *function ? room - *function : 1;
}

static void put_fitted(const struct table *table, const char *text, size_t columns)
{
	char fitted[FIT_ROOM];
	(void)utf8_fit(fitted, sizeof fitted, text, columns, UTF8_CUT_MIDDLE);
	out_text(table->out, fitted);
}

void table_name(const struct table *table, const struct row *row)
{
	const struct tachy_frame *frame = &row->frame;
	bool marker = frame->kind != TACHY_FRAME_PYTHON;
	char line[32] = "";
	size_t function = utf8_columns(frame->function, strlen(frame->function));
	size_t file = utf8_columns(frame->file, strlen(frame->file));
	if (!marker)
		(void)snprintf(line, sizeof line, ":%ld)",
			       (long)(table->options->lines ? frame->line : frame->first_line));
	size_t fixed = marker ? 0 : strlen(line) + 2;
	if (table->name_columns)
		share_room(table->name_columns > fixed ? table->name_columns - fixed : 2, &function,
			   &file);
	out_text(table->out, "  ");
	if (table->name_columns)
		put_fitted(table, frame->function, function);
	else
		out_escaped(table->out, frame->function);
	if (marker)
		return;
	style(table, STYLE_DIM);
	out_text(table->out, " (");
	if (table->name_columns)
		put_fitted(table, frame->file, file);
	else
		out_escaped(table->out, frame->file);
	out_text(table->out, line);
	style(table, STYLE_OFF);
}

void table_time(const struct table *table, size_t width, double ns, bool change)
{
	char text[OUT_FIXED_MAX + 1] = "+";
	bool plus = change && ns > 0;
	size_t len = out_format_fixed(text + plus, ns / table->unit.ns, table->unit.decimals) +
		     plus;
	out_repeat(table->out, ' ', width > len ? width - len : 1);
	if (change && ns != 0)
		style(table, ns > 0 ? STYLE_HOT : STYLE_COOL);
	out_text(table->out, text);
	if (change && ns != 0)
		style(table, STYLE_OFF);
}

void table_title(const struct table *table, const char *text)
{
	style(table, STYLE_HEAD);
	out_text(table->out, text);
	style(table, STYLE_OFF);
	out_char(table->out, '\n');
}

/* ---- lines ----------------------------------------------------------------------------------- */

void table_head(const struct table *table)
{
	char head[128], own[16], total[16];
	(void)snprintf(own, sizeof own, "own %s", table->unit.name);
	(void)snprintf(total, sizeof total, "total %s", table->unit.name);
	(void)snprintf(head, sizeof head, "%8s%7s%9s%s%7s%9s  function (file:line)", "own", "own%",
		       own, table->wide ? "   total" : "", "total%", total);
	style(table, STYLE_HEAD);
	out_text(table->out, head);
	style(table, STYLE_OFF);
	out_char(table->out, '\n');
}

void table_row(const struct table *table, const struct row *row)
{
	count_cell(table, row->own);
	share_cell(table, row->own);
	time_cell(table, row->own_ns);
	if (table->wide)
		count_cell(table, row->total);
	share_cell(table, row->total);
	time_cell(table, row->total_ns);
	table_name(table, row);
	out_char(table->out, '\n');
}
