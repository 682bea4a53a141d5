/* SPDX-License-Identifier: MIT
 * Samples as columns. Times and weights are told as differences from what the samples before let
 * expect: their lengths go into the body, which is compressed, their digits into the tail, as they are
 * noise. Both sides keep the same memory of what came before, so that blocks must be read in order.
 */
#ifndef RECORD_COLUMNS_H
#define RECORD_COLUMNS_H

#include "base/bytes.h"
#include "base/vec.h"
#include "model/sample.h"
#include "record/block.h"

struct column_thread {
	uint64_t end;     /* time of the last tick, in units; 0: no sample yet */
	uint64_t rest_ns; /* of weights that made no whole unit */
	uint32_t stack, states;
};

struct columns {
	uint64_t unit_ns; /* what times and weights are counted in; >= 1 */
	uint64_t
		period; /* wanted between ticks, in units as all that follows; 0: what the last sample had */
	uint64_t time, weight, tick; /* of the last sample; tick: a tick's share */
	uint64_t
		grid; /* the middle of where a tick may be, in GRID_PARTs of a unit; others are periods away */
	uint32_t thread;
	uint32_t highest; /* stack of all samples before */
	VEC(struct column_thread) threads;
	struct bytes scratch[8]; /* a column each */
};

/* `start_ns`: when the first sample may be expected; `rate_hz` 0: as often as goes. */
void columns_init(struct columns *columns, uint64_t start_ns, double rate_hz, uint64_t unit_ns);
void columns_done(struct columns *columns);
/* Times are rounded down to units; so are the sums of each thread's weights. 0 or TACHY_ENOMEM, after which `columns` is of no use any more. */
int columns_put(struct columns *columns, const struct sample *samples, size_t n,
		struct block_body *body, struct bytes *tail);

/* Gives each sample to `take`, whose first error ends it. `n_threads`: a larger thread index is damage, as
 * are stacks from `n_stacks` on. TACHY_ECORRUPT, TACHY_ENOMEM, or what `take` gave. */
int columns_take(struct columns *columns, uint32_t n_threads, uint64_t n_stacks,
		 struct byte_reader *body, struct byte_reader *tail,
		 int (*take)(void *arg, struct sample *sample), void *arg);

#endif
