/* SPDX-License-Identifier: MIT
 * Frames as a Python traceback shows them: root first, source line below, the executing part underlined where
 * it is only a part.
 */
#ifndef EXPORT_TEXT_FRAMES_H
#define EXPORT_TEXT_FRAMES_H

#include "export/out.h"
#include "export/source_lines.h"

struct text_frames {
	struct out *out; /* borrowed */
	bool color;
	size_t indent; /* columns before each line */
	struct source_lines sources; /* whoever makes it ends it */
};

/* `frames` leaf first. `cut`: older ones are missing. */
void text_frames_write(const struct text_frames *text, const struct tachy_frame *frames,
		       size_t n_frames, bool cut);

#endif
