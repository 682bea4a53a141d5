/* SPDX-License-Identifier: MIT
 * A dump's way out: joins the exporters, which know no process, with the target's own files.
 */
#include <stdlib.h>
#include <string.h>

#include "api/handles.h"
#include "api/sources.h"
#include "base/error.h"
#include "export/dump.h"
#include "tachyscope/process.h"

int tachy_dump_write(const struct tachy_dump *dump, enum tachy_dump_form form, bool color, int fd,
		     struct tachy_error *err)
{
	const struct dump_box *box = (const struct dump_box *)dump;
	struct proc_place place;
	struct dump_text_options options = {.color = color, .reader = {sources_read, &place}};
	struct out out;
	if (proc_place_open(box->pid, &place) < 0)
		options.reader.read = NULL; /* never files of ours for the target's */
	out_init(&out, fd);
	int rc = form == TACHY_DUMP_JSON ? dump_json_write(dump, &out)
					 : dump_text_write(dump, &options, &out);
	if (rc >= 0)
		rc = out_flush(&out);
	proc_place_close(&place);
	if (rc < 0 && out.status < 0)
		return error_set(err, rc, "the dump broke off: %s", strerror(out.errno_value));
	return rc < 0 ? error_set(err, rc, "the dump broke off: %s", error_text(rc)) : 0;
}

void tachy_dump_free(struct tachy_dump *dump)
{
	struct dump_box *box = (struct dump_box *)dump;
	if (!box)
		return;
	arena_done(&box->arena);
	free(box);
}
