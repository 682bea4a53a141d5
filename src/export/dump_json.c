/* SPDX-License-Identifier: MIT
 * The dump as JSON. Fields keep their order; new ones go behind the old.
 */
#include "base/error.h"
#include "export/dump.h"
#include "export/state_names.h"

static void write_frame(struct json_out *json, const struct tachy_frame *frame)
{
	json_open(json, '{');
	json_key_string(json, "function", frame->function);
	json_key_string(json, "file", frame->file);
	json_key_i64(json, "line", frame->line);
	json_key_i64(json, "end_line", frame->end_line);
	json_key_i64(json, "column", frame->column);
	json_key_i64(json, "end_column", frame->end_column);
	json_key_string(json, "kind", frame_kind_name(frame->kind));
	if (dump_opcode(frame)[0]) {
		json_key_string(json, "opcode", frame->opcode);
		json_key_string(json, "base_opcode", frame->base_opcode);
	}
	json_close(json, '}');
}

static void write_thread(struct json_out *json, const struct tachy_thread *thread)
{
	json_open(json, '{');
	json_key_u64(json, "tid", thread->tid);
	json_key_string(json, "name", thread->name);
	json_key_bool(json, "main", (thread->states & TACHY_STATE_MAIN) != 0);
	state_names_json(json, "status", thread->states);
	json_key_open(json, "frames", '[');
	for (size_t i = 0; i < thread->n_frames; i++)
		write_frame(json, &thread->frames[i]);
	json_close(json, ']');
	if (thread->cut)
		json_key_bool(json, "cut", true);
	if (thread->status < 0)
		json_key_string(json, "error", error_text(thread->status));
	json_close(json, '}');
}

static void write_task(struct json_out *json, const struct tachy_interpreter *interpreter,
		       const struct tachy_task *task)
{
	json_open(json, '{');
	json_key_u64(json, "id", task->id);
	json_key_string(json, "name", task->name);
	json_key_u64(json, "tid", task->tid);
	json_key_bool(json, "running", task->running);
	json_key_open(json, "awaited_by", '[');
	for (size_t i = 0; i < task->n_waiters; i++)
		json_u64(json, interpreter->tasks[task->waiters[i]].id);
	json_close(json, ']');
	json_key_open(json, "frames", '[');
	for (size_t i = 0; i < task->n_frames; i++)
		write_frame(json, &task->frames[i]);
	json_close(json, ']');
	json_close(json, '}');
}

/* Only where tasks were asked for. */
static void write_tasks(struct json_out *json, const struct tachy_interpreter *interpreter)
{
	json_key_open(json, "tasks", '[');
	for (size_t i = 0; i < interpreter->n_tasks; i++)
		write_task(json, interpreter, &interpreter->tasks[i]);
	json_close(json, ']');
	if (interpreter->tasks_status < 0 && interpreter->tasks_status != TACHY_ENOENT)
		json_key_string(json, "tasks_error", error_text(interpreter->tasks_status));
	if (interpreter->n_strange_tasks)
		json_key_u64(json, "tasks_not_followed", interpreter->n_strange_tasks);
	if (interpreter->tasks_cut)
		json_key_bool(json, "tasks_cut", true);
}

static void write_interpreter(struct json_out *json, const struct tachy_interpreter *interpreter)
{
	json_open(json, '{');
	json_key_i64(json, "id", interpreter->id);
	json_key_open(json, "threads", '[');
	for (size_t i = 0; i < interpreter->n_threads; i++)
		write_thread(json, &interpreter->threads[i]);
	json_close(json, ']');
	if (interpreter->async)
		write_tasks(json, interpreter);
	json_close(json, '}');
}

int dump_json_write(const struct tachy_dump *dump, struct out *out)
{
	struct json_out json;
	json_init(&json, out);
	json_open(&json, '{');
	json_key_string(&json, "schema", "tachyscope-dump/1");
	json_key_i64(&json, "pid", dump->pid);
	json_key_open(&json, "python", '{');
	json_key_string(&json, "version", dump->version);
	json_key_bool(&json, "free_threaded", dump->free_threaded);
	json_close(&json, '}');
	json_key_open(&json, "interpreters", '[');
	for (size_t i = 0; i < dump->n_interpreters; i++)
		write_interpreter(&json, &dump->interpreters[i]);
	json_close(&json, ']');
	json_close(&json, '}');
	out_char(out, '\n');
	return out->status;
}
