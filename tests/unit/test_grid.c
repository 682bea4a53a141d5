/* SPDX-License-Identifier: MIT
 * tui/grid.c, tui/paint.c: what is painted is what the grid says, on a terminal that is written here.
 */
#include "cases.h"

#include "base/utf8.h"
#include "tui/paint.h"

/* ---- a terminal ------------------------------------------------------------------------------ */

#define ROWS 12
#define COLS 40

struct screen {
	uint32_t c[ROWS][COLS];
	uint32_t mark[ROWS][COLS];
	unsigned row, col;
	char style[64]; /* the last SGR */
	char styles[ROWS][COLS][64];
};

static void clear(struct screen *screen)
{
	for (unsigned row = 0; row < ROWS; row++)
		for (unsigned col = 0; col < COLS; col++) {
			screen->c[row][col] = ' ';
			screen->mark[row][col] = 0;
			snprintf(screen->styles[row][col], 64, "\033[0m");
		}
}

static void obey(struct screen *screen, const char *sequence, size_t n)
{
	unsigned row = 1, col = 1;
	char last = sequence[n - 1], text[64];
	assert_true(n < sizeof text);
	memcpy(text, sequence, n);
	text[n] = '\0';
	if (last == 'H') {
		(void)sscanf(text, "\033[%u;%uH", &row, &col);
		assert_true(row >= 1 && row <= ROWS && col >= 1 && col <= COLS);
		screen->row = row - 1;
		screen->col = col - 1;
	} else if (last == 'J') {
		clear(screen);
	} else {
		assert_int_equal(last, 'm');
		memcpy(screen->style, text, n + 1);
	}
}

/* Draws characters as wide as utf8_width says, but for those of `quarrel`, which this terminal draws one
 * column wider than we think. */
static void play(struct screen *screen, const char *bytes, size_t n, uint32_t quarrel)
{
	for (size_t pos = 0; pos < n;) {
		if (bytes[pos] == '\033') {
			size_t end = pos + 2;
			while (end < n && (bytes[end] < 0x40 || bytes[end] > 0x7e))
				end++;
			assert_true(end < n);
			obey(screen, bytes + pos, end + 1 - pos);
			pos = end + 1;
			continue;
		}
		uint32_t c = utf8_next(bytes, n, &pos);
		unsigned width = utf8_width(c);
		assert_false(utf8_unsafe(c));
		if (width == 0) {
			assert_true(screen->col > 0);
			screen->mark[screen->row][screen->col - 1] = c;
			continue;
		}
		assert_true(screen->row < ROWS && screen->col < COLS);
		screen->c[screen->row][screen->col] = c;
		screen->mark[screen->row][screen->col] = 0;
		memcpy(screen->styles[screen->row][screen->col], screen->style, 64);
		if (width == 2) {
			screen->c[screen->row][screen->col + 1] = 0;
			screen->mark[screen->row][screen->col + 1] = 0;
		}
		screen->col += width + (c == quarrel);
	}
}

static void compare(const struct screen *screen, const struct grid *grid)
{
	for (unsigned row = 0; row < grid->rows; row++)
		for (unsigned col = 0; col < grid->cols; col++) {
			const struct cell *cell = grid_at(grid, row, col);
			uint32_t want = cell->width == 0 ? 0 : cell->c;
			if (screen->c[row][col] != want)
				fail_msg("%u,%u: U+%04x, not U+%04x", row, col, screen->c[row][col],
					 want);
			if (cell->width == 1)
				assert_int_equal(screen->mark[row][col], cell->marks[0]);
		}
}

/* ---- the grid -------------------------------------------------------------------------------- */

