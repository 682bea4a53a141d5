/* SPDX-License-Identifier: MIT
 * What the parts of a dump share while it is made.
 */
#ifndef API_DUMP_WORK_H
#define API_DUMP_WORK_H

#include "api/handles.h"
#include "sampler/target_tasks.h"

struct dump_work {
	struct target *target;
	struct dump_box *box;
};

/* A copy that lives as long as the dump; "" when memory is out. */
const char *dump_work_string(struct dump_work *work, const char *text);
/* The frames of a stack, leaf first. */
int dump_work_frames(struct dump_work *work, stack_id stack, const struct tachy_frame **ret_frames,
		     size_t *ret_n);
/* The tasks of an interpreter. */
int dump_tasks_fill(struct dump_work *work, const struct tasks_interp *from,
		    struct tachy_interpreter *to);

#endif
