/* SPDX-License-Identifier: MIT
 * Each value is asked of the view by itself; the view merges what shares a page, so that this costs no
 * calls. Lists are followed by the callers, who bound them.
 */
#include "cpython/thread.h"

#define EXCEPTION_ITEMS_MAX \
	64u /* nested generators that handle exceptions; deeper ones are left out */

static int hot_u64(struct mem_view *view, raddr addr, uint64_t *ret_value)
{
	struct span bytes;
	int rc = mem_view_hot(view, addr, 8, &bytes);
	if (rc >= 0)
		*ret_value = load_u64(bytes, 0);
	return rc;
}

/* A field that this version may lack: 0 then. */
static int hot_field(struct mem_view *view, raddr base, uint32_t field, uint64_t *ret_value)
{
	*ret_value = 0;
	return field == LAYOUT_NONE ? 0 : hot_u64(view, base + field, ret_value);
}

int interp_first(struct mem_view *view, const struct layout *layout, raddr runtime,
		 raddr *ret_interp)
{
	return hot_u64(view, runtime + layout->runtime.interpreters_head, ret_interp);
}

static int locate_gil(struct mem_view *view, const struct layout *layout, raddr runtime,
		      raddr interp, raddr *ret_gil)
{
	switch (layout->gil_design) {
	case GIL_RUNTIME:
		*ret_gil = runtime + layout->runtime.gil;
		return 0;
	case GIL_INTERPRETER:
		return hot_u64(view, interp + layout->interp.gil_ptr, ret_gil);
	case GIL_ABSENT:
		break;
	}
	*ret_gil = 0;
	return 0;
}

raddr gil_switch_number_addr(const struct layout *layout, const struct gil_state *gil)
{
	return gil->addr + layout->gil.switch_number;
}

static uint32_t field_end(uint32_t end, uint32_t field)
{
	return field != LAYOUT_NONE && field + 8 > end ? field + 8 : end;
}

static int read_gil(struct mem_view *view, const struct layout *layout, raddr addr,
		    struct gil_state *gil)
{
	struct span bytes;
	*gil = (struct gil_state){.addr = addr};
	if (!addr)
		return 0;
	uint32_t start = layout->gil.last_holder, end = field_end(0, layout->gil.last_holder);
	if (start > layout->gil.locked)
		start = layout->gil.locked;
	end = field_end(field_end(end, layout->gil.locked), layout->gil.switch_number);
	int rc = mem_view_hot(view, addr + start, end - start, &bytes);
	if (rc < 0)
		return rc;
	gil->known = true;
	gil->holder = load_u64(bytes, layout->gil.last_holder - start);
	gil->locked = load_i32(bytes, layout->gil.locked - start) == 1;
	gil->counts_switches = layout->gil.switch_number != LAYOUT_NONE;
	if (gil->counts_switches)
		gil->switch_number = load_u64(bytes, layout->gil.switch_number - start);
	return 0;
}

/* 3.8 has one collector for all interpreters, in the runtime. */
static int read_gc(struct mem_view *view, const struct layout *layout, raddr runtime, raddr interp,
		   struct interp_state *state)
{
	uint64_t word;
	raddr gc = interp + layout->interp.gc;
	if (layout->interp.gc == LAYOUT_NONE)
		gc = runtime + layout->runtime.gc;
	if (layout->interp.gc == LAYOUT_NONE && layout->runtime.gc == LAYOUT_NONE)
		return 0;
	int rc = hot_field(view, gc, layout->gc.frame, &state->gc_frame);
	/* Python/gc_free_threading.c stops the world for most of its work */
	if (rc >= 0 && layout->gil_design == GIL_ABSENT)
		rc = hot_field(view, interp, layout->interp.stop_requester, &state->collector);
	if (rc >= 0)
		rc = hot_field(view, gc, layout->gc.collecting, &word);
	if (rc >= 0)
		state->collecting = (uint32_t)word != 0;
	return rc;
}

