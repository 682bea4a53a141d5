/* SPDX-License-Identifier: MIT
 * Hides where numbers come from: the kernel's where it is the first of its process in the list, else one
 * beyond all that Linux gives to threads.
 */
#include "export/lanes.h"

#include <stdio.h>

#include "base/error.h"
#include "base/hash.h"

#define TID_LIMIT 4194304u /* PID_MAX_LIMIT of 64-bit Linux */

int lanes_init(const struct profile *profile, struct lanes *ret_lanes)
{
	struct lanes lanes = {{NULL, 0, 0}};
	struct map taken;
	int rc = 0;
	map_init(&taken);
	for (size_t i = 0; i < profile->threads.n && rc >= 0; i++) {
		const struct profile_thread *thread = &profile->threads.at[i];
		uint64_t key = hash_pair(thread->process, thread->tid), other, tid = thread->tid;
		if (tid == 0 || tid > TID_LIMIT || map_get(&taken, key, &other))
			tid = TID_LIMIT + 1 + i;
		if (!map_put(&taken, key, i) || !vec_push(&lanes.tids, tid))
			rc = TACHY_ENOMEM;
	}
	map_done(&taken);
	if (rc < 0)
		lanes_done(&lanes);
	else
		*ret_lanes = lanes;
	return rc;
}

void lanes_done(struct lanes *lanes)
{
	vec_done(&lanes->tids);
}

int64_t lane_pid(const struct profile *profile, uint32_t thread)
{
	uint32_t process = profile->threads.at[thread].process;
	return process < profile->processes.n ? profile->processes.at[process].pid : 0;
}

void lane_thread_title(const struct profile *profile, uint32_t thread, char dest[LANE_TITLE_MAX])
{
	const struct profile_thread *at = &profile->threads.at[thread];
	const char *name = strtab_get(profile->stacks.strings, at->name);
	(void)snprintf(dest, LANE_TITLE_MAX, "thread %.900s%s(%llu)", name, *name ? " " : "",
		       (unsigned long long)at->tid);
}

void lane_process_title(const struct profile *profile, uint32_t process, char dest[LANE_TITLE_MAX])
{
	const struct profile_process *at = &profile->processes.at[process];
	const char *command = strtab_get(profile->stacks.strings, at->command);
	(void)snprintf(dest, LANE_TITLE_MAX, "process %.900s%s(%lld)", command, *command ? " " : "",
		       (long long)at->pid);
}
