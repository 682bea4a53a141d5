/* SPDX-License-Identifier: MIT
 * The chain that must hold: _PyRuntime -> main interpreter (id 0, last of its list) -> a thread state
 * that points back at it; the interpreter's sys dict and builtins are dicts by the name of their
 * type; and, where a thread has one, a frame -> an object whose type is named "code", with a str
 * for its file. Types are told by tp_name, which lies at the same place in every version.
 *
 * Hides: how much of that is asked of which version. Debug offsets have been checked for themselves
 * (layout_debug.c); tables must compete, and 3.9 and 3.10 differ only in their frames.
 */
#include "cpython/find_check.h"

#include <string.h>

#include "cpython/find.h"
#include "cpython/layout_debug.h"

#define RUNTIME_HEAD    1024 /* holds the debug offsets, and the pointers of every known version */
#define RUNTIME_SHORT   512 /* enough before 3.13; 3.8 to 3.10 have structs of less than 1024 bytes */
#define TABLE_MINOR_MIN 8
#define TABLE_MINOR_MAX 12 /* from 3.13 on the target describes itself */
#define LOOKS_MAX       16 /* while frames come and go */
#define THREADS_MAX     16
#define FRAMES_MAX      8

struct head {
	uint8_t bytes[RUNTIME_HEAD];
	raddr addr;
};

static uint64_t head_word(struct finder *finder, const struct head *head, uint32_t offset)
{
	struct span bytes = {head->bytes, sizeof head->bytes};
	if (offset == LAYOUT_NONE)
		return 0;
	return span_has(bytes, offset, 8) ? load_u64(bytes, offset)
					  : finder_word(finder, head->addr + offset);
}

static bool read_head(struct finder *finder, raddr addr, struct head *ret)
{
	memset(ret, 0, sizeof *ret);
	ret->addr = addr;
	return finder_read(finder, addr, ret->bytes, RUNTIME_HEAD) == 0 ||
	       finder_read(finder, addr, ret->bytes, RUNTIME_SHORT) == 0;
}

/* finder_word cannot tell a zero from what cannot be read. */
static bool get_word(struct finder *finder, raddr addr, uint64_t *ret)
{
	return finder_read(finder, addr, ret, sizeof *ret) == 0;
}

static raddr type_of(struct finder *finder, const struct layout *layout, raddr object)
{
	raddr type = raddr_plausible(object) ? finder_word(finder, object + layout->object.ob_type)
					     : 0;
	return raddr_plausible(type) ? type : 0;
}

static bool is_a(struct finder *finder, const struct layout *layout, raddr object, const char *name)
{
	char text[16];
	size_t size = strlen(name) + 1;
	raddr type = type_of(finder, layout, object);
	raddr at = type ? finder_word(finder, type + layout->object.tp_name) : 0;
	return at && size <= sizeof text && finder_read(finder, at, text, size) == 0 &&
	       memcmp(text, name, size) == 0;
}

static bool is_code(struct finder *finder, const struct layout *layout, raddr object)
{
	return is_a(finder, layout, object, "code") &&
	       is_a(finder, layout, finder_word(finder, object + layout->code.filename), "str");
}

/* A frame object tells its version by its size: PyFrameObject ends in f_localsplus[1]. */
static bool is_frame_object(struct finder *finder, const struct layout *layout, raddr frame)
{
	return is_a(finder, layout, frame, "frame") &&
	       finder_word(finder, type_of(finder, layout, frame) + layout->object.tp_basicsize) ==
		       layout->frame.size + sizeof(uint64_t);
}

static raddr top_frame(struct finder *finder, const struct layout *layout, raddr tstate)
{
	switch (layout->frames) {
	case FRAMES_OBJECTS:
		return finder_word(finder, tstate + layout->tstate.frame);
	case FRAMES_CFRAME: {
		raddr cframe = finder_word(finder, tstate + layout->tstate.cframe);
		return raddr_plausible(cframe)
			       ? finder_word(finder, cframe + layout->cframe.current_frame)
			       : 0;
	}
	case FRAMES_DIRECT:
		break;
	}
	return finder_word(finder, tstate + layout->tstate.current_frame);
}

