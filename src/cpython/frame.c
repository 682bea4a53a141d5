/* SPDX-License-Identifier: MIT
 * One loop for all designs; what differs is how a frame's bytes are found and read, behind a small table.
 * Bounds: FRAMES_MAX frames, STACK_CHUNKS_MAX chunks; each step reads through the view, so an address
 * that leads nowhere ends the walk and marks the stack as cut.
 *
 * Sources: Include/cpython/frameobject.h (<= 3.10), Include/internal/pycore_frame.h (3.11 - 3.13),
 * Include/internal/pycore_interpframe_structs.h (3.14+), Python/pystate.c (data stack chunks).
 */
#include "cpython/frame.h"

#include <string.h>

#define PAGE             4096u
#define LOWEST_UNIT      1024u /* a stack that ends a little deeper the next time is read all the same */
#define CHUNK_SLACK      512u
#define CHUNK_SIZE_USUAL (16u << 10) /* Python/pystate.c, DATA_STACK_CHUNK_SIZE */
#define CHUNK_USED_MAX   (64u << 20) /* bytes of one data stack chunk */
#define CODE_UNIT        2

struct walk {
	struct mem_view *view;
	const struct layout *layout;
	uint32_t frame_size; /* bytes read of a frame */
	raddr first;         /* where the first frame of the first chunk lies; 0 unknown */
	uint32_t py_depth;   /* Python frames by the thread's own count; 0 unknown */
	uint32_t n_python;   /* in the stack so far */
	raddr end;           /* the frame that is none, below the root; 0: the chain ends with 0 */
	/* the data stack chunk that the walk has come down to (3.11+) */
	raddr chunk, chunk_end;
	uint32_t n_chunks; /* looked at so far; bounded for the walk as a whole */
};

/* Past-the-end offset of the last field that a walk looks at. */
uint32_t frame_span(const struct layout *l)
{
	const uint32_t fields[] = {l->frame.back,          l->frame.code,
				   l->frame.instr,         l->frame.owner,
				   l->frame.executing,     l->frame.state,
				   l->frame.return_offset, l->frame.stackpointer,
				   l->frame.tlbc_index};
	uint32_t end = 0;
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (fields[i] != LAYOUT_NONE && fields[i] + 8 > end)
			end = fields[i] + 8;
	return end;
}

/* Whether the chunk, by its own word, reaches to `end`. */
static bool chunk_holds(struct walk *walk, raddr chunk, raddr end)
{
	const struct layout *l = walk->layout;
	struct span header;
	return mem_view_hot(walk->view, chunk, l->stack_chunk.data, &header) >= 0 &&
	       load_u64(header, l->stack_chunk.chunk_size) >= end - chunk;
}

/* Reads the used part of a chunk as one range, and a little more within its last page: the next tick may be
 * a few frames deeper. What lies far below `lowest` (0: nothing) is not
 * needed. */
static int load_chunk(struct walk *walk, raddr chunk, raddr used_end, raddr lowest)
{
	struct span bytes;
	if (used_end <= chunk || used_end - chunk > CHUNK_USED_MAX)
		return TACHY_ECORRUPT;
	if (used_end - chunk > CHUNK_SIZE_USUAL && !chunk_holds(walk, chunk, used_end))
		return TACHY_ETORN; /* the top is of another chunk than the start */
	raddr start = lowest > chunk && lowest < used_end ? lowest & ~(raddr)(LOWEST_UNIT - 1)
							  : chunk;
	raddr end = used_end + CHUNK_SLACK, page_end = (used_end + PAGE - 1) & ~(raddr)(PAGE - 1);
	if (end > page_end)
		end = page_end;
	walk->chunk = chunk;
	walk->chunk_end = used_end;
	return mem_view_hot(walk->view, start, (uint32_t)(end - start), &bytes);
}

