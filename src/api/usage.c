/* SPDX-License-Identifier: MIT
 * What the kernel says about a process and its threads, in seconds.
 */
#include <unistd.h>

#include "os/proc.h"
#include "tachyscope/live.h"

int tachy_usage_read(int64_t pid, uint64_t tid, struct tachy_usage *ret_usage)
{
	struct proc_stat stat;
	long ticks_per_s = sysconf(_SC_CLK_TCK);
	int rc = tid ? proc_thread_stat_read((pid_t)pid, (pid_t)tid, &stat)
		     : proc_stat_read((pid_t)pid, &stat);
	if (rc < 0)
		return rc;
	*ret_usage = (struct tachy_usage){
		.cpu_s = (double)stat.cpu_ticks / (double)(ticks_per_s > 0 ? ticks_per_s : 100),
		.state = stat.state,
		.n_threads = stat.n_threads,
	};
	return 0;
}
