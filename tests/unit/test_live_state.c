/* SPDX-License-Identifier: MIT
 * tui/state.c, keys*.c, prompt.c, rows.c: what keys and samples make of the state, without a terminal.
 */
#include "fake_live.h"

#include "tui/rows.h"
#include "tui/views.h"

static const char *chosen_name(struct fake_live *w)
{
	uint32_t id = rows_chosen(&w->state);
	if (id == NO_ID)
		return "";
	if (w->state.view == VIEW_TREE)
		id = w->state.tally.tree.nodes.at[id].label;
	if (w->state.view == VIEW_THREADS)
		return w->state.tally.catalog.threads.at[id].name;
	return w->state.tally.catalog.functions.at[id].name;
}

static void open_playing(struct fake_live *w)
{
	fake_live_open(w, 24, 80);
	(void)fake_live_thread(w, "main", true);
	(void)fake_live_thread(w, "other", false);
	fake_live_give(w, 0, "root;alpha;beta", 50, TACHY_STATE_GIL);
	fake_live_give(w, 0, "root;alpha", 30, 0);
	fake_live_give(w, 0, "root;gamma", 10, TACHY_STATE_EXCEPTION);
	fake_live_give(w, 1, "boot;delta", 70, TACHY_STATE_ON_CPU);
	fake_live_tick(w, 1);
}

/* Keys, and what is chosen and shown after them. */
static void keys_move_and_show(void **state)
{
	const struct {
		const char *keys;
		enum view view;
		const char *chosen;
		size_t n_rows;
	} cases[] = {
		{"", VIEW_FUNCTIONS, "delta", 6},
		{"j", VIEW_FUNCTIONS, "beta", 6},
		{"<down><down><up>", VIEW_FUNCTIONS, "beta", 6},
		{"G", VIEW_FUNCTIONS, "boot", 6},
		{"Gg", VIEW_FUNCTIONS, "delta", 6},
		{"jjjjjjjjjj", VIEW_FUNCTIONS, "boot", 6},
		{"<pgdn>", VIEW_FUNCTIONS, "boot", 6},
		{"<pgdn><pgup>", VIEW_FUNCTIONS, "delta", 6},
		{"ss", VIEW_FUNCTIONS, "root", 6}, /* own lately, total */
		{"S", VIEW_FUNCTIONS, "alpha", 6}, /* back to name */
		{"/AL<enter>", VIEW_FUNCTIONS, "alpha", 1},
		{"/main.py<enter>", VIEW_FUNCTIONS, "delta", 6}, /* the file's name */
		{"/al<esc>", VIEW_FUNCTIONS, "delta", 6},
		{"/al<enter>c", VIEW_FUNCTIONS, "delta", 6},
		{"/al<back><back>de<enter>", VIEW_FUNCTIONS, "delta", 1},
		{"/zzz<enter>", VIEW_FUNCTIONS, "", 0},
		{"/al<enter>u", VIEW_FUNCTIONS, "delta", 6},
		{"t", VIEW_FUNCTIONS, "beta", 4},
		{"t<right>", VIEW_FUNCTIONS, "delta", 2},
		{"t<right><right>", VIEW_FUNCTIONS, "beta", 4},
		{"t<left>", VIEW_FUNCTIONS, "delta", 2},
		{"tt", VIEW_FUNCTIONS, "delta", 6},
		{"t<right>tt", VIEW_FUNCTIONS, "delta", 2}, /* the one from before */
		{"<right>", VIEW_FUNCTIONS, "delta", 6},
		{"m", VIEW_FUNCTIONS, "delta", 2},   /* cpu */
		{"mm", VIEW_FUNCTIONS, "beta", 3},   /* gil */
		{"mmm", VIEW_FUNCTIONS, "gamma", 2}, /* exception */
		{"mmmm", VIEW_FUNCTIONS, "delta", 6},
		{"2", VIEW_TREE, "root", 2},
		{"2<enter>", VIEW_TREE, "root", 4},
		{"2e", VIEW_TREE, "root", 5},
		{"2eE", VIEW_TREE, "root", 2},
		{"2<right><right>", VIEW_TREE, "alpha", 4},
		{"2<right><right><left><left>", VIEW_TREE, "root", 2},
		{"2]][", VIEW_TREE, "root", 4},
		{"2H", VIEW_TREE, "beta", 5},
		{"2Hk", VIEW_TREE, "alpha", 5},
		{"4", VIEW_THREADS, "other", 2},
		{"4s", VIEW_THREADS, "main", 2},
		{"4j<enter>", VIEW_FUNCTIONS, "beta", 4},
		{"4/oth", VIEW_THREADS, "other", 1},
		{"j<enter>", VIEW_LINES, NULL, 1},
		{"j<enter>u", VIEW_FUNCTIONS, "beta", 6},
		{"h", VIEW_HELP, NULL, 0},
		{"hh", VIEW_FUNCTIONS, "delta", 6},
		{"3h?", VIEW_FLAME, NULL, 0},
		{"<tab>", VIEW_TREE, "root", 2},
		{"5", VIEW_TASKS, "", 0},
		{"r", VIEW_FUNCTIONS, "", 0},
	};
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct fake_live w;
		open_playing(&w);
		fake_live_keys(&w, cases[i].keys);
		const struct list *list = &w.state.lists[w.state.view];
		if (w.state.view != cases[i].view ||
		    (cases[i].chosen && strcmp(chosen_name(&w), cases[i].chosen) != 0) ||
		    (cases[i].chosen && list->rows.n != cases[i].n_rows))
			fail_msg("after \"%s\": view %d, %s of %zu rows", cases[i].keys,
				 (int)w.state.view, chosen_name(&w), list->rows.n);
		fake_live_close(&w);
	}
}

