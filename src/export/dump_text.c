/* SPDX-License-Identifier: MIT
 * The dump as text, in the form of a Python traceback: root first, source line below, the executing
 * part underlined where it is only a part. Names and sources are foreign: everything goes through
 * out_escaped or the same escapes.
 */
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "export/dump.h"
#include "export/task_tree.h"
#include "export/text_frames.h"

#define STYLE_THREAD "\x1b[1m"
#define STYLE_OFF    "\x1b[0m"

struct text {
	struct out *out;
	bool color;
	bool many_interpreters, free_threaded;
	struct text_frames frames;
};

static void style(const struct text *text, const char *sequence)
{
	if (text->color)
		out_text(text->out, sequence);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void label(const struct text *text, size_t *n, bool applies, const char *word)
{
	if (!applies)
		return;
	out_text(text->out, *n == 0 ? " (" : ", ");
	out_text(text->out, word);
	*n += 1;
}

static void write_labels(const struct text *text, int64_t interpreter, uint32_t states)
{
	size_t n = 0;
	if (text->many_interpreters) {
		label(text, &n, true, "interpreter ");
		out_i64(text->out, interpreter);
	}
	label(text, &n, states & TACHY_STATE_MAIN, "main");
	label(text, &n, states & TACHY_STATE_GIL, text->free_threaded ? "attached" : "has GIL");
	label(text, &n, states & TACHY_STATE_GIL_WAITING, "waiting for GIL");
	label(text, &n, states & TACHY_STATE_ON_CPU, "on CPU");
	label(text, &n, dump_thread_idle(states), "idle");
	label(text, &n, states & TACHY_STATE_EXCEPTION, "has exception");
	label(text, &n, states & TACHY_STATE_GC, "collecting garbage");
	if (n > 0)
		out_char(text->out, ')');
}

static void write_thread_head(const struct text *text, int64_t interpreter,
			      const struct tachy_thread *thread)
{
	out_char(text->out, '\n');
	style(text, STYLE_THREAD);
	out_text(text->out, "Thread ");
	if (thread->tid)
		out_u64(text->out, thread->tid);
	else
		out_char(text->out, '?');
	if (thread->name[0]) {
		out_text(text->out, " \"");
		out_escaped(text->out, thread->name);
		out_char(text->out, '"');
	}
	write_labels(text, interpreter, thread->states);
	out_char(text->out, ':');
	style(text, STYLE_OFF);
	out_char(text->out, '\n');
}

static void write_thread(const struct text *text, int64_t interpreter,
			 const struct tachy_thread *thread)
{
	write_thread_head(text, interpreter, thread);
	text_frames_write(&text->frames, thread->frames, thread->n_frames, thread->cut);
	if (thread->status < 0) {
		out_text(text->out, "  [could not be read: ");
		out_text(text->out, error_text(thread->status));
		out_text(text->out, "]\n");
	} else if (thread->n_frames == 0) {
		out_text(text->out, "  [no Python frame]\n");
	}
}

/* ---- tasks ------------------------------------------------------------------------------------ */

/* Why there are none, or not all. */
static void write_tasks_end(const struct text *text, const struct tachy_interpreter *interpreter)
{
	int status = interpreter->tasks_status;
	if (status == TACHY_ENOENT) {
		out_text(text->out, "\n[asyncio is not in use]\n");
	} else if (status < 0) {
		out_text(text->out, "\n[asyncio's tasks could not be read: ");
		out_text(text->out, error_text(status));
		out_text(text->out, "]\n");
	} else if (!interpreter->n_tasks) {
		out_text(text->out, "\n[no asyncio task]\n");
	}
	if (interpreter->n_strange_tasks) {
		out_char(text->out, '\n');
		out_char(text->out, '[');
		out_u64(text->out, interpreter->n_strange_tasks);
		out_text(text->out, " more of types that cannot be followed]\n");
	}
	if (interpreter->tasks_cut)
		out_text(text->out, "\n[there are more tasks than are shown]\n");
}

static int write_tasks(const struct text *text, const struct tachy_interpreter *interpreter)
{
	struct task_tree tree;
	int rc = task_tree_init(&tree, interpreter, &text->frames);
	for (size_t i = 0; rc >= 0 && i < interpreter->n_threads; i++) {
		const struct tachy_thread *thread = &interpreter->threads[i];
		if (!thread->tid || !task_tree_has(&tree, thread->tid))
			continue;
		write_thread_head(text, interpreter->id, thread);
		rc = task_tree_write(&tree, thread->tid);
	}
	if (rc >= 0 && task_tree_has(&tree, 0)) {
		out_text(text->out, "\nIn no running event loop:\n");
		rc = task_tree_write(&tree, 0);
	}
	task_tree_done(&tree);
	write_tasks_end(text, interpreter);
	return rc;
}

static int write_interpreter(const struct text *text, const struct tachy_interpreter *interpreter)
{
	if (interpreter->async)
		return write_tasks(text, interpreter);
	for (size_t j = 0; j < interpreter->n_threads; j++)
		write_thread(text, interpreter->id, &interpreter->threads[j]);
	return 0;
}

static void write_process(const struct text *text, const struct tachy_dump *dump)
{
	out_text(text->out, "Process ");
	out_i64(text->out, dump->pid);
	out_text(text->out, ", Python ");
	out_escaped(text->out, dump->version);
	out_text(text->out, dump->free_threaded ? " (free-threaded), " : ", ");
	out_text(text->out, "most recent call last\n");
}

int dump_text_write(const struct tachy_dump *dump, const struct dump_text_options *options,
		    struct out *out)
{
	struct text text = {
		.out = out,
		.color = options->color,
		.many_interpreters = dump->n_interpreters > 1,
		.free_threaded = dump->free_threaded,
	};
	text.frames = (struct text_frames){.out = out, .color = options->color};
	int rc = source_lines_init(dump, &options->reader, &text.frames.sources);
	if (rc < 0)
		return rc;
	write_process(&text, dump);
	for (size_t i = 0; rc >= 0 && i < dump->n_interpreters; i++)
		rc = write_interpreter(&text, &dump->interpreters[i]);
	source_lines_done(&text.frames.sources);
	return rc < 0 ? rc : out->status;
}