static void text_as_it_is_shown(void **state)
{
	const struct {
		const char *text;
		unsigned max;
		const char *shown; /* of eight columns; marks left out */
		unsigned used;
	} cases[] = {
		{"abc", 8, "abc     ", 3},
		{"abcdefghij", 8, "abcdefg\xe2\x80\xa6", 8},
		{"\xe5\xa5\xbd\xe5\xa5\xbd", 8, "\xe5\xa5\xbd\xe5\xa5\xbd    ", 4},
		{"\xe5\xa5\xbd\xe5\xa5\xbd", 3, "\xe5\xa5\xbd\xe2\x80\xa6     ", 3},
		{"e\xcc\x81x", 8, "ex      ", 2},
		{"\xcc\x81x", 8, " x      ", 2},
		{"\x1b[m", 8, "\\u001b[m", 8},
		{"a\xe2\x80\x8d\xef\xb8\x8f"
		 "b",
		 8, "ab      ", 2}, /* joiner, selector */
		{"\xff"
		 "a",
		 8,
		 "\xef\xbf\xbd"
		 "a      ",
		 2},
		{"x\ny", 8, "x\\u000ay", 8},
		{"", 8, "        ", 0},
		{"abc", 0, "        ", 0},
	};
	struct grid grid = {0};
	(void)state;
	assert_int_equal(grid_resize(&grid, 1, 8), 0);
	for (size_t i = 0; i < N_OF(cases); i++) {
		char shown[64];
		size_t n = 0;
		grid_clear(&grid);
		assert_int_equal(grid_text(&grid, 0, 0, cases[i].max, STYLE_PLAIN, cases[i].text),
				 cases[i].used);
		for (unsigned col = 0; col < 8; col++)
			if (grid_at(&grid, 0, col)->width)
				n += utf8_encode(grid_at(&grid, 0, col)->c, shown + n);
		shown[n] = '\0';
		assert_string_equal(shown, cases[i].shown);
	}
	grid_done(&grid);
}

static void halves_of_wide_characters(void **state)
{
	struct grid grid = {0};
	(void)state;
	assert_int_equal(grid_resize(&grid, 1, 6), 0);
	(void)grid_text(&grid, 0, 0, 6, STYLE_PLAIN, "\xe5\xa5\xbd\xe5\xa5\xbd\xe5\xa5\xbd");
	grid_fill(&grid, 0, 1, 1, STYLE_PLAIN, 'x'); /* over the right half of the first */
	assert_int_equal(grid_at(&grid, 0, 0)->c, ' ');
	assert_int_equal(grid_at(&grid, 0, 0)->width, 1);
	grid_fill(&grid, 0, 2, 1, STYLE_PLAIN, 'y'); /* over the left half of the second */
	assert_int_equal(grid_at(&grid, 0, 3)->width, 1);
	(void)grid_text(&grid, 0, 3, 2, STYLE_PLAIN, "\xe5\xa5\xbd"); /* between two */
	assert_int_equal(grid_at(&grid, 0, 5)->width, 1);
	(void)grid_text(&grid, 0, 5, 6, STYLE_PLAIN, "\xe5\xa5\xbd"); /* no room */
	assert_int_equal(grid_at(&grid, 0, 5)->width, 1);
	grid_fill(&grid, 0, 4, 100, STYLE_PLAIN, 'z'); /* past the end */
	(void)grid_text(&grid, 3, 0, 6, STYLE_PLAIN, "below");
	grid_choose_row(&grid, 9);
	grid_right(&grid, 0, 0, 3, STYLE_PLAIN, "1");
	assert_int_equal(grid_at(&grid, 0, 2)->c, '1');
	grid_done(&grid);
}

/* ---- painting -------------------------------------------------------------------------------- */

static void scribble(struct grid *grid, uint64_t *seed)
{
	static const char *const words[] = {"plain",
					    "\xe5\xa5\xbd\xe5\xa5\xbd",
					    ("e\xcc\x81"
					     "e"),
					    "\x1b[0m",
					    "\xe2\x96\x88\xe2\x96\x83",
					    "longer words here"};
	unsigned n = (unsigned)(dice(seed) % 6);
	for (unsigned i = 0; i < n; i++)
		(void)grid_text(grid, (unsigned)(dice(seed) % ROWS), (unsigned)(dice(seed) % COLS),
				(unsigned)(dice(seed) % COLS), (style_t)(dice(seed) % STYLE_N),
				words[dice(seed) % N_OF(words)]);
	if (dice(seed) % 4 == 0)
		grid_choose_row(grid, (unsigned)(dice(seed) % ROWS));
	if (dice(seed) % 30 == 0)
		grid_clear(grid);
}

