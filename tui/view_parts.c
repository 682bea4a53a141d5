/* SPDX-License-Identifier: MIT
 * The pieces that views are made of.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tui/views.h"

void view_nothing(const struct screen_parts *parts, struct grid *grid, const char *why)
{
	(void)grid_text(grid, parts->first, 1, grid->cols > 1 ? grid->cols - 1 : 0, STYLE_DIM, why);
}

void view_percent(struct grid *grid, unsigned row, unsigned col, uint64_t part, uint64_t whole)
{
	char text[16];
	if (!part || !whole)
		return;
	double percent = 100.0 * (double)part / (double)whole;
	(void)snprintf(text, sizeof text, percent >= 99.95 ? "%.0f%%" : "%.1f%%", percent);
	enum style style = percent >= 20 ? STYLE_HOT : percent >= 5 ? STYLE_WARM : STYLE_PLAIN;
	grid_right(grid, row, col, 6, (style_t)style, text);
}

void view_count(struct grid *grid, unsigned row, unsigned col, unsigned width, uint64_t n)
{
	char text[24];
	if (n < 100000)
		(void)snprintf(text, sizeof text, "%" PRIu64, n);
	else if (n < 10000000)
		(void)snprintf(text, sizeof text, "%.0fk", (double)n / 1e3);
	else
		(void)snprintf(text, sizeof text, "%.0fM", (double)n / 1e6);
	grid_right(grid, row, col, width, STYLE_PLAIN, text);
}

const char *view_short_path(const char *path)
{
	static const char *const inner[] = {"/site-packages/", "/dist-packages/"};
	for (size_t i = 0; i < sizeof inner / sizeof inner[0]; i++) {
		const char *at = strstr(path, inner[i]);
		if (at)
			return at + strlen(inner[i]);
	}
	const char *lib = strstr(path, "/lib/python3");
	const char *slash = lib ? strchr(lib + 5, '/') : NULL;
	return slash ? slash + 1 : path;
}

unsigned view_function_name(const struct state *state, struct grid *grid, unsigned row,
			    unsigned col, unsigned max, uint32_t function)
{
	const struct told_function *told = &state->tally.catalog.functions.at[function];
	bool marker = told->kind != TACHY_FRAME_PYTHON;
	if (col >= grid->cols)
		return 0;
	max = max > grid->cols - col ? grid->cols - col : max;
	unsigned used = grid_text(grid, row, col, max, marker ? STYLE_MARKER : STYLE_FUNCTION,
				  told->name);
	if (!told->file[0] || max < used + 6)
		return used;
	char place[PROMPT_MAX];
	if (told->first_line > 0)
		(void)snprintf(place, sizeof place, "%s:%" PRId32, view_short_path(told->file),
			       told->first_line);
	else
		(void)snprintf(place, sizeof place, "%s", view_short_path(told->file));
	used += 1;
	return used + grid_path(grid, row, col + used, max - used, STYLE_FILE, place);
}

void view_bar(struct grid *grid, unsigned row, unsigned col, unsigned width, enum style style,
	      double share)
{
	share = share > 1 ? 1 : share < 0 ? 0 : share;
	unsigned eighths = (unsigned)(share * width * 8 + 0.5);
	for (unsigned i = 0; i < width; i++) {
		unsigned part = eighths > i * 8 ? eighths - i * 8 : 0;
		/* U+2588 is full, U+258F one eighth, from the left */
		uint32_t c = part >= 8 ? 0x2588 : part > 0 ? 0x2590 - part : ' ';
		grid_fill(grid, row, col + i, 1, (style_t)style, c);
	}
}

void view_thread_name(const struct state *state, uint32_t thread, char *dest, size_t size)
{
	const struct told_thread *told = &state->tally.catalog.threads.at[thread];
	if (told->name[0] && told->tid)
		(void)snprintf(dest, size, "%s (%" PRIu64 ")", told->name, told->tid);
	else if (told->name[0])
		(void)snprintf(dest, size, "%s", told->name);
	else if (told->tid)
		(void)snprintf(dest, size, "thread %" PRIu64, told->tid);
	else
		(void)snprintf(dest, size, "thread #%" PRIu32, thread);
}
