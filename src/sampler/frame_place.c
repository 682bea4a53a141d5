/* SPDX-License-Identifier: MIT
 * Invariant: a place that was met as shared stays shared until the map is emptied, which happens when it
 * holds more places than a process has frames at once.
 */
#include "sampler/frame_place.h"

#include <string.h>

#define PLACES_MAX (1u << 16)
#define SHARED     UINT64_C(1) /* code objects are aligned */

void frame_places_init(struct frame_places *places)
{
	map_init(&places->codes);
}

void frame_places_done(struct frame_places *places)
{
	map_done(&places->codes);
}

static bool is_shared(struct frame_places *places, const struct raw_frame *frame)
{
	uint64_t before, code = frame->code & ~SHARED;
	if (!map_get(&places->codes, frame->addr, &before))
		return !map_put(&places->codes, frame->addr, code);
	if (before == code)
		return false;
	if (!(before & SHARED))
		(void)map_put(&places->codes, frame->addr, before | SHARED);
	return true;
}

bool frame_places_shared(struct frame_places *places, const struct raw_frame *frames, size_t n)
{
	bool shared = false;
	if (places->codes.n > PLACES_MAX)
		map_clear(&places->codes);
	for (size_t i = 0; i < n; i++)
		shared = is_shared(places, &frames[i]) || shared;
	return shared;
}

static const struct raw_frame *frame_at(const struct raw_frame *frames, size_t n, size_t base,
					const struct raw_frame *below, size_t k)
{
	return k < base ? &below[k] : &frames[base + n - 1 - k];
}

size_t frame_look_proves(const struct frame_look *look, uint64_t reading,
			 const struct raw_stack *stack, size_t base, const struct raw_frame *below)
{
	size_t n_look = look->frames.n, n_stack = stack->frames.n;
	size_t n = look->base + n_look < base + n_stack ? look->base + n_look : base + n_stack;
	if (!look->reading || look->reading + 1 != reading)
		return 0;
	for (size_t k = 0; k < n; k++) {
		const struct raw_frame *before = frame_at(look->frames.at, n_look, look->base,
							  below, k);
		const struct raw_frame *now = frame_at(stack->frames.at, n_stack, base, below, k);
		if (before->addr != now->addr || before->code != now->code ||
		    before->back != now->back)
			return k;
		if (before->at != now->at) /* it has gone on, and may have another callee */
			return k + 1;
	}
	return n;
}

int frame_look_take(struct frame_look *look, uint64_t reading, const struct raw_stack *stack,
		    size_t base)
{
	size_t n = stack->frames.n;
	look->reading = 0;
	if (!vec_reserve(&look->frames, n))
		return TACHY_ENOMEM;
	if (n)
		memcpy(look->frames.at, stack->frames.at, n * sizeof *look->frames.at);
	look->frames.n = n;
	look->base = base;
	look->reading = reading;
	return 0;
}

void frame_look_done(struct frame_look *look)
{
	vec_done(&look->frames);
}
