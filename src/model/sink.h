/* SPDX-License-Identifier: MIT
 * Where samples go: aggregate, record, stream, screen, or a test.
 */
#ifndef MODEL_SINK_H
#define MODEL_SINK_H

#include "model/profile.h"
#include "model/sample.h"

struct sink;

struct sink_ops {
	const char *name;
	/* Ids in samples refer to `names`, which grows while samples come. May be NULL, as may `end`. */
	int (*begin)(struct sink *sink, const struct profile *names);
	int (*sample)(struct sink *sink, const struct sample *sample);
	int (*end)(struct sink *sink); /* after the last sample */
};

struct sink {
	const struct sink_ops *ops;
};

#endif
