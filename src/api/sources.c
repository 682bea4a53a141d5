/* SPDX-License-Identifier: MIT
 * Invariant: only regular files are read, and none that is larger than SOURCE_BYTES_MAX.
 */
#include "api/sources.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/io.h"

#define SOURCE_BYTES_MAX (64u << 20) /* of one file; c05 of the cases has 2 MB */

static int read_regular(int fd, struct source_text *ret_text)
{
	struct stat st;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return TACHY_EIO;
	if (st.st_size > SOURCE_BYTES_MAX)
		return TACHY_ELIMIT;
	struct source_text text = {
		.size = (size_t)st.st_size,
		.changed_unix_ns = st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec,
	};
	text.bytes = malloc(text.size + 1);
	if (!text.bytes)
		return TACHY_ENOMEM;
	int rc = io_read_at(fd, text.bytes, text.size, 0);
	if (rc < 0) {
		free(text.bytes);
		return rc;
	}
	*ret_text = text;
	return 0;
}

int sources_read(void *ctx, const char *path, struct source_text *ret_text)
{
	const struct proc_place *place = ctx;
	int fd = proc_place_open_path(place, path);
	if (fd < 0)
		return fd;
	int rc = read_regular(fd, ret_text);
	(void)close(fd);
	return rc;
}
