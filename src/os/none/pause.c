/* SPDX-License-Identifier: MIT
 * Nothing can be held here.
 */
#include "os/pause.h"

int pause_open(pid_t pid, struct pause **ret_pause)
{
	(void)pid;
	(void)ret_pause;
	return TACHY_EPLATFORM;
}

int pause_stop(struct pause *pause)
{
	(void)pause;
	return TACHY_EPLATFORM;
}

int pause_resume(struct pause *pause)
{
	(void)pause;
	return TACHY_EPLATFORM;
}

size_t pause_n_threads(const struct pause *pause)
{
	(void)pause;
	return 0;
}

void pause_close(struct pause *pause)
{
	(void)pause;
}
