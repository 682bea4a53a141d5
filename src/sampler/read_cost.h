/* SPDX-License-Identifier: MIT
 * How long a batched read takes when nothing comes in between. A read that takes much longer was interrupted:
 * its parts are of two moments. What is usual depends on the machine and on the batch, so that it is learned
 * from the batches themselves.
 */
#ifndef SAMPLER_READ_COST_H
#define SAMPLER_READ_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct read_cost {
	uint64_t usual; /* picoseconds a unit of work, see the source; 0: not known yet */
};

/* Whether a batch of `n_segments` and `n_bytes`, read `n_copies` times over, that took `ns` was interrupted.
 * Learns from it. */
bool read_cost_judge(struct read_cost *cost, size_t n_segments, size_t n_bytes, size_t n_copies,
		     uint64_t ns);

#endif
