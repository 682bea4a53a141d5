/* SPDX-License-Identifier: MIT
 * A task by itself: a C object whose fields lie where asyncio_layout says (Modules/_asynciomodule.c), or an
 * instance of a class in Python with attributes (Lib/asyncio/futures.py and tasks.py).
 */
#include "cpython/task.h"

#include <stdio.h>
#include <string.h>

#include "cpython/dict.h"

#define STATE_PENDING    0 /* Modules/_asynciomodule.c, fut_state */
#define ATTRIBUTES_MAX   4096u /* of one instance that are looked at */
#define ATTRIBUTE_TEXT   24u   /* longest of the names below, as a whole */
#define DIGITS_MAX       3u    /* of the int that a task is numbered with (Include/cpython/longintrepr.h) */

static const char *const attribute_names[N_ATTRIBUTES] = {
	[ATTRIBUTE_CORO] = "_coro",
	[ATTRIBUTE_NAME] = "_name",
	[ATTRIBUTE_WAITER] = "_fut_waiter",
	[ATTRIBUTE_STATE] = "_state",
	[ATTRIBUTE_LOOP] = "_loop",
	[ATTRIBUTE_CALLBACKS] = "_callbacks",
	[ATTRIBUTE_AWAITED_BY] = "_Future__asyncio_awaited_by",
	[ATTRIBUTE_PARENT] = "_parent_task",
	[ATTRIBUTE_DATA] = "data",
};

void task_graph_init(struct task_graph *graph)
{
	memset(graph, 0, sizeof *graph);
	map_init(&graph->by_addr);
}

void task_graph_done(struct task_graph *graph)
{
	vec_done(&graph->tasks);
	vec_done(&graph->threads);
	vec_done(&graph->frames.list);
	vec_done(&graph->names.chars);
	vec_done(&graph->edges);
	vec_done(&graph->waiters);
	map_done(&graph->by_addr);
}

void task_graph_reset(struct task_graph *graph)
{
	graph->tasks.n = graph->threads.n = graph->frames.list.n = graph->names.chars.n = 0;
	graph->edges.n = graph->waiters.n = 0;
	graph->n_strange = 0;
	graph->cut = false;
	map_clear(&graph->by_addr);
}

int task_add(struct task_reader *reader, raddr addr, uint32_t thread)
{
	struct task_graph *graph = reader->graph;
	struct raw_task task = {.addr = addr, .thread = thread, .next_same = TASK_NONE};
	uint64_t i;
	if (map_get(&graph->by_addr, addr, &i)) {
		if (graph->tasks.at[i].thread == TASK_NONE)
			graph->tasks.at[i].thread = thread;
		return 0;
	}
	if (graph->tasks.n >= TASKS_MAX) {
		graph->cut = true;
		return 0;
	}
	return vec_push(&graph->tasks, task) && map_put(&graph->by_addr, addr, graph->tasks.n - 1)
		       ? 0
		       : TACHY_ENOMEM;
}

/* ---- attributes of Python's instances ------------------------------------------------------------ */

/* Which attribute the str at `key` names. Such names are interned and live as long as their code. */
static int which_attribute(struct task_reader *reader, raddr key, enum task_attribute *ret)
{
	uint64_t known;
	struct span head;
	const struct layout *l = reader->layout;
	*ret = ATTRIBUTE_OTHER;
	if (map_get(reader->attributes, key, &known)) {
		*ret = (enum task_attribute)known;
		return 0;
	}
	int rc = mem_view_cold(reader->view, key, l->unicode.ascii_size, &head);
	if (rc < 0)
		return rc;
	uint64_t len = load_u64(head, l->unicode.length);
	uint32_t state = load_u32(head, l->unicode.state);
	if (len == 0 || len > 2 * ATTRIBUTE_TEXT || !(state >> l->unicode.compact_shift & 1) ||
	    !(state >> l->unicode.ascii_shift & 1))
		return 0;
	rc = mem_view_cold(reader->view, key + l->unicode.ascii_size, (uint32_t)len, &head);
	for (int i = ATTRIBUTE_OTHER + 1; rc >= 0 && i < N_ATTRIBUTES; i++)
		if (strlen(attribute_names[i]) == len &&
		    memcmp(attribute_names[i], head.data, len) == 0) {
			*ret = (enum task_attribute)i;
			return map_put(reader->attributes, key, (uint64_t)i) ? 0 : TACHY_ENOMEM;
		}
	return rc;
}

