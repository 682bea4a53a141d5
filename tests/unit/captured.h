/* SPDX-License-Identifier: MIT
 * What an exporter writes, as a string; and small profiles to write.
 */
#ifndef CAPTURED_H
#define CAPTURED_H

#include "export/export.h"

/* An `out` on a temporary file. captured_end flushes it and gives all that was written: free(). */
void captured_begin(struct out *out);
char *captured_end(struct out *out);
char *captured_end_sized(struct out *out, size_t *ret_n);

/* A profile of one process (pid 100, "prog a", Python 3.13.0). */
struct profile *sample_profile(void);
/* Adds a thread; its index. */
uint32_t sample_thread(struct profile *profile, uint32_t process, uint64_t tid, const char *name);
/* Adds `n` samples of 1 ms each of a stack written as "root:LINE|...|leaf:LINE", where a function `f`
 * begins on line 1 of f.py; "<GC>" and the like are markers; "" is the empty stack. */
void sample_add(struct profile *profile, uint32_t thread, const char *stack, uint64_t n);

#endif
