/* SPDX-License-Identifier: MIT
 * The generated tables behind layout_find(); layout_tables.c says from which headers.
 */
#ifndef CPYTHON_LAYOUT_TABLES_H
#define CPYTHON_LAYOUT_TABLES_H

#include <stddef.h>

#include "cpython/layout.h"

extern const struct layout layout_tables[];
extern const size_t n_layout_tables;

#endif
