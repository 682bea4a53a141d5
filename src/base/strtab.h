/* SPDX-License-Identifier: MIT
 * Interned strings: equal text has equal id. Id 0 is "". Strings never move and never go away before
 * the table does, so a pointer from strtab_get stays good as long as the table.
 */
#ifndef BASE_STRTAB_H
#define BASE_STRTAB_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t str_id;

struct strtab;

int strtab_create(struct strtab **ret_tab);
void strtab_destroy(struct strtab *tab); /* NULL is fine */
/* Interns `len` bytes (NULs inside are kept out by the caller). Negative TACHY_ENOMEM. */
int strtab_add(struct strtab *tab, const char *text, size_t len, str_id *ret_id);
const char *strtab_get(const struct strtab *tab, str_id id); /* "" for an unknown id */
/* Makes *borrower (NULL before the first call) a table with the same ids, whose texts are those of `tab`,
 * which must outlive it. Takes over up to `n` strings a call, so that whoever guards `tab` is not kept
 * waiting: 1 there are more, 0 it is complete as of now. Nothing can be added to a borrower. */
int strtab_borrow(const struct strtab *tab, size_t n, struct strtab **borrower);
size_t strtab_count(const struct strtab *tab);

#endif
