/* SPDX-License-Identifier: MIT
 * Keys have the meaning that they have in the live mode of CPython's own profiler, where it has them; the
 * others were free there.
 */
#include "tui/keys.h"

#include <string.h>

#include "tui/rows.h"
#include "tui/screen.h"
#include "tui/views.h"

#define WHEEL_ROWS 3

void keys_show(struct state *state, enum view view)
{
	if (view == VIEW_HELP && state->view != VIEW_HELP)
		state->before_help = state->view;
	state->view = view;
}

static void next_view(struct state *state, int step)
{
	int view = (int)state->view;
	do
		view = (view + step + VIEW_N) % VIEW_N;
	while (view == VIEW_HELP || (view == VIEW_OUTPUT && !state->facts.has_program));
	keys_show(state, (enum view)view);
}

/* ---- selection ---------------------------------------------------------------------------------- */

static void select_thread(struct state *state, uint32_t thread)
{
	if (state->selection.thread != NO_ID)
		state->thread_before = state->selection.thread;
	state->selection.thread = thread;
	if (tally_select(&state->tally, state->selection) < 0)
		state->status = TACHY_ENOMEM;
}

/* The main thread, else the first one. */
static uint32_t first_thread(const struct state *state)
{
	for (uint32_t id = 0; id < state->tally.threads.n; id++)
		if (state->tally.catalog.threads.at[id].main)
			return id;
	return state->tally.threads.n ? 0 : NO_ID;
}

static void toggle_thread(struct state *state)
{
	if (state->selection.thread != NO_ID)
		select_thread(state, NO_ID);
	else if (state->thread_before != NO_ID)
		select_thread(state, state->thread_before);
	else
		select_thread(state, first_thread(state));
}

static void next_thread(struct state *state, int step)
{
	uint32_t n = (uint32_t)state->tally.threads.n, id = state->selection.thread;
	for (uint32_t i = 0; id != NO_ID && i < n; i++) {
		id = (id + n + (uint32_t)step) % n;
		if (!rows_thread_ended(state, id))
			break;
	}
	if (id != NO_ID)
		select_thread(state, id);
}

static void next_mode(struct state *state)
{
	state->selection.mode =
		(enum tachy_mode)((state->selection.mode + 1) % (TACHY_MODE_EXCEPTION + 1));
	if (tally_select(&state->tally, state->selection) < 0)
		state->status = TACHY_ENOMEM;
	state_want(state, EFFECT_MODE)->mode = state->selection.mode;
}

static void set_rate(struct state *state, double factor)
{
	double rate = state->facts.rate_hz * factor;
	if (state->facts.rate_hz == 0) /* as fast as it goes */
		rate = factor < 1 ? 10000 : 0;
	if (rate > 0 && rate < 1)
		rate = 1;
	if (rate > TACHY_RATE_MAX_HZ)
		rate = TACHY_RATE_MAX_HZ;
	state->facts.rate_hz = rate;
	state_want(state, EFFECT_RATE)->rate_hz = rate;
}

static void set_refresh(struct state *state, int step)
{
	if (step > 0 && state_refresh_hz[state->refresh + 1])
		state->refresh++;
	else if (step < 0 && state->refresh > 0)
		state->refresh--;
}

static void toggle_frozen(struct state *state)
{
	/* what came meanwhile did not all come in this second */
	if (state->frozen && tally_settle(&state->tally, state->tally.second, false) < 0)
		state->status = TACHY_ENOMEM;
	state->frozen = !state->frozen;
}

/* ---- going deeper and back ------------------------------------------------------------------------ */

static void drill_down(struct state *state)
{
	uint32_t id = rows_chosen(state);
	if (id == NO_ID)
		return;
	if (state->view == VIEW_THREADS) {
		select_thread(state, id);
		keys_show(state, VIEW_FUNCTIONS);
	} else if (state->view == VIEW_FUNCTIONS) {
		state->function = id;
		keys_show(state, VIEW_LINES);
	} else if (state->view == VIEW_TASKS) {
		(void)strncpy(state->filter, state->tally.catalog.functions.at[id].name,
			      sizeof state->filter - 1);
		keys_show(state, VIEW_TREE);
	}
}

/* The function that is chosen, in whatever view, becomes that of the lines. */
static void take_function(struct state *state)
{
	uint32_t id = state->view == VIEW_FLAME ? flame_chosen(state) : rows_chosen(state);
	if (id == NO_ID)
		return;
	if (state->view == VIEW_FUNCTIONS) {
		state->function = id;
	} else if (state->view == VIEW_TREE || state->view == VIEW_FLAME) {
		uint32_t label = state->tally.tree.nodes.at[id].label;
		if (!(label & TREE_PROCESS))
			state->function = label;
	} else if (state->view == VIEW_THREADS && state->tally.threads.at[id].stack) {
		const struct catalog *catalog = &state->tally.catalog;
		uint32_t frame = catalog->stacks.at[state->tally.threads.at[id].stack].frame;
		state->function = catalog->lines.at[catalog->frames.at[frame].line].function;
	}
}

