/* SPDX-License-Identifier: MIT
 * What is known of the target's code objects: names, lines, where their bytecode lies. Each is read
 * once and verified cheaply after: an address alone proves nothing, since a freed code object's place
 * is soon taken by another.
 */
#ifndef CPYTHON_CODE_H
#define CPYTHON_CODE_H

#include "cpython/linetable.h"
#include "cpython/object.h"
#include "cpython/opcode.h"
#include "model/stack.h"

/* Fields that differ between two code objects that follow each other at one address. `version` alone
 * does from 3.12 on (co_version counts up with every code object of the interpreter). Before, and between
 * interpreters, a loop that
 * compiles and runs one piece of code after the other can put all of them where the last one's were, so
 * that only the characters of the names differ. */
struct code_identity {
	raddr filename, name, qualname, linetable;
	uint64_t n_units;
	int32_t first_line;
	uint32_t version;
};

struct code_entry {
	raddr addr;
	struct code_identity identity;
	struct linetable lines;
	function_id function;
	raddr bytecode;         /* where the instructions begin */
	uint32_t bytecode_size; /* bytes; 0 unknown */
	uint32_t frame_words;   /* 3.12+: co_framesize; 0 unknown */
	uint64_t verified;      /* number of the view's reading */
	uint32_t
		n_verified; /* how often; the parts are looked at while it is new, later now and then */
	uint64_t parts_hash;    /* of the names and the line table as they lie there */
	int64_t owner;          /* id of the interpreter that it was last verified for */
	uint64_t generation; /* 3.15+: the interpreter's _code_object_generation when verified */
	bool shim;           /* the interpreter's own, not the program's: never shown */
};

struct code_cache {
	const struct layout *layout; /* borrowed */
	struct stacks *stacks;       /* borrowed: where functions and frames are interned */
	VEC(struct code_entry) entries;
	struct map by_addr;        /* address -> index */
	struct map frame_by_place; /* (index, offset) -> frame_id */
	struct map frame_by_opcode; /* (frame_id, opcode, base) -> frame_id that tells them */
	str_id opcode_names[256];  /* 0: not met yet */
	struct text text;          /* scratch */
	raddr code_type;           /* the type of code objects; 0: not met yet */
	uint32_t identity_start,
		identity_size; /* the part of a code object that holds its identity */
	uint64_t n_hits, n_misses, n_stale;
};

void code_cache_init(struct code_cache *cache, const struct layout *layout, struct stacks *stacks);
void code_cache_done(struct code_cache *cache);

/* The entry of the code object at `addr`, known to be the one that is there now: read anew, verified in
 * this tick, or vouched for by `generation` (0: there is no such counter) of the interpreter with the id
 * `owner`. TACHY_ECORRUPT: no code object. The index stays good until the code object is another. */
int code_cache_get(struct code_cache *cache, struct mem_view *view, raddr addr, int64_t owner,
		   uint64_t generation, uint32_t *ret_index);
/* The frame that executes `at` (byte offset into the bytecode; below 0: not yet begun) and, unless
 * that is 0, `opcode`. */
int code_cache_frame(struct code_cache *cache, uint32_t index, int64_t at, struct opcode opcode,
		     frame_id *ret_frame);

static inline const struct code_entry *code_cache_entry(const struct code_cache *cache,
							uint32_t index)
{
	return &cache->entries.at[index];
}

#endif
