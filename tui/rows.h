/* SPDX-License-Identifier: MIT
 * Which rows a view has now, and in which order.
 */
#ifndef TUI_ROWS_H
#define TUI_ROWS_H

#include "tui/state.h"

#define RECENT_SECONDS 5u

/* Renews the rows of the view at hand; keeps the chosen one chosen. TACHY_ENOMEM. */
int rows_renew(struct state *state);
/* The next order that makes sense in this view. `step`: 1 or -1. */
void rows_next_sort(struct state *state, int step);
/* "own", "own, last 5 s", ... */
const char *rows_sort_name(enum sort sort);
/* Moves the chosen row; bounds are kept. */
void rows_move(struct state *state, long by);
void rows_move_to(struct state *state, size_t row);
/* The id of the chosen row; NO_ID: there are no rows. */
uint32_t rows_chosen(const struct state *state);
/* Whether `text` has `part` in it, upper or lower case. "" is in everything. */
bool rows_match(const char *text, const char *part);
/* Own and total time of the last seconds, in microseconds. */
uint64_t rows_recent(const struct state *state, const struct series *series);
/* A thread that was not met for more than a second. */
bool rows_thread_ended(const struct state *state, uint32_t thread);

#endif