static void keys_have_effects(void **state)
{
	const struct {
		const char *keys;
		enum effect_kind kind;
		double rate_hz;
		const char *text; /* of the effect, or how its path ends */
	} cases[] = {
		{"q", EFFECT_QUIT, 0, ""},
		{"<c-c>", EFFECT_INTERRUPT, 0, ""},
		{"/abc<c-c>", EFFECT_INTERRUPT, 0, ""},
		{"<c-z>", EFFECT_SUSPEND, 0, ""},
		{"<", EFFECT_RATE, 500, ""},
		{">", EFFECT_RATE, 2000, ""},
		{"m", EFFECT_MODE, 0, ""},
		{"w<enter>", EFFECT_SAVE_SCREEN, 0, "tachyscope-4711-functions.txt"},
		{"2w<c-u>x/y<enter>", EFFECT_SAVE_SCREEN, 0, "x/y"},
		{"W<enter>", EFFECT_SAVE_PROFILE, 0, "table_4711.txt"},
		{"W<tab><enter>", EFFECT_SAVE_PROFILE, 0, "collapsed_4711.txt"},
		{"8ihello<enter>", EFFECT_TYPE, 0, "hello\n"},
	};
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct fake_live w;
		struct effect effect;
		open_playing(&w);
		fake_live_keys(&w, cases[i].keys);
		if (!state_effect(&w.state, &effect))
			fail_msg("\"%s\" has no effect", cases[i].keys);
		if (effect.kind != cases[i].kind || strcmp(effect.text, cases[i].text) != 0 ||
		    (cases[i].rate_hz > 0 && effect.rate_hz != cases[i].rate_hz))
			fail_msg("\"%s\": %d \"%s\" %f", cases[i].keys, (int)effect.kind,
				 effect.text, effect.rate_hz);
		assert_false(state_effect(&w.state, &effect));
		fake_live_close(&w);
	}
}

static void keys_without_effect(void **state)
{
	const char *cases[] = {"x",    "+",         "-", "w<esc>", "W<c-u><enter>",
			       "iabc", "/q<enter>", "p", "~"};
	struct effect effect;
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct fake_live w;
		open_playing(&w);
		fake_live_keys(&w, cases[i]);
		assert_false(state_effect(&w.state, &effect));
		fake_live_close(&w);
	}
}

static void formats_of_a_save(void **state)
{
	const struct {
		const char *keys, *format;
	} cases[] = {
		{"W<enter>", "table"},
		{"W<tab><enter>", "collapsed"},
		{"W<c-u>a.folded<enter>", "collapsed"},
		{"W<tab><c-u>other.txt<enter>", "collapsed"},
		{"W<c-u>page.html<enter>", "flamegraph"},
		{"W<c-u>no-suffix<enter>", "table"},
	};
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct fake_live w;
		struct effect effect;
		open_playing(&w);
		fake_live_keys(&w, cases[i].keys);
		assert_true(state_effect(&w.state, &effect));
		assert_string_equal(effect.format->name, cases[i].format);
		fake_live_close(&w);
	}
}

/* Every format can be reached by Tab, and none that records. */
static void all_formats_by_tab(void **state)
{
	struct fake_live w;
	size_t n = 0, n_seen = 0;
	(void)state;
	open_playing(&w);
	fake_live_keys(&w, "W");
	for (const struct tachy_format *format = tachy_formats(); format->name; format++)
		n += !format->recording;
	do {
		assert_false(tachy_formats()[w.state.format].recording);
		fake_live_keys(&w, "<tab>");
		n_seen++;
	} while (w.state.format != 0);
	assert_int_equal(n_seen, n);
	fake_live_close(&w);
}

static uint64_t own_of(struct fake_live *w, const char *name)
{
	for (uint32_t id = 0; id < w->n_functions; id++)
		if (strcmp(w->names[id], name) == 0)
			return w->state.tally.functions.at[id].count.n_own;
	return 0;
}

static void frozen(void **state)
{
	struct fake_live w;
	(void)state;
	open_playing(&w);
	fake_live_keys(&w, "p");
	fake_live_give(&w, 0, "root;alpha", 100, 0);
	fake_live_tick(&w, 1);
	assert_int_equal(own_of(&w, "alpha"), 30);
	fake_live_keys(&w, "j"); /* one may look around */
	assert_string_equal(chosen_name(&w), "beta");
	fake_live_keys(&w, "p");
	fake_live_tick(&w, 1);
	assert_int_equal(own_of(&w, "alpha"), 130);
	fake_live_close(&w);
}

