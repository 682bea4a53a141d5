/* SPDX-License-Identifier: MIT
 * Invariant: from enter to leave, whatever ends the process (but SIGKILL) puts back the terminal's modes
 * and screen first. The handlers touch only what is prepared in `rescue`, and nothing that is not safe in
 * a handler.
 */
#include "tui/term_tty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/error.h"
#include "base/io.h"

#define MOUSE_ON  "\033[?1000h\033[?1006h"
#define MOUSE_OFF "\033[?1006l\033[?1000l"
/* the alternate screen, no cursor, no wrapping at the right border */
#define ENTER "\033[?1049h\033[?25l\033[?7l"
#define LEAVE MOUSE_OFF "\033[0m\033[?7h\033[?25h\033[?1049l"

/* What a signal handler needs. The only mutable globals of the layer: signals know no other place. */
static struct {
	atomic_bool armed;
	int fd;
	struct termios before;
} rescue;

/* Ends us by the same signal, with the terminal given back. */
static void on_fatal(int number)
{
	int saved = errno;
	if (atomic_exchange(&rescue.armed, false)) {
		ssize_t n = write(rescue.fd, LEAVE, sizeof LEAVE - 1);
		(void)n;
		(void)tcsetattr(rescue.fd, TCSANOW, &rescue.before);
	}
	errno = saved;
	(void)raise(number); /* the handler is gone: SA_RESETHAND */
}

static const int fatal[] = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,    SIGABRT, SIGQUIT, SIGSYS,
			    SIGTRAP, SIGXCPU, SIGXFSZ, SIGTERM,   SIGHUP,  SIGINT,  SIGUSR1,
			    SIGUSR2, SIGALRM, SIGPIPE, SIGVTALRM, SIGPROF};

/* Signals that somebody handles or ignores are theirs. */
static void catch_fatal(bool on)
{
	for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++) {
		struct sigaction now,
			wanted = {.sa_handler = on ? on_fatal : SIG_DFL,
				  .sa_flags = on ? (int)SA_RESETHAND | SA_NODEFER : 0};
		(void)sigemptyset(&wanted.sa_mask);
		if (sigaction(fatal[i], NULL, &now) < 0 || (now.sa_flags & SA_SIGINFO))
			continue;
		if (on ? now.sa_handler == SIG_DFL : now.sa_handler == on_fatal)
			(void)sigaction(fatal[i], &wanted, NULL);
	}
}

static int enter(struct term *term)
{
	struct term_tty *tty = (struct term_tty *)term;
	struct termios raw;
	if (tty->entered)
		return 0;
	if (tcgetattr(tty->fd, &tty->before) < 0)
		return TACHY_EIO;
	rescue.fd = tty->fd;
	rescue.before = tty->before;
	atomic_store(&rescue.armed, true);
	catch_fatal(true);
	raw = tty->before;
	raw.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR | IXON | IXOFF | ISTRIP | BRKINT | PARMRK);
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ECHONL | ISIG | IEXTEN);
	raw.c_oflag &= ~(tcflag_t)OPOST;
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	tty->entered = true;
	paint_forget(&tty->paint);
	if (tcsetattr(tty->fd, TCSADRAIN, &raw) < 0 ||
	    io_write_all(tty->fd, ENTER, sizeof ENTER - 1) < 0 ||
	    (tty->mouse && io_write_all(tty->fd, MOUSE_ON, sizeof MOUSE_ON - 1) < 0))
		return TACHY_EIO;
	return 0;
}

static void leave(struct term *term)
{
	struct term_tty *tty = (struct term_tty *)term;
	if (!tty->entered)
		return;
	tty->entered = false;
	if (atomic_exchange(&rescue.armed, false)) {
		(void)io_write_all(tty->fd, LEAVE, sizeof LEAVE - 1);
		(void)tcsetattr(tty->fd, TCSADRAIN, &tty->before);
	}
	catch_fatal(false);
}

static void get_size(struct term *term, unsigned *ret_rows, unsigned *ret_cols)
{
	struct winsize size;
	*ret_rows = 24;
	*ret_cols = 80;
	if (ioctl(((struct term_tty *)term)->fd, TIOCGWINSZ, &size) < 0 || !size.ws_row ||
	    !size.ws_col)
		return;
	*ret_rows = size.ws_row < GRID_SIDE_MAX ? size.ws_row : GRID_SIDE_MAX;
	*ret_cols = size.ws_col < GRID_SIDE_MAX ? size.ws_col : GRID_SIDE_MAX;
}

static int read_keys(struct term *term, int other_fd, int wait_ms, char *bytes, size_t n)
{
	const struct term_tty *tty = (const struct term_tty *)term;
	struct pollfd fds[2] = {{.fd = tty->fd, .events = POLLIN},
				{.fd = other_fd, .events = POLLIN}};
	int rc = poll(fds, other_fd >= 0 ? 2 : 1, wait_ms);
	if (rc <= 0) /* a signal came: somebody will look */
		return 0;
	if (!(fds[0].revents & (POLLIN | POLLHUP | POLLERR)))
		return 0;
	ssize_t got = read(tty->fd, bytes, n);
	if (got > 0)
		return (int)got;
	/* a terminal that hung up is at its end for ever */
	return got < 0 && (errno == EINTR || errno == EAGAIN)    ? 0
	       : fds[0].revents & (POLLHUP | POLLERR) || got < 0 ? TACHY_EIO
								 : 0;
}

static int show(struct term *term, const struct grid *grid, bool all)
{
	struct term_tty *tty = (struct term_tty *)term;
	if (all)
		paint_forget(&tty->paint);
	int rc = paint_grid(&tty->paint, grid);
	if (rc < 0 || !tty->paint.bytes.n)
		return rc;
	return io_write_all(tty->fd, tty->paint.bytes.at, tty->paint.bytes.n);
}

static const struct term_ops ops = {enter, leave, get_size, read_keys, show};

/* By the first of the three that is set, as setlocale does. */
static bool locale_is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *value = getenv(names[i]);
		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

int term_tty_open(struct term_tty *tty, struct tachy_error *err)
{
	const char *kind = getenv("TERM"), *no_color = getenv("NO_COLOR");
	if (!kind || !*kind || strcmp(kind, "dumb") == 0)
		return error_set(err, TACHY_EIO,
				 "--live needs a terminal that can place its cursor, and TERM is "
				 "%s; leave --live out, or set TERM",
				 kind && *kind ? kind : "not set");
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return error_set(err, TACHY_EIO,
				 "--live needs a terminal, and there is none here (%s); leave "
				 "--live out",
				 strerror(errno));
	*tty = (struct term_tty){.term = {&ops}, .fd = fd, .mouse = true};
	paint_init(&tty->paint, !(no_color && *no_color), locale_is_utf8());
	return 0;
}

void term_tty_close(struct term_tty *tty)
{
	leave(&tty->term);
	paint_done(&tty->paint);
	if (tty->fd >= 0)
		(void)close(tty->fd);
	tty->fd = -1;
}
