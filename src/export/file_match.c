/* SPDX-License-Identifier: MIT
 * Equal paths are the same file. Of the others, two can be the same when they end in the same parts, and
 * the more parts the likelier. Where two are equally likely, and where nothing but a name such as
 * __init__.py is common, the pair of places that most of the clear ones have in common (/home/a -> /srv/b)
 * decides. What is still not clear is no match: then a function is shown as gone and as new, never as
 * another one's.
 */
#include "export/file_match.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/vec.h"

#define CANDIDATES_MAX 4096 /* files of one name that are compared with one */

/* The parts of two paths up to where they begin to be equal. */
struct move {
	const char *base, *now;
	size_t base_len, now_len;
	size_t n; /* files that moved so */
};

struct matcher {
	const char *const *now, *const *base;
	size_t n_now, n_base;
	uint32_t *match;     /* base -> now */
	uint32_t *score;     /* of that match: parts in common */
	uint32_t *taken;     /* now -> base, or NONE */
	uint32_t *next;      /* now -> the next with an equal last part */
	struct map by_name;  /* hash of the last part -> the first */
	VEC(struct move) moves;
};

static bool is_separator(char c)
{
	return c == '/' || c == '\\';
}

static size_t name_start(const char *path, size_t len)
{
	while (len > 0 && !is_separator(path[len - 1]))
		len--;
	return len;
}

static uint64_t name_hash(const char *path)
{
	size_t len = strlen(path), start = name_start(path, len);
	return hash_bytes(path + start, len - start);
}

/* How many parts two paths have in common at their ends, and where these begin. */
static uint32_t common_parts(const char *a, const char *b, size_t *ret_a, size_t *ret_b)
{
	size_t at_a = strlen(a), at_b = strlen(b);
	uint32_t n = 0;
	*ret_a = at_a;
	*ret_b = at_b;
	while (at_a > 0 && at_b > 0) {
		size_t start_a = name_start(a, at_a), start_b = name_start(b, at_b);
		size_t len = at_a - start_a;
		if (len != at_b - start_b || memcmp(a + start_a, b + start_b, len) != 0)
			break;
		n++;
		*ret_a = start_a;
		*ret_b = start_b;
		at_a = start_a > 0 ? start_a - 1 : 0;
		at_b = start_b > 0 ? start_b - 1 : 0;
	}
	return n;
}

/* "__init__.py" says nothing about which package it is. */
static bool says_little(const char *path)
{
	size_t start = name_start(path, strlen(path));
	return path[start] == '\0' || strncmp(path + start, "__", 2) == 0;
}

static bool has_file(const char *path)
{
	return path[0] != '\0' && path[0] != '<' && !is_separator(path[strlen(path) - 1]);
}

static struct move move_of(const struct matcher *matcher, uint32_t base, uint32_t now)
{
	struct move move = {.base = matcher->base[base], .now = matcher->now[now]};
	(void)common_parts(move.base, move.now, &move.base_len, &move.now_len);
	return move;
}

static struct move *known_move(const struct matcher *matcher, const struct move *move)
{
	for (size_t i = 0; i < matcher->moves.n; i++) {
		struct move *known = &matcher->moves.at[i];
		if (known->base_len == move->base_len && known->now_len == move->now_len &&
		    memcmp(known->base, move->base, move->base_len) == 0 &&
		    memcmp(known->now, move->now, move->now_len) == 0)
			return known;
	}
	return NULL;
}

static int note_move(struct matcher *matcher, uint32_t base)
{
	struct move move = move_of(matcher, base, matcher->match[base]);
	struct move *known = known_move(matcher, &move);
	move.n = 1;
	if (known)
		known->n++;
	else if (!vec_push(&matcher->moves, move))
		return TACHY_ENOMEM;
	return 0;
}

static void take(struct matcher *matcher, uint32_t base, uint32_t now, uint32_t score)
{
	uint32_t before = matcher->taken[now];
	if (before != FILE_MATCH_NONE && matcher->score[before] >= score)
		return;
	if (before != FILE_MATCH_NONE)
		matcher->match[before] = FILE_MATCH_NONE;
	matcher->taken[now] = base;
	matcher->match[base] = now;
	matcher->score[base] = score;
}

/* First the hash of whole paths, then of last parts; equal hashes are looked at. */
static int match_equal(struct matcher *matcher)
{
	struct map by_path;
	map_init(&by_path);
	int rc = 0;
	for (size_t i = 0; i < matcher->n_now && rc >= 0; i++)
		if (!map_put(&by_path, hash_bytes(matcher->now[i], strlen(matcher->now[i])), i))
			rc = TACHY_ENOMEM;
	for (uint32_t i = 0; i < matcher->n_base && rc >= 0; i++) {
		const char *path = matcher->base[i];
		uint64_t now;
		if (map_get(&by_path, hash_bytes(path, strlen(path)), &now) &&
		    strcmp(path, matcher->now[now]) == 0)
			take(matcher, i, (uint32_t)now, UINT32_MAX);
	}
	map_done(&by_path);
	return rc;
}

