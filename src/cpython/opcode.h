/* SPDX-License-Identifier: MIT
 * Opcodes by version: names, and what each specialised or instrumented form stands for. A table for each
 * minor version from 3.11 on, which all its builds share (opcode_tables.c).
 */
#ifndef CPYTHON_OPCODE_H
#define CPYTHON_OPCODE_H

#include <stdint.h>

#define OPCODE_MINOR_MIN 11

/* Opcodes that stand in the place of another one, which is kept elsewhere. */
enum opcode_kind { OPCODE_PLAIN, OPCODE_LINE, OPCODE_INSTRUCTION, OPCODE_EXECUTOR };

struct opcode_info {
	const char *name;
	uint8_t base;     /* what it was specialised from or instruments; itself where neither holds */
	uint8_t n_caches; /* code units after it that are its inline cache */
	uint8_t kind;     /* enum opcode_kind */
};

/* An instruction: as it stands in the bytecode, and its base. 0 (CACHE, which never executes): none. */
struct opcode {
	uint8_t code, base;
};

/* NULL: the version is not known, or it has no such opcode. Static storage. */
const struct opcode_info *opcode_info(unsigned minor, uint8_t code);

#endif