/* Goes down the chain of chunks to the one that holds `addr`. False when none does. */
static bool find_chunk(struct walk *walk, raddr addr)
{
	const struct layout *l = walk->layout;
	struct span header;
	raddr chunk = walk->chunk;
	for (uint32_t i = 0; chunk && walk->n_chunks < STACK_CHUNKS_MAX; i++, walk->n_chunks++) {
		if (mem_view_hot(walk->view, chunk, l->stack_chunk.data, &header) < 0)
			return false;
		raddr used_end = chunk + l->stack_chunk.data +
				 load_u64(header, l->stack_chunk.top) * 8;
		if (i > 0 && addr >= chunk && addr < used_end)
			return load_chunk(walk, chunk, used_end, 0) >= 0;
		chunk = load_u64(header, l->stack_chunk.previous);
	}
	return false;
}

/* The bytes of a frame: mostly in the chunk; generators' and C entry frames lie elsewhere. */
static int frame_bytes(struct walk *walk, raddr addr, struct span *ret_bytes)
{
	if (mem_view_peek(walk->view, addr, walk->frame_size, ret_bytes))
		return 0;
	if (walk->chunk && find_chunk(walk, addr) &&
	    mem_view_peek(walk->view, addr, walk->frame_size, ret_bytes))
		return 0;
	return mem_view_hot(walk->view, addr, walk->frame_size, ret_bytes);
}

static void decode_object(const struct layout *l, struct span bytes, struct raw_frame *frame)
{
	int32_t lasti = load_i32(bytes, l->frame.instr);
	frame->code = load_u64(bytes, l->frame.code);
	/* f_lasti counts code units in 3.10 and bytes before */
	frame->at = l->lines == LINES_PEP626 && lasti > 0 ? (int64_t)lasti * CODE_UNIT : lasti;
	if (l->frame.executing != LAYOUT_NONE)
		frame->flags.owner = load_u8(bytes, l->frame.executing) == 1;
	else
		frame->flags.owner = load_i8(bytes, l->frame.state) == 0; /* FRAME_EXECUTING */
}

static void decode_interpreter_frame(const struct layout *l, struct span bytes, bool is_leaf,
				     struct raw_frame *frame)
{
	frame->code = load_u64(bytes, l->frame.code) & ~FRAME_CODE_TAGS;
	frame->bytecode = frame->code + l->code.bytecode;
	frame->at = (int64_t)(load_u64(bytes, l->frame.instr) - frame->bytecode);
	frame->flags.owner = load_u8(bytes, l->frame.owner);
	/* 3.11 - 3.13: int stacktop, -1 while running; 3.14+: pointer, NULL while running in
	 * builds with assertions and never in others (_PyFrame_GetStackPointer) */
	if (l->frame.stackpointer == LAYOUT_NONE)
		frame->flags.running = is_leaf;
	else if (l->minor < 14)
		frame->flags.running = load_i32(bytes, l->frame.stackpointer) < 0;
	else
		frame->flags.running = load_u64(bytes, l->frame.stackpointer) == 0;
	if (l->frame.is_entry != LAYOUT_NONE)
		frame->flags.from_c = load_u8(bytes, l->frame.is_entry) == 1;
	if (l->frame.return_offset != LAYOUT_NONE)
		frame->flags.return_offset = load_u16(bytes, l->frame.return_offset);
	if (frame->flags.owner == l->owner.cstack || frame->flags.owner == l->owner.interpreter) {
		frame->flags.kind = RAW_ENTRY;
		frame->code = 0;
	}
}

/* The copy of the bytecode that a frame executes, free-threaded 3.14+: Include/cpython/code.h,
 * _PyCodeArray is a size and so many pointers, of which the first is to the code object's own. 0: it
 * cannot be had. */
static raddr bytecode_copy(struct mem_view *view, const struct layout *l, raddr code,
			   uint32_t index)
{
	struct span bytes;
	if (mem_view_hot(view, code + l->code.tlbc, 8, &bytes) < 0)
		return 0;
	raddr array = load_u64(bytes, 0);
	if (!array || mem_view_hot(view, array, 8, &bytes) < 0 || load_u64(bytes, 0) <= index)
		return 0;
	if (mem_view_hot(view, array + 8 + index * 8u, 8, &bytes) < 0)
		return 0;
	return load_u64(bytes, 0);
}

