/* SPDX-License-Identifier: MIT
 * What stands behind struct tachy_process.
 */
#ifndef API_PROCESS_HANDLE_H
#define API_PROCESS_HANDLE_H

#include "sampler/attachment.h"
#include "tachyscope/process.h"

struct tachy_process {
	struct attachment attachment;
};

/* 0 when its instructions can be told; else TACHY_EVERSION and the sentence to show. */
int process_no_opcodes(const struct tachy_process *process, struct tachy_error *err);

#endif
