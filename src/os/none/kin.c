/* SPDX-License-Identifier: MIT
 * Descendants of processes: not on this platform.
 */
#include "os/kin.h"

int kin_open(bool look, struct kin **ret_kin)
{
	(void)look;
	(void)ret_kin;
	return TACHY_EPLATFORM;
}

void kin_close(struct kin *kin)
{
	(void)kin;
}

bool kin_is_told(const struct kin *kin)
{
	(void)kin;
	return false;
}

int kin_follow(struct kin *kin, pid_t pid)
{
	(void)kin;
	(void)pid;
	return TACHY_EPLATFORM;
}

int kin_wait(struct kin *kin, unsigned timeout_ms, struct kin_event *ret_events, size_t max)
{
	(void)kin;
	(void)timeout_ms;
	(void)ret_events;
	(void)max;
	return TACHY_EPLATFORM;
}
