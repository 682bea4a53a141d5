/* SPDX-License-Identifier: MIT
 * Which tasks there are: asyncio's own lists of them.
 */
#ifndef CPYTHON_TASK_LIST_H
#define CPYTHON_TASK_LIST_H

#include "cpython/asyncio.h"

/* The loop that runs in each of the graph's threads and, where the thread tells it, the task. */
int task_list_loops(struct task_reader *reader);
/* Adds every task of the lists that the threads and the interpreter keep (3.14+). */
int task_list_linked(struct task_reader *reader, raddr interp);
/* Adds the members of a set: tasks, or weak references to such. */
int task_list_set(struct task_reader *reader, raddr set);
/* Adds the running task of each loop and notes it in the graph's threads; `current`: the dict {loop: task}. */
int task_list_current(struct task_reader *reader, raddr current);

/* Calls `visit` with each member of the set at `addr`, a negative result ends it. Also the entries that stand
 * for deleted ones. */
typedef int task_member(struct task_reader *reader, raddr member, void *arg);
int task_each_of_set(struct task_reader *reader, raddr addr, task_member *visit, void *arg);

#endif
