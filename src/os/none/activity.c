/* SPDX-License-Identifier: MIT
 * Nothing is known about threads here.
 */
#include "os/activity.h"

#include "base/error.h"

void activity_open(struct activity *activity, pid_t pid, pid_t tid)
{
	*activity = (struct activity){pid, tid, -1, -1};
}

void activity_close(struct activity *activity)
{
	(void)activity;
}

int activity_look(struct activity *activity, bool *ret_running, raddr *ret_futex)
{
	(void)activity;
	(void)ret_running;
	(void)ret_futex;
	return TACHY_EPLATFORM;
}

int activity_clock(struct activity *activity, uint64_t *ret_clock)
{
	(void)activity;
	(void)ret_clock;
	return TACHY_EPLATFORM;
}
