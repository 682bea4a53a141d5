/* SPDX-License-Identifier: MIT
 * What the body of a block is made of: a number from this list, the length of what follows, and that.
 * Readers pass over numbers that they do not know. FORMAT.md says what is in each.
 */
#ifndef RECORD_SECTION_H
#define RECORD_SECTION_H

enum section {
	SECTION_START = 1,
	SECTION_STRINGS,
	SECTION_FUNCTIONS,
	SECTION_FRAMES,
	SECTION_STACKS,
	SECTION_PROCESSES,
	SECTION_THREADS,
	SECTION_CHANGES,
	SECTION_SAMPLES,
	SECTION_CLOCK,
	SECTION_DROPPED,
	SECTION_COUNTERS,
	SECTION_END
};

/* Bits of the flags in SECTION_START. */
#define START_OPCODES 1u
#define START_ASYNC   2u
/* Bits of a thread's flags. */
#define THREAD_MAIN 1u

#endif
