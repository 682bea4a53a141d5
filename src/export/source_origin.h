/* SPDX-License-Identifier: MIT
 * Whose a source file is, by nothing but its name.
 */
#ifndef EXPORT_SOURCE_ORIGIN_H
#define EXPORT_SOURCE_ORIGIN_H

enum source_origin {
	SOURCE_PROJECT,
	SOURCE_STDLIB,
	SOURCE_SITE,      /* installed beside the standard library: site-packages, dist-packages */
	SOURCE_FROZEN,    /* "<frozen os>": of the standard library, without a file */
	SOURCE_GENERATED, /* "<string>", "<stdin>", "": code without a file */
	SOURCE_N_ORIGINS
};

enum source_origin source_origin_of(const char *path);
const char *source_origin_name(enum source_origin origin); /* "project", "stdlib", ... */

#endif