/* Free-threaded 3.14+: `at` counts from the thread's own copy. A frame whose copy cannot be had stands
 * nowhere: it fails the signs of life. */
static void rebase(struct mem_view *view, const struct layout *l, struct span bytes,
		   struct raw_frame *frame)
{
	int32_t index = load_i32(bytes, l->frame.tlbc_index);
	if (index <= 0 || !frame->code)
		return;
	raddr copy = bytecode_copy(view, l, frame->code, (uint32_t)index);
	frame->at = copy ? (int64_t)(load_u64(bytes, l->frame.instr) - copy) : INT32_MAX;
	frame->bytecode = copy;
}

static void decode(struct mem_view *view, const struct layout *l, struct span bytes, bool is_leaf,
		   struct raw_frame *frame)
{
	frame->back = load_u64(bytes, l->frame.back);
	if (l->frames == FRAMES_OBJECTS)
		decode_object(l, bytes, frame);
	else
		decode_interpreter_frame(l, bytes, is_leaf, frame);
	if (l->frame.tlbc_index != LAYOUT_NONE && frame->flags.kind == RAW_PYTHON)
		rebase(view, l, bytes, frame);
}

void frame_decode(struct mem_view *view, const struct layout *layout, struct span bytes,
		  bool is_leaf, struct raw_frame *ret_frame)
{
	decode(view, layout, bytes, is_leaf, ret_frame);
}

/* 3.12+: the thread counts its Python frames (py_recursion_limit - py_recursion_remaining). When so many
 * are in the stack, down to the very first place of its data stack, and that one points where the root did
 * before, none are left: the entry frame in the C stack need not be read. A leaf that is being popped is not in the stack
 * and is counted still; torn copies often begin with one, and are not to be believed for their number. */
static bool all_counted(const struct walk *walk, const struct frame_walk_options *options,
			const struct raw_frame *frame)
{
	return walk->first && frame->addr == walk->first && frame->back == options->root_back &&
	       frame->flags.kind == RAW_PYTHON && walk->n_python + 1 == walk->py_depth;
}

/* Sets `first` when the chunk that was loaded has none before it. */
static void note_first(struct walk *walk, const struct thread_state *thread)
{
	const struct layout *l = walk->layout;
	struct span header;
	if (l->minor < 12 || thread->py_depth <= 0 ||
	    !mem_view_peek(walk->view, thread->chunk, l->stack_chunk.data, &header) ||
	    load_u64(header, l->stack_chunk.previous))
		return;
	/* Python/pystate.c, push_chunk: the first word of the first chunk stays free */
	walk->first = thread->chunk + l->stack_chunk.data + 8;
	walk->py_depth = (uint32_t)thread->py_depth;
}

/* Include/internal/pycore_frame.h, enum _framestate: FRAME_EXECUTING is 0 up to 3.14 and 4 in 3.15. The
 * state lies in the generator, right before the frame that is part of it. */
static bool is_asleep(struct walk *walk, raddr frame)
{
	const struct layout *l = walk->layout;
	const uint8_t executing = l->minor >= 15 ? 4 : 0;
	struct span state;
	if (l->gen.iframe == LAYOUT_NONE || l->gen.frame_state == LAYOUT_NONE)
		return false;
	raddr addr = frame - (l->gen.iframe - l->gen.frame_state);
	return mem_view_hot(walk->view, addr, 1, &state) >= 0 && load_u8(state, 0) != executing;
}

/* Where a frame with a caller behind frames in the C stack was among those that are known; 0: it was not. */
static size_t find_known(const struct walk *walk, const struct frame_walk_options *options,
			 const struct raw_frame *frame)
{
	if (!walk->first || (frame->back >= walk->chunk && frame->back < walk->chunk_end))
		return 0;
	for (size_t k = options->n_known; k-- > 1;)
		if (options->known[k].addr == frame->addr)
			return options->known[k].back == frame->back &&
					       options->known[k].flags.from_c
				       ? k
				       : 0;
	return 0;
}

