/* SPDX-License-Identifier: MIT
 * Hides nothing but that profile_count_sample is a sink.
 */
#include "model/aggregate.h"

static int sample(struct sink *sink, const struct sample *sample)
{
	return profile_count_sample(((struct aggregate *)sink)->profile, sample);
}

static const struct sink_ops ops = {.name = "aggregate", .sample = sample};

void aggregate_init(struct aggregate *aggregate, struct profile *profile)
{
	*aggregate = (struct aggregate){{&ops}, profile};
}
