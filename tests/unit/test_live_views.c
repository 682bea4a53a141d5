/* SPDX-License-Identifier: MIT
 * tui/view_*.c, header.c, screen.c: whole screens, against tests/golden/live_*.txt. With GOLDEN=write in the
 * environment they are written anew: read what changed before you keep it.
 */
#include "fake_live.h"

#include "base/io.h"

#define ROOM (1u << 18)

static void check_golden(const char *name, const char *have)
{
	char path[512], *want;
	size_t size;
	(void)snprintf(path, sizeof path, "%s/tests/golden/live_%s.txt", TEST_SOURCE_ROOT, name);
	const char *mode = getenv("GOLDEN");
	if (mode && strcmp(mode, "write") == 0) {
		FILE *file = fopen(path, "w");
		assert_non_null(file);
		(void)fputs(have, file);
		(void)fclose(file);
		return;
	}
	if (io_read_file(path, ROOM, &want, &size) < 0)
		fail_msg("no %s", path);
	if (strcmp(want, have) != 0)
		fail_msg("%s: the screen is\n%s\nand should be\n%s", path, have, want);
	free(want);
}

/* Some seconds of a program with three threads. */
static void play(struct fake_live *w)
{
	const uint32_t known = TACHY_STATE_GIL_KNOWN | TACHY_STATE_CPU_KNOWN;
	const uint32_t running = known | TACHY_STATE_GIL | TACHY_STATE_ON_CPU;
	struct tachy_stats stats = {0};
	uint32_t main = fake_live_thread(w, "MainThread", true);
	uint32_t worker = fake_live_thread(w, "w\xc3\xb6rker \xe5\xa5\xbd", false);
	uint32_t evil = fake_live_thread(w, "e\xcc\x81vil\x1b[31m\n", false);
	for (unsigned second = 0; second < 14; second++) {
		fake_live_give(w, main, "<module>:40;main:33;parse:12", second < 9 ? 500 : 100,
			       running);
		fake_live_give(w, main, "<module>:40;main:33;parse:12;tokens:16!LOAD_FAST", 200,
			       running);
		fake_live_give(w, main, "<module>:40;main:35;walk:20;walk:21;visit:27",
			       second < 9 ? 100 : 500, running | TACHY_STATE_EXCEPTION);
		fake_live_give(w, main, "<module>:40;main:33;<GC>", 200, running | TACHY_STATE_GC);
		fake_live_give(w, worker, "run:50;<task job-1>;fetch:60;wait:70!CALL", 700, known);
		fake_live_give(w, worker, "run:50;<task job-2>;fetch:61;wait:70!CALL_PY", 300,
			       known | TACHY_STATE_GIL_WAITING);
		if (second < 8)
			fake_live_give(w, evil, "", 1000, known);
		stats.samples_captured += 1000;
		stats.samples_lost = 2;
		stats.samples_late = second;
		stats.cpu_user_s += 0.02;
		state_stats(&w->state, &stats, 0);
		state_cpu(&w->state, 0.25 * second * (1 + second % 3));
		fake_live_tick(w, 1.0);
	}
	state_stats(&w->state, &stats, 0);
}

static void check_view(const char *name, unsigned rows, unsigned cols, const char *keys)
{
	static const char source[] =
		"import sys\n\n\ndef other():\n\tpass\n\n\n\n\ndef parse(text):\n"
		"\tfor word in text:\n\t\tyield word  # \xe5\xa5\xbd \x1b[31m\n\n\ndef tokens():\n"
		"    return 1\n";
	static const char output[] = "one\r\n\x1b[1mtwo\x1b[0m\n\xe5\xa5\xbd";
	struct fake_live w;
	static char text[ROOM];
	static struct spool spool;
	fake_live_open(&w, rows, cols);
	w.state.spool = &spool;
	if (!spool.n)
		assert_int_equal(spool_take(&spool, output, strlen(output)), 0);
	play(&w);
	fake_live_keys(&w, keys);
	fake_live_tick(&w, 0.1);
	struct effect effect;
	while (state_effect(&w.state, &effect))
		if (effect.kind == EFFECT_SOURCE) {
			assert_string_equal(effect.text, "/app/main.py");
			state_source(&w.state, strdup(source), sizeof source - 1);
			fake_live_tick(&w, 0.1);
		}
	check_golden(name, fake_live_screen(&w, text, sizeof text));
	fake_live_close(&w);
}

static void views(void **state)
{
	(void)state;
	check_view("functions_80", 24, 80, "1");
	check_view("functions_60", 12, 60, "1");
	check_view("functions_200", 30, 200, "1");
	check_view("functions_filter", 24, 80, "/WA");
	check_view("functions_thread", 24, 80, "t");
	check_view("tree", 24, 80, "2e<down><down>");
	check_view("tree_hot", 16, 80, "2H");
	check_view("tree_filter", 16, 80, "2/visit<enter>");
	check_view("flame", 24, 100, "3jjj");
	check_view("flame_zoom", 16, 60, "3jj<enter>");
	check_view("threads_80", 24, 80, "4");
	check_view("threads_120", 16, 120, "4s");
	check_view("tasks", 16, 100, "5");
	check_view("lines", 20, 80, "/parse<enter><enter>");
	check_view("opcodes", 16, 80, "/wait<enter>7");
	check_view("output", 16, 80, "8");
	check_view("help", 24, 80, "h");
	check_view("save", 12, 80, "W");
	check_view("tiny", 3, 20, "1");
}

static void banner_and_messages(void **state)
{
	struct fake_live w;
	static char text[ROOM];
	(void)state;
	fake_live_open(&w, 12, 70);
	play(&w);
	state_ended(&w.state, "the process has ended");
	fake_live_tick(&w, 3);
	check_golden("banner", fake_live_screen(&w, text, sizeof text));
	state_message(&w.state, "saved %s", "x");
	assert_non_null(strstr(fake_live_screen(&w, text, sizeof text), "saved x"));
	fake_live_tick(&w, 7);
	assert_null(strstr(fake_live_screen(&w, text, sizeof text), "saved x"));
	fake_live_close(&w);
}

/* Every view at every size: nothing outside the grid, no cell that a terminal would obey. */
static void all_sizes(void **state)
{
	static const unsigned sizes[][2] = {{1, 1},   {2, 3},    {5, 10},     {9, 40},
					    {12, 60}, {50, 250}, {1000, 1000}};
	struct fake_live w;
	(void)state;
	fake_live_open(&w, 24, 80);
	play(&w);
	for (size_t i = 0; i < N_OF(sizes); i++) {
		state_resize(&w.state, sizes[i][0], sizes[i][1]);
		for (char key = '1'; key <= '8'; key++) {
			char keys[] = {key, '\0'};
			fake_live_keys(&w, keys);
			fake_live_tick(&w, 0.1);
			assert_int_equal(screen_draw(&w.state, &w.grid), 0);
			assert_int_equal(w.grid.rows, sizes[i][0]);
			for (size_t c = 0; c < (size_t)w.grid.rows * w.grid.cols; c++) {
				const struct cell *cell = &w.grid.cells[c];
				assert_true(cell->c >= 0x20 && (cell->c < 0x7f || cell->c >= 0xa0));
				assert_true(cell->width <= 2);
				if (cell->width == 2)
					assert_int_equal(cell[1].width, 0);
			}
		}
	}
	fake_live_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(views),
		cmocka_unit_test(banner_and_messages),
		cmocka_unit_test(all_sizes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
