/* SPDX-License-Identifier: MIT
 * Keys out of the bytes that a terminal sends: characters as themselves, all others by name.
 */
#ifndef TUI_KEY_H
#define TUI_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	KEY_UP = 0x110000, /* above every character */
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_HOME,
	KEY_END,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_BACK_TAB,
	KEY_DELETE,
	KEY_WHEEL_UP,
	KEY_WHEEL_DOWN,
	KEY_CLICK,
	KEY_OTHER /* a sequence that means nothing here */
};

enum {
	KEY_TAB = '\t',
	KEY_ENTER = '\r', /* \n too */
	KEY_ESCAPE = 0x1b,
	KEY_BACKSPACE = 0x7f, /* \b too */
	KEY_INTERRUPT = 3,    /* Ctrl-C */
	KEY_SUSPEND = 26,     /* Ctrl-Z */
	KEY_REDRAW = 12,      /* Ctrl-L */
	KEY_QUIT = 28         /* Ctrl-\ */
};

struct key {
	int32_t code;
	unsigned row, col; /* of the mouse, from 0 */
};

#define KEY_BYTES_MAX 64 /* of one key; longer sequences are thrown away */

struct key_reader {
	char bytes[KEY_BYTES_MAX * 4];
	size_t n;
};

/* Takes over as many bytes as there is room for; how many. */
size_t key_feed(struct key_reader *reader, const char *bytes, size_t n);
/* The next key, if a whole one is there. `idle`: nothing has come for a while, so that what began like a
 * sequence is a key by itself. */
bool key_next(struct key_reader *reader, bool idle, struct key *ret_key);

#endif
