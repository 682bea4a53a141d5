/* SPDX-License-Identifier: MIT
 * What an object is, as far as asyncio's data are made of it: told by the name of its type, or of the
 * nearest base that has a name we know. Types are looked at once and verified cheaply after.
 */
#ifndef CPYTHON_TYPE_KIND_H
#define CPYTHON_TYPE_KIND_H

#include "base/map.h"
#include "base/vec.h"
#include "cpython/layout.h"
#include "os/mem_view.h"

enum type_kind {
	KIND_OTHER,
	KIND_COROUTINE,
	KIND_GENERATOR,
	KIND_ASYNC_GENERATOR,
	KIND_WRAPPER,     /* stands for the object that it points to first: what await, asend() give */
	KIND_FUTURE_ITER, /* what awaiting a future gives; points to the future */
	KIND_FUTURE,      /* asyncio's own in C, and classes that are made of it */
	KIND_TASK,        /* the same */
	KIND_PY_FUTURE,   /* classes named like asyncio's own in Python */
	KIND_METHOD,
	KIND_FUNCTION,
	KIND_PARTIAL,
	KIND_WEAKREF,
	KIND_LOOP_HOLDER, /* what the running loop lies in, up to 3.11 */
	KIND_NOTHING,
	KIND_LIST,
	KIND_STR,
	KIND_INT
};

struct type_entry {
	raddr type, name; /* name: where its characters lie; another one is another type */
	enum type_kind kind;
	uint64_t base_size; /* KIND_TASK: bytes of asyncio's own part (tp_basicsize) */
	uint64_t verified;  /* number of the view's reading */
};

struct type_kinds {
	VEC(struct type_entry) entries;
	struct map by_type;
};

void type_kinds_init(struct type_kinds *kinds);
void type_kinds_done(struct type_kinds *kinds);
/* The type of the object at `addr`; the entry is borrowed until the next call. Errors as mem_read;
 * TACHY_ECORRUPT: its type is none. */
int type_kinds_of(struct type_kinds *kinds, struct mem_view *view, const struct layout *layout,
		  raddr addr, const struct type_entry **ret_entry);

#endif
