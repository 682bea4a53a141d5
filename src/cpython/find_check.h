/* SPDX-License-Identifier: MIT
 * Whether what lies at an address is a _PyRuntime: do its pointers hold together, and in which layout?
 */
#ifndef CPYTHON_FIND_CHECK_H
#define CPYTHON_FIND_CHECK_H

#include "cpython/find_module.h"
#include "cpython/layout.h"

/* By rising weight: of several candidates the greatest counts. */
enum verdict_kind {
	VERDICT_FALSE,   /* nothing holds together */
	VERDICT_EMPTY,   /* all zero or not mapped yet: not initialised, or a copy nobody uses */
	VERDICT_EARLY,   /* an interpreter that is not complete yet */
	VERDICT_STRANGE, /* a Python, but none whose layout is known */
	VERDICT_FINALIZING,
	VERDICT_HOLDS
};

struct verdict {
	enum verdict_kind kind;
	struct layout layout; /* of EARLY, FINALIZING and HOLDS */
	bool sure;            /* a frame was followed down to its code object */
	uint32_t version_hex; /* what the debug offsets say; 0 before 3.13 */
	const char *what;     /* STRANGE: which part of the layout; static storage */
};

/* Tries what the target tells about itself, else every table. One look: the target runs meanwhile,
 * so that an unlucky moment may give less than the truth. */
void verdict_reach(struct finder *finder, raddr addr, struct verdict *ret_verdict);

/* The table of `minor` alone. False when it does not hold. */
bool verdict_try_minor(struct finder *finder, raddr addr, unsigned minor,
		       struct verdict *ret_verdict);

/* Could be a pointer to an object of the target. */
static inline bool raddr_plausible(raddr addr)
{
	return addr >= 0x1000 && addr < (1ull << 57) && (addr & 7) == 0;
}

#endif
