/* SPDX-License-Identifier: MIT
 * The chain goes on with what a suspended frame has on top of its stack, when it was suspended in an await or a
 * `yield from` (Objects/genobject.c, _PyGen_yf of each version). How that is told:
 *     3.8 - 3.10  the next instruction is YIELD_FROM
 *     3.11, 3.12  the next instruction is a RESUME with a number from 2 on
 *     3.13+       the generator's state says it
 * A coroutine is only ever suspended in an await.
 */
#include "cpython/coroutine.h"

#define STACK_WORDS_MAX (1u << 16) /* between the locals' start and the top of one frame's stack */

/* PyFrameObject up to 3.10 (Include/cpython/frameobject.h): words behind f_back */
#define OLD_VALUE_STACK 5u /* f_valuestack */
#define OLD_STACK_TOP   6u /* f_stacktop; 3.8, 3.9 */
#define OLD_STACK_DEPTH 7u /* f_stackdepth, an int; 3.10 */

#define OPCODE_YIELD_FROM          72u  /* Include/opcode.h, 3.8 - 3.10 */
#define OPCODE_RESUME              151u /* 3.11, 3.12 */
#define OPCODE_RESUME_QUICK        150u /* 3.11 */
#define OPCODE_INSTRUMENTED_RESUME 240u /* 3.12 */
#define RESUME_AFTER_YIELD_FROM    2u   /* and 3: after an await */

struct chain {
	struct mem_view *view;
	const struct layout *layout;
	struct type_kinds *kinds;
	struct raw_frames *frames;
	struct coroutine found;
};

/* One coroutine as it stands. */
struct stand {
	enum coroutine_state state;
	bool delegates; /* 3.13+, of COROUTINE_SUSPENDED: in an await or a yield from */
	raddr frame;
};

/* Include/internal/pycore_frame.h, enum _framestate: its numbers were dealt anew twice. */
static struct stand stand_of(unsigned minor, int8_t raw)
{
	const int created = minor >= 15 ? 0 : minor >= 13 ? -3 : -2;
	const int executing = minor >= 15 ? 4 : 0;
	struct stand stand = {.state = COROUTINE_DONE};
	if (raw == created)
		stand.state = COROUTINE_CREATED;
	else if (raw == executing)
		stand.state = COROUTINE_RUNNING;
	else if (raw > created && raw < executing)
		stand.state = COROUTINE_SUSPENDED;
	stand.delegates = minor >= 13 && raw > created + 1;
	return stand;
}

static int pointer_at(struct mem_view *view, raddr addr, raddr *ret_value)
{
	struct span bytes;
	int rc = mem_view_hot(view, addr, 8, &bytes);
	if (rc >= 0)
		*ret_value = load_u64(bytes, 0);
	return rc;
}

/* ---- 3.8 - 3.10: a frame object of its own ------------------------------------------------------ */

static int stand_old(struct chain *chain, raddr object, struct span *ret_frame, struct stand *stand)
{
	const struct layout *l = chain->layout;
	struct raw_frame frame;
	int rc = pointer_at(chain->view, object + l->gen.frame_object, &stand->frame);
	*stand = (struct stand){.state = COROUTINE_DONE, .frame = stand->frame};
	if (rc < 0 || !stand->frame)
		return rc;
	rc = mem_view_hot(chain->view, stand->frame, frame_span(l), ret_frame);
	if (rc < 0)
		return rc;
	frame_decode(chain->view, l, *ret_frame, false, &frame);
	stand->state = frame.flags.owner ? COROUTINE_RUNNING
		       : frame.at < 0    ? COROUTINE_CREATED
					 : COROUTINE_SUSPENDED;
	return 0;
}

static int top_old(const struct layout *l, struct span frame, raddr *ret_slot)
{
	uint32_t behind = l->frame.back;
	if (l->minor < 10) {
		*ret_slot = load_u64(frame, behind + OLD_STACK_TOP * 8) - 8;
		return *ret_slot + 8 ? 0 : TACHY_ECORRUPT;
	}
	int32_t depth = load_i32(frame, behind + OLD_STACK_DEPTH * 8);
	if (depth <= 0 || depth > (int32_t)STACK_WORDS_MAX)
		return TACHY_ECORRUPT;
	*ret_slot = load_u64(frame, behind + OLD_VALUE_STACK * 8) + (raddr)(depth - 1) * 8;
	return 0;
}

/* ---- 3.11+: the frame is part of the generator ---------------------------------------------------- */

static int stand_new(struct chain *chain, raddr object, struct span *ret_frame, struct stand *stand)
{
	const struct layout *l = chain->layout;
	struct span bytes;
	uint32_t start = l->gen.frame_state;
	int rc = mem_view_hot(chain->view, object + start, l->gen.iframe + frame_span(l) - start,
			      &bytes);
	if (rc < 0)
		return rc;
	*stand = stand_of(l->minor, load_i8(bytes, 0));
	stand->frame = object + l->gen.iframe;
	*ret_frame = (struct span){bytes.data + (l->gen.iframe - start), frame_span(l)};
	return 0;
}

