/* SPDX-License-Identifier: MIT
 * dump: all stacks, once.
 */
#include <unistd.h>

#include "base/error.h"
#include "base/io.h"
#include "cmd.h"
#include "sample_run.h"
#include "say.h"

#define START_WAIT_MS 500

static int write_dump(const struct opts *opts, const struct tachy_dump *dump,
		      struct io_output *output, struct tachy_error *err)
{
	bool color = output->is_std && terminal_of(STDOUT_FILENO).color;
	int rc = tachy_dump_write(dump, opts->json ? TACHY_DUMP_JSON : TACHY_DUMP_TEXT, color,
				  output->fd, err);
	if (rc < 0) {
		(void)error_wrap(err, "cannot write %s",
				 opts->output ? opts->output : "standard output");
		io_output_abort(output);
		return rc;
	}
	return io_output_commit(output, err);
}

static int take_dump(const struct opts *opts, struct tachy_process *process,
		     struct io_output *output, struct tachy_error *err)
{
	struct tachy_dump_options options = {
		.size = sizeof options,
		.main_thread_only = opts->session.main_thread_only,
		.stop = opts->session.snapshot == TACHY_SNAPSHOT_STOP,
		.no_gc = opts->session.no_gc,
		.native = opts->session.native,
		.opcodes = opts->session.opcodes,
		.async_mode = opts->async_mode,
	};
	struct tachy_dump *dump;
	int rc = tachy_process_dump(process, &options, &dump, err);
	if (rc < 0) {
		io_output_abort(output);
		return rc;
	}
	rc = write_dump(opts, dump, output, err);
	tachy_dump_free(dump);
	return rc;
}

int cmd_dump(const struct opts *opts)
{
	struct tachy_error err = {0};
	struct tachy_process *process;
	struct io_output output;
	if (io_output_open(opts->output ? opts->output : "-", &output, &err) < 0) {
		say("%s", err.text);
		return STATUS_FAILED;
	}
	if (tachy_process_open(opts->pid, START_WAIT_MS, &process, &err) < 0) {
		io_output_abort(&output);
		say("%s", err.text);
		return STATUS_FAILED;
	}
	if (tachy_process_remark(process)[0])
		say("%s", tachy_process_remark(process));
	int rc = take_dump(opts, process, &output, &err);
	tachy_process_close(process);
	if (rc < 0)
		say("%s", err.text);
	return rc < 0 ? STATUS_FAILED : STATUS_GOOD;
}
