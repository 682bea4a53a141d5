/* SPDX-License-Identifier: MIT
 * replay: what was recorded, in any form of output.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/io.h"
#include "cmd.h"
#include "sample_run.h"
#include "say.h"
#include "stats.h"

#define BAR_AFTER_S 1.0 /* what is ready sooner needs no bar */
#define BAR_EVERY_S 0.1
#define BAR_COLUMNS 30

struct bar {
	double begin_s, drawn_s; /* drawn_s 0: not on the screen */
	bool wanted;
};

static double now_s(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int draw_bar(void *arg, double done)
{
	struct bar *bar = arg;
	char text[BAR_COLUMNS + 64], cells[BAR_COLUMNS + 1];
	double now = now_s();
	if (!bar->wanted || done < 0 || now - bar->begin_s < BAR_AFTER_S ||
	    now - bar->drawn_s < BAR_EVERY_S)
		return 0;
	bar->drawn_s = now;
	int n_full = (int)(done * BAR_COLUMNS + 0.5);
	for (int i = 0; i < BAR_COLUMNS; i++)
		cells[i] = i < n_full ? '#' : '.';
	cells[BAR_COLUMNS] = '\0';
	int n = snprintf(text, sizeof text, "\rreading [%s] %3.0f %%", cells, done * 100);
	if (n > 0)
		(void)io_write_all(STDERR_FILENO, text, (size_t)n);
	return 0;
}

static void wipe_bar(const struct bar *bar)
{
	static const char wipe[] = "\r\033[K";
	if (bar->drawn_s > 0)
		(void)io_write_all(STDERR_FILENO, wipe, sizeof wipe - 1);
}

static int read_all(struct tachy_recording *recording, const struct opts *opts,
		    const struct output *output, struct tachy_error *err)
{
	struct bar bar = {.begin_s = now_s(),
			  .wanted = !opts->quiet && terminal_of(STDERR_FILENO).is_terminal};
	struct tachy_filter filter;
	struct tachy_replay_options options = {.size = sizeof options,
					       .timeline = output->format->timeline,
					       .all_modes = !opts->mode_given,
					       .mode = opts->session.mode,
					       .progress = draw_bar,
					       .progress_arg = &bar};
	if (opts_filter(opts, &filter))
		options.filter = &filter;
	int rc = tachy_recording_read(recording, &options, err);
	wipe_bar(&bar);
	return rc;
}

static int write_all(struct tachy_recording *recording, const struct opts *opts,
		     struct output *output)
{
	struct tachy_error err = {0};
	struct tachy_stats stats;
	int status = STATUS_GOOD;
	tachy_recording_stats(recording, &stats);
	/* the counters are those of all of it, and the first are told after a second */
	bool fits = opts->from_s <= 0 && opts->to_s <= 0 && stats.samples_captured > 0;
	if (output_write(output, tachy_recording_pid(recording), tachy_recording_profile(recording),
			 fits ? &stats : NULL, &err) < 0) {
		say("%s", err.text);
		status = STATUS_FAILED;
	}
	if (opts->stats)
		stats_print(&stats);
	if (opts->stats_json && stats_write_json(&stats, opts->stats_json, &err) < 0) {
		say("%s", err.text);
		status = STATUS_FAILED;
	}
	return status;
}

static int replay(struct tachy_recording *recording, const struct opts *opts, struct output *output)
{
	struct tachy_error err = {0};
	const char *name = strcmp(opts->recording, "-") == 0 ? "standard input" : opts->recording;
	if (read_all(recording, opts, output, &err) < 0) {
		say("cannot replay %s: %s", name, err.text);
		return err.code == TACHY_EINVAL ? STATUS_USAGE : STATUS_FAILED;
	}
	int status = write_all(recording, opts, output);
	const char *missing = tachy_recording_missing(recording);
	if (missing[0])
		say("%s is not whole: %s", name, missing);
	return tachy_recording_damaged(recording) ? STATUS_FAILED : status;
}

int cmd_replay(const struct opts *opts)
{
	struct tachy_error err = {0};
	struct tachy_recording *recording;
	struct output output;
	int rc = output_choose(opts, &output, &err);
	bool chosen = rc >= 0;
	if (chosen)
		rc = tachy_recording_open(opts->recording, &recording, &err);
	if (rc < 0) {
		if (chosen)
			output_done(&output);
		say("%s", err.text);
		return rc == TACHY_EINVAL ? STATUS_USAGE : STATUS_FAILED;
	}
	int status = replay(recording, opts, &output);
	tachy_recording_close(recording);
	output_done(&output);
	return status;
}
