/* SPDX-License-Identifier: MIT
 * The fifth field of /proc/loadavg, proc(5). One read tells that nobody was born, which is nearly always.
 */
#include "os/linux/newborn.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RANGE_MAX 1000

static pid_t last_pid(int fd)
{
	char text[128];
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	const char *at = strrchr(text, ' ');
	long pid = at ? strtol(at, NULL, 10) : -1;
	return pid > 0 && pid < INT32_MAX ? (pid_t)pid : -1;
}

void newborn_init(struct newborn *newborn)
{
	newborn->fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	newborn->last = newborn->before = last_pid(newborn->fd);
}

void newborn_done(struct newborn *newborn)
{
	if (newborn->fd >= 0)
		(void)close(newborn->fd);
	newborn->fd = -1;
}

bool newborn_each(struct newborn *newborn, void (*take)(void *arg, pid_t pid), void *arg)
{
	pid_t last = last_pid(newborn->fd), first = newborn->before + 1;
	bool known = last > 0 && newborn->before > 0 && last >= newborn->before &&
		     last - newborn->before <= RANGE_MAX;
	newborn->before = newborn->last;
	newborn->last = last;
	for (pid_t pid = first; known && pid <= last; pid++)
		take(arg, pid);
	return known;
}
