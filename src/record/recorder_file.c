/* SPDX-License-Identifier: MIT
 * Invariant: where the file can be cut it ends with a whole block whenever nobody is writing. A pipe that
 * took half a block is broken for good.
 */
#include "record/recorder_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/io.h"

/* Whether we may cut the file at what is now its end for us: not when others append to it. */
static bool find_end(int fd, off_t *ret_end)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || flags < 0 || (flags & O_APPEND))
		return false;
	off_t end = lseek(fd, 0, SEEK_CUR);
	if (end < 0)
		return false;
	*ret_end = end;
	return true;
}

static void push(struct recorder_file *file)
{
	file->error = io_write_all(file->fd, file->block.at, file->block.n);
	file->errno_value = file->error < 0 ? errno : 0;
	file->waiting = file->error < 0;
	if (file->error >= 0) {
		file->error = 0;
		file->n_bytes += file->block.n;
		file->good_end += (off_t)file->block.n;
		return;
	}
	file->broken = !file->can_cut || ftruncate(file->fd, file->good_end) < 0 ||
		       lseek(file->fd, file->good_end, SEEK_SET) < 0;
}

int recorder_file_init(struct recorder_file *file, int fd)
{
	uint8_t head[RECORDING_HEAD_SIZE];
	*file = (struct recorder_file){.fd = fd};
	file->can_cut = find_end(fd, &file->good_end);
	int rc = block_packer_create(&file->packer);
	if (rc < 0)
		return rc;
	recording_head_put(head);
	bytes_put(&file->block, head, sizeof head);
	if (file->block.failed) {
		recorder_file_done(file);
		return TACHY_ENOMEM;
	}
	push(file);
	return 0;
}

void recorder_file_done(struct recorder_file *file)
{
	block_packer_destroy(file->packer);
	bytes_done(&file->block);
	file->packer = NULL;
}

bool recorder_file_ready(struct recorder_file *file)
{
	if (file->waiting && !file->broken)
		push(file);
	return !file->waiting && !file->broken;
}

int recorder_file_put(struct recorder_file *file, const struct block_body *body,
		      const struct bytes *tail)
{
	int rc = block_pack(file->packer, file->n_blocks, body, tail, &file->block);
	if (rc < 0)
		return rc;
	file->n_blocks++;
	push(file);
	return 0;
}