/* Puts `frame` into `stack`, and the entry frame that was below it, where those are wanted. The Python frame that
 * comes next; 0: it cannot be told, and nothing was done. */
static raddr push_assumed(const struct walk *walk, const struct frame_walk_options *options,
			  struct raw_stack *stack, struct raw_frame *frame)
{
	size_t k = options->n_known ? find_known(walk, options, frame) : 0;
	if (!k)
		return 0;
	const struct raw_frame *below = &options->known[k - 1];
	bool entry = below->flags.kind == RAW_ENTRY;
	if (entry && k < 2)
		return 0;
	const struct raw_frame *caller = entry ? below - 1 : below;
	if (caller->flags.kind != RAW_PYTHON || !vec_reserve(&stack->frames, stack->frames.n + 2))
		return 0;
	frame->flags.from_c = true;
	(void)vec_push(&stack->frames, *frame);
	if (entry)
		(void)vec_push(&stack->frames, *below);
	stack->assumed = true;
	return caller->addr;
}

/* One frame into `stack`. 1: go on with *addr; 0: the root was reached; negative: broken here. */
static int step(struct walk *walk, const struct frame_walk_options *options,
		struct raw_stack *stack, raddr *addr)
{
	const struct layout *l = walk->layout;
	struct span bytes;
	struct raw_frame frame = {.addr = *addr, .flags.kind = RAW_PYTHON};
	int rc = frame_bytes(walk, *addr, &bytes);
	if (rc < 0)
		return rc;
	decode(walk->view, l, bytes, !stack->frames.n, &frame);
	if (l->frames != FRAMES_OBJECTS && frame.flags.owner == l->owner.generator)
		frame.flags.asleep = is_asleep(walk, *addr);
	stack->stopped = *addr == options->stop_at;
	stack->counted = all_counted(walk, options, &frame);
	bool is_root = (walk->end && frame.back == walk->end) || stack->counted;
	if (is_root && frame.flags.kind == RAW_PYTHON)
		frame.flags.from_c = true;
	*addr = stack->stopped || is_root ? 0 : frame.back;
	if (frame.flags.kind == RAW_ENTRY && stack->frames.n)
		stack->frames.at[stack->frames.n - 1].flags.from_c = true;
	/* the sentinel at the bottom (3.15: base_frame) is no entry from C into Python: nothing called it */
	if (frame.flags.kind == RAW_ENTRY && (!options->entries || !*addr || !stack->frames.n) &&
	    !stack->stopped)
		return *addr != 0;
	if (frame.flags.kind == RAW_PYTHON && !frame.code && !stack->frames.n)
		return *addr !=
		       0; /* a leaf that is being popped: its executable is cleared first */
	raddr assumed = *addr ? push_assumed(walk, options, stack, &frame) : 0;
	if (assumed)
		*addr = assumed;
	else if (!vec_push(&stack->frames, frame))
		return TACHY_ENOMEM;
	walk->n_python += frame.flags.kind == RAW_PYTHON;
	return *addr != 0;
}

int frame_walk(struct mem_view *view, const struct layout *layout,
	       const struct thread_state *thread, const struct frame_walk_options *options,
	       struct raw_stack *stack)
{
	struct walk walk = {.view = view,
			    .layout = layout,
			    .frame_size = frame_span(layout),
			    .end = thread->base_frame};
	stack->frames.n = 0;
	stack->cut = stack->stopped = stack->late = stack->counted = stack->assumed = false;
	stack->status = 0;
	stack->chunk = stack->chunk_end = 0;
	raddr addr = thread->top;
	if (!addr || addr == walk.end)
		return 0;
	if (layout->frames != FRAMES_OBJECTS && thread->chunk) {
		uint64_t n_misses = view->counts.batch_misses;
		int rc = load_chunk(&walk, thread->chunk, thread->chunk_top, options->lowest);
		stack->late = view->counts.batch_misses != n_misses;
		if (rc < 0)
			walk.chunk = 0; /* read frame by frame */
		if (!options->stop_at)  /* its header would keep the whole chunk in the plan */
			note_first(&walk, thread);
		stack->chunk = walk.chunk;
		stack->chunk_end = walk.chunk_end;
	}
	int rc;
	uint32_t n_steps = 0; /* not every step leaves a frame */
	raddr landmark = 0;   /* Brent: met again, the chain leads in a circle */
	do {
		rc = step(&walk, options, stack, &addr);
		if (rc > 0 && addr == landmark)
			rc = TACHY_ECORRUPT;
		if ((n_steps & (n_steps + 1)) == 0)
			landmark = addr;
	} while (rc > 0 && ++n_steps < FRAMES_MAX);
	stack->cut = rc != 0;
	stack->status = rc < 0 ? rc : 0;
	return rc < 0 && !stack->frames.n ? rc : 0;
}

