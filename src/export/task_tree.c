/* SPDX-License-Identifier: MIT
 * Walks from the tasks that nobody awaits down to those that they await. Each task is written in full once,
 * each further time by its name, so that the text is no longer than there are tasks and waiters; deep trees
 * are indented no further than a screen is wide.
 */
#include "export/task_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define INDENT     2u
#define LEVELS_MAX 32u /* that are indented */

#define STYLE_TASK "\x1b[1m"
#define STYLE_OFF  "\x1b[0m"

int task_tree_init(struct task_tree *tree, const struct tachy_interpreter *interpreter,
		   const struct text_frames *text)
{
	size_t n = interpreter->n_tasks, n_edges = 0;
	memset(tree, 0, sizeof *tree);
	tree->interpreter = interpreter;
	tree->text = *text;
	for (size_t i = 0; i < n; i++)
		n_edges += interpreter->tasks[i].n_waiters;
	tree->first = calloc(n + 2, sizeof *tree->first);
	tree->awaited = calloc(n_edges + 1, sizeof *tree->awaited);
	tree->shown = calloc(n + 1, sizeof *tree->shown);
	if (!tree->first || !tree->awaited || !tree->shown)
		return TACHY_ENOMEM;
	/* counted one further up, so that filling in moves first[i] to where it belongs */
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < interpreter->tasks[i].n_waiters; k++)
			tree->first[interpreter->tasks[i].waiters[k] + 2]++;
	for (size_t i = 2; i < n + 2; i++)
		tree->first[i] += tree->first[i - 1];
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < interpreter->tasks[i].n_waiters; k++)
			tree->awaited[tree->first[interpreter->tasks[i].waiters[k] + 1]++] = i;
	return 0;
}

void task_tree_done(struct task_tree *tree)
{
	free(tree->first);
	free(tree->awaited);
	free(tree->shown);
	vec_done(&tree->path);
}

bool task_tree_has(const struct task_tree *tree, uint64_t tid)
{
	for (size_t i = 0; i < tree->interpreter->n_tasks; i++)
		if (tree->interpreter->tasks[i].tid == tid)
			return true;
	return false;
}

static void write_head(const struct task_tree *tree, const struct tachy_task *task, bool again)
{
	struct out *out = tree->text.out;
	out_repeat(out, ' ', tree->text.indent);
	out_text(out, tree->text.color ? "  " STYLE_TASK "Task \"" : "  Task \"");
	out_escaped(out, task->name);
	out_char(out, '"');
	if (task->running)
		out_text(out, ", running");
	if (task->n_waiters > 1) {
		out_text(out, ", awaited by ");
		out_u64(out, task->n_waiters);
	}
	if (again)
		out_text(out, ", see above");
	if (tree->text.color)
		out_text(out, STYLE_OFF);
	out_char(out, '\n');
}

/* Writes a task; one that is written for the first time is gone into. */
static int enter(struct task_tree *tree, size_t index)
{
	const struct tachy_task *task = &tree->interpreter->tasks[index];
	struct task_tree_step step = {index, tree->first[index]};
	size_t level = tree->path.n < LEVELS_MAX ? tree->path.n : LEVELS_MAX;
	bool again = tree->shown[index];
	tree->text.indent = level * INDENT;
	write_head(tree, task, again);
	if (again)
		return 0;
	tree->shown[index] = true;
	tree->text.indent += INDENT;
	text_frames_write(&tree->text, task->frames, task->n_frames, false);
	if (!task->n_frames) {
		out_repeat(tree->text.out, ' ', tree->text.indent);
		out_text(tree->text.out, "  [no Python frame]\n");
	}
	return vec_push(&tree->path, step) ? 0 : TACHY_ENOMEM;
}

static int write_below(struct task_tree *tree, size_t root)
{
	int rc = enter(tree, root);
	while (rc >= 0 && tree->path.n) {
		struct task_tree_step *step = &tree->path.at[tree->path.n - 1];
		if (step->next < tree->first[step->task + 1])
			rc = enter(tree, tree->awaited[step->next++]);
		else
			tree->path.n--;
	}
	return rc;
}

int task_tree_write(struct task_tree *tree, uint64_t tid)
{
	const struct tachy_interpreter *interpreter = tree->interpreter;
	int rc = 0;
	for (int circles = 0; circles < 2; circles++)
		for (size_t i = 0; rc >= 0 && i < interpreter->n_tasks; i++) {
			const struct tachy_task *task = &interpreter->tasks[i];
			if (task->tid == tid && !tree->shown[i] && (circles || !task->n_waiters))
				rc = write_below(tree, i);
		}
	return rc;
}
