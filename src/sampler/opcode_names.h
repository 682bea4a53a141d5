/* SPDX-License-Identifier: MIT
 * The names of instructions, for what was sampled by somebody else.
 */
#ifndef SAMPLER_OPCODE_NAMES_H
#define SAMPLER_OPCODE_NAMES_H

#include <stdint.h>

/* The name of an opcode of Python 3.`minor` as it stands in the bytecode, and *ret_base, that of what it was
 * specialised from. NULL: not known. Static storage. */
const char *opcode_names(unsigned minor, uint8_t code, const char **ret_base);

#endif
