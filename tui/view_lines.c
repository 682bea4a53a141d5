/* SPDX-License-Identifier: MIT
 * One function from inside: its source with the time of each line, and its instructions.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tui/rows.h"
#include "tui/views.h"

#define NUMBERS    24u
#define SOURCE_MAX 400u /* bytes of a line that can be shown */

static const struct count *count_of(const struct state *state, uint32_t function, uint32_t line)
{
	static const struct count none;
	uint64_t id;
	if (!map_get(&state->tally.catalog.line_by_key, (uint64_t)function << 32 | line, &id) ||
	    id >= state->tally.lines.n)
		return &none;
	return &state->tally.lines.at[id].count;
}

/* The text of a line, tabs as blanks; "" where there is none. */
static void source_line(const struct state *state, uint32_t line, char dest[SOURCE_MAX])
{
	const struct source *source = &state->source;
	size_t used = 0;
	if (source->bytes && line >= 1 && line < source->starts.n) {
		uint32_t end = source->starts.at[line] - 1;
		for (uint32_t at = source->starts.at[line - 1]; at < end && used + 9 < SOURCE_MAX;
		     at++) {
			char c = source->bytes[at];
			if (c == '\0' || c == '\r')
				continue;
			do
				dest[used++] = c == '\t' ? ' ' : c;
			while (c == '\t' && used % 8);
		}
	}
	dest[used] = '\0';
}

static void draw_title(const struct state *state, const struct screen_parts *parts,
		       struct grid *grid, uint32_t function)
{
	grid_fill(grid, parts->head, 0, grid->cols, STYLE_HEAD, ' ');
	grid_right(grid, parts->head, 0, 6, STYLE_HEAD, "own%");
	grid_right(grid, parts->head, 7, 6, STYLE_HEAD, "total%");
	const struct told_function *told = &state->tally.catalog.functions.at[function];
	unsigned col = NUMBERS;
	col += grid_text(grid, parts->head, col, grid->cols, STYLE_HEAD, told->name) + 1;
	if (col < grid->cols)
		(void)grid_path(grid, parts->head, col, grid->cols - col, STYLE_HEAD, told->file);
}

static void draw_line(const struct state *state, struct grid *grid, unsigned row, uint32_t function,
		      uint32_t line, uint64_t most)
{
	char text[SOURCE_MAX], number[16];
	const struct count *count = count_of(state, function, line);
	view_percent(grid, row, 0, count->ns_own, state->tally.count.ns_total);
	view_percent(grid, row, 7, count->ns_total, state->tally.count.ns_total);
	if (most && count->ns_own)
		view_bar(grid, row, 14, 4, STYLE_BAR, (double)count->ns_own / (double)most);
	(void)snprintf(number, sizeof number, "%" PRIu32, line);
	grid_right(grid, row, 18, 5, STYLE_DIM, line ? number : "?");
	source_line(state, line, text);
	double heat = most ? (double)count->ns_own / (double)most : 0;
	enum style style = heat > 0.5       ? STYLE_HOT
			   : heat > 0.1     ? STYLE_WARM
			   : count->n_total ? STYLE_BOLD
					    : STYLE_PLAIN;
	(void)grid_text(grid, row, NUMBERS, grid->cols, (style_t)style, text);
}

void view_lines(const struct state *state, const struct screen_parts *parts, struct grid *grid)
{
	const struct list *list = &state->lists[VIEW_LINES];
	uint32_t function = state_function(state);
	uint64_t most = 0;
	if (function == NO_ID || function >= state->tally.functions.n) {
		view_nothing(parts, grid, "no samples yet");
		return;
	}
	draw_title(state, parts, grid, function);
	for (uint32_t id = state->tally.catalog.functions.at[function].lines;
	     id != NO_ID && id < state->tally.lines.n; id = state->tally.catalog.lines.at[id].next)
		if (state->tally.lines.at[id].count.ns_own > most)
			most = state->tally.lines.at[id].count.ns_own;
	for (unsigned i = 0; i < parts->n_rows && list->top + i < list->rows.n; i++)
		draw_line(state, grid, parts->first + i, function, list->rows.at[list->top + i].id,
			  most);
	if (!list->rows.n)
		view_nothing(parts, grid, "no line of it was seen in this selection");
	else if (!state->source.bytes && !state->source.asked)
		(void)grid_text(grid, parts->head, 14, 9, STYLE_HEAD, "no source");
}

static uint64_t opcodes_in_all(const struct list *list)
{
	uint64_t n = 0;
	for (size_t i = 0; i < list->rows.n; i++)
		n += list->rows.at[i].key;
	return n;
}

void view_opcodes(const struct state *state, const struct screen_parts *parts, struct grid *grid)
{
	const struct list *list = &state->lists[VIEW_OPCODES];
	uint32_t function = state_function(state);
	uint64_t all = opcodes_in_all(list);
	if (!state->tally.catalog.opcodes) {
		view_nothing(parts, grid, "instructions were not taken; --opcodes takes them");
		return;
	}
	if (function == NO_ID || function >= state->tally.functions.n)
		return;
	draw_title(state, parts, grid, function);
	grid_fill(grid, parts->head, 0, 14, STYLE_HEAD, ' ');
	grid_right(grid, parts->head, 0, 6, STYLE_HEAD, "own%");
	for (unsigned i = 0; i < parts->n_rows && list->top + i < list->rows.n; i++) {
		const struct row *one = &list->rows.at[list->top + i];
		const struct told_frame *frame = &state->tally.catalog.frames.at[one->id];
		unsigned row = parts->first + i;
		view_percent(grid, row, 0, one->key, all);
		view_bar(grid, row, 8, 12, STYLE_BAR, all ? (double)one->key / (double)all : 0);
		unsigned col = NUMBERS +
			       grid_text(grid, row, NUMBERS, 40, STYLE_FUNCTION, frame->opcode);
		if (strcmp(frame->opcode, frame->base_opcode) != 0)
			(void)grid_format(grid, row, col + 2, grid->cols, STYLE_DIM, "of %s",
					  frame->base_opcode);
	}
	if (!list->rows.n)
		view_nothing(parts, grid, "this function was never on top (6: its lines)");
}
