/* SPDX-License-Identifier: MIT
 * What a coroutine is doing while it waits: its frame, the frame of what it awaits, and so on down to what
 * is no coroutine. Works on coroutines, generators and async generators of 3.8 to 3.15.
 */
#ifndef CPYTHON_COROUTINE_H
#define CPYTHON_COROUTINE_H

#include "cpython/frame.h"
#include "cpython/type_kind.h"

#define COROUTINE_CHAIN_MAX 16384u /* awaits in awaits; longer ones are cut, and say so */

enum coroutine_state {
	COROUTINE_UNKNOWN, /* none of CPython's own: compiled, or made of a class */
	COROUTINE_CREATED,
	COROUTINE_SUSPENDED,
	COROUTINE_RUNNING, /* its frames are among those of a thread */
	COROUTINE_DONE
};

struct coroutine {
	enum coroutine_state state;
	raddr frame;   /* its own; of COROUTINE_RUNNING this is one of the thread's */
	raddr awaited; /* the first object down the chain that is no coroutine; 0 none or unknown */
	bool cut;
};

struct raw_frames {
	VEC(struct raw_frame) list;
};

/* Appends the frames of a coroutine that does not run to `frames`, root first; none of one that runs. Reads
 * what it needs hot. Errors as mem_read; TACHY_ECORRUPT: the chain leads in a circle or nowhere. */
int coroutine_walk(struct mem_view *view, const struct layout *layout, struct type_kinds *kinds,
		   raddr object, struct raw_frames *frames, struct coroutine *ret_coroutine);

#endif
