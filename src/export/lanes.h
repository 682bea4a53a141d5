/* SPDX-License-Identifier: MIT
 * Threads and processes by the names and numbers that people see. A format with a row for each thread
 * needs a number for each row; the kernel's may be unknown, or the same for two Python threads (one
 * that several interpreters know, or one that came after another had ended).
 */
#ifndef EXPORT_LANES_H
#define EXPORT_LANES_H

#include "model/profile.h"

#define LANE_TITLE_MAX 1024

struct lanes {
	VEC(uint64_t) tids; /* of each thread of the profile: different within a process */
};

int lanes_init(const struct profile *profile, struct lanes *ret_lanes); /* 0 or TACHY_ENOMEM */
void lanes_done(struct lanes *lanes);

int64_t lane_pid(const struct profile *profile, uint32_t thread);
/* Raw, cut to the room: "thread NAME (TID)", "process COMMAND (PID)". */
void lane_thread_title(const struct profile *profile, uint32_t thread, char dest[LANE_TITLE_MAX]);
void lane_process_title(const struct profile *profile, uint32_t process, char dest[LANE_TITLE_MAX]);

#endif
