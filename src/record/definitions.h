/* SPDX-License-Identifier: MIT
 * What the numbers in a recording's samples stand for, told once each: the writer's side. Numbers are the
 * profile's own ids, which only grow, so that each block tells those that came since the last one. They are
 * gathered by kind, as they come, and become sections when the block is made.
 */
#ifndef RECORD_DEFINITIONS_H
#define RECORD_DEFINITIONS_H

#include "base/bytes.h"
#include "model/profile.h"
#include "record/block.h"
#include "record/section.h"

struct definitions {
	const struct profile *profile; /* borrowed */
	size_t n_strings, n_functions, n_frames, n_stacks, n_processes; /* told so far */
	VEC(struct profile_thread) threads;                             /* as told */
};

/* Of one block. Zero-initialised is empty. */
#define TOLD_COLUMNS 3 /* most kinds have one */
struct told {
	struct told_kind {
		uint64_t n;
		struct bytes columns[TOLD_COLUMNS];
	} kinds[SECTION_CHANGES + 1];
	function_id function; /* of the last frame */
};

void told_done(struct told *told);
void told_clear(struct told *told); /* keeps the memory */
size_t told_size(const struct told *told); /* bytes */
/* Sections for it; `part` is there to make them in, and empty again. */
void told_write(const struct told *told, struct block_body *body, struct block_body *part);

void definitions_init(struct definitions *definitions, const struct profile *profile);
void definitions_done(struct definitions *definitions);

/* Whether a sample of this thread needs something told before. A few comparisons. */
static inline bool definitions_due(const struct definitions *definitions, uint32_t thread)
{
	const struct profile *profile = definitions->profile;
	if (profile->stacks.nodes.n != definitions->n_stacks ||
	    profile->threads.n != definitions->threads.n)
		return true;
	const struct profile_thread *now = &profile->threads.at[thread],
				    *told = &definitions->threads.at[thread];
	return now->name != told->name || now->tid != told->tid || now->main != told->main;
}

/* What is not told yet, as much as fits about `limit` bytes. 1: all of it is told; 0: call again for more;
 * TACHY_ENOMEM: nothing was told. */
int definitions_put(struct definitions *definitions, size_t limit, struct told *told);

#endif
