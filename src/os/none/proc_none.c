/* SPDX-License-Identifier: MIT
 * The platform that is none: os/proc.h where no other folder serves.
 */
#include "os/proc.h"

#include <string.h>

int proc_maps_read(pid_t pid, struct proc_maps *ret_maps)
{
	(void)pid;
	(void)ret_maps;
	return TACHY_EPLATFORM;
}

int proc_maps_parse(const char *text, size_t size, struct proc_maps *ret_maps)
{
	(void)text;
	(void)size;
	(void)ret_maps;
	return TACHY_EPLATFORM;
}

void proc_maps_done(struct proc_maps *maps)
{
	memset(maps, 0, sizeof *maps);
}

const struct proc_map *proc_maps_at(const struct proc_maps *maps, raddr addr)
{
	(void)maps;
	(void)addr;
	return NULL;
}

int proc_map_open(pid_t pid, const struct proc_map *map)
{
	(void)pid;
	(void)map;
	return TACHY_EPLATFORM;
}

int proc_open_path(pid_t pid, const char *path)
{
	(void)pid;
	(void)path;
	return TACHY_EPLATFORM;
}

int proc_place_open(pid_t pid, struct proc_place *ret_place)
{
	(void)pid;
	*ret_place = (struct proc_place){-1, -1};
	return TACHY_EPLATFORM;
}

void proc_place_close(struct proc_place *place)
{
	*place = (struct proc_place){-1, -1};
}

int proc_place_open_path(const struct proc_place *place, const char *path)
{
	(void)place;
	(void)path;
	return TACHY_EPLATFORM;
}

int proc_root_id_read(pid_t pid, struct proc_root_id *ret_id)
{
	(void)pid;
	(void)ret_id;
	return TACHY_EPLATFORM;
}

bool proc_stat_is_over(const struct proc_stat *stat)
{
	(void)stat;
	return false;
}

int proc_stat_read(pid_t pid, struct proc_stat *ret_stat)
{
	(void)pid;
	(void)ret_stat;
	return TACHY_EPLATFORM;
}

int proc_thread_stat_read(pid_t pid, pid_t tid, struct proc_stat *ret_stat)
{
	(void)pid;
	(void)tid;
	(void)ret_stat;
	return TACHY_EPLATFORM;
}

int proc_stat_parse(const char *text, size_t size, struct proc_stat *ret_stat)
{
	(void)text;
	(void)size;
	(void)ret_stat;
	return TACHY_EPLATFORM;
}

int proc_status_read(pid_t pid, struct proc_status *ret_status)
{
	(void)pid;
	(void)ret_status;
	return TACHY_EPLATFORM;
}

int proc_thread_status_read(pid_t pid, pid_t tid, struct proc_status *ret_status)
{
	(void)pid;
	(void)tid;
	(void)ret_status;
	return TACHY_EPLATFORM;
}

int proc_status_parse(const char *text, size_t size, struct proc_status *ret_status)
{
	(void)text;
	(void)size;
	(void)ret_status;
	return TACHY_EPLATFORM;
}

int proc_identity_read(pid_t pid, struct proc_identity *ret_identity)
{
	(void)pid;
	(void)ret_identity;
	return TACHY_EPLATFORM;
}

int proc_identity_check(pid_t pid, const struct proc_identity *before)
{
	(void)pid;
	(void)before;
	return TACHY_EPLATFORM;
}

int proc_command(pid_t pid, char *buf, size_t size)
{
	(void)pid;
	(void)buf;
	(void)size;
	return TACHY_EPLATFORM;
}

int proc_comm(pid_t pid, pid_t tid, char *buf, size_t size)
{
	(void)pid;
	(void)tid;
	(void)buf;
	(void)size;
	return TACHY_EPLATFORM;
}

int proc_exe_path(pid_t pid, char *buf, size_t size)
{
	(void)pid;
	(void)buf;
	(void)size;
	return TACHY_EPLATFORM;
}

pid_t proc_living_id(pid_t pid)
{
	return pid;
}

int proc_tids_read(pid_t pid, struct proc_tids *tids)
{
	(void)pid;
	(void)tids;
	return TACHY_EPLATFORM;
}

void proc_tids_done(struct proc_tids *tids)
{
	memset(tids, 0, sizeof *tids);
}

int proc_tid_from_ns(pid_t pid, pid_t ns_tid, pid_t *ret_tid)
{
	(void)pid;
	(void)ns_tid;
	(void)ret_tid;
	return TACHY_EPLATFORM;
}

int proc_list(pid_t **ret_pids, size_t *ret_n)
{
	(void)ret_pids;
	(void)ret_n;
	return TACHY_EPLATFORM;
}

bool proc_shares_memory(pid_t a, pid_t b)
{
	(void)a;
	(void)b;
	return false;
}
