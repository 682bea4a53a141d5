/* SPDX-License-Identifier: MIT
 * asyncio's tasks as a tree in text: below each task, its coroutines and the tasks that it awaits. A task that
 * several await is shown in full below the first of them.
 */
#ifndef EXPORT_TASK_TREE_H
#define EXPORT_TASK_TREE_H

#include "base/vec.h"
#include "export/text_frames.h"

struct task_tree_step {
	size_t task;
	size_t next; /* index into `awaited` of what comes below it next */
};

struct task_tree {
	const struct tachy_interpreter *interpreter; /* borrowed */
	struct text_frames text; /* its sources are borrowed */
	size_t *first;   /* of each task: its part of `awaited`, up to first[task + 1] */
	size_t *awaited; /* indices of tasks */
	bool *shown;
	VEC(struct task_tree_step) path; /* from the root to where the writing is */
};

/* TACHY_ENOMEM. task_tree_done in success and failure alike. */
int task_tree_init(struct task_tree *tree, const struct tachy_interpreter *interpreter,
		   const struct text_frames *text);
void task_tree_done(struct task_tree *tree);
/* Whether the thread of this id has tasks (0: those that no thread has). */
bool task_tree_has(const struct task_tree *tree, uint64_t tid);
/* Writes those of its tasks that nobody awaits, with all below them, then what only awaits each other. */
int task_tree_write(struct task_tree *tree, uint64_t tid);

#endif
