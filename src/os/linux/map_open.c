/* SPDX-License-Identifier: MIT
 * Opening files as the target has them. Invariant: a descriptor given out is a regular file, and from
 * proc_map_open the very file that is mapped: the same device and inode, where a mapped inode cannot
 * be reused while it is mapped.
 *
 * Ways in, each with the right it needs (proc(5)):
 *     map_files/START-END   CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE; never the wrong file
 *     exe                   ptrace access; right for deleted programs too
 *     root/PATH             ptrace access; may lead to a file that took the place of the mapped one
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "os/proc.h"

/* linux/openat2.h, which older kernel headers lack; the number is the same on every machine. */
#define NR_OPENAT2 437
#define RESOLVE_INSIDE_ROOT 0x10 /* RESOLVE_IN_ROOT: absolute links and ".." stay below dirfd */
struct open_request {
	uint64_t flags, mode, resolve;
};

#define PATH_ROOM 4352 /* PATH_MAX and a /proc prefix */

/* From a descriptor opened with O_PATH, which has no side effects, to a readable one. Used up. */
static int reopen(int fd)
{
	struct stat st;
	char path[64];
	int code = TACHY_ENOENT;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		int readable = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		code = readable < 0 ? error_from_errno(errno) : readable;
	}
	(void)close(fd);
	return code;
}

static int open_plain(const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	return fd < 0 ? error_from_errno(errno) : reopen(fd);
}

/* What /proc/self/maps says about `fd` once it is mapped: on btrfs and overlayfs that is another device
 * than fstat gives, but the same as in the target's maps. */
static bool shown_alike(int fd, const struct proc_map *map)
{
	struct proc_maps own;
	void *page = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	if (page == MAP_FAILED)
		return false;
	bool alike = false;
	if (proc_maps_read(getpid(), &own) == 0) {
		const struct proc_map *here = proc_maps_at(&own, (raddr)(uintptr_t)page);
		alike = here && here->inode == map->inode && here->dev == map->dev;
		proc_maps_done(&own);
	}
	(void)munmap(page, 1);
	return alike;
}

static bool is_mapped_file(int fd, const struct proc_map *map)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return false;
	uint64_t dev = (uint64_t)major(st.st_dev) << 32 | minor(st.st_dev);
	return (st.st_ino == map->inode && dev == map->dev) || shown_alike(fd, map);
}

static int open_if_mapped(const char *path, const struct proc_map *map)
{
	int fd = open_plain(path);
	if (fd >= 0 && !is_mapped_file(fd, map)) {
		(void)close(fd);
		return TACHY_ENOENT;
	}
	return fd;
}

int proc_map_open(pid_t pid, const struct proc_map *map)
{
	char path[PATH_ROOM];
	if (map->inode == 0)
		return TACHY_ENOENT;
	pid = proc_living_id(pid);
	(void)snprintf(path, sizeof path, "/proc/%d/map_files/%llx-%llx", (int)pid,
		       (unsigned long long)map->start, (unsigned long long)map->end);
	int fd = open_plain(path);
	if (fd >= 0)
		return fd;
	if (map->path[0] == '/' && !map->deleted) {
		(void)snprintf(path, sizeof path, "/proc/%d/root%s", (int)pid, map->path);
		fd = open_if_mapped(path, map);
		if (fd >= 0)
			return fd;
	}
	(void)snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	fd = open_if_mapped(path, map);
	return fd >= 0 ? fd : TACHY_ENOENT;
}

/* Below `dir`, absolute symbolic links included; kernels before 5.6 follow those from our own root. */
static int open_inside(int dir, const char *path)
{
	struct open_request how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_INSIDE_ROOT};
	long fd = syscall(NR_OPENAT2, dir, path, &how, sizeof how);
	if (fd >= 0)
		return (int)fd;
	if (errno != ENOSYS && errno != EPERM)
		return -1;
	while (*path == '/')
		path++;
	return openat(dir, path, O_PATH | O_CLOEXEC);
}

static int open_folder(pid_t pid, const char *name)
{
	char path[64];
	(void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	int dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? error_from_errno(errno) : dir;
}

int proc_place_open(pid_t pid, struct proc_place *ret_place)
{
	pid = proc_living_id(pid);
	struct proc_place place = {.root = open_folder(pid, "root"), .cwd = -1};
	*ret_place = (struct proc_place){-1, -1};
	if (place.root < 0)
		return place.root;
	place.cwd = open_folder(pid, "cwd");
	if (place.cwd < 0) {
		int rc = place.cwd;
		(void)close(place.root);
		return rc;
	}
	*ret_place = place;
	return 0;
}

void proc_place_close(struct proc_place *place)
{
	if (place->root >= 0)
		(void)close(place->root);
	if (place->cwd >= 0)
		(void)close(place->cwd);
	*place = (struct proc_place){-1, -1};
}

int proc_place_open_path(const struct proc_place *place, const char *path)
{
	bool absolute = path[0] == '/';
	int dir = absolute ? place->root : place->cwd;
	if (dir < 0)
		return open_plain(path);
	int fd = absolute ? open_inside(dir, path) : openat(dir, path, O_PATH | O_CLOEXEC);
	return fd < 0 ? error_from_errno(errno) : reopen(fd);
}

int proc_open_path(pid_t pid, const char *path)
{
	struct proc_place place;
	int rc = proc_place_open(pid, &place);
	if (rc >= 0)
		rc = proc_place_open_path(&place, path);
	proc_place_close(&place);
	return rc;
}

int proc_root_id_read(pid_t pid, struct proc_root_id *ret_id)
{
	char path[64];
	struct stat root, mounts;
	pid = proc_living_id(pid);
	(void)snprintf(path, sizeof path, "/proc/%d/root", (int)pid);
	if (stat(path, &root) < 0)
		return error_from_errno(errno);
	(void)snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)pid);
	if (stat(path, &mounts) < 0)
		return error_from_errno(errno);
	*ret_id = (struct proc_root_id){root.st_dev, root.st_ino, mounts.st_dev, mounts.st_ino};
	return 0;
}
