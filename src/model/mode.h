/* SPDX-License-Identifier: MIT
 * Which samples count in which mode. States travel with every sample, so that what was taken in wall mode
 * can be looked at in any mode later.
 */
#ifndef MODEL_MODE_H
#define MODEL_MODE_H

#include <stdbool.h>

#include "tachyscope/types.h"

/* `states`: bits of enum tachy_state. */
static inline bool mode_counts(enum tachy_mode mode, uint32_t states)
{
	switch (mode) {
	case TACHY_MODE_CPU:
		return states & TACHY_STATE_ON_CPU;
	case TACHY_MODE_GIL:
		return states & TACHY_STATE_GIL;
	case TACHY_MODE_EXCEPTION:
		return states & TACHY_STATE_EXCEPTION;
	case TACHY_MODE_WALL:
		break;
	}
	return true;
}

#endif
