/* SPDX-License-Identifier: MIT
 * Foreign names for formats whose readers print them as they are: valid UTF-8 that steers no terminal.
 */
#ifndef EXPORT_CLEAN_TEXT_H
#define EXPORT_CLEAN_TEXT_H

#include "base/vec.h"

struct clean_text {
	VEC(char) text; /* scratch; zero-initialised is empty */
};

/* `raw`, escaped (base/utf8.h); borrowed until the next call. NULL: out of memory. */
const char *clean_text_of(struct clean_text *clean, const char *raw);
void clean_text_done(struct clean_text *clean);

#endif
