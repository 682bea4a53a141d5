/* SPDX-License-Identifier: MIT
 * What stands behind the opaque handles that more than one file of this layer looks into.
 */
#ifndef API_HANDLES_H
#define API_HANDLES_H

#include <sys/types.h>

#include "base/arena.h"
#include "model/profile.h"
#include "os/proc.h"
#include "tachyscope/profile.h"

struct tachy_profile {
	struct profile *model; /* borrowed from whoever collects */
	struct proc_place place; /* where its source files lie; of whoever collects */
	bool replayed;           /* they are ours, and not those of the program */
};

/* A dump and all that it points to. Callers see `dump`, which must stay the first member. */
struct dump_box {
	struct tachy_dump dump;
	struct arena arena; /* every string and array of `dump` */
	pid_t pid;          /* whose files the source lines are read from */
};

#endif
