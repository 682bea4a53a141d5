/* SPDX-License-Identifier: MIT
 * Lines that are typed at the bottom: the filter, which works while it is typed; names of files; and input
 * for the program.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "tui/keys.h"
#include "tui/rows.h"
#include "tui/views.h"

static void append(char *line, uint32_t c)
{
	char bytes[4];
	size_t n = strlen(line), more = utf8_encode(c, bytes);
	if (n + more >= PROMPT_MAX)
		return;
	memcpy(line + n, bytes, more);
	line[n + more] = '\0';
}

static void take_back(char *line)
{
	size_t n = strlen(line);
	while (n > 0 && (line[--n] & 0xc0) == 0x80) {
	}
	line[n] = '\0';
}

/* "tachyscope-4711-functions.txt", "collapsed_4711.txt" */
static void propose(struct state *state)
{
	const struct tachy_format *format = &tachy_formats()[state->format];
	if (state->prompt == PROMPT_SAVE_PROFILE) {
		(void)snprintf(state->line, sizeof state->line, "%s_%" PRId64 "%s", format->name,
			       state->facts.pid, format->suffix[0] ? format->suffix : ".txt");
		return;
	}
	int n = snprintf(state->line, sizeof state->line, "tachyscope-%" PRId64 "-%s.txt",
			 state->facts.pid, view_info(state->view)->name);
	for (int i = 0; i < n && (size_t)i < sizeof state->line; i++)
		state->line[i] = (char)tolower((unsigned char)state->line[i]);
}

void prompt_open(struct state *state, enum prompt prompt)
{
	state->prompt = prompt;
	state->line[0] = '\0';
	if (prompt == PROMPT_FILTER)
		memcpy(state->line, state->filter, sizeof state->line);
	else if (prompt != PROMPT_TYPE)
		propose(state);
}

static void next_format(struct state *state, int step)
{
	size_t n = 0;
	while (tachy_formats()[n].name)
		n++;
	if (n == 0)
		return;
	do /* recordings are made from the start on, or not at all */
		state->format = (state->format + n + (size_t)step) % n;
	while (tachy_formats()[state->format].recording);
	propose(state);
}

/* The format that the name asks for by its suffix wins over the one that was chosen by Tab, unless both
 * have it. */
static const struct tachy_format *format_of(const struct state *state)
{
	const struct tachy_format *chosen = &tachy_formats()[state->format];
	const struct tachy_format *named = tachy_format_by_path(state->line);
	const char *dot = strrchr(state->line, '.');
	if (!named || named->recording || (dot && strcmp(dot, chosen->suffix) == 0) ||
	    (dot && !chosen->suffix[0] &&
	     strncmp(state->line, chosen->name, strlen(chosen->name)) == 0))
		return chosen;
	return named;
}

static void finish(struct state *state)
{
	enum prompt prompt = state->prompt;
	if (prompt == PROMPT_TYPE) {
		struct effect *effect = state_want(state, EFFECT_TYPE);
		(void)snprintf(effect->text, sizeof effect->text, "%.*s\n", (int)PROMPT_MAX - 2,
			       state->line);
		state->line[0] = '\0';
		return; /* the next line may follow */
	}
	state->prompt = PROMPT_NONE;
	if (prompt == PROMPT_FILTER || !state->line[0])
		return;
	struct effect *effect = state_want(state, prompt == PROMPT_SAVE_SCREEN
							  ? EFFECT_SAVE_SCREEN
							  : EFFECT_SAVE_PROFILE);
	effect->format = format_of(state);
	(void)snprintf(effect->text, sizeof effect->text, "%s", state->line);
}

static void leave(struct state *state)
{
	if (state->prompt == PROMPT_FILTER)
		state->filter[0] = '\0';
	state->prompt = PROMPT_NONE;
}

void prompt_key(struct state *state, struct key key)
{
	bool saves_profile = state->prompt == PROMPT_SAVE_PROFILE;
	if (key.code == KEY_ENTER)
		finish(state);
	else if (key.code == KEY_ESCAPE)
		leave(state);
	else if (key.code == KEY_BACKSPACE)
		take_back(state->line);
	else if (key.code == 21) /* Ctrl-U */
		state->line[0] = '\0';
	else if (saves_profile && (key.code == KEY_TAB || key.code == KEY_BACK_TAB))
		next_format(state, key.code == KEY_TAB ? 1 : -1);
	else if (key.code == 4 && state->prompt == PROMPT_TYPE) /* Ctrl-D: the end of its input */
		(void)snprintf(state_want(state, EFFECT_TYPE)->text, PROMPT_MAX, "\004");
	else if (key.code >= 0x20 && key.code < KEY_UP)
		append(state->line, (uint32_t)key.code);
	if (state->prompt == PROMPT_FILTER)
		memcpy(state->filter, state->line, sizeof state->filter);
}
