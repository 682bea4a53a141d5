/* SPDX-License-Identifier: MIT
 * Mixing functions for the hash tables. Not for hostile-input resistance by themselves: table sizes
 * are bounded by what was really read, and probing is bounded by the load factor.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The finaliser of splitmix64: every input bit reaches every output bit. */
static inline uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9u;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
	return hash_u64(a ^ (hash_u64(b) + 0x9e3779b97f4a7c15u));
}

static inline uint64_t hash_bytes(const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t h = 0x9e3779b97f4a7c15u ^ len;
	for (; len >= 8; p += 8, len -= 8) {
		uint64_t word;
		memcpy(&word, p, 8);
		h = hash_u64(h ^ word);
	}
	uint64_t tail = 0;
	memcpy(&tail, p, len);
	return hash_u64(h ^ tail);
}

#endif
