/* SPDX-License-Identifier: MIT
 * From a graph of tasks to stacks: which tasks have one, and through which of those that await them it leads.
 */
#ifndef SAMPLER_TASK_PATH_H
#define SAMPLER_TASK_PATH_H

#include "sampler/target_tasks.h"

/* Notes the stack of every task of the interpreter that counts in the mode at hand. */
int task_path_note_all(struct target *target, struct tasks_interp *interp,
		       const struct task_moment *moment);

#endif