/* A thousand screens, each painted as what differs from the one before, on a terminal that disagrees about
 * the width of one character: its neighbours stand where they should all the same. */
static void differences(void **state)
{
	(void)state;
	for (unsigned mode = 0; mode < 3; mode++) {
		struct grid grid = {0};
		struct paint paint;
		struct screen screen = {.style = ""};
		uint64_t seed = 5 + mode;
		paint_init(&paint, mode != 1, true);
		clear(&screen);
		assert_int_equal(grid_resize(&grid, ROWS, COLS), 0);
		for (unsigned i = 0; i < 1000; i++) {
			scribble(&grid, &seed);
			assert_int_equal(paint_grid(&paint, &grid), 0);
			play(&screen, paint.bytes.at, paint.bytes.n, mode == 2 ? 0x597d : 0);
			compare(&screen, &grid);
			if (dice(&seed) % 100 == 0)
				paint_forget(&paint);
		}
		assert_int_equal(paint_grid(&paint, &grid), 0);
		assert_int_equal(paint.bytes.n, 0); /* the same screen costs nothing */
		paint_done(&paint);
		grid_done(&grid);
	}
}

static void styles(void **state)
{
	const struct {
		bool color;
		style_t style;
		const char *sgr;
	} cases[] = {
		{true, STYLE_PLAIN, "\033[0m"},
		{true, STYLE_HOT, "\033[0;1;38;5;203m"},
		{true, STYLE_PLAIN | STYLE_CHOSEN, "\033[0;48;5;238m"},
		{false, STYLE_HOT, "\033[0;1m"},
		{false, STYLE_TITLE, "\033[0;7m"},
		{false, STYLE_HOT | STYLE_CHOSEN, "\033[0;7m"},
	};
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct grid grid = {0};
		struct paint paint;
		struct screen screen = {.style = ""};
		paint_init(&paint, cases[i].color, true);
		assert_int_equal(grid_resize(&grid, 1, 2), 0);
		grid_fill(&grid, 0, 0, 1, cases[i].style, 'x');
		assert_int_equal(paint_grid(&paint, &grid), 0);
		play(&screen, paint.bytes.at, paint.bytes.n, 0);
		assert_string_equal(screen.styles[0][0], cases[i].sgr);
		paint_done(&paint);
		grid_done(&grid);
	}
}

static void without_utf8(void **state)
{
	struct grid grid = {0};
	struct paint paint;
	struct screen screen = {.style = ""};
	(void)state;
	paint_init(&paint, true, false);
	assert_int_equal(grid_resize(&grid, 1, 20), 0);
	(void)grid_text(&grid, 0, 0, 20, STYLE_PLAIN,
			"a\xe5\xa5\xbd\xe2\x96\x88\xe2\x96\xbe\xe2\x86\x91"
			"e\xcc\x81\xe2\x80\xa6");
	assert_int_equal(paint_grid(&paint, &grid), 0);
	for (size_t i = 0; i < paint.bytes.n; i++)
		assert_true((unsigned char)paint.bytes.at[i] < 0x7f);
	play(&screen, paint.bytes.at, paint.bytes.n, 0);
	const char *want = "a\?\?#-^e.";
	for (unsigned col = 0; want[col]; col++)
		assert_int_equal(screen.c[0][col], want[col]);
	paint_done(&paint);
	grid_done(&grid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_as_it_is_shown), cmocka_unit_test(halves_of_wide_characters),
		cmocka_unit_test(differences),         cmocka_unit_test(styles),
		cmocka_unit_test(without_utf8),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
