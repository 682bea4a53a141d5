/* SPDX-License-Identifier: MIT
 * Reads CPython's dicts, and the attributes of instances, of every version: combined and split
 * tables, tables with str keys only (3.11+), values inside of or before an instance (3.11+).
 * Sources: Objects/dict-common.h (3.8-3.10), Include/internal/pycore_dict.h, pycore_object.h (3.11+).
 */
#ifndef CPYTHON_DICT_H
#define CPYTHON_DICT_H

#include "cpython/layout.h"
#include "os/mem_view.h"

#define DICT_ENTRIES_MAX (1u << 20) /* of one table; bigger ones are TACHY_ELIMIT */

/* A table of keys and the values that go with it. */
struct dict {
	raddr entries;       /* the first entry */
	uint32_t n;          /* entries, deleted ones included */
	uint32_t entry_size; /* 16 (str keys), or 24, which begin with the hash */
	raddr values; /* split: an array of n_values pointers; 0: values stand in the entries */
	uint32_t n_values;
};

/* The dict object at `addr`. TACHY_ECORRUPT when it does not look like one. */
int dict_open(struct mem_view *view, const struct layout *layout, raddr addr,
	      struct dict *ret_dict);
/* The attributes of the instance at `addr`. TACHY_ENOENT when it has none of its own. */
int dict_open_instance(struct mem_view *view, const struct layout *layout, raddr addr,
		       struct dict *ret_dict);

/* Entry `i`; *ret_key and *ret_value are 0 where it is empty. */
int dict_entry(struct mem_view *view, const struct dict *dict, uint32_t i, raddr *ret_key,
	       raddr *ret_value);
/* The value of an ASCII key. TACHY_ENOENT. One walk over the entries: no hash is known to us. */
int dict_find(struct mem_view *view, const struct layout *layout, const struct dict *dict,
	      const char *key, raddr *ret_value);

#endif
