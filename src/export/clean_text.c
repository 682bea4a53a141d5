/* SPDX-License-Identifier: MIT
 * Hides how long the escaped text is.
 */
#include "export/clean_text.h"

#include <string.h>

#include "base/utf8.h"

const char *clean_text_of(struct clean_text *clean, const char *raw)
{
	size_t len = strlen(raw);
	size_t need = utf8_escape(clean->text.at, clean->text.cap, raw, len) + 1;
	if (need <= clean->text.cap)
		return clean->text.at;
	if (!vec_reserve(&clean->text, need))
		return NULL;
	(void)utf8_escape(clean->text.at, clean->text.cap, raw, len);
	return clean->text.at;
}

void clean_text_done(struct clean_text *clean)
{
	vec_done(&clean->text);
}