int task_attributes(struct task_reader *reader, raddr addr, raddr ret_values[N_ATTRIBUTES])
{
	struct dict dict;
	memset(ret_values, 0, N_ATTRIBUTES * sizeof *ret_values);
	int rc = dict_open_instance(reader->view, reader->layout, addr, &dict);
	for (uint32_t i = 0; rc >= 0 && i < dict.n && i < ATTRIBUTES_MAX; i++) {
		raddr key, value;
		enum task_attribute which;
		rc = dict_entry(reader->view, &dict, i, &key, &value);
		if (rc < 0 || !key || !value)
			continue;
		rc = which_attribute(reader, key, &which);
		ret_values[which] = value;
	}
	return rc;
}

/* The attribute's value, unless it is None: a pointer to no object that matters. */
static int read_python(struct task_reader *reader, struct raw_task *task)
{
	raddr values[N_ATTRIBUTES];
	struct span head;
	uint32_t start = reader->layout->unicode.ascii_size;
	int rc = task_attributes(reader, task->addr, values);
	if (rc < 0)
		return rc;
	task->python = true;
	task->coro = values[ATTRIBUTE_CORO];
	task->name = values[ATTRIBUTE_NAME];
	task->loop = values[ATTRIBUTE_LOOP];
	task->waiter = values[ATTRIBUTE_WAITER];
	task->callbacks = values[ATTRIBUTE_CALLBACKS];
	task->awaited_by = values[ATTRIBUTE_AWAITED_BY];
	task->awaited_by_is_set = true;
	if (!task->coro)
		return TACHY_ENOENT;
	if (!values[ATTRIBUTE_STATE]) /* the class's: it is pending */
		return 0;
	/* "PENDING", "CANCELLED" or "FINISHED" */
	rc = mem_view_cold(reader->view, values[ATTRIBUTE_STATE] + start, 1, &head);
	task->done = rc >= 0 && load_u8(head, 0) != 'P';
	return rc;
}

/* ---- C tasks ---------------------------------------------------------------------------------------------- */

static uint64_t word(struct span bytes, uint32_t at)
{
	return at == LAYOUT_NONE ? 0 : load_u64(bytes, at);
}

static int read_c(struct task_reader *reader, const struct type_entry *type, struct raw_task *task)
{
	struct asyncio_layout *f = reader->fields;
	struct span bytes;
	int rc = 0;
	if (!*reader->has_fields) {
		rc = asyncio_layout_by_size(reader->layout, type->base_size, f);
		if (rc < 0)
			return rc;
		*reader->has_fields = true;
	}
	rc = mem_view_hot(reader->view, task->addr, f->task_size, &bytes);
	if (rc < 0)
		return rc;
	task->loop = word(bytes, f->loop);
	task->coro = word(bytes, f->coro);
	task->name = word(bytes, f->name);
	task->waiter = word(bytes, f->waiter);
	task->callback0 = word(bytes, f->callback0);
	task->callbacks = word(bytes, f->callbacks);
	task->awaited_by = word(bytes, f->awaited_by);
	task->awaited_by_is_set = f->awaited_by_is_set != LAYOUT_NONE &&
				  load_u8(bytes, f->awaited_by_is_set);
	if (f->state != LAYOUT_NONE)
		task->done = load_i32(bytes, f->state) != STATE_PENDING;
	if (!task->coro)
		task->done = true;
	return 0;
}