static void go_back(struct state *state)
{
	if (state->view == VIEW_HELP)
		keys_show(state, state->before_help);
	else if (state->filter[0])
		state->filter[0] = '\0';
	else if (state->view == VIEW_LINES || state->view == VIEW_OPCODES)
		keys_show(state, VIEW_FUNCTIONS);
	else if (state->view == VIEW_FLAME && state->zoom != TREE_ROOT)
		state->zoom = TREE_ROOT;
	else if (state->selection.thread != NO_ID)
		select_thread(state, NO_ID);
}

static void click(struct state *state, struct key key)
{
	struct screen_parts parts = screen_parts(state);
	if (key.row >= parts.first && key.row < parts.first + parts.n_rows)
		rows_move_to(state, state->lists[state->view].top + key.row - parts.first);
}

/* ---- the keys -------------------------------------------------------------------------------------- */

static bool move_key(struct state *state, struct key key)
{
	long page = (long)state_page(state);
	switch (key.code) {
	case KEY_UP:
	case 'k':
		rows_move(state, -1);
		return true;
	case KEY_DOWN:
	case 'j':
		rows_move(state, 1);
		return true;
	case KEY_PAGE_UP:
		rows_move(state, -page);
		return true;
	case KEY_PAGE_DOWN:
		rows_move(state, page);
		return true;
	case KEY_WHEEL_UP:
		rows_move(state, -WHEEL_ROWS);
		return true;
	case KEY_WHEEL_DOWN:
		rows_move(state, WHEEL_ROWS);
		return true;
	case KEY_HOME:
	case 'g':
		rows_move_to(state, 0);
		return true;
	case KEY_END:
	case 'G':
		rows_move_to(state, SIZE_MAX);
		return true;
	case KEY_CLICK:
		click(state, key);
		return true;
	default:
		return false;
	}
}

static bool view_key(struct state *state, struct key key)
{
	if (key.code >= '1' && key.code <= '8') {
		enum view view = (enum view)(key.code - '1');
		if (view == VIEW_LINES || view == VIEW_OPCODES)
			take_function(state);
		keys_show(state, view);
		return true;
	}
	switch (key.code) {
	case 'h':
	case '?':
		keys_show(state, state->view == VIEW_HELP ? state->before_help : VIEW_HELP);
		return true;
	case KEY_TAB:
		next_view(state, 1);
		return true;
	case KEY_BACK_TAB:
		next_view(state, -1);
		return true;
	case KEY_ENTER:
		drill_down(state);
		return true;
	case KEY_ESCAPE:
	case KEY_BACKSPACE:
	case 'u':
		go_back(state);
		return true;
	default:
		return false;
	}
}

static bool selection_key(struct state *state, struct key key)
{
	switch (key.code) {
	case 't':
		toggle_thread(state);
		return true;
	case KEY_LEFT:
		next_thread(state, -1);
		return true;
	case KEY_RIGHT:
		next_thread(state, 1);
		return true;
	case 'm':
		next_mode(state);
		return true;
	case 's':
		rows_next_sort(state, 1);
		return true;
	case 'S':
		rows_next_sort(state, -1);
		return true;
	case '/':
		prompt_open(state, PROMPT_FILTER);
		return true;
	case 'c':
		state->filter[0] = '\0';
		return true;
	case 'r':
		tally_reset(&state->tally);
		return true;
	default:
		return false;
	}
}

static void other_key(struct state *state, struct key key)
{
	switch (key.code) {
	case 'q':
		(void)state_want(state, EFFECT_QUIT);
		break;
	case KEY_SUSPEND:
		(void)state_want(state, EFFECT_SUSPEND);
		break;
	case KEY_REDRAW:
		(void)state_want(state, EFFECT_REDRAW);
		break;
	case 'p':
		toggle_frozen(state);
		break;
	case 'x':
		state->trends = !state->trends;
		break;
	case '+':
	case '=':
		set_refresh(state, 1);
		break;
	case '-':
		set_refresh(state, -1);
		break;
	case '<':
		set_rate(state, 0.5);
		break;
	case '>':
		set_rate(state, 2);
		break;
	case 'w':
		prompt_open(state, PROMPT_SAVE_SCREEN);
		break;
	case 'W':
		prompt_open(state, PROMPT_SAVE_PROFILE);
		break;
	case 'i':
		if (state->facts.can_type && state->view == VIEW_OUTPUT)
			prompt_open(state, PROMPT_TYPE);
		break;
	default:
		break;
	}
}

void state_key(struct state *state, struct key key)
{
	if (key.code == KEY_INTERRUPT || key.code == KEY_QUIT) {
		(void)state_want(state, EFFECT_INTERRUPT);
		return;
	}
	if (state->prompt != PROMPT_NONE && key.code != KEY_SUSPEND)
		prompt_key(state, key);
	else if (state->view == VIEW_TREE && tree_key(state, key))
		;
	else if (state->view == VIEW_FLAME && flame_key(state, key))
		;
	else if (move_key(state, key))
		state->hot_path = state->hot_path && state->view != VIEW_TREE; /* their own way */
	else if (!view_key(state, key) && !selection_key(state, key))
		other_key(state, key);
	if (rows_renew(state) < 0)
		state->status = TACHY_ENOMEM;
}
