/* SPDX-License-Identifier: MIT
 * Hides the tables of each version.
 */
#include "sampler/opcode_names.h"

#include <stddef.h>

#include "cpython/opcode.h"

const char *opcode_names(unsigned minor, uint8_t code, const char **ret_base)
{
	const struct opcode_info *info = opcode_info(minor, code);
	const struct opcode_info *base = info ? opcode_info(minor, info->base) : NULL;
	if (!info)
		return NULL;
	*ret_base = base ? base->name : info->name;
	return info->name;
}
