/* SPDX-License-Identifier: MIT
 * A sink that hands every sample to several others, in the order in which they joined.
 */
#ifndef MODEL_FAN_H
#define MODEL_FAN_H

#include "model/sink.h"

struct fan {
	struct sink sink; /* first */
	VEC(struct sink *) members; /* borrowed */
};

void fan_init(struct fan *fan);
void fan_done(struct fan *fan);
int fan_join(struct fan *fan, struct sink *member); /* 0 or TACHY_ENOMEM */

#endif
