/* SPDX-License-Identifier: MIT
 * Interpreters, their GILs and their thread states, as read in one tick.
 * Sources: Include/internal/pycore_interp.h, pycore_gil.h, Include/cpython/pystate.h of each version.
 */
#ifndef CPYTHON_THREAD_H
#define CPYTHON_THREAD_H

#include "cpython/layout.h"
#include "os/mem_view.h"

#define INTERPRETERS_MAX 4096u
#define THREADS_MAX      (1u << 17) /* of one interpreter */

struct gil_state {
	bool known; /* the build has one and it could be read */
	bool locked;
	bool counts_switches; /* switch_number is there */
	raddr addr;           /* of the struct; equal for interpreters that share it */
	raddr holder;         /* thread state that holds it, or held it last */
	uint64_t switch_number;
};

struct interp_state {
	raddr addr, next;
	int64_t id;
	raddr threads_head, threads_main; /* threads_main: 0 where the version has none */
	struct gil_state gil;
	bool collecting;          /* a garbage collection runs */
	raddr collector;           /* thread that collects, if one does; 0 unknown */
	raddr gc_frame;           /* 3.14+: the frame it was started from; 0 none or unknown */
	uint64_t code_generation; /* 3.15+; 0 none. Never 0 where it exists (1 is added) */
};

struct thread_state {
	raddr addr, next, interp;
	uint64_t unique_id; /* counts up with every thread state of the interpreter */
	uint64_t thread_id; /* pthread_t: the thread pointer */
	uint64_t
		native_thread_id; /* as the target's kernel sees it; 0 where the version has none */
	raddr top;                /* leaf frame; 0 none */
	raddr top_at;             /* where the target keeps it; 0 unknown */
	bool top_assumed;         /* 3.12: taken from a thread_leaf, not read */
	raddr cframe;             /* 3.11, 3.12: the newest C frame, which holds `top`; 0 none */
	raddr cframe_before;       /* 3.11, 3.12: the C frame below the newest; 0 none */
	raddr base_frame;         /* 3.15+: the sentinel below the root frame; 0 none */
	raddr chunk, chunk_top;   /* 3.11+ */
	int32_t py_depth;         /* Python frames by the recursion counters; -1 unknown */
	bool raising;             /* an exception is on its way up */
	raddr handled; /* the innermost exception (<= 3.10: its type) that is being handled;
				    * 0 none. It may be None, which means none as well */
	bool gil_requested, holds_gil; /* only where the version tells, see the *_known */
	bool gil_requested_known, holds_gil_known;
	bool attached;       /* free-threaded */
	raddr marker;        /* 3.15+: last_profiled_frame; 0 none */
	uint64_t marker_seq; /* how often it was moved down to a caller */
};

/* 3.12: what a thread state said when `top` was its leaf. It keeps the leaf in a C frame, in the C stack: a page
 * of its own for every thread. What the thread state itself says tells whether the leaf can be another one, see
 * frame_assumed_holds. `top` 0: not known. */
struct thread_leaf {
	raddr top, cframe, chunk, chunk_top;
	int32_t py_depth;
};

/* The newest interpreter; the others follow by `next`. */
int interp_first(struct mem_view *view, const struct layout *layout, raddr runtime,
		 raddr *ret_interp);
/* `gil`: where its GIL's state lies, from an earlier reading; 0: look. It never moves. */
int interp_read(struct mem_view *view, const struct layout *layout, raddr runtime, raddr addr,
		raddr gil, struct interp_state *ret_interp);
/* `leaf`: the leaf frame is this one, unread, where the thread state still says the same; NULL: read it. */
int thread_read(struct mem_view *view, const struct layout *layout, raddr addr,
		const struct thread_leaf *leaf, struct thread_state *ret_thread);
/* Reads the leaf frame that was assumed. */
int thread_read_top(struct mem_view *view, const struct layout *layout,
		    struct thread_state *thread);
/* 3.11, 3.12: the leaf by the C frame below the newest one, for when the newest is not filled in yet. */
int thread_top_before(struct mem_view *view, const struct layout *layout,
		      const struct thread_state *thread, raddr *ret_top);
/* Addresses of the words that change when the GIL of `interp` goes to another thread. */
raddr gil_switch_number_addr(const struct layout *layout, const struct gil_state *gil);

#endif
