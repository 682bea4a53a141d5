/* SPDX-License-Identifier: MIT
 * The pages of web/, each one self-contained HTML file with a hole for what it shows. Into the hole goes
 * JSON, deflated (raw) and in base64: nothing that a target called its things can be markup there.
 */
#ifndef EXPORT_PAGE_H
#define EXPORT_PAGE_H

#include "export/out.h"

struct page {
	const char *name; /* of the folder in web/src */
	const unsigned char *text;
	size_t size;
};

/* Made by tools/embed from web/dist. */
extern const struct page pages_table[];
extern const size_t pages_table_n;

struct page_writer;

/* Writes the page up to its hole. What goes to *ret_json (borrowed, until page_end) fills the hole.
 * 0, TACHY_ENOMEM, or TACHY_EINVAL for a page that is not there or has no hole. Errors of `out` stick
 * there. */
int page_begin(const char *name, struct out *out, struct page_writer **ret_writer,
	       struct out **ret_json);
/* Writes the rest. Frees the writer, whatever `rc` and the outcome: `rc` if that is negative, else 0
 * or what went wrong in between. */
int page_end(struct page_writer *writer, int rc);

#endif
