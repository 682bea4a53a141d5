/* SPDX-License-Identifier: MIT
 * Hides short reads and writes, EINTR, and the temporary file. Invariant: an io_output either has a
 * temporary file of its own (temp != NULL) or writes in place.
 */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CHUNK 65536
#define TEMP_TRIES 64
#define WRITE_MAX (1u << 30)

static int open_read(const char *path)
{
	int fd;
	do
		fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? error_from_errno(errno) : fd;
}

static ssize_t read_some(int fd, void *dest, size_t size)
{
	ssize_t n;
	do
		n = read(fd, dest, size);
	while (n < 0 && errno == EINTR);
	return n;
}

/* The file's bytes up to max + 1 of them, so that the caller sees that there were more. */
static int slurp(int fd, size_t max, char **ret_data, size_t *ret_size)
{
	char *data = NULL;
	size_t size = 0, room = 0;
	for (;;) {
		if (room - size < CHUNK + 1) {
			room = room ? room * 2 : 2 * CHUNK;
			char *bigger = realloc(data, room);
			if (!bigger) {
				free(data);
				return TACHY_ENOMEM;
			}
			data = bigger;
		}
		ssize_t n = read_some(fd, data + size, room - size - 1);
		if (n < 0) {
			int code = error_from_errno(errno);
			free(data);
			return code;
		}
		size += (size_t)n;
		if (n == 0 || size > max)
			break;
	}
	data[size] = '\0';
	*ret_data = data;
	*ret_size = size;
	return 0;
}

int io_read_file(const char *path, size_t max, char **ret_data, size_t *ret_size)
{
	int fd = open_read(path);
	if (fd < 0)
		return fd;
	char *data = NULL;
	size_t size = 0;
	int code = slurp(fd, max, &data, &size);
	(void)close(fd);
	if (code < 0)
		return code;
	if (size > max) {
		free(data);
		return TACHY_ELIMIT;
	}
	*ret_data = data;
	*ret_size = size;
	return 0;
}

int io_read_small(const char *path, char *buf, size_t size)
{
	if (size == 0)
		return TACHY_EINVAL;
	int fd = open_read(path);
	if (fd < 0)
		return fd;
	size_t used = 0;
	int code = 0;
	while (used < size - 1) {
		ssize_t n = read_some(fd, buf + used, size - 1 - used);
		if (n < 0)
			code = error_from_errno(errno);
		if (n <= 0)
			break;
		used += (size_t)n;
	}
	(void)close(fd);
	buf[used] = '\0';
	return code < 0 ? code : (int)used;
}

