/* SPDX-License-Identifier: MIT
 * Hides the key of a place: the function, and its executing line where lines are wanted.
 */
#include "export/places.h"

#include <stdlib.h>

#include "base/error.h"
#include "export/export.h"

static int fill(struct places *places)
{
	const struct stacks *stacks = places->stacks;
	struct map by_key;
	int rc = 0;
	map_init(&by_key);
	for (size_t id = 0; id < stacks->frames.n && rc >= 0; id++) {
		const struct frame *frame = &stacks->frames.at[id];
		uint64_t line = places->lines ? (uint32_t)frame->at.line : 0, place;
		uint64_t key = (uint64_t)frame->function << 32 | line;
		if (!map_get(&by_key, key, &place)) {
			place = places->frames.n;
			if (!map_put(&by_key, key, place) ||
			    !vec_push(&places->frames, (frame_id)id))
				rc = TACHY_ENOMEM;
		}
		places->of_frame[id] = (uint32_t)place;
	}
	map_done(&by_key);
	return rc;
}

int places_init(const struct profile *profile, bool lines, struct places *ret_places)
{
	struct places places = {.stacks = &profile->stacks, .lines = lines};
	places.of_frame = calloc(profile->stacks.frames.n + 1, sizeof *places.of_frame);
	int rc = places.of_frame && vec_push(&places.frames, profile->stacks.cut) ? fill(&places)
										  : TACHY_ENOMEM;
	if (rc < 0)
		places_done(&places);
	else
		*ret_places = places;
	return rc;
}

void places_done(struct places *places)
{
	vec_done(&places->frames);
	free(places->of_frame);
	places->of_frame = NULL;
}

void places_describe(const struct places *places, uint32_t place, struct tachy_frame *ret_frame)
{
	if (place == PLACE_NO_FRAME) {
		*ret_frame = (struct tachy_frame){.function = EXPORT_NO_FRAME,
						  .file = "",
						  .column = -1,
						  .end_column = -1,
						  .opcode = "",
						  .base_opcode = "",
						  .kind = TACHY_FRAME_NATIVE};
		return;
	}
	stacks_describe(places->stacks, places->frames.at[place], ret_frame);
	int32_t line = places->lines ? ret_frame->line : ret_frame->first_line;
	ret_frame->line = line > 0 ? line : 0;
}