int interp_read(struct mem_view *view, const struct layout *layout, raddr runtime, raddr addr,
		raddr gil, struct interp_state *ret_interp)
{
	struct interp_state state = {.addr = addr};
	uint64_t id = 0, generation = 0;
	int rc = hot_u64(view, addr + layout->interp.next, &state.next);
	if (rc >= 0)
		rc = hot_u64(view, addr + layout->interp.id, &id);
	if (rc >= 0)
		rc = hot_u64(view, addr + layout->interp.threads_head, &state.threads_head);
	if (rc >= 0)
		rc = hot_field(view, addr, layout->interp.threads_main, &state.threads_main);
	if (rc >= 0 && !gil)
		rc = locate_gil(view, layout, runtime, addr, &gil);
	if (rc >= 0)
		rc = read_gil(view, layout, gil, &state.gil);
	if (rc >= 0)
		rc = read_gc(view, layout, runtime, addr, &state);
	if (rc >= 0)
		rc = hot_field(view, addr, layout->interp.code_generation, &generation);
	if (rc < 0)
		return rc;
	state.id = (int64_t)id;
	if (layout->gil_design != GIL_ABSENT)
		state.collector = state.gil.holder;
	state.code_generation = layout->interp.code_generation == LAYOUT_NONE ? 0 : generation + 1;
	*ret_interp = state;
	return 0;
}

/* How much of a thread state is needed: up to the last field that is looked at. */
static uint32_t thread_span(const struct layout *layout)
{
	uint32_t end = 0;
	end = field_end(end, layout->tstate.next);
	end = field_end(end, layout->tstate.interp);
	end = field_end(end, layout->tstate.frame);
	end = field_end(end, layout->tstate.cframe);
	end = field_end(end, layout->tstate.current_frame);
	end = field_end(end, layout->tstate.id);
	end = field_end(end, layout->tstate.thread_id);
	end = field_end(end, layout->tstate.native_thread_id);
	end = field_end(end, layout->tstate.datastack_top);
	end = field_end(end, layout->tstate.recursion_depth);
	end = field_end(end, layout->tstate.recursion_limit);
	end = field_end(end, layout->tstate.exc_info);
	end = field_end(end, layout->tstate.base_frame);
	end = field_end(end, layout->tstate.state);
	end = field_end(end, layout->tstate.holds_gil);
	end = field_end(end, layout->tstate.gil_requested);
	end = field_end(end, layout->tstate.current_exception);
	end = field_end(end, layout->tstate.last_profiled_frame_seq);
	return end;
}

static uint64_t field_u64(struct span bytes, uint32_t field)
{
	return field == LAYOUT_NONE ? 0 : load_u64(bytes, field);
}

int thread_read_top(struct mem_view *view, const struct layout *layout, struct thread_state *thread)
{
	struct span cframe;
	thread->top_assumed = false;
	thread->top = thread->top_at = thread->cframe_before = 0;
	int rc = thread->cframe ? mem_view_hot(view, thread->cframe, layout->cframe.size, &cframe)
				: 0;
	if (rc < 0 || !thread->cframe)
		return rc;
	thread->top = load_u64(cframe, layout->cframe.current_frame);
	thread->top_at = thread->cframe + layout->cframe.current_frame;
	thread->cframe_before = load_u64(cframe, layout->cframe.previous);
	return 0;
}

static bool leaf_is_known(const struct thread_leaf *leaf, const struct thread_state *thread)
{
	return leaf && leaf->top && leaf->cframe == thread->cframe &&
	       leaf->chunk == thread->chunk && leaf->chunk_top == thread->chunk_top &&
	       leaf->py_depth == thread->py_depth;
}

/* The leaf frame: in the thread state, or behind a C frame. */
static int find_top(struct mem_view *view, const struct layout *layout, struct span bytes,
		    const struct thread_leaf *leaf, struct thread_state *thread)
{
	if (layout->frames == FRAMES_CFRAME) {
		thread->cframe = load_u64(bytes, layout->tstate.cframe);
		if (!leaf_is_known(leaf, thread))
			return thread_read_top(view, layout, thread);
		thread->top = leaf->top;
		thread->top_assumed = true;
		return 0;
	}
	uint32_t field = layout->frames == FRAMES_OBJECTS ? layout->tstate.frame
							  : layout->tstate.current_frame;
	thread->top = load_u64(bytes, field);
	thread->top_at = thread->addr + field;
	return 0;
}