/* What the frames of a thread say. */
enum evidence {
	EVIDENCE_REFUTED, /* frames of another version */
	EVIDENCE_AGAINST, /* no sense in them; but they may have moved while they were read */
	EVIDENCE_NONE,
	EVIDENCE_FOR
};

static enum evidence ask_thread(struct finder *finder, const struct layout *layout, raddr tstate)
{
	raddr frame = top_frame(finder, layout, tstate);
	if (frame == 0)
		return EVIDENCE_NONE;
	for (int i = 0; i < FRAMES_MAX && raddr_plausible(frame); i++) {
		/* from 3.14 on the low bits are a tag */
		raddr code = finder_word(finder, frame + layout->frame.code) & ~(raddr)7;
		if (is_code(finder, layout, code))
			return layout->frames != FRAMES_OBJECTS ||
					       is_frame_object(finder, layout, frame)
				       ? EVIDENCE_FOR
				       : EVIDENCE_REFUTED;
		frame = finder_word(finder, frame + layout->frame.back);
	}
	return EVIDENCE_AGAINST;
}

static enum evidence ask_frames(struct finder *finder, const struct layout *layout, raddr interp)
{
	enum evidence evidence = EVIDENCE_NONE;
	raddr tstate = finder_word(finder, interp + layout->interp.threads_head);
	for (int i = 0; i < THREADS_MAX && raddr_plausible(tstate); i++) {
		enum evidence one = ask_thread(finder, layout, tstate);
		if (one == EVIDENCE_FOR || one == EVIDENCE_REFUTED)
			return one;
		if (one == EVIDENCE_AGAINST)
			evidence = one;
		tstate = finder_word(finder, tstate + layout->tstate.next);
	}
	return evidence;
}

/* 0 when there is none, or nothing that could be one. */
static raddr main_interp(struct finder *finder, const struct layout *layout,
			 const struct head *head)
{
	raddr newest = head_word(finder, head, layout->runtime.interpreters_head);
	raddr interp = layout->runtime.interpreters_main == LAYOUT_NONE
			       ? newest
			       : head_word(finder, head, layout->runtime.interpreters_main);
	if (!raddr_plausible(newest) || !raddr_plausible(interp))
		return 0;
	/* without a pointer to the main one, it is the oldest, and the list has the newest first */
	for (int i = 0; i < THREADS_MAX && layout->runtime.interpreters_main == LAYOUT_NONE; i++) {
		raddr next = finder_word(finder, interp + layout->interp.next);
		if (!raddr_plausible(next))
			break;
		interp = next;
	}
	uint64_t id, next;
	if (!get_word(finder, interp + layout->interp.id, &id) || id != 0 ||
	    !get_word(finder, interp + layout->interp.next, &next) || next != 0)
		return 0;
	if (newest != interp && (int64_t)finder_word(finder, newest + layout->interp.id) <= 0)
		return 0;
	return interp;
}

/* The chain down to the thread state and the dicts. */
static enum verdict_kind check_chain(struct finder *finder, const struct layout *layout,
				     const struct head *head, raddr *ret_interp)
{
	if (head_word(finder, head, layout->runtime.interpreters_head) == 0)
		return VERDICT_EMPTY;
	raddr interp = main_interp(finder, layout, head);
	if (!interp)
		return VERDICT_FALSE;
	raddr tstate, sysdict, builtins;
	if (!get_word(finder, interp + layout->interp.threads_head, &tstate) ||
	    !get_word(finder, interp + layout->interp.sysdict, &sysdict) ||
	    !get_word(finder, interp + layout->interp.builtins, &builtins))
		return VERDICT_FALSE;
	if (tstate == 0)
		return VERDICT_EARLY;
	if (!raddr_plausible(tstate) ||
	    finder_word(finder, tstate + layout->tstate.interp) != interp)
		return VERDICT_FALSE;
	if (raddr_plausible(head_word(finder, head, layout->runtime.finalizing)))
		return VERDICT_FINALIZING;
	if (sysdict == 0 || builtins == 0)
		return VERDICT_EARLY;
	if (!is_a(finder, layout, sysdict, "dict") || !is_a(finder, layout, builtins, "dict"))
		return VERDICT_FALSE;
	*ret_interp = interp;
	return VERDICT_HOLDS;
}

