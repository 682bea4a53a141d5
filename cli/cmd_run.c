/* SPDX-License-Identifier: MIT
 * run: start a program, sample it from its first bytecode on, end as it ends. Invariant: whatever goes
 * wrong with the sampling, the program runs to its end and its status is ours.
 */
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/error.h"
#include "cmd.h"
#include "live_run.h"
#include "program.h"
#include "sample_run.h"
#include "say.h"
#include "signals.h"
#include "stage.h"

/* How often we look whether the program has become a Python: often while it starts, and again when it
 * executes another one, then less, as it may be a shell that does so in a while. A look costs up to a
 * millisecond of CPU, which the program may need: so many times what it cost we wait in any case. */
static const struct {
	double until_s;
	long nap_ns;
	double times_cost;
} paces[] = {
	{0.2, 200 * 1000L, 0.5},
	{2.0, 1000 * 1000L, 5},
	{30.0, 50 * 1000 * 1000L, 10},
	{0, 250 * 1000 * 1000L, 10}, /* from then on */
};
#define NAP_MAX_NS  (500 * 1000 * 1000L)
#define EXEC_LOOKS  10 /* at whether it executed a program, in a nap; but none shorter than */
#define EXEC_NAP_NS (1000 * 1000L)

#define LATER_S     0.5 /* a program that goes on so long after its Python is worth a word */
#define WAIT_NAP_NS (10 * 1000 * 1000L)

