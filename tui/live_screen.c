/* SPDX-License-Identifier: MIT
 * One thread: waits for keys or the next screen, takes what the session has told, draws. Nothing here
 * takes a lock that the sampling thread needs; a save, which copies under one for microseconds and then
 * may take long, has a thread of its own.
 */
#include "tui/live_screen.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "tui/screen.h"

#define NS_PER_S      INT64_C(1000000000)
#define ESCAPE_MS     40 /* how long the rest of a sequence may take */
#define DRAIN_MS      100
#define EVENTS        512u
#define EVENTS_A_TURN 200000u
#define CPU_NS        (NS_PER_S / 2)

struct save {
	struct tachy_session *session;
	struct effect effect;
	struct tachy_export_options export;
	pthread_t thread;
	atomic_bool done;
	bool running;
	struct tachy_error err;
	int rc;
};

struct work {
	struct live_screen *screen;
	struct state state;
	struct grid grid;
	struct key_reader keys;
	struct tachy_live_event events[EVENTS];
	struct save save;
	int64_t shown_ns, drained_ns, cpu_ns;
	bool redraw, over;
	enum live_end end;
};

static int64_t now_ns(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void finish(struct work *work, enum live_end end)
{
	work->over = true;
	work->end = end;
}

/* ---- the program's terminal ------------------------------------------------------------------------ */

bool live_screen_pump(int program_fd, struct spool *spool)
{
	char bytes[4096];
	for (unsigned i = 0; i < 64; i++) {
		ssize_t n = read(program_fd, bytes, sizeof bytes);
		if (n > 0)
			(void)spool_take(spool, bytes, (size_t)n);
		else if (n < 0 && errno == EINTR)
			continue;
		else
			return n < 0 && errno == EAGAIN;
	}
	return true;
}

static void tell_program_size(const struct work *work)
{
	struct winsize size = {.ws_row = (unsigned short)work->state.rows,
			       .ws_col = (unsigned short)work->state.cols};
	if (work->screen->program_fd >= 0)
		(void)ioctl(work->screen->program_fd, TIOCSWINSZ, &size);
}

/* ---- saving -------------------------------------------------------------------------------------------- */

static void *save_profile(void *arg)
{
	struct save *save = arg;
	save->rc = tachy_session_save(save->session, save->effect.format, &save->export,
				      save->effect.text, &save->err);
	atomic_store(&save->done, true);
	return NULL;
}

static void begin_save(struct work *work, const struct effect *effect)
{
	struct save *save = &work->save;
	if (save->running) {
		state_message(&work->state, "one save at a time: %s is still being written",
			      save->effect.text);
		return;
	}
	*save = (struct save){.session = work->screen->session,
			      .effect = *effect,
			      .export = *work->screen->export,
			      .running = true};
	atomic_init(&save->done, false);
	if (pthread_create(&save->thread, NULL, save_profile, save) != 0) {
		save->running = false;
		state_message(&work->state, "cannot save: no thread could be started");
		return;
	}
	state_message(&work->state, "saving %s ...", effect->text);
}

static void end_save(struct work *work, bool wait)
{
	struct save *save = &work->save;
	if (!save->running || (!wait && !atomic_load(&save->done)))
		return;
	(void)pthread_join(save->thread, NULL);
	save->running = false;
	if (save->rc < 0)
		state_message(&work->state, "%s", save->err.text);
	else
		state_message(&work->state, "saved as %s: %s%s", save->effect.format->name,
			      save->effect.text,
			      save->rc > 0 ? " (its times end early: room for them ran out)" : "");
}

static void write_piece(void *arg, const char *text, size_t n)
{
	(void)fwrite(text, 1, n, arg);
}

/* What is on the screen now, as a person sees it. */
static void save_screen(struct work *work, const char *path)
{
	struct tachy_error err = {0};
	struct io_output output;
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);
	if (!file || screen_draw(&work->state, &work->grid) < 0) {
		state_message(&work->state, "cannot save: out of memory");
		if (file)
			(void)fclose(file);
		free(text);
		return;
	}
	screen_text(&work->grid, write_piece, file);
	bool good = fclose(file) == 0;
	int rc = good ? io_output_open(path, &output, &err) : TACHY_ENOMEM;
	if (rc >= 0) {
		rc = io_write_all(output.fd, text, size);
		if (rc >= 0)
			rc = io_output_commit(&output, &err);
		else
			io_output_abort(&output);
	}
	free(text);
	if (rc < 0)
		state_message(&work->state, "cannot save the screen as %s: %s", path,
			      err.text[0] ? err.text : tachy_error_text(rc));
	else
		state_message(&work->state, "saved the screen as %s", path);
}

