/* SPDX-License-Identifier: MIT
 * The events that do not come from keys. While the screen is frozen samples are still taken, and wait in
 * their cells.
 */
#include "tui/state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/rows.h"
#include "tui/screen.h"

#define NS_PER_S   INT64_C(1000000000)
#define MESSAGE_NS (6 * NS_PER_S)

const unsigned state_refresh_hz[] = {1, 2, 5, 10, 20, 0};
#define REFRESH_DEFAULT 3

int state_init(struct state *state, const struct facts *facts, int64_t now_ns)
{
	*state = (struct state){.facts = *facts,
				.selection = {NO_ID, facts->mode},
				.thread_before = NO_ID,
				.function = NO_ID,
				.trends = true,
				.refresh = REFRESH_DEFAULT,
				.rows = 24,
				.cols = 80,
				.now_ns = now_ns,
				.stats_before_ns = now_ns,
				.start_ns = now_ns,
				.cpu_share = -1};
	for (size_t i = 0; i < VIEW_N; i++)
		state->lists[i].chosen = NO_ID;
	state->lists[VIEW_TREE].sort = SORT_TOTAL;
	state->lists[VIEW_TASKS].sort = SORT_TOTAL;
	state->lists[VIEW_LINES].sort = SORT_ORDER;
	int rc = tally_init(&state->tally);
	state->tally.selection = state->selection;
	return rc;
}

void state_done(struct state *state)
{
	tally_done(&state->tally);
	for (size_t i = 0; i < VIEW_N; i++)
		vec_done(&state->lists[i].rows);
	free(state->source.bytes);
	vec_done(&state->source.starts);
}

static void note(struct state *state, int rc)
{
	if (rc < 0)
		state->status = rc;
}

/* ---- effects --------------------------------------------------------------------------------- */

struct effect *state_want(struct state *state, enum effect_kind kind)
{
	/* the last one gives way: a person who presses that many keys in a moment means the newest */
	if (state->n_effects == EFFECTS_MAX)
		state->n_effects--;
	struct effect *effect = &state->effects[state->n_effects++];
	*effect = (struct effect){.kind = kind};
	return effect;
}

bool state_effect(struct state *state, struct effect *ret_effect)
{
	if (state->n_effects == 0)
		return false;
	*ret_effect = state->effects[0];
	state->n_effects--;
	memmove(state->effects, state->effects + 1, state->n_effects * sizeof *state->effects);
	return true;
}

/* ---- facts for views ------------------------------------------------------------------------- */

uint32_t state_function(const struct state *state)
{
	if (state->function != NO_ID)
		return state->function;
	uint32_t best = NO_ID;
	uint64_t most = 0;
	for (uint32_t id = 0; id < state->tally.functions.n; id++) {
		const struct told_function *function = &state->tally.catalog.functions.at[id];
		uint64_t ns = state->tally.functions.at[id].count.ns_own;
		if (function->kind == TACHY_FRAME_PYTHON && ns > most) {
			most = ns;
			best = id;
		}
	}
	return best;
}

unsigned state_page(const struct state *state)
{
	struct screen_parts parts = screen_parts(state);
	return parts.n_rows;
}

unsigned state_period_ms(const struct state *state)
{
	return 1000 / state_refresh_hz[state->refresh];
}

/* ---- events ----------------------------------------------------------------------------------- */

void state_resize(struct state *state, unsigned rows, unsigned cols)
{
	state->rows = rows;
	state->cols = cols;
	note(state, rows_renew(state));
}

void state_event(struct state *state, const struct tachy_live_event *event)
{
	note(state, tally_take(&state->tally, event, state->now_ns / NS_PER_S));
}

static void want_source(struct state *state)
{
	uint32_t function = state_function(state);
	if ((state->view != VIEW_LINES && state->view != VIEW_OPCODES) || function == NO_ID)
		return;
	const char *file = state->tally.catalog.functions.at[function].file;
	struct source *source = &state->source;
	if (source->file && strcmp(source->file, file) == 0)
		return;
	free(source->bytes);
	source->bytes = NULL;
	source->starts.n = 0;
	source->file = file;
	source->asked = true;
	if (strlen(file) < PROMPT_MAX)
		(void)snprintf(state_want(state, EFFECT_SOURCE)->text, PROMPT_MAX, "%s", file);
}

void state_tick(struct state *state, int64_t now_ns)
{
	state->now_ns = now_ns;
	if (state->frozen)
		return;
	note(state, tally_settle(&state->tally, now_ns / NS_PER_S, !state->banner[0]));
	note(state, rows_renew(state));
	want_source(state);
}

void state_stats(struct state *state, const struct tachy_stats *stats, uint64_t dropped)
{
	const struct tachy_stats *before = &state->stats_before;
	double seconds = (double)(state->now_ns - state->stats_before_ns) / (double)NS_PER_S;
	state->stats = *stats;
	state->dropped = dropped;
	if (seconds < 1)
		return;
	state->rate_got = (double)(stats->samples_captured - before->samples_captured) / seconds;
	state->self_share = (stats->cpu_user_s + stats->cpu_system_s - before->cpu_user_s -
			     before->cpu_system_s) /
			    seconds;
	state->stats_before = *stats;
	state->stats_before_ns = state->now_ns;
}

void state_cpu(struct state *state, double cpu_s)
{
	double seconds = (double)(state->now_ns - state->cpu_ns) / (double)NS_PER_S;
	if (state->cpu_ns && seconds < 0.9)
		return;
	if (state->cpu_ns) {
		double share = (cpu_s - state->cpu_s) / seconds;
		state->cpu_share = share < 0 ? 0 : share;
		double permille = state->cpu_share * 1000;
		state->minute_at = (state->minute_at + 1) % MINUTE;
		state->minute[state->minute_at] = permille > UINT16_MAX ? UINT16_MAX
									: (uint16_t)permille;
		state->minute_n += state->minute_n < MINUTE;
	}
	state->cpu_s = cpu_s;
	state->cpu_ns = state->now_ns;
}

void state_ended(struct state *state, const char *why)
{
	if (!state->banner[0])
		(void)snprintf(state->banner, sizeof state->banner, "%s", why);
}

void state_message(struct state *state, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	(void)vsnprintf(state->message, sizeof state->message, format, args);
	va_end(args);
	state->message_until_ns = state->now_ns + MESSAGE_NS;
}

/* Where each line begins. */
static bool index_lines(struct source *source, size_t size)
{
	if (!vec_push(&source->starts, 0u))
		return false;
	for (size_t i = 0; i < size && i < UINT32_MAX; i++)
		if (source->bytes[i] == '\n' && !vec_push(&source->starts, (uint32_t)i + 1))
			return false;
	return vec_push(&source->starts, (uint32_t)size + 1);
}

void state_source(struct state *state, char *bytes, size_t size)
{
	struct source *source = &state->source;
	free(source->bytes);
	source->bytes = bytes;
	source->asked = false;
	source->starts.n = 0;
	if (bytes && !index_lines(source, size)) {
		free(bytes);
		source->bytes = NULL;
		source->starts.n = 0;
		note(state, TACHY_ENOMEM);
	}
}