static double now_s(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* CPU time of this thread: on a busy machine a look takes long without costing more. */
static double spent_s(void)
{
	struct timespec spent;
	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
	return (double)spent.tv_sec + (double)spent.tv_nsec / 1e9;
}

static void nap(long ns)
{
	(void)nanosleep(&(struct timespec){0, ns}, NULL);
}

/* True, and sooner, when the child executes another program meanwhile. */
static bool nap_until_exec(struct tachy_child *child, long ns)
{
	long step = ns / EXEC_LOOKS > EXEC_NAP_NS ? ns / EXEC_LOOKS : EXEC_NAP_NS;
	for (; ns > step; ns -= step) {
		nap(step);
		if (tachy_child_execed(child))
			return true;
	}
	nap(ns);
	return tachy_child_execed(child);
}

static long pace(double age_s, double cost_s)
{
	size_t i = 0;
	while (paces[i].until_s > 0 && age_s > paces[i].until_s)
		i++;
	double nap_ns = cost_s * 1e9 * paces[i].times_cost;
	if (nap_ns < (double)paces[i].nap_ns)
		return paces[i].nap_ns;
	return nap_ns < (double)NAP_MAX_NS ? (long)nap_ns : NAP_MAX_NS;
}

/* Whether the same question may get another answer in a moment, from a program that starts, or that
 * execs a Python later. */
static bool may_change(int rc)
{
	enum tachy_error_class class = tachy_error_class_of(rc);
	return class == TACHY_CLASS_TRANSIENT || rc == TACHY_EEXEC || rc == TACHY_ENOPYTHON ||
	       rc == TACHY_ECORRUPT || rc == TACHY_EGONE;
}

/* Waits for a Python in the child. NULL: it ended, or will not be one; `err` says why. */
static struct tachy_process *await_python(struct tachy_child *child, struct stage *stage,
					  struct tachy_error *err)
{
	struct tachy_process *process = NULL;
	double start = now_s();
	int status;
	for (;;) {
		struct tachy_error why = {0};
		double begin = spent_s();
		int rc = tachy_process_open(tachy_child_pid(child), 0, &process, &why);
		if (rc >= 0)
			return process;
		if (tachy_child_poll(child, &status) != 0)
			return NULL; /* the reason why not from before its end is the truer one */
		if (rc != TACHY_EGONE || !err->code) /* between two looks at whether it ended */
			*err = why;
		if (!may_change(rc))
			return NULL;
		signals_tick();
		stage_pump(stage);
		if (nap_until_exec(child, pace(now_s() - start, spent_s() - begin)))
			start = now_s();
	}
}

static void explain(const struct tachy_error *err)
{
	switch (err->code) {
	case TACHY_OK:
	case TACHY_ENOTREADY:
	case TACHY_EGONE:
	case TACHY_EFINALIZING: /* the first that was seen of it was its end */
		say("the program ended before a Python was seen in it: no profile was written");
		break;
	case TACHY_ENOPYTHON:
		say("the program is not a Python and became none (what it starts is not followed; "
		    "--subprocesses does): "
		    "no profile was written");
		break;
	default:
		say("not sampled, no profile was written: %s", err->text);
	}
}

/* Waits for the end, passing signals on. */
static int await_end(struct tachy_child *child, struct stage *stage)
{
	int status = 0, rc;
	while ((rc = tachy_child_poll(child, &status)) == 0) {
		signals_tick();
		stage_relay(stage);
		nap(WAIT_NAP_NS);
	}
	stage_relay(stage);
	signals_set_child(0);
	if (rc < 0)
		return STATUS_FAILED;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int sample_child(struct tachy_child *child, struct stage *stage, struct output *output)
{
	struct tachy_error err = {0};
	struct tachy_process *process = await_python(child, stage, &err);
	bool gone = false;
	if (process) {
		struct subject subject = {.processes = &process,
					  .n = 1,
					  .child = child,
					  .pid = tachy_process_pid(process),
					  .stage = stage};
		(void)sample_run(output, &subject, &gone);
		tachy_process_close(process);
	} else {
		stage_show(stage);
		explain(&err);
	}
	stage_show(stage);
	double since = now_s();
	int status = await_end(child, stage);
	if (gone && now_s() - since > LATER_S)
		say("the last %.1f s of the program were not sampled: it had become another "
		    "program (exec), or "
		    "its Python had shut down",
		    now_s() - since);
	return status;
}

static int could_not_run(int rc)
{
	return rc == TACHY_ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUN;
}

/* With --subprocesses: its children are followed before it can have any. */
static int follow_child(struct tachy_child *child, struct stage *stage, struct output *output,
			int *ret_status)
{
	struct subject subject = {.child = child,
				  .pid = (int64_t)tachy_child_pid(child),
				  .stage = stage,
				  .held = true};
	bool gone;
	(void)sample_run(output, &subject, &gone);
	if (subject.held) /* no sampling; it runs all the same */
		subject.release_code = tachy_child_release(child);
	*ret_status = await_end(child, stage);
	return subject.release_code;
}

static int let_go(struct tachy_child *child, struct stage *stage, struct output *output,
		  int *ret_status)
{
	if (output->opts->session.subprocesses)
		return follow_child(child, stage, output, ret_status);
	int rc = tachy_child_release(child);
	*ret_status = rc >= 0 ? sample_child(child, stage, output) : await_end(child, stage);
	return rc;
}

/* From here on the program exists. */
static int run_child(struct tachy_child *child, const char *name, struct stage *stage,
		     struct output *output)
{
	int status;
	signals_set_child(tachy_child_pid(child));
	int rc = let_go(child, stage, output, &status);
	if (rc >= 0)
		return status;
	if (rc == TACHY_ENOENT)
		say("cannot run %s: the interpreter that its first line or its ELF header names is "
		    "missing",
		    name);
	else
		say("cannot run %s: %s", name, tachy_error_text(rc));
	return could_not_run(rc);
}

/* Starts it with the terminal that is its own. */
static int spawn(char **argv, struct stage *stage, struct tachy_child **ret_child,
		 struct tachy_error *err)
{
	int rc = stage_lend(stage);
	if (rc < 0)
		return error_set(err, rc, "cannot give the program a terminal");
	rc = tachy_child_spawn(argv, ret_child, err);
	stage_take_back(stage);
	return rc;
}

static int run_program(const struct opts *opts, char **argv, struct output *output)
{
	struct tachy_error err = {0};
	struct tachy_child *child = NULL;
	struct stage stage = STAGE_NONE;
	if (opts->live && stage_open(&stage, &err) < 0) {
		say("%s", err.text);
		return STATUS_FAILED;
	}
	signals_for_run();
	int rc = spawn(argv, &stage, &child, &err);
	int status = could_not_run(rc);
	if (rc < 0 || !child) {
		say("%s", err.text);
	} else {
		status = run_child(child, argv[0], &stage, output);
		tachy_child_free(child);
	}
	stage_close(&stage);
	return status;
}

static int find_and_run(const struct opts *opts, struct output *output)
{
	struct tachy_error err = {0};
	char **argv;
	int rc = program_argv(opts, &argv, &err);
	if (rc < 0) {
		say("%s", err.text);
		return rc == TACHY_ENOENT ? STATUS_NOT_FOUND : STATUS_FAILED;
	}
	int status = run_program(opts, argv, output);
	program_free(argv);
	return status;
}

int cmd_run(const struct opts *opts)
{
	struct tachy_error err = {0};
	struct output output;
	int rc = live_check(opts, &err);
	if (rc >= 0)
		rc = output_choose(opts, &output, &err);
	if (rc < 0) {
		say("%s", err.text);
		return rc == TACHY_EINVAL ? STATUS_USAGE : STATUS_FAILED;
	}
	int status = find_and_run(opts, &output);
	output_done(&output);
	return status;
}