/* Any frame, the slow way. */
static bool frame_same(struct mem_view *view, const struct layout *l, const struct raw_frame *old)
{
	struct raw_frame now = {.addr = old->addr, .flags.kind = RAW_PYTHON};
	struct span bytes;
	if (!mem_view_peek(view, old->addr, frame_span(l), &bytes))
		return false;
	decode(view, l, bytes, false, &now);
	now.flags.from_c |= old->flags.from_c; /* told by the frame below, which is the same */
	now.flags.asleep = old->flags.asleep;  /* a caller runs as long as its callee does */
	return raw_frame_same(old, &now);
}

static inline uint64_t word_at(const uint8_t *bytes, uint32_t off)
{
	uint64_t word;
	memcpy(&word, bytes + off, sizeof word);
	return word;
}

/* An interpreter frame that was suspended in a call; `bytes` holds frame_span() bytes, so that every field
 * lies in it. This is the inner loop of deep stacks: what differs in any word is left to frame_same. */
static inline bool suspended_same(const struct layout *l, const uint8_t *bytes,
				  const struct raw_frame *old)
{
	return word_at(bytes, l->frame.back) == old->back &&
	       (word_at(bytes, l->frame.code) & ~FRAME_CODE_TAGS) == old->code &&
	       word_at(bytes, l->frame.instr) == old->code + l->code.bytecode + (uint64_t)old->at &&
	       (uint16_t)word_at(bytes, l->frame.return_offset) == old->flags.return_offset &&
	       bytes[l->frame.owner] == old->flags.owner && !old->flags.running &&
	       word_at(bytes, l->frame.stackpointer) != 0;
}

bool frame_all_same(struct mem_view *view, const struct layout *layout,
		    const struct raw_frame *frames, size_t n)
{
	/* 3.14+: the stack pointer is a pointer, and no field is missing */
	bool quick = layout->frames == FRAMES_DIRECT && layout->minor >= 14 &&
		     layout->frame.return_offset != LAYOUT_NONE &&
		     layout->frame.owner != LAYOUT_NONE &&
		     layout->frame.tlbc_index == LAYOUT_NONE &&
		     layout->frame.stackpointer != LAYOUT_NONE;
	const uint32_t size = frame_span(layout);
	struct span window = {NULL, 0};
	raddr start = 0;
	for (size_t k = n; k > 0; k--) {
		const struct raw_frame *frame = &frames[k - 1];
		if (!span_has(window, frame->addr - start, size) &&
		    !mem_view_window(view, frame->addr, size, &window, &start))
			return false;
		if (quick && window.data && frame->flags.kind == RAW_PYTHON &&
		    suspended_same(layout, window.data + (frame->addr - start), frame))
			continue;
		if (!frame_same(view, layout, frame))
			return false;
	}
	return true;
}

/* Whether `now`, read where `old` was, can still be the frame that `old` was. */
static bool goes_on(const struct layout *l, const struct thread_state *thread,
		    const struct raw_stack *stack, const struct raw_frame *old,
		    const struct raw_frame *now)
{
	if (now->flags.kind != old->flags.kind || now->code != old->code || now->back != old->back)
		return false;
	if (l->frames == FRAMES_OBJECTS)
		return now->flags.owner; /* executing */
	if (now->flags.owner != old->flags.owner || now->flags.asleep)
		return false;
	/* what lies above the top of the data stack is left over */
	return now->addr < stack->chunk || now->addr >= stack->chunk_end ||
	       now->addr < thread->chunk_top;
}