/* Files of now by their last part, those left out that have their match. */
static int index_names(struct matcher *matcher)
{
	for (size_t i = matcher->n_now; i-- > 0;) {
		uint64_t first = FILE_MATCH_NONE, hash = name_hash(matcher->now[i]);
		if (matcher->taken[i] != FILE_MATCH_NONE || !has_file(matcher->now[i]))
			continue;
		(void)map_get(&matcher->by_name, hash, &first);
		matcher->next[i] = (uint32_t)first;
		if (!map_put(&matcher->by_name, hash, i))
			return TACHY_ENOMEM;
	}
	return 0;
}

static bool is_free(const struct matcher *matcher, uint32_t base)
{
	return matcher->match[base] == FILE_MATCH_NONE && has_file(matcher->base[base]);
}

static uint32_t first_candidate(const struct matcher *matcher, uint32_t base)
{
	uint64_t first = FILE_MATCH_NONE;
	(void)map_get(&matcher->by_name, name_hash(matcher->base[base]), &first);
	return (uint32_t)first;
}

/* The one that has more parts in common than any other. */
static void match_clear(struct matcher *matcher, uint32_t base)
{
	uint32_t best = FILE_MATCH_NONE, best_score = 0, n = 0;
	size_t unused_a, unused_b;
	bool tie = false;
	for (uint32_t now = first_candidate(matcher, base);
	     now != FILE_MATCH_NONE && n < CANDIDATES_MAX; now = matcher->next[now], n++) {
		uint32_t score = common_parts(matcher->base[base], matcher->now[now], &unused_a,
					      &unused_b);
		if (score == 0)
			continue;
		tie = score == best_score || (tie && score < best_score);
		if (score > best_score) {
			best = now;
			best_score = score;
		}
	}
	if (best != FILE_MATCH_NONE && !tie &&
	    (best_score > 1 || !says_little(matcher->base[base])))
		take(matcher, base, best, best_score);
}

/* The one whose place differs as that of most files does. */
static void match_moved(struct matcher *matcher, uint32_t base)
{
	uint32_t best = FILE_MATCH_NONE, n = 0;
	size_t votes = 0;
	for (uint32_t now = first_candidate(matcher, base);
	     now != FILE_MATCH_NONE && n < CANDIDATES_MAX; now = matcher->next[now], n++) {
		struct move move = move_of(matcher, base, now);
		const struct move *known = known_move(matcher, &move);
		if (matcher->taken[now] == FILE_MATCH_NONE && known && known->n > votes) {
			best = now;
			votes = known->n;
		}
	}
	if (best != FILE_MATCH_NONE)
		take(matcher, base, best, 1);
}

static int match_all(struct matcher *matcher)
{
	int rc = match_equal(matcher);
	if (rc >= 0)
		rc = index_names(matcher);
	for (uint32_t i = 0; rc >= 0 && i < matcher->n_base; i++)
		if (is_free(matcher, i))
			match_clear(matcher, i);
	for (uint32_t i = 0; rc >= 0 && i < matcher->n_base; i++)
		if (matcher->match[i] != FILE_MATCH_NONE && matcher->score[i] != UINT32_MAX)
			rc = note_move(matcher, i);
	for (uint32_t i = 0; rc >= 0 && i < matcher->n_base; i++)
		if (is_free(matcher, i))
			match_moved(matcher, i);
	return rc;
}

int file_match(const char *const *now, size_t n_now, const char *const *base, size_t n_base,
	       uint32_t *ret_match)
{
	struct matcher matcher = {.now = now, .base = base, .n_now = n_now, .n_base = n_base};
	map_init(&matcher.by_name);
	matcher.match = ret_match;
	matcher.score = calloc(n_base + 1, sizeof *matcher.score);
	matcher.taken = malloc((n_now + 1) * sizeof *matcher.taken);
	matcher.next = malloc((n_now + 1) * sizeof *matcher.next);
	memset(ret_match, 0xff, n_base * sizeof *ret_match);
	int rc = TACHY_ENOMEM;
	if (matcher.score && matcher.taken && matcher.next) {
		memset(matcher.taken, 0xff, (n_now + 1) * sizeof *matcher.taken);
		rc = match_all(&matcher);
	}
	free(matcher.score);
	free(matcher.taken);
	free(matcher.next);
	map_done(&matcher.by_name);
	vec_done(&matcher.moves);
	return rc;
}