static int top_new(const struct layout *l, struct span frame, raddr addr, raddr *ret_slot)
{
	raddr locals = addr + l->frame.locals, top;
	if (l->minor < 14)
		top = locals + (raddr)(int64_t)load_i32(frame, l->frame.stackpointer) * 8;
	else
		top = load_u64(frame, l->frame.stackpointer);
	/* 3.15: above the awaited object there is the index of a virtual iterator, mostly NULL
	 * (Python/bytecodes.c, SEND) */
	top -= l->minor >= 15 ? 16 : 8;
	if (top < locals || top - locals > STACK_WORDS_MAX * 8u || (top & 7))
		return TACHY_ECORRUPT;
	*ret_slot = top;
	return 0;
}

/* ---- both --------------------------------------------------------------------------------------------- */

/* Whether the instruction after the one at hand says that the frame waits for the object on top of its stack. */
static int reads_yield_from(struct chain *chain, const struct raw_frame *frame, bool *ret)
{
	const struct layout *l = chain->layout;
	struct span unit;
	raddr code = frame->code + l->code.bytecode;
	if (l->minor <= 10) {
		int rc = pointer_at(chain->view, frame->code + l->code.bytecode, &code);
		if (rc < 0)
			return rc;
		code += l->bytes.sval;
	}
	int rc = mem_view_hot(chain->view, code + (raddr)(frame->at + 2), 2, &unit);
	if (rc < 0)
		return rc;
	uint8_t opcode = load_u8(unit, 0);
	if (l->minor <= 10)
		*ret = opcode == OPCODE_YIELD_FROM;
	else
		*ret = (opcode == OPCODE_RESUME || opcode == OPCODE_RESUME_QUICK ||
			opcode == OPCODE_INSTRUMENTED_RESUME) &&
		       load_u8(unit, 1) >= RESUME_AFTER_YIELD_FROM;
	return 0;
}

static int delegates(struct chain *chain, enum type_kind kind, const struct stand *stand,
		     const struct raw_frame *frame, bool *ret)
{
	*ret = stand->state == COROUTINE_SUSPENDED && (kind == KIND_COROUTINE || stand->delegates);
	if (*ret || stand->state != COROUTINE_SUSPENDED || chain->layout->minor >= 13)
		return 0;
	return reads_yield_from(chain, frame, ret);
}

/* A coroutine, generator or async generator: its frame, and what it waits for in *ret_next (0: nothing). */
static int step_generator(struct chain *chain, raddr object, enum type_kind kind, bool first,
			  raddr *ret_next)
{
	const struct layout *l = chain->layout;
	struct stand stand = {.state = COROUTINE_DONE};
	struct raw_frame frame = {.flags.kind = RAW_PYTHON};
	struct span bytes = {NULL, 0};
	raddr slot;
	bool more = false;
	int rc = l->frames == FRAMES_OBJECTS ? stand_old(chain, object, &bytes, &stand)
					     : stand_new(chain, object, &bytes, &stand);
	if (rc < 0)
		return rc;
	if (first) {
		chain->found.state = stand.state;
		chain->found.frame = stand.frame;
	}
	if (stand.state == COROUTINE_DONE || stand.state == COROUTINE_RUNNING)
		return 0;
	frame_decode(chain->view, l, bytes, false, &frame);
	frame.addr = stand.frame;
	frame.back = 0;
	if (!vec_push(&chain->frames->list, frame))
		return TACHY_ENOMEM;
	rc = delegates(chain, kind, &stand, &frame, &more);
	if (rc < 0 || !more)
		return rc;
	rc = l->frames == FRAMES_OBJECTS ? top_old(l, bytes, &slot)
					 : top_new(l, bytes, stand.frame, &slot);
	if (rc >= 0)
		rc = pointer_at(chain->view, slot, ret_next);
	if (rc >= 0 && l->minor >= 14)
		*ret_next &= ~(raddr)7; /* _PyStackRef keeps flags in the low bits */
	return rc;
}

static int step(struct chain *chain, raddr *object, bool first)
{
	const struct type_entry *type;
	raddr next = 0;
	int rc = type_kinds_of(chain->kinds, chain->view, chain->layout, *object, &type);
	if (rc < 0)
		return rc;
	switch (type->kind) {
	case KIND_COROUTINE:
	case KIND_GENERATOR:
	case KIND_ASYNC_GENERATOR:
		rc = step_generator(chain, *object, type->kind, first, &next);
		break;
	case KIND_WRAPPER:
		rc = pointer_at(chain->view, *object + chain->layout->object.size, &next);
		break;
	case KIND_FUTURE_ITER:
		rc = pointer_at(chain->view, *object + chain->layout->object.size,
				&chain->found.awaited);
		break;
	default:
		chain->found.awaited = *object;
		break;
	}
	*object = next;
	return rc;
}

int coroutine_walk(struct mem_view *view, const struct layout *layout, struct type_kinds *kinds,
		   raddr object, struct raw_frames *frames, struct coroutine *ret_coroutine)
{
	struct chain chain = {view, layout, kinds, frames, {.state = COROUTINE_UNKNOWN}};
	raddr landmark = 0; /* Brent: met again, the chain leads in a circle */
	uint32_t n = 0;
	for (; object && n < COROUTINE_CHAIN_MAX; n++) {
		if (object == landmark)
			return TACHY_ECORRUPT;
		if ((n & (n + 1)) == 0)
			landmark = object;
		int rc = step(&chain, &object, n == 0);
		if (rc < 0)
			return rc;
	}
	chain.found.cut = object != 0;
	*ret_coroutine = chain.found;
	return 0;
}