int frame_rebuild(struct mem_view *view, const struct layout *layout,
		  const struct thread_state *thread, const struct raw_frame *frames, size_t n,
		  struct raw_stack *stack)
{
	struct walk walk = {.view = view, .layout = layout};
	size_t k = 0;
	stack->frames.n = 0;
	for (bool same = true; same && k < n; k++) {
		struct span bytes;
		struct raw_frame now = {.addr = frames[k].addr, .flags.kind = RAW_PYTHON};
		if (!mem_view_peek(view, now.addr, frame_span(layout), &bytes))
			break;
		decode(view, layout, bytes, false, &now);
		if (layout->frames != FRAMES_OBJECTS && now.flags.owner == layout->owner.generator)
			now.flags.asleep = is_asleep(&walk, now.addr);
		now.flags.from_c |= frames[k].flags.from_c;
		if (!goes_on(layout, thread, stack, &frames[k], &now))
			break;
		/* a caller that has gone on has another callee now */
		same = now.at == frames[k].at;
		if (!vec_push(&stack->frames, now))
			return TACHY_ENOMEM;
	}
	for (size_t i = 0, j = stack->frames.n; i + 1 < j; i++) { /* leaf first */
		struct raw_frame swap = stack->frames.at[i];
		stack->frames.at[i] = stack->frames.at[--j];
		stack->frames.at[j] = swap;
	}
	stack->cut = stack->stopped = stack->late = stack->counted = stack->assumed = false;
	stack->status = 0;
	return 0;
}

static bool in_bytecode(const struct code_entry *code, int64_t at)
{
	/* 3.11, 3.12: prev_instr of a frame that has not begun stands one unit before the first */
	return !code->bytecode_size || (at >= -CODE_UNIT && at < (int64_t)code->bytecode_size);
}

bool frame_in_code(const struct code_cache *codes, const struct raw_frame *frame)
{
	return in_bytecode(code_cache_entry(codes, frame->code_index), frame->at);
}

static bool in_chunk(const struct raw_stack *stack, raddr addr)
{
	return addr >= stack->chunk && addr < stack->chunk_end;
}

/* Whether the frame has made the call that the frame above it stands for (both in Python). */
static bool has_called(const struct layout *l, const struct raw_stack *stack,
		       const struct code_entry *code, const struct raw_frame *caller,
		       const struct raw_frame *callee)
{
	/* Python/ceval.c, Python/bytecodes.c: a frame saves its stack pointer before it calls Python */
	if (!callee->flags.from_c && caller->flags.running)
		return false;
	if (caller->at < 0) /* not yet begun; what lies above it is left over from an older call */
		return false;
	/* it has returned, which saves the stack pointer as well: it lies there until the next call. What C code
	 * calls from there is a profile function */
	if (!callee->flags.from_c && caller->leaving)
		return false;
	/* 3.13+: and every inline call stores the way back; 3.12 leaves 0 for most */
	if (l->frames == FRAMES_DIRECT && l->frame.return_offset != LAYOUT_NONE &&
	    !callee->flags.from_c && !caller->flags.return_offset && !code->shim)
		return false;
	if (!code->frame_words || caller->flags.owner != l->owner.thread ||
	    callee->flags.owner != l->owner.thread)
		return true;
	if (!in_chunk(stack, caller->addr) || !in_chunk(stack, callee->addr))
		return true;
	/* Python/pystate.c, _PyThreadState_PushFrame: frames lie one right after the other */
	return callee->addr == caller->addr + code->frame_words * 8u;
}

/* Up to 3.13 a frame whose stack pointer is saved has a Python callee: on top, it tells that the callee
 * came or went while we copied. From 3.14 on calls into C save it too. A new frame (3.11+: owned by the
 * thread, nothing executed yet) has it saved until it begins. */
