/* SPDX-License-Identifier: MIT
 * The sink that sums up: every sample goes into a profile.
 */
#ifndef MODEL_AGGREGATE_H
#define MODEL_AGGREGATE_H

#include "model/sink.h"

struct aggregate {
	struct sink sink; /* first */
	struct profile *profile; /* borrowed; the one whose ids the samples hold */
};

void aggregate_init(struct aggregate *aggregate, struct profile *profile);

#endif