static void judge_described(struct finder *finder, const struct head *head, struct verdict *verdict)
{
	struct span bytes = {head->bytes, sizeof head->bytes};
	raddr interp = 0;
	verdict->version_hex = (uint32_t)load_u64(bytes, 8);
	verdict->what = "";
	if (layout_from_debug_offsets(bytes, &verdict->layout, &verdict->what) < 0) {
		verdict->kind = VERDICT_STRANGE;
		return;
	}
	verdict->kind = check_chain(finder, &verdict->layout, head, &interp);
	if (verdict->kind == VERDICT_HOLDS && verdict->layout.guessed) {
		/* a shape that we do not know must show that it means what we think */
		enum evidence evidence = ask_frames(finder, &verdict->layout, interp);
		verdict->what = "frames";
		verdict->sure = evidence == EVIDENCE_FOR;
		if (evidence == EVIDENCE_AGAINST)
			verdict->kind = VERDICT_STRANGE;
	} else {
		verdict->sure = true;
	}
}

static void judge_table(struct finder *finder, const struct head *head, const struct layout *layout,
			struct verdict *best)
{
	raddr interp = 0;
	enum verdict_kind kind = check_chain(finder, layout, head, &interp);
	bool sure = false;
	if (kind == VERDICT_HOLDS) {
		enum evidence evidence = ask_frames(finder, layout, interp);
		sure = evidence == EVIDENCE_FOR;
		if (evidence == EVIDENCE_AGAINST)
			kind = VERDICT_STRANGE;
		else if (evidence == EVIDENCE_REFUTED)
			kind = VERDICT_FALSE;
	}
	if (kind > best->kind || (kind == best->kind && sure && !best->sure))
		*best = (struct verdict){.kind = kind,
					 .layout = *layout,
					 .sure = sure,
					 .what = "frames"};
}

static bool differs(const struct layout *a, const struct layout *b)
{
	size_t from = offsetof(struct layout, runtime);
	return memcmp((const char *)a + from, (const char *)b + from, sizeof *a - from) != 0;
}

/* Newest first. The debug table of a version is tried when the release one is not certain, and differs. */
static void judge_tables(struct finder *finder, const struct head *head, unsigned low,
			 unsigned high, struct verdict *best)
{
	for (unsigned minor = high; minor >= low && !best->sure; minor--) {
		const struct layout *release = layout_find(3, minor, false, false);
		const struct layout *debug = layout_find(3, minor, true, false);
		if (release)
			judge_table(finder, head, release, best);
		if (debug && !best->sure && (!release || differs(release, debug)))
			judge_table(finder, head, debug, best);
	}
}

static void judge(struct finder *finder, raddr addr, unsigned low, unsigned high,
		  struct verdict *ret)
{
	struct verdict verdict = {.kind = VERDICT_FALSE, .what = ""};
	struct head head;
	for (int i = 0; i < LOOKS_MAX && !finder->fatal; i++) {
		verdict = (struct verdict){.kind = VERDICT_FALSE, .what = ""};
		if (!read_head(finder, addr, &head))
			break;
		if (memcmp(head.bytes, RUNTIME_COOKIE, 8) == 0)
			judge_described(finder, &head, &verdict);
		else
			judge_tables(finder, &head, low, high, &verdict);
		/* frames that made no sense, and a layout that should: look again */
		if (verdict.kind != VERDICT_STRANGE || strcmp(verdict.what, "frames") != 0)
			break;
	}
	*ret = verdict;
}

void verdict_reach(struct finder *finder, raddr addr, struct verdict *ret_verdict)
{
	judge(finder, addr, TABLE_MINOR_MIN, TABLE_MINOR_MAX, ret_verdict);
}

bool verdict_try_minor(struct finder *finder, raddr addr, unsigned minor,
		       struct verdict *ret_verdict)
{
	struct verdict verdict;
	if (minor < TABLE_MINOR_MIN || minor > TABLE_MINOR_MAX)
		return false;
	judge(finder, addr, minor, minor, &verdict);
	if (verdict.kind != VERDICT_HOLDS)
		return false;
	*ret_verdict = verdict;
	return true;
}
