/* SPDX-License-Identifier: MIT
 * Our streams are replaced for as long as a fork takes: the child has what we have then. Everything else
 * about starting a program stays in one place.
 */
#include "stage.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/error.h"
#include "base/io.h"
#include "say.h"
#include "tui/live_screen.h"

/* Modes and size of our own terminal: the keys that a person is used to. */
static void dress(int slave, int fd)
{
	struct termios modes;
	struct winsize size;
	if (tcgetattr(fd, &modes) == 0)
		(void)tcsetattr(slave, TCSANOW, &modes);
	if (ioctl(fd, TIOCGWINSZ, &size) == 0)
		(void)ioctl(slave, TIOCSWINSZ, &size);
}

static int make_terminal(struct stage *stage)
{
	char name[128];
	stage->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (stage->master < 0 || grantpt(stage->master) < 0 || unlockpt(stage->master) < 0 ||
	    ptsname_r(stage->master, name, sizeof name) != 0)
		return TACHY_EIO;
	stage->slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (stage->slave < 0 ||
	    fcntl(stage->master, F_SETFL, fcntl(stage->master, F_GETFL) | O_NONBLOCK) < 0)
		return TACHY_EIO;
	stage->open = true;
	return 0;
}

int stage_open(struct stage *stage, struct tachy_error *err)
{
	int terminal = -1;
	*stage = (struct stage)STAGE_NONE;
	for (int fd = 0; fd < 3; fd++) {
		stage->lent[fd] = isatty(fd) == 1;
		terminal = stage->lent[fd] ? fd : terminal;
	}
	if (terminal < 0)
		return 0;
	if (make_terminal(stage) < 0) {
		int why = errno;
		stage_close(stage);
		return error_set(err, TACHY_EIO, "cannot make a terminal for the program: %s",
				 strerror(why));
	}
	dress(stage->slave, terminal);
	return 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

void stage_close(struct stage *stage)
{
	stage_take_back(stage);
	close_fd(&stage->master);
	spool_done(&stage->spool);
}

int stage_lend(struct stage *stage)
{
	for (int fd = 0; fd < 3 && stage->master >= 0; fd++) {
		if (!stage->lent[fd])
			continue;
		stage->kept[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (stage->kept[fd] < 0 || dup2(stage->slave, fd) < 0) {
			stage_take_back(stage);
			return TACHY_EIO;
		}
	}
	return 0;
}

void stage_take_back(struct stage *stage)
{
	for (int fd = 0; fd < 3; fd++) {
		if (stage->kept[fd] < 0)
			continue;
		(void)dup2(stage->kept[fd], fd);
		close_fd(&stage->kept[fd]);
	}
	close_fd(&stage->slave); /* so that its end is seen when the program has left it */
}

void stage_pump(struct stage *stage)
{
	if (stage->master >= 0 && stage->open)
		stage->open = live_screen_pump(stage->master, &stage->spool);
}

/* Where its output is to be seen. */
static int shown_fd(const struct stage *stage)
{
	return stage->lent[1] ? STDOUT_FILENO : stage->lent[2] ? STDERR_FILENO : -1;
}

void stage_show(struct stage *stage)
{
	const char *parts[2];
	size_t sizes[2];
	int fd = shown_fd(stage);
	struct termios modes;
	if (stage->shown) /* from then on it is relayed, not kept */
		return;
	stage_pump(stage);
	if (stage->master < 0 || fd < 0)
		return;
	stage->shown = true;
	if (spool_n_cut(&stage->spool))
		say("the first %llu bytes that the program wrote were not kept",
		    (unsigned long long)spool_n_cut(&stage->spool));
	spool_parts(&stage->spool, parts, sizes);
	for (size_t i = 0; i < 2; i++)
		if (sizes[i])
			(void)io_write_all(fd, parts[i], sizes[i]);
	/* ours shows what is typed */
	if (tcgetattr(stage->master, &modes) == 0) {
		modes.c_lflag &= ~(tcflag_t)ECHO;
		(void)tcsetattr(stage->master, TCSANOW, &modes);
	}
}

static void relay_input(struct stage *stage)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	char bytes[1024];
	/* only what is in the foreground may ask */
	if (!stage->lent[0] || tcgetpgrp(STDIN_FILENO) != getpgrp() || poll(&input, 1, 0) <= 0)
		return;
	ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
	if (n > 0)
		(void)io_write_all(stage->master, bytes, (size_t)n);
	else if (n == 0)
		(void)io_write_all(stage->master, "\004", 1); /* Ctrl-D */
}

void stage_relay(struct stage *stage)
{
	char bytes[4096];
	int fd = shown_fd(stage);
	if (stage->master < 0 || !stage->open)
		return;
	relay_input(stage);
	for (;;) {
		ssize_t n = read(stage->master, bytes, sizeof bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			stage->open = n < 0 && errno == EAGAIN;
			return;
		}
		if (fd >= 0)
			(void)io_write_all(fd, bytes, (size_t)n);
	}
}
