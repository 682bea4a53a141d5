/* SPDX-License-Identifier: MIT
 * Bytes on their way to an `out`, compressed as a gzip file is. No name and no time go in, so that
 * equal bytes give equal files.
 */
#ifndef EXPORT_GZIP_OUT_H
#define EXPORT_GZIP_OUT_H

#include <zlib.h>

#include "export/out.h"

struct gzip_out {
	struct out *out; /* borrowed; write errors stick there */
	z_stream stream;
};

int gzip_out_init(struct gzip_out *gzip, struct out *out); /* 0 or TACHY_ENOMEM */
void gzip_out_bytes(struct gzip_out *gzip, const void *data, size_t size);
/* Writes what is left. `gzip` is used up. */
void gzip_out_end(struct gzip_out *gzip);

#endif
