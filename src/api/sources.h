/* SPDX-License-Identifier: MIT
 * Source files for exporters, which know no process: as a target has them.
 */
#ifndef API_SOURCES_H
#define API_SOURCES_H

#include "export/source_lines.h"
#include "os/proc.h"

/* A source_reader.read whose ctx is a const struct proc_place. */
int sources_read(void *ctx, const char *path, struct source_text *ret_text);

#endif
