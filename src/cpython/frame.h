/* SPDX-License-Identifier: MIT
 * Walks the Python frames of one thread, leaf first, in the three designs that CPython has had:
 * heap frame objects (<= 3.10), interpreter frames behind a C frame (3.11, 3.12), and directly (3.13+).
 * A walk takes addresses and instructions only; names come later, from the code cache.
 */
#ifndef CPYTHON_FRAME_H
#define CPYTHON_FRAME_H

#include "cpython/code.h"
#include "cpython/thread.h"

/* _PyStackRef keeps flags in the low bits of f_executable (3.14+) */
#define FRAME_CODE_TAGS    UINT64_C(7)
#define FRAMES_MAX       (1u << 20) /* of one stack; deeper ones are cut, and say so */
#define STACK_CHUNKS_MAX (1u << 17) /* data stack chunks of one thread */

enum raw_kind {
	RAW_PYTHON,
	RAW_ENTRY /* C code below called Python code above: a <native> marker */
};

struct raw_frame {
	raddr addr, back;
	raddr code; /* 0 for RAW_ENTRY */
	int64_t at; /* byte offset of the executing instruction; below 0: not yet begun */
	raddr bytecode; /* 3.11+: what `at` counts from; the thread's own copy in builds without a GIL */
	struct raw_flags {
		uint16_t return_offset; /* 3.12+; else 0 */
		uint8_t owner;          /* 3.11+; before: 1 while the frame executes */
		uint8_t kind;           /* enum raw_kind */
		bool from_c;            /* 3.11+: called by C code, not by the Python frame below */
		bool running;    /* 3.11+: its stack pointer is in the C code that runs it, not
					 * saved: it has no Python callee (from 3.14 on: no callee) */
		bool asleep;   /* 3.11+: of a generator that does not run */
		uint8_t unused; /* 0 */
	} flags;
	uint32_t code_index; /* filled in by whoever resolves it */
	struct opcode opcode; /* likewise; both 0: not taken */
	bool leaving;         /* likewise: its instruction ends or suspends it */
};

/* Whether two readings saw the same frame at the same instruction; what is filled in later aside. */
static inline bool raw_frame_same(const struct raw_frame *a, const struct raw_frame *b)
{
	return a->addr == b->addr && a->back == b->back && a->code == b->code && a->at == b->at &&
	       memcmp(&a->flags, &b->flags, sizeof a->flags) == 0;
}

struct raw_stack {
	VEC(struct raw_frame) frames; /* leaf first */
	raddr chunk, chunk_end;       /* data stack chunk of the leaf (3.11+); 0 none */
	bool cut;                     /* FRAMES_MAX was reached, or the chain broke */
	bool stopped;                 /* the walk ended at stop_at */
	bool counted;                 /* down to the root, and as many Python frames as the thread counts */
	bool assumed;                 /* frames of the C stack were not read, see frame_assumed_holds */
	bool late; /* of the leaf's chunk a part was read after the batch: frames of two moments */
	int status;                   /* why it broke: 0, TACHY_E* */
};

struct frame_walk_options {
	bool entries;  /* report RAW_ENTRY */
	raddr stop_at; /* end with this frame, which is reported; 0: go to the root */
	raddr root_back; /* what the root frame pointed to when the chain was last followed to its end */
	/* root first: the frames as they were. What lay between two of them in the C stack is believed to be what it
	 * was, and not read; the result is to be proved by frame_assumed_holds */
	const struct raw_frame *known;
	size_t n_known;
	raddr lowest; /* of the data stack chunk nothing below is needed; 0: all of it is */
};

/* Fills `stack` (emptied first). Negative only when nothing could be read at all. */
int frame_walk(struct mem_view *view, const struct layout *layout,
	       const struct thread_state *thread, const struct frame_walk_options *options,
	       struct raw_stack *stack);

/* Whether frames[0..n) (root first) are in the target what they are here, instruction and flags included.
 * Much cheaper than walking: where each lies is known beforehand. */
bool frame_all_same(struct mem_view *view, const struct layout *layout,
		    const struct raw_frame *frames, size_t n);

/* From the root up, the frames of frames[0..n) (root first) that live on, for when the chain from the leaf
 * down broke: as long as each is the frame that it was, up to and with the first that executes another
 * instruction. Looks at what was read already. `stack` is the one that broke; it is emptied first. */
int frame_rebuild(struct mem_view *view, const struct layout *layout,
		  const struct thread_state *thread, const struct raw_frame *frames, size_t n,
		  struct raw_stack *stack);
/* One frame by itself: how many bytes of it are looked at, and what they say. `is_leaf`: nothing was called
 * from it, as far as is known. */
uint32_t frame_span(const struct layout *layout);
void frame_decode(struct mem_view *view, const struct layout *layout, struct span bytes,
		  bool is_leaf, struct raw_frame *ret_frame);

/* Signs of a live frame, for copies taken while the target ran: how many frames of the leaf's side
 * must be dropped because they, or one below them, were not live when they were copied. Looks at
 * the `n` frames nearest the leaf, whose code_index and `leaving` must be filled in. `strict`: a leaf that seems to wait
 * for a callee that is not there counts as dead too; it lives all the same, as in a thread with a
 * profile function (3.11), so that it is worth another look but not dropped for good. */
size_t frame_count_dead(const struct layout *layout, const struct code_cache *codes,
			const struct raw_stack *stack, size_t n, bool strict);

/* Whether a stack with assumed parts (entry frames, the leaf) is the only one that there can be. All its frames
 * from the leaf to the root lie in one data stack chunk, each right on top of its caller, the last one ends where the
 * thread's data stack does, and there are as many as the thread counts: nothing is left for a generator, which
 * lies elsewhere, nor for another callee. code_index of all must be filled in. */
bool frame_assumed_holds(const struct layout *layout, const struct code_cache *codes,
			 const struct thread_state *thread, const struct raw_stack *stack);
/* Whether `top` may be assumed as long as the thread state says the same. */
bool frame_leaf_fills(const struct layout *layout, const struct code_cache *codes,
		      const struct thread_state *thread, const struct raw_stack *stack);

/* Whether the instruction lies in the frame's code object; its code_index must be filled in. */
bool frame_in_code(const struct code_cache *codes, const struct raw_frame *frame);

/* Whether the chain ends in a generator that nobody resumed: between two states, or torn. */
bool frame_lost_callers(const struct layout *layout, const struct raw_stack *stack);

#endif
