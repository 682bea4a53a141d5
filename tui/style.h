/* SPDX-License-Identifier: MIT
 * What a cell means, not how it looks: the terminal side turns each into colours, or into bold, dim and
 * reverse where colours are not wanted.
 */
#ifndef TUI_STYLE_H
#define TUI_STYLE_H

#include <stdint.h>

/* name, colour of the text (256-colour palette; -1 the terminal's), of the ground, attributes ("b"old,
 * "d"im, "r"everse) with colours, and the same without */
#define STYLES(X)                                  \
	X(PLAIN, -1, -1, "", "")                   \
	X(DIM, -1, -1, "d", "d")                   \
	X(BOLD, -1, -1, "b", "b")                  \
	X(TITLE, 231, 24, "b", "r")                \
	X(HEAD, 16, 152, "", "r")                  \
	X(TAB, -1, -1, "d", "d")                   \
	X(TAB_HERE, 231, 24, "b", "br")            \
	X(FUNCTION, 117, -1, "", "")               \
	X(FILE, 108, -1, "", "d")                  \
	X(MARKER, 176, -1, "", "")                 \
	X(GOOD, 77, -1, "", "")                    \
	X(WARM, 221, -1, "", "")                   \
	X(HOT, 203, -1, "b", "b")                  \
	X(BAR, 39, 236, "", "")                    \
	X(BAR_GC, 170, 236, "", "")                \
	X(BAR_WAIT, 214, 236, "", "")              \
	X(BAR_ERROR, 203, 236, "", "")             \
	X(UP, 203, -1, "", "b")                    \
	X(DOWN, 77, -1, "", "d")                   \
	X(KEY, 221, -1, "b", "b")                  \
	X(BANNER, 16, 221, "b", "br")              \
	X(PROMPT, 231, 236, "", "b")               \
	X(FLAME_A, 16, 215, "", "")                \
	X(FLAME_B, 16, 209, "", "r")               \
	X(FLAME_C, 16, 223, "", "")                \
	X(FLAME_LIB, 16, 151, "", "d")             \
	X(FLAME_MARKER, 16, 182, "", "d")

enum style {
#define STYLE_ENUM(name, text, ground, colored, plain) STYLE_##name,
	STYLES(STYLE_ENUM)
#undef STYLE_ENUM
		STYLE_N
};

/* The row that a person has chosen. */
#define STYLE_CHOSEN 0x100u

typedef uint16_t style_t; /* enum style, and STYLE_CHOSEN */

#endif