/* ---- effects ------------------------------------------------------------------------------------------- */

static void read_source(struct work *work, const char *path)
{
	char *bytes = NULL;
	size_t size = 0;
	if (tachy_session_source(work->screen->session, path, &bytes, &size) < 0)
		bytes = NULL;
	state_source(&work->state, bytes, size);
}

static void suspend(struct work *work)
{
	struct term *term = work->screen->term;
	term->ops->leave(term);
	work->screen->suspend(work->screen->arg);
	if (term->ops->enter(term) < 0)
		finish(work, LIVE_TERMINAL);
	work->redraw = true;
}

static void carry_out(struct work *work, const struct effect *effect)
{
	struct live_screen *screen = work->screen;
	switch (effect->kind) {
	case EFFECT_QUIT:
		finish(work, LIVE_QUIT);
		break;
	case EFFECT_INTERRUPT:
		finish(work, LIVE_INTERRUPT);
		break;
	case EFFECT_SUSPEND:
		suspend(work);
		break;
	case EFFECT_REDRAW:
		work->redraw = true;
		break;
	case EFFECT_RATE:
		(void)tachy_session_set_rate(screen->session, effect->rate_hz);
		break;
	case EFFECT_MODE:
		(void)tachy_session_set_mode(screen->session, effect->mode);
		break;
	case EFFECT_SAVE_SCREEN:
		save_screen(work, effect->text);
		break;
	case EFFECT_SAVE_PROFILE:
		begin_save(work, effect);
		break;
	case EFFECT_SOURCE:
		read_source(work, effect->text);
		break;
	case EFFECT_TYPE:
		if (screen->program_fd >= 0)
			(void)io_write_all(screen->program_fd, effect->text, strlen(effect->text));
		break;
	}
}

static void carry_out_all(struct work *work)
{
	struct effect effect;
	while (!work->over && state_effect(&work->state, &effect))
		carry_out(work, &effect);
}

/* ---- what comes in --------------------------------------------------------------------------------------- */

static void take_events(struct work *work)
{
	size_t n = 0, got;
	do {
		got = tachy_live_read(work->screen->live, work->events, EVENTS);
		for (size_t i = 0; i < got; i++)
			state_event(&work->state, &work->events[i]);
		n += got;
	} while (got == EVENTS && n < EVENTS_A_TURN);
}

static void take_cpu(struct work *work)
{
	struct tachy_usage usage;
	double cpu_s = 0;
	if (work->state.now_ns - work->cpu_ns < CPU_NS || work->state.banner[0])
		return;
	work->cpu_ns = work->state.now_ns;
	const struct catalog *catalog = &work->state.tally.catalog;
	for (size_t i = 0; i < catalog->processes.n; i++)
		if (tachy_usage_read(catalog->processes.at[i].pid, 0, &usage) >= 0)
			cpu_s += usage.cpu_s;
	if (cpu_s > 0)
		state_cpu(&work->state, cpu_s);
}

