/* SPDX-License-Identifier: MIT
 * Talking to the person: one line at a time on standard error, foreign text made harmless.
 */
#ifndef CLI_SAY_H
#define CLI_SAY_H

#include <stdbool.h>
#include <stdint.h>

/* "tachyscope: <text>" and a newline. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What is at the other end of `fd`. */
struct terminal {
	bool is_terminal;
	bool color;     /* wanted, by NO_COLOR and TERM */
	uint32_t width; /* columns; 0: no terminal, no limit */
};
struct terminal terminal_of(int fd);

#endif
