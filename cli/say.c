/* SPDX-License-Identifier: MIT
 * Each line is one write, so that lines of several writers do not mix.
 */
#include "say.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/io.h"
#include "base/utf8.h"

#define LINE_ROOM 4096
#define PREFIX "tachyscope: "
#define WIDTH_DEFAULT 80

void say(const char *format, ...)
{
	char text[LINE_ROOM / 2], line[LINE_ROOM] = PREFIX;
	va_list args;
	va_start(args, format);
	(void)vsnprintf(text, sizeof text, format, args);
	va_end(args);
	size_t start = strlen(PREFIX);
	(void)utf8_escape(line + start, sizeof line - start - 1, text, strlen(text));
	size_t len = strlen(line);
	line[len++] = '\n';
	(void)io_write_all(STDERR_FILENO, line, len);
}

struct terminal terminal_of(int fd)
{
	struct terminal terminal = {.is_terminal = isatty(fd) == 1};
	struct winsize size;
	const char *kind = getenv("TERM"), *no_color = getenv("NO_COLOR");
	if (!terminal.is_terminal)
		return terminal;
	terminal.color = !(no_color && *no_color) && kind && strcmp(kind, "dumb") != 0;
	terminal.width = WIDTH_DEFAULT;
	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		terminal.width = size.ws_col;
	return terminal;
}