static bool leaf_is_live(const struct layout *l, const struct raw_frame *leaf)
{
	return l->minor >= 14 || leaf->flags.running || leaf->at <= 0;
}

static bool live(const struct layout *l, const struct code_cache *codes,
		 const struct raw_stack *stack, size_t i)
{
	const struct raw_frame *frames = stack->frames.at, *frame = &frames[i];
	if (frame->flags.kind != RAW_PYTHON)
		return true;
	const struct code_entry *code = code_cache_entry(codes, frame->code_index);
	if (!in_bytecode(code, frame->at) || frame->flags.asleep)
		return false;
	if (l->frames == FRAMES_OBJECTS)
		return frame->flags.owner; /* executing */
	if (i == 0 || frames[i - 1].flags.kind != RAW_PYTHON)
		return true;
	return has_called(l, stack, code, frame, &frames[i - 1]);
}

/* Whether a frame ends where the next one begins, `end`, both in the one chunk. */
static bool ends_at(const struct code_cache *codes, const struct raw_stack *stack,
		    const struct raw_frame *frame, raddr end)
{
	uint32_t words = code_cache_entry(codes, frame->code_index)->frame_words;
	return words && in_chunk(stack, frame->addr) && frame->addr + words * 8u == end;
}

bool frame_leaf_fills(const struct layout *layout, const struct code_cache *codes,
		      const struct thread_state *thread, const struct raw_stack *stack)
{
	if (layout->frames != FRAMES_CFRAME || !stack->counted || !stack->frames.n)
		return false;
	const struct raw_frame *leaf = &stack->frames.at[0];
	return leaf->flags.kind == RAW_PYTHON && leaf->flags.owner == layout->owner.thread &&
	       leaf->flags.running && ends_at(codes, stack, leaf, thread->chunk_top);
}

bool frame_assumed_holds(const struct layout *layout, const struct code_cache *codes,
			 const struct thread_state *thread, const struct raw_stack *stack)
{
	if (!stack->counted ||
	    (thread->top_assumed && !frame_leaf_fills(layout, codes, thread, stack)))
		return false;
	raddr end = 0; /* where the next frame towards the leaf begins; 0: there is none */
	for (size_t i = 0; i < stack->frames.n; i++) {
		const struct raw_frame *frame = &stack->frames.at[i];
		if (frame->flags.kind != RAW_PYTHON)
			continue;
		if (frame->flags.owner != layout->owner.thread ||
		    (end && !ends_at(codes, stack, frame, end)))
			return false;
		end = frame->addr;
	}
	return true;
}

/* A generator is resumed by somebody. From 3.12 on an entry frame lies below what C code calls; 3.11 and 3.12
 * make a C frame known before they fill it in (Python/ceval.c, _PyEval_EvalFrameDefault), so that for a
 * moment the chain may begin with a generator that was suspended long ago. */
bool frame_lost_callers(const struct layout *layout, const struct raw_stack *stack)
{
	if (layout->frames == FRAMES_OBJECTS || !stack->frames.n || stack->stopped)
		return false;
	const struct raw_frame *root = &stack->frames.at[stack->frames.n - 1];
	return root->flags.owner == layout->owner.generator &&
	       (!root->flags.from_c || layout->minor == 11);
}

size_t frame_count_dead(const struct layout *layout, const struct code_cache *codes,
			const struct raw_stack *stack, size_t n, bool strict)
{
	if (n && n == stack->frames.n && frame_lost_callers(layout, stack))
		return n;
	for (size_t i = n; i > 0; i--) { /* root first: what stands on a dead frame is dead */
		bool doubted = strict && i == 1 && stack->frames.at[0].flags.kind == RAW_PYTHON &&
			       layout->frames != FRAMES_OBJECTS &&
			       !leaf_is_live(layout, &stack->frames.at[0]);
		if (doubted || !live(layout, codes, stack, i - 1))
			return i;
	}
	return 0;
}
