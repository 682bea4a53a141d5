/* SPDX-License-Identifier: MIT
 * A session made of words: "root;mid;leaf" becomes events, as a running one would tell them.
 */
#ifndef FAKE_LIVE_H
#define FAKE_LIVE_H

#include "cases.h"

#include "tui/screen.h"
#include "tui/state.h"

#define FAKE_NS INT64_C(1000000000)

struct fake_live {
	struct state state;
	struct grid grid;
	char names[256][64]; /* of functions, by id */
	char opcodes[256][32]; /* of frames, by id */
	uint32_t n_functions, n_frames, n_stacks, n_threads;
	int64_t now_ns;
};

static inline void fake_live_open(struct fake_live *w, unsigned rows, unsigned cols)
{
	struct facts facts = {.pid = 4711, .rate_hz = 1000, .has_program = true, .can_type = true};
	struct tachy_live_event event = {.kind = TACHY_LIVE_PROCESS};
	memset(w, 0, sizeof *w);
	w->n_stacks = 1;
	w->now_ns = 100 * FAKE_NS;
	(void)snprintf(facts.command, sizeof facts.command, "python3 app.py");
	(void)snprintf(facts.version, sizeof facts.version, "3.12.1");
	assert_int_equal(state_init(&w->state, &facts, w->now_ns), 0);
	event.process.command = "python3 app.py";
	event.process.version = "3.12.1";
	event.process.pid = 4711;
	state_event(&w->state, &event);
	state_resize(&w->state, rows, cols);
}

static inline void fake_live_close(struct fake_live *w)
{
	assert_int_equal(w->state.status, 0);
	state_done(&w->state);
	grid_done(&w->grid);
}

static inline uint32_t fake_live_thread(struct fake_live *w, const char *name, bool main)
{
	struct tachy_live_event event = {.kind = TACHY_LIVE_THREAD, .id = w->n_threads};
	event.thread.name = name;
	event.thread.tid = 5000 + w->n_threads;
	event.thread.main = main;
	state_event(&w->state, &event);
	return w->n_threads++;
}

/* "name", "name:line", "name!opcode"; equal names are one function, in /app/NAME.py from line 10 on. */
static inline uint32_t fake_live_frame(struct fake_live *w, char *word)
{
	static const char file[] = "/app/main.py";
	struct tachy_live_event event = {.kind = TACHY_LIVE_FUNCTION};
	char *colon = strchr(word, ':'), *bang = strchr(word, '!');
	int32_t line = 10;
	uint32_t id = 0;
	if (colon) {
		line = (int32_t)atoi(colon + 1);
		*colon = '\0';
	}
	if (bang)
		*bang = '\0';
	while (id < w->n_functions && strcmp(w->names[id], word) != 0)
		id++;
	if (id == w->n_functions) {
		assert_true(id < 256);
		(void)snprintf(w->names[id], sizeof w->names[id], "%s", word);
		event.id = w->n_functions++;
		event.function.name = w->names[id];
		event.function.file = word[0] == '<' ? "" : file;
		event.function.first_line = 10;
		event.function.kind = strcmp(word, "<GC>") == 0	    ? TACHY_FRAME_GC
				      : strncmp(word, "<task", 5) == 0 ? TACHY_FRAME_TASK
								       : TACHY_FRAME_PYTHON;
		state_event(&w->state, &event);
	}
	event = (struct tachy_live_event){.kind = TACHY_LIVE_FRAME, .id = w->n_frames};
	event.frame.function = id;
	event.frame.line = line;
	if (bang && w->n_frames < 256)
		(void)snprintf(w->opcodes[w->n_frames], sizeof w->opcodes[0], "%s", bang + 1);
	event.frame.opcode = bang && w->n_frames < 256 ? w->opcodes[w->n_frames] : "";
	event.frame.base_opcode = bang ? "BASE" : "";
	state_event(&w->state, &event);
	return w->n_frames++;
}

/* A stack of its own for every call: the state must cope with equal ones. */
static inline uint32_t fake_live_stack(struct fake_live *w, const char *stack)
{
	char text[512], *rest = text, *word;
	uint32_t parent = 0;
	(void)snprintf(text, sizeof text, "%s", stack);
	while ((word = strsep(&rest, ";")) != NULL && *word) {
		struct tachy_live_event event = {.kind = TACHY_LIVE_STACK};
		event.stack.parent = parent;
		event.stack.frame = fake_live_frame(w, word);
		parent = event.id = w->n_stacks++;
		state_event(&w->state, &event);
	}
	return parent;
}

/* `n` ticks of a millisecond. */
static inline void fake_live_give(struct fake_live *w, uint32_t thread, const char *stack,
				  uint64_t n, uint32_t states)
{
	struct tachy_live_event event = {.kind = TACHY_LIVE_SAMPLE, .id = thread};
	event.sample.stack = fake_live_stack(w, stack);
	event.sample.states = states;
	event.sample.n_ticks = n;
	event.sample.weight_ns = n * 1000000;
	state_event(&w->state, &event);
}

static inline void fake_live_tick(struct fake_live *w, double seconds)
{
	w->now_ns += (int64_t)(seconds * 1e9);
	state_tick(&w->state, w->now_ns);
}

/* Keys as they are written; the names of the others in <>. */
static inline void fake_live_keys(struct fake_live *w, const char *keys)
{
	static const struct {
		const char *name;
		int32_t code;
	} names[] = {{"<enter>", KEY_ENTER},   {"<esc>", KEY_ESCAPE},	{"<up>", KEY_UP},
		     {"<down>", KEY_DOWN},     {"<left>", KEY_LEFT},	{"<right>", KEY_RIGHT},
		     {"<back>", KEY_BACKSPACE}, {"<tab>", KEY_TAB},	{"<pgdn>", KEY_PAGE_DOWN},
		     {"<pgup>", KEY_PAGE_UP},  {"<home>", KEY_HOME},	{"<end>", KEY_END},
		     {"<c-c>", KEY_INTERRUPT}, {"<c-z>", KEY_SUSPEND}, {"<c-u>", 21}};
	while (*keys) {
		struct key key = {.code = (unsigned char)*keys};
		size_t n = 1;
		for (size_t i = 0; i < N_OF(names); i++)
			if (strncmp(keys, names[i].name, strlen(names[i].name)) == 0) {
				key.code = names[i].code;
				n = strlen(names[i].name);
			}
		state_key(&w->state, key);
		keys += n;
	}
}

struct fake_text {
	char *at;
	size_t n, room;
};

static inline void fake_text_add(void *arg, const char *text, size_t n)
{
	struct fake_text *out = arg;
	assert_true(out->n + n < out->room);
	memcpy(out->at + out->n, text, n);
	out->n += n;
	out->at[out->n] = '\0';
}

/* The screen as text. */
static inline const char *fake_live_screen(struct fake_live *w, char *text, size_t room)
{
	struct fake_text out = {text, 0, room};
	text[0] = '\0';
	assert_int_equal(screen_draw(&w->state, &w->grid), 0);
	screen_text(&w->grid, fake_text_add, &out);
	return text;
}

#endif