int thread_top_before(struct mem_view *view, const struct layout *layout,
		      const struct thread_state *thread, raddr *ret_top)
{
	if (!thread->cframe_before)
		return TACHY_ENOENT;
	return hot_u64(view, thread->cframe_before + layout->cframe.current_frame, ret_top);
}

static int32_t read_depth(const struct layout *layout, struct span bytes)
{
	if (layout->tstate.recursion_depth != LAYOUT_NONE)
		return load_i32(bytes, layout->tstate.recursion_depth);
	if (layout->tstate.recursion_limit == LAYOUT_NONE ||
	    layout->tstate.recursion_remaining == LAYOUT_NONE)
		return -1;
	return load_i32(bytes, layout->tstate.recursion_limit) -
	       load_i32(bytes, layout->tstate.recursion_remaining);
}

/* Python/errors.c, _PyErr_GetTopmostException: the first item of the chain that holds one. A generator
 * that handles an exception has an item of its own. What cannot be read tells nothing. */
static raddr read_handled(struct mem_view *view, const struct layout *layout, raddr item)
{
	struct span bytes;
	uint32_t end = field_end(field_end(0, layout->exc.exc_value), layout->exc.previous_item);
	for (unsigned i = 0; item && i < EXCEPTION_ITEMS_MAX; i++) {
		if (mem_view_hot(view, item, end, &bytes) < 0)
			return 0;
		raddr value = load_u64(bytes, layout->exc.exc_value);
		if (value)
			return value;
		item = load_u64(bytes, layout->exc.previous_item);
	}
	return 0;
}

int thread_read(struct mem_view *view, const struct layout *layout, raddr addr,
		const struct thread_leaf *leaf, struct thread_state *ret_thread)
{
	struct span bytes;
	struct thread_state state = {.addr = addr};
	int rc = mem_view_hot(view, addr, thread_span(layout), &bytes);
	if (rc < 0)
		return rc;
	state.next = load_u64(bytes, layout->tstate.next);
	state.interp = load_u64(bytes, layout->tstate.interp);
	state.unique_id = field_u64(bytes, layout->tstate.id);
	state.thread_id = load_u64(bytes, layout->tstate.thread_id);
	state.native_thread_id = field_u64(bytes, layout->tstate.native_thread_id);
	state.chunk = field_u64(bytes, layout->tstate.datastack_chunk);
	state.chunk_top = field_u64(bytes, layout->tstate.datastack_top);
	state.base_frame = field_u64(bytes, layout->tstate.base_frame);
	state.py_depth = read_depth(layout, bytes);
	rc = find_top(view, layout, bytes, leaf, &state);
	if (rc < 0)
		return rc;
	state.raising = field_u64(bytes, layout->tstate.current_exception) != 0;
	state.handled = read_handled(view, layout, load_u64(bytes, layout->tstate.exc_info));
	state.gil_requested_known = layout->tstate.gil_requested != LAYOUT_NONE;
	state.gil_requested = state.gil_requested_known &&
			      load_i32(bytes, layout->tstate.gil_requested) != 0;
	state.holds_gil_known = layout->tstate.holds_gil != LAYOUT_NONE;
	state.holds_gil = state.holds_gil_known && load_i32(bytes, layout->tstate.holds_gil) != 0;
	state.marker = field_u64(bytes, layout->tstate.last_profiled_frame);
	state.marker_seq = field_u64(bytes, layout->tstate.last_profiled_frame_seq);
	state.attached = layout->tstate.state != LAYOUT_NONE &&
			 load_i32(bytes, layout->tstate.state) == 1;
	*ret_thread = state;
	return 0;
}
