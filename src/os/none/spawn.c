/* SPDX-License-Identifier: MIT
 * Starting programs: not on this platform.
 */
#include "os/spawn.h"

int spawn_held(char *const argv[], struct spawned *ret_spawned, struct tachy_error *err)
{
	(void)argv;
	(void)ret_spawned;
	return error_set(err, TACHY_EPLATFORM,
			 "cannot start programs: this platform is not supported");
}

int spawn_release(struct spawned *spawned)
{
	(void)spawned;
	return TACHY_EPLATFORM;
}

int spawn_wait(struct spawned *spawned, bool block, int *ret_status)
{
	(void)spawned;
	(void)block;
	(void)ret_status;
	return TACHY_EPLATFORM;
}

void spawn_done(struct spawned *spawned)
{
	(void)spawned;
}