int io_write_all(int fd, const void *data, size_t size)
{
	const char *at = data;
	while (size > 0) {
		ssize_t n = write(fd, at, size < WRITE_MAX ? size : WRITE_MAX);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_from_errno(errno);
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

ssize_t io_read_up_to(int fd, void *dest, size_t size)
{
	size_t done = 0;
	while (done < size) {
		ssize_t n = read_some(fd, (char *)dest + done, size - done);
		if (n < 0)
			return error_from_errno(errno);
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

int io_read_rest(int fd, const void *begin, size_t n, uint8_t **ret_data, size_t *ret_size)
{
	uint8_t *data = NULL;
	size_t size = n, room = 0;
	for (ssize_t got = 1; got > 0; size += got > 0 ? (size_t)got : 0) {
		if (room - size < CHUNK || !data) {
			room = room ? room * 2 : n + 2 * CHUNK;
			uint8_t *bigger = realloc(data, room);
			if (!bigger) {
				free(data);
				return TACHY_ENOMEM;
			}
			if (!data && n)
				memcpy(bigger, begin, n);
			data = bigger;
		}
		got = io_read_up_to(fd, data + size, room - size);
		if (got < 0) {
			free(data);
			return (int)got;
		}
	}
	*ret_data = data;
	*ret_size = size;
	return 0;
}

int io_read_at(int fd, void *dest, size_t size, off_t offset)
{
	char *at = dest;
	while (size > 0) {
		ssize_t n = pread(fd, at, size, offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_from_errno(errno);
		if (n == 0)
			return TACHY_EIO;
		at += n;
		offset += n;
		size -= (size_t)n;
	}
	return 0;
}

static char *join(const char *a, const char *b, unsigned long number)
{
	size_t size = strlen(a) + strlen(b) + 32;
	char *text = malloc(size);
	if (text)
		(void)snprintf(text, size, "%s%s%lx", a, b, number);
	return text;
}

/* A name nobody else uses: ours, the time, a try. O_EXCL decides. */
static int open_temp(const char *path, mode_t mode, char **ret_temp)
{
	struct timespec now = {0};
	(void)clock_gettime(CLOCK_REALTIME, &now);
	unsigned long seed = ((unsigned long)getpid() << 20) ^ (unsigned long)now.tv_nsec;
	for (unsigned long i = 0; i < TEMP_TRIES; i++) {
		char *temp = join(path, ".part-", seed + i);
		if (!temp) {
			errno = ENOMEM;
			return -1;
		}
		int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (fd >= 0) {
			*ret_temp = temp;
			return fd;
		}
		int saved = errno;
		free(temp);
		errno = saved;
		if (saved != EEXIST && saved != EINTR)
			return -1;
	}
	return -1;
}

/* The file that `path` stands for, so that a symbolic link stays one. Owned by the caller. */
static char *resolve(const char *path)
{
	char *real = realpath(path, NULL);
	return real ? real : strdup(path);
}

static int refuse(struct tachy_error *err, const char *path, int errno_value)
{
	int code = error_from_errno(errno_value);
	const char *cure = "";
	if (errno_value == ENOENT)
		cure = "; create the directory first, or name another with -o";
	else if (errno_value == EACCES || errno_value == EROFS || errno_value == EPERM)
		cure = "; choose a directory that you may write to";
	else if (errno_value == ENOSPC || errno_value == EDQUOT)
		cure = "; make room, or choose another directory";
	return error_set(err, code, "cannot write %s: %s%s", path, strerror(errno_value), cure);
}

/* Beside a regular file or where there is none yet; in place where it is a pipe or a device. */
static int open_for_writing(const char *path, const struct stat *there, char **ret_temp)
{
	if (there && !S_ISREG(there->st_mode))
		return open(path, O_WRONLY | O_CLOEXEC);
	return open_temp(path, there ? there->st_mode & 0777 : 0666, ret_temp);
}

int io_output_open(const char *path, struct io_output *ret_output, struct tachy_error *err)
{
	if (strcmp(path, "-") == 0) {
		*ret_output = (struct io_output){.fd = STDOUT_FILENO, .is_std = true};
		return 0;
	}
	struct stat st;
	bool there = stat(path, &st) == 0;
	if (there && S_ISDIR(st.st_mode))
		return refuse(err, path, EISDIR);
	char *target = resolve(path), *temp = NULL;
	if (!target)
		return error_set(err, TACHY_ENOMEM, "cannot write %s: out of memory", path);
	int fd = open_for_writing(target, there ? &st : NULL, &temp);
	if (fd < 0) {
		int saved = errno;
		free(target);
		return refuse(err, path, saved);
	}
	*ret_output = (struct io_output){.fd = fd, .path = target, .temp = temp};
	return 0;
}

int io_output_open_in_place(const char *path, struct io_output *ret_output, struct tachy_error *err)
{
	if (strcmp(path, "-") == 0)
		return io_output_open(path, ret_output, err);
	char *copy = strdup(path);
	if (!copy)
		return error_set(err, TACHY_ENOMEM, "cannot write %s: out of memory", path);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0) {
		int saved = errno;
		free(copy);
		return refuse(err, path, saved);
	}
	*ret_output = (struct io_output){.fd = fd, .path = copy};
	return 0;
}

int io_output_commit(struct io_output *output, struct tachy_error *err)
{
	int code = 0;
	if (!output->is_std && close(output->fd) < 0 && errno != EINTR)
		code = refuse(err, output->path, errno);
	if (code == 0 && output->temp && rename(output->temp, output->path) < 0)
		code = refuse(err, output->path, errno);
	if (code < 0 && output->temp)
		(void)unlink(output->temp);
	free(output->temp);
	free(output->path);
	*output = (struct io_output){.fd = -1};
	return code;
}

void io_output_abort(struct io_output *output)
{
	if (!output->is_std && output->fd >= 0)
		(void)close(output->fd);
	if (output->temp)
		(void)unlink(output->temp);
	free(output->temp);
	free(output->path);
	*output = (struct io_output){.fd = -1};
}