int task_read(struct task_reader *reader, uint32_t index)
{
	const struct type_entry *type;
	struct raw_task *task = &reader->graph->tasks.at[index];
	int rc = type_kinds_of(reader->kinds, reader->view, reader->layout, task->addr, &type);
	if (rc >= 0 && type->kind == KIND_TASK) {
		rc = read_c(reader, type, task);
	} else if (rc >= 0) {
		bool named = type->kind == KIND_PY_FUTURE;
		rc = read_python(reader, task);
		if (rc == TACHY_ENOENT || (rc == TACHY_ECORRUPT && !named) ||
		    rc == TACHY_EVERSION) {
			reader->graph->n_strange++;
			rc = 0;
			task->done = true;
		}
	}
	if (rc < 0)
		task->done = true;
	return rc;
}

/* ---- names and stacks -------------------------------------------------------------------------------------- */

static bool append(struct text *text, const char *bytes, size_t n)
{
	if (!vec_reserve(&text->chars, text->chars.n + n))
		return false;
	memcpy(text->chars.at + text->chars.n, bytes, n);
	text->chars.n += n;
	return true;
}

/* 3.12+: a task that nobody named has only its number, until somebody asks for its name. */
static int append_number(struct task_reader *reader, raddr addr)
{
	char text[32];
	struct span bytes;
	const struct layout *l = reader->layout;
	uint64_t value = 0;
	int rc = mem_view_cold(reader->view, addr + l->integer.tag, 8, &bytes);
	if (rc < 0)
		return rc;
	uint64_t n = load_u64(bytes, 0) >> 3; /* lv_tag */
	if (l->minor < 12 || n > DIGITS_MAX)
		return TACHY_ECORRUPT;
	rc = n ? mem_view_cold(reader->view, addr + l->integer.digit, (uint32_t)n * 4, &bytes) : 0;
	for (uint32_t i = 0; rc >= 0 && i < n; i++)
		value |= (uint64_t)load_u32(bytes, i * 4) << (30 * i);
	if (rc < 0)
		return rc;
	int len = snprintf(text, sizeof text, "Task-%llu", (unsigned long long)value);
	return append(&reader->graph->names, text, (size_t)len) ? 0 : TACHY_ENOMEM;
}

static int read_name(struct task_reader *reader, struct raw_task *task)
{
	struct text *names = &reader->graph->names;
	const struct type_entry *type;
	int rc = 0;
	task->name_at = (uint32_t)names->chars.n;
	if (names->chars.n > TASK_NAMES_MAX) {
		reader->graph->cut = true;
	} else if (task->name) {
		rc = type_kinds_of(reader->kinds, reader->view, reader->layout, task->name, &type);
		if (rc >= 0 && type->kind == KIND_INT)
			rc = append_number(reader, task->name);
		else if (rc >= 0 && type->kind == KIND_STR)
			rc = object_str(reader->view, reader->layout, task->name, names);
	}
	if (rc >= 0 && names->chars.n == task->name_at && !append(names, "<unnamed task>", 14))
		rc = TACHY_ENOMEM;
	task->name_len = (uint32_t)(names->chars.n - task->name_at);
	return rc;
}

int task_read_stack(struct task_reader *reader, uint32_t index)
{
	struct task_graph *graph = reader->graph;
	struct raw_task *task = &graph->tasks.at[index];
	task->first_frame = (uint32_t)graph->frames.list.n;
	if (graph->frames.list.n > FRAMES_MAX) {
		graph->cut = true;
		return read_name(reader, task);
	}
	int rc = coroutine_walk(reader->view, reader->layout, reader->kinds, task->coro,
				&graph->frames, &task->coroutine);
	task->n_frames = (uint32_t)graph->frames.list.n - task->first_frame;
	return rc < 0 ? rc : read_name(reader, task);
}
