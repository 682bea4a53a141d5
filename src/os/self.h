/* SPDX-License-Identifier: MIT
 * What we ourselves cost.
 */
#ifndef OS_SELF_H
#define OS_SELF_H

#include <stdint.h>

/* The most memory that this program has had since its start, in KiB; 0 unknown. Unlike ru_maxrss it knows
 * nothing of what ran in this process before an exec. */
uint64_t self_peak_rss_kb(void);

#endif
