/* SPDX-License-Identifier: MIT
 * Why there is no usable Python in a process: tells the cases apart and says each in one sentence
 * with its cure.
 */
#ifndef CPYTHON_FIND_EXPLAIN_H
#define CPYTHON_FIND_EXPLAIN_H

#include "cpython/find_check.h"
#include "cpython/find_module.h"

/* The search ended without a verdict that holds; `best` is the weightiest one, `addr` where (0: no
 * place at all came into question). Sets `err` and returns its code. *ret_strange: there is a place, and
 * it makes no sense, which a moment later it may. */
int find_explain(struct finder *finder, const struct verdict *best, raddr addr, bool *ret_strange,
		 struct tachy_error *err);

#endif
