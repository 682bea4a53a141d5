/* SPDX-License-Identifier: MIT
 * Who waits for whom. 3.14 and newer keep it for debuggers (Future._asyncio_awaited_by). Before, and for tasks
 * in Python, it follows from what asyncio does when a task ends: from the callbacks of the task on, through the
 * futures that gather(), wait(), shield() and wait_for() make, to the future that a task waits for; and from
 * a TaskGroup to the task that it belongs to.
 */
#ifndef CPYTHON_TASK_WAITERS_H
#define CPYTHON_TASK_WAITERS_H

#include "cpython/task.h"

/* The tasks that task `index` says wait for it; those not met yet are added to the graph. 3.14+ */
int task_waiters_told(struct task_reader *reader, uint32_t index);
/* All others, once every task was read. */
int task_waiters_found(struct task_reader *reader);
/* Sorts the edges and gives each task its part of graph->waiters. */
int task_waiters_settle(struct task_graph *graph);

#endif
