/* SPDX-License-Identifier: MIT
 * PY_VERSION_HEX: taken apart, and written the way Python writes it.
 */
#ifndef CPYTHON_VERSION_HEX_H
#define CPYTHON_VERSION_HEX_H

#include <stddef.h>
#include <stdint.h>

enum version_level {
	VERSION_ALPHA = 0xa,
	VERSION_BETA = 0xb,
	VERSION_RC = 0xc,
	VERSION_FINAL = 0xf
};

#define VERSION_TEXT_MAX 24 /* "255.255.255rc15", with room */

/* 0, or TACHY_ECORRUPT: no CPython calls itself that (a level that is none of the four, or a
 * serial in a final release). The outputs are untouched then; none may be NULL. */
int version_hex_decode(uint32_t hex, unsigned *ret_major, unsigned *ret_minor, unsigned *ret_micro,
		       unsigned *ret_level, unsigned *ret_serial);

/* "3.13.0", "3.15.0rc1". 0, or TACHY_ECORRUPT as above, or TACHY_EINVAL: `size` is too small
 * (VERSION_TEXT_MAX always suffices). ret_text is untouched on failure. */
int version_hex_format(uint32_t hex, char *ret_text, size_t size);

#endif