/* The chosen row is a thing, not a place; who stands on the first row sees what comes there. */
static void choice_stays(void **state)
{
	struct fake_live w;
	(void)state;
	open_playing(&w);
	fake_live_keys(&w, "j");
	fake_live_give(&w, 0, "root;gamma", 500, 0);
	fake_live_tick(&w, 1);
	assert_string_equal(chosen_name(&w), "beta");
	assert_int_equal(w.state.lists[VIEW_FUNCTIONS].cursor, 2);
	fake_live_keys(&w, "g");
	assert_string_equal(chosen_name(&w), "gamma");
	fake_live_give(&w, 0, "root;alpha", 5000, 0);
	fake_live_tick(&w, 1);
	assert_string_equal(chosen_name(&w), "alpha");
	fake_live_close(&w);
}

static void mouse(void **state)
{
	struct fake_live w;
	struct key key = {.code = KEY_CLICK, .row = 7};
	(void)state;
	open_playing(&w); /* five lines of header, one of names: rows from 6 on */
	state_key(&w.state, key);
	assert_string_equal(chosen_name(&w), "beta");
	key.row = 0;
	state_key(&w.state, key);
	assert_string_equal(chosen_name(&w), "beta");
	key.code = KEY_WHEEL_DOWN;
	state_key(&w.state, key);
	assert_string_equal(chosen_name(&w), "root");
	fake_live_keys(&w, "3");
	key = (struct key){.code = KEY_CLICK, .row = 7, .col = 10};
	state_key(&w.state, key);
	assert_int_equal(flame_chosen(&w.state), flame_at(&w.state, 7, 10));
	assert_int_not_equal(flame_chosen(&w.state), TREE_ROOT);
	assert_int_equal(flame_at(&w.state, 0, 10), NO_ID);
	fake_live_close(&w);
}

static void flame_keys(void **state)
{
	const struct {
		const char *keys, *chosen; /* "" the root */
		bool zoomed;
	} cases[] = {
		{"3", "", false},
		{"3j", "root", false},
		{"3jj", "alpha", false},
		{"3jjj", "beta", false},
		{"3jjjj", "beta", false},
		{"3jjk", "root", false},
		{"3jj]", "gamma", false},
		{"3jj]]", "gamma", false},
		{"3jj][", "alpha", false},
		{"3j<right>", "boot", false},
		{"3jj<enter>", "alpha", true},
		{"3jj<enter>u", "alpha", true},
		{"3jj<enter>uu", "root", false},
		{"3jj<enter><esc>", "alpha", false},
	};
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct fake_live w;
		open_playing(&w);
		fake_live_keys(&w, cases[i].keys);
		uint32_t label = w.state.tally.tree.nodes.at[flame_chosen(&w.state)].label;
		const char *name = label == NO_ID ? "" : w.names[label];
		if (strcmp(name, cases[i].chosen) != 0 ||
		    (w.state.zoom != TREE_ROOT) != cases[i].zoomed)
			fail_msg("after \"%s\": %s, zoom %u", cases[i].keys, name, w.state.zoom);
		fake_live_close(&w);
	}
}

/* All the keys there are, in any order: nothing breaks, at any size. */
static void any_keys(void **state)
{
	static const char letters[] = "12345678hqstSxprjkgGmcuweEHWi/<>+-[]?~ \x1b\r\x7f\t";
	struct fake_live w;
	uint64_t seed = 11;
	struct effect effect;
	(void)state;
	open_playing(&w);
	for (unsigned i = 0; i < 30000; i++) {
		struct key key = {.code = letters[dice(&seed) % (sizeof letters - 1)],
				  .row = (unsigned)(dice(&seed) % 30),
				  .col = (unsigned)(dice(&seed) % 90)};
		if (dice(&seed) % 5 == 0)
			key.code = KEY_UP + (int32_t)(dice(&seed) % 14);
		state_key(&w.state, key);
		if (dice(&seed) % 50 == 0)
			state_resize(&w.state, (unsigned)(dice(&seed) % 40) + 1,
				     (unsigned)(dice(&seed) % 150) + 1);
		if (dice(&seed) % 20 == 0) {
			fake_live_give(&w, i % 2, i % 3 ? "root;alpha;beta" : "a;b;c;d;e", 3,
				       (uint32_t)dice(&seed) % 64);
			fake_live_tick(&w, 0.2);
			assert_int_equal(screen_draw(&w.state, &w.grid), 0);
		}
		while (state_effect(&w.state, &effect))
			if (effect.kind == EFFECT_SOURCE)
				state_source(&w.state, strdup("a\nb\n"), 4);
	}
	fake_live_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_move_and_show),  cmocka_unit_test(keys_have_effects),
		cmocka_unit_test(keys_without_effect), cmocka_unit_test(formats_of_a_save),
		cmocka_unit_test(all_formats_by_tab),  cmocka_unit_test(frozen),
		cmocka_unit_test(choice_stays),        cmocka_unit_test(mouse),
		cmocka_unit_test(flame_keys),          cmocka_unit_test(any_keys),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
