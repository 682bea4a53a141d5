/* SPDX-License-Identifier: MIT
 * Small files in, whole files out. Reading is bounded by the caller; writing goes to a file beside
 * the wanted one and is renamed over it, so that nobody ever sees half a file.
 */
#ifndef BASE_IO_H
#define BASE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* Reads a whole file, of /proc too (where the size is not known before). A NUL follows the bytes.
 * *ret_data belongs to the caller: free(). TACHY_ELIMIT when there are more than `max` bytes. */
int io_read_file(const char *path, size_t max, char **ret_data, size_t *ret_size);

/* Reads at most size - 1 bytes of a file into `buf` and ends them with a NUL. No allocation.
 * The number of bytes, or a TACHY_E*; a longer file is cut in silence. */
int io_read_small(const char *path, char *buf, size_t size);

/* All of it, over short writes and EINTR. */
int io_write_all(int fd, const void *data, size_t size);

/* Up to `size` bytes from where `fd` stands, over short reads and EINTR; fewer at the end. The number. */
ssize_t io_read_up_to(int fd, void *dest, size_t size);
/* All that is left of `fd`, behind the `n` bytes of `begin`. *ret_data belongs to the caller: free(). */
int io_read_rest(int fd, const void *begin, size_t n, uint8_t **ret_data, size_t *ret_size);

/* Reads exactly `size` bytes at `offset`; TACHY_EIO at the end of the file. */
int io_read_at(int fd, void *dest, size_t size, off_t offset);

/* A file being written. Between open and commit or abort it may only be written through `fd`. */
struct io_output {
	int fd;       /* borrowed until commit or abort */
	bool is_std;  /* stdout: never closed */
	char *path;   /* owned; where it goes in the end, symbolic links resolved */
	char *temp;   /* owned; NULL when written in place (stdout, a pipe, a device) */
};

/* "-" is stdout. `err` may be NULL. On failure *ret_output is untouched. */
int io_output_open(const char *path, struct io_output *ret_output, struct tachy_error *err);
/* The same, in place from the first byte on, for what shall stay when we are killed. A file that was there is
 * emptied now. */
int io_output_open_in_place(const char *path, struct io_output *ret_output,
			    struct tachy_error *err);
/* Closes and renames: the file is there, whole, or (negative) not at all. `output` is used up. */
int io_output_commit(struct io_output *output, struct tachy_error *err);
/* Closes and removes what was written. `output` is used up. */
void io_output_abort(struct io_output *output);

#endif
