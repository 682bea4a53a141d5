/* SPDX-License-Identifier: MIT
 * Invariant: believed only while `depth` frames were read, or vouched for, with the wire whole all along.
 */
#include "sampler/tripwire.h"

#include <string.h>

#define WORTH_FRAMES 96u /* a stack less deep is read as quickly as not */
#define MARGIN       16u /* how far below the calm part's end the wire is laid */
#define PATIENCE_MIN 32u /* calm ticks before a wire is laid */
#define PATIENCE_MAX 8192u

size_t tripwire_trusted(const struct tripwire *wire)
{
	return wire->believed && !watch_was_hit(wire->watch) ? wire->depth : 0;
}

bool tripwire_whole(const struct tripwire *wire)
{
	return wire->laid && !watch_was_hit(wire->watch);
}

/* The word that is written before a frame is left, see tripwire.h. False: this version has none. */
static bool telling_word(const struct layout *layout, uint32_t *ret_offset, uint32_t *ret_size)
{
	if (layout->frames == FRAMES_OBJECTS) {
		*ret_size = 1;
		*ret_offset = layout->frame.executing != LAYOUT_NONE ? layout->frame.executing
								     : layout->frame.state;
	} else { /* 3.11 - 3.13: int stacktop; 3.14+: a pointer */
		*ret_size = layout->minor >= 14 ? 8 : 4;
		*ret_offset = layout->frame.stackpointer;
	}
	return *ret_offset != LAYOUT_NONE;
}

/* A frame that has called the Python frame above it. */
static bool can_wire(const struct layout *layout, const struct raw_frame *frame,
		     const struct raw_frame *callee)
{
	if (layout->frames == FRAMES_OBJECTS)
		return frame->flags.owner && callee->flags.owner; /* executing */
	return frame->flags.kind == RAW_PYTHON && callee->flags.kind == RAW_PYTHON &&
	       frame->flags.owner == layout->owner.thread && !frame->flags.running &&
	       !callee->flags.from_c;
}

static void give_up(struct tripwire *wire)
{
	watch_close(wire->watch);
	wire->watch = NULL;
	wire->laid = wire->believed = false;
	wire->impossible = true;
}

static void lay(struct tripwire *wire, const struct layout *layout, pid_t tid,
		const struct raw_frame *frames)
{
	size_t k = wire->stable - MARGIN;
	while (k > WORTH_FRAMES / 2 && !can_wire(layout, &frames[k - 1], &frames[k]))
		k--;
	if (k <= WORTH_FRAMES / 2)
		return;
	if (!wire->watch && watch_open(tid, &wire->watch) < 0) {
		give_up(wire);
		return;
	}
	uint32_t offset, size;
	if (!telling_word(layout, &offset, &size) ||
	    watch_arm(wire->watch, frames[k - 1].addr + offset, size) < 0) {
		give_up(wire);
		return;
	}
	wire->laid = true;
	wire->believed = false;
	wire->depth = k;
}

static void lift(struct tripwire *wire)
{
	wire->laid = wire->believed = false;
	wire->calm_ticks = 0;
	wire->stable = SIZE_MAX;
	wire->patience = wire->patience < PATIENCE_MAX / 2 ? wire->patience * 2 : PATIENCE_MAX;
}

static void note_calm(struct tripwire *wire, size_t common)
{
	if (!wire->calm_ticks || common < wire->stable)
		wire->stable = common;
	wire->calm_ticks++;
	if (wire->stable < WORTH_FRAMES)
		wire->calm_ticks = 0;
}

void tripwire_update(struct tripwire *wire, const struct layout *layout, pid_t tid,
		     const struct raw_frame *frames, size_t n, size_t common)
{
	if (wire->impossible)
		return;
	if (!wire->patience)
		wire->patience = PATIENCE_MIN;
	if (wire->laid) {
		bool holds = common >= wire->depth && n >= wire->depth &&
			     !watch_was_hit(wire->watch);
		if (holds)
			wire->believed = true;
		else
			lift(wire);
		return;
	}
	note_calm(wire, common < n ? common : n);
	if (wire->calm_ticks >= wire->patience && tid > 0)
		lay(wire, layout, tid, frames);
}

void tripwire_done(struct tripwire *wire)
{
	watch_close(wire->watch);
	memset(wire, 0, sizeof *wire);
}
