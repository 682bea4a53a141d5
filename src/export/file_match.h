/* SPDX-License-Identifier: MIT
 * Which file of one run is which of another, whose checkout, interpreter or machine may lie elsewhere: by
 * the end of their paths. Knows text only.
 */
#ifndef EXPORT_FILE_MATCH_H
#define EXPORT_FILE_MATCH_H

#include <stddef.h>
#include <stdint.h>

#define FILE_MATCH_NONE UINT32_MAX

/* For each of base[n_base] the index in now[n_now] of the same file, or FILE_MATCH_NONE. No file is
 * given away twice. Paths of one side are different from one another. `ret_match` has room for n_base.
 * 0 or TACHY_ENOMEM. */
int file_match(const char *const *now, size_t n_now, const char *const *base, size_t n_base,
	       uint32_t *ret_match);

#endif