/* Everything that is not a key. */
static void take_in(struct work *work)
{
	struct live_screen *screen = work->screen;
	struct tachy_stats stats;
	bool finished = tachy_session_finished(screen->session);
	work->state.now_ns = work->drained_ns = now_ns();
	tachy_session_tend(screen->session);
	take_events(work);
	tachy_live_stats(screen->live, &stats);
	state_stats(&work->state, &stats, tachy_live_dropped(screen->live));
	take_cpu(work);
	end_save(work, false);
	if (screen->program_fd >= 0)
		(void)live_screen_pump(screen->program_fd, screen->spool);
	if (finished)
		state_ended(&work->state, tachy_session_target_gone(screen->session)
						  ? "the process has ended"
						  : "sampling is over");
	if (screen->suspended(screen->arg))
		(void)state_want(&work->state, EFFECT_SUSPEND);
	if (!screen->pace(screen->arg))
		finish(work, LIVE_STOPPED);
}

static void take_size(struct work *work)
{
	unsigned rows, cols;
	work->screen->term->ops->size(work->screen->term, &rows, &cols);
	if (rows == work->state.rows && cols == work->state.cols)
		return;
	state_resize(&work->state, rows, cols);
	tell_program_size(work);
}

static void show(struct work *work)
{
	struct term *term = work->screen->term;
	work->shown_ns = now_ns();
	take_size(work);
	state_tick(&work->state, work->shown_ns);
	carry_out_all(work);
	if (work->over)
		return;
	if (screen_draw(&work->state, &work->grid) < 0)
		return; /* the next one may have the memory */
	if (term->ops->show(term, &work->grid, work->redraw) == TACHY_EIO)
		finish(work, LIVE_TERMINAL);
	work->redraw = false;
}

static bool take_keys(struct work *work, bool idle)
{
	struct key key;
	bool any = false;
	while (!work->over && key_next(&work->keys, idle, &key)) {
		state_key(&work->state, key);
		carry_out_all(work);
		any = true;
	}
	return any;
}

/* Milliseconds until the next thing is due. */
static int time_left(const struct work *work)
{
	int64_t period = (int64_t)state_period_ms(&work->state) * 1000000;
	int64_t drain = work->drained_ns + DRAIN_MS * INT64_C(1000000);
	int64_t due = work->shown_ns + period, now = now_ns();
	due = drain < due ? drain : due;
	if (work->keys.n)
		return ESCAPE_MS;
	return due <= now ? 0 : (int)((due - now) / 1000000) + 1;
}

static void turn(struct work *work)
{
	struct live_screen *screen = work->screen;
	char bytes[128];
	bool waits = work->keys.n > 0;
	int n = screen->term->ops->read(screen->term, screen->program_fd, time_left(work), bytes,
					sizeof bytes);
	if (n < 0) {
		finish(work, LIVE_TERMINAL);
		return;
	}
	(void)key_feed(&work->keys, bytes, (size_t)n);
	bool pressed = take_keys(work, waits && n == 0);
	int64_t now = now_ns();
	if (now - work->drained_ns >= DRAIN_MS * INT64_C(900000))
		take_in(work);
	else if (screen->program_fd >= 0)
		(void)live_screen_pump(screen->program_fd, screen->spool);
	carry_out_all(work);
	if (!work->over &&
	    (pressed || work->redraw ||
	     now - work->shown_ns >= (int64_t)state_period_ms(&work->state) * 1000000))
		show(work);
}

int live_screen_run(struct live_screen *screen, enum live_end *ret_end)
{
	struct work *work = calloc(1, sizeof *work);
	if (!work)
		return TACHY_ENOMEM;
	work->screen = screen;
	work->redraw = true;
	int rc = state_init(&work->state, &screen->facts, now_ns());
	work->state.spool = screen->spool;
	if (rc >= 0)
		rc = screen->term->ops->enter(screen->term);
	take_size(work);
	tell_program_size(work);
	if (rc >= 0)
		take_in(work);
	if (rc >= 0 && !work->over)
		show(work);
	while (rc >= 0 && !work->over)
		turn(work);
	screen->term->ops->leave(screen->term);
	end_save(work, true);
	*ret_end = work->end;
	state_done(&work->state);
	grid_done(&work->grid);
	free(work);
	return rc;
}
