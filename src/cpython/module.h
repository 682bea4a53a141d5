/* SPDX-License-Identifier: MIT
 * The variables of an imported module, as sys.modules has it.
 */
#ifndef CPYTHON_MODULE_H
#define CPYTHON_MODULE_H

#include "cpython/dict.h"

/* The namespace of the module of that name. TACHY_ENOENT: nobody has imported it. */
int module_open(struct mem_view *view, const struct layout *layout, raddr interp, const char *name,
		struct dict *ret_namespace);

#endif
