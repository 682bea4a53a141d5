/* SPDX-License-Identifier: MIT
 * What keys do in each view. Part of the state's reducer: state_key.
 */
#ifndef TUI_KEYS_H
#define TUI_KEYS_H

#include "tui/state.h"

/* A key while a line is being typed. */
void prompt_key(struct state *state, struct key key);
void prompt_open(struct state *state, enum prompt prompt);
/* A key that means something in the tree or the flame graph only. False: it does not. */
bool tree_key(struct state *state, struct key key);
bool flame_key(struct state *state, struct key key);
/* Shows another view. */
void keys_show(struct state *state, enum view view);

#endif
