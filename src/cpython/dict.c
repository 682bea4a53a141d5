/* SPDX-License-Identifier: MIT
 * What a dict is made of, in all versions:
 *     3.8 - 3.10  keys {size, entries of (hash, key, value)}; split: an array of values beside it
 *     3.11        str keys have entries of (key, value); instances may have values before them
 *     3.12        the same word before the instance is the dict, or the values with its low bit set
 *     3.13+       the values stand inside of the instance, behind its fixed part
 * Every number that comes from the target is bounded before it is used. What is not in struct layout
 * are facts of CPython's source that hold for all builds of a version, below.
 */
#include "cpython/dict.h"

#include <string.h>

#include "cpython/object.h"

#define KEY_LEN_MAX   64u
#define LOG2_SIZE_MAX 30u

/* Include/object.h */
#define FLAG_INLINE_VALUES (1u << 2) /* 3.13+ */
#define FLAG_MANAGED_DICT  (1u << 4) /* 3.11+ */
#define FLAG_DICT_SUBCLASS (1u << 29)

/* Include/internal/pycore_dict.h, DictKeysKind, 3.11+ */
#define KEYS_GENERAL 0u
#define KEYS_SPLIT   2u

#define ENTRY_GENERAL 24u /* PyDictKeyEntry */
#define ENTRY_UNICODE 16u /* PyDictUnicodeEntry */

/* struct _dictvalues of 3.13+: uint8_t capacity, size, embedded, valid; then the values. Before, the
 * values alone. */
#define VALUES_CAPACITY 0u
#define VALUES_VALID    3u
#define VALUES_HEADER   8u

/* PyHeapTypeObject.ht_cached_keys (Include/cpython/object.h), needed from 3.11 on; for a PyObject of 16
 * bytes, what a larger one has more is added. A wrong one gives keys that are none. */
static uint32_t cached_keys_offset(const struct layout *layout)
{
	uint32_t base = layout->minor <= 11 ? 872 : layout->minor <= 14 ? 880 : 888;
	return base + layout->object.size - 16;
}

/* Words before an instance (Include/internal/pycore_object.h). */
#define VALUES_BEFORE_3_11        32u
#define DICT_BEFORE               24u
#define DICT_BEFORE_FREE_THREADED 8u

static bool has_tables(const struct layout *layout)
{
	bool sizes = layout->minor >= 11 ? layout->dict.log2_size != LAYOUT_NONE &&
						   layout->dict.log2_index_bytes != LAYOUT_NONE &&
						   layout->dict.kind != LAYOUT_NONE
					 : layout->dict.keys_size != LAYOUT_NONE;
	return sizes && layout->dict.keys != LAYOUT_NONE && layout->dict.values != LAYOUT_NONE &&
	       layout->dict.nentries != LAYOUT_NONE && layout->dict.indices != LAYOUT_NONE;
}

/* ---- the keys ------------------------------------------------------------------------------- */

struct keys_size {
	uint64_t n_slots, index_bytes;
	uint32_t kind;
};

/* dk_size (a number) up to 3.10, with an index as wide as it needs; later two logarithms. */
static int read_size(const struct layout *layout, struct span head, struct keys_size *ret_size)
{
	if (layout->minor <= 10) {
		uint64_t n = load_u64(head, layout->dict.keys_size);
		if (n > 1u << LOG2_SIZE_MAX)
			return TACHY_ECORRUPT;
		uint64_t index_size = n <= 0xff ? 1 : n <= 0xffff ? 2 : 4;
		*ret_size = (struct keys_size){n, n * index_size, KEYS_GENERAL};
		return 0;
	}
	uint8_t log2_size = load_u8(head, layout->dict.log2_size);
	uint8_t log2_bytes = load_u8(head, layout->dict.log2_index_bytes);
	uint8_t kind = load_u8(head, layout->dict.kind);
	if (log2_size > LOG2_SIZE_MAX || log2_bytes > log2_size + 3u || kind > KEYS_SPLIT)
		return TACHY_ECORRUPT;
	*ret_size = (struct keys_size){(uint64_t)1 << log2_size, (uint64_t)1 << log2_bytes, kind};
	return 0;
}

/* Where the entries are and how many. With `values` the table is a split one. */
static int open_keys(struct mem_view *view, const struct layout *layout, raddr keys,
		     struct dict *ret_dict)
{
	struct span head;
	struct keys_size size;
	if (!keys)
		return TACHY_ECORRUPT;
	int code = mem_view_cold(view, keys, layout->dict.indices, &head);
	if (code >= 0)
		code = read_size(layout, head, &size);
	if (code < 0)
		return code;
	uint64_t n = load_u64(head, layout->dict.nentries);
	if (n > size.n_slots)
		return TACHY_ECORRUPT;
	if (n > DICT_ENTRIES_MAX)
		return TACHY_ELIMIT;
	bool with_hash = layout->minor <= 10 || size.kind == KEYS_GENERAL;
	*ret_dict = (struct dict){
		.entries = keys + layout->dict.indices + size.index_bytes,
		.n = (uint32_t)n,
		.entry_size = with_hash ? ENTRY_GENERAL : ENTRY_UNICODE,
	};
	return 0;
}

/* As open_keys, for a split table whose values are at `values` (a struct _dictvalues). */
static int open_split(struct mem_view *view, const struct layout *layout, raddr keys, raddr values,
		      struct dict *ret_dict)
{
	struct dict dict;
	struct span header;
	int code = open_keys(view, layout, keys, &dict);
	if (code < 0)
		return code;
	dict.values = values;
	dict.n_values = dict.n;
	if (layout->minor >= 13) {
		code = mem_view_cold(view, values, VALUES_HEADER, &header);
		if (code < 0)
			return code;
		dict.values += VALUES_HEADER;
		dict.n_values = load_u8(header, VALUES_CAPACITY);
	}
	*ret_dict = dict;
	return 0;
}

/* ---- dicts and instances -------------------------------------------------------------------- */

static int type_flags(struct mem_view *view, const struct layout *layout, raddr object,
		      raddr *ret_type, uint64_t *ret_flags)
{
	raddr type;
	if (!object)
		return TACHY_ECORRUPT;
	int code = object_pointer(view, object + layout->object.ob_type, &type);
	if (code < 0)
		return code;
	if (!type)
		return TACHY_ECORRUPT;
	*ret_type = type;
	return object_pointer(view, type + layout->object.tp_flags, ret_flags);
}

int dict_open(struct mem_view *view, const struct layout *layout, raddr addr, struct dict *ret_dict)
{
	raddr type, keys, values;
	uint64_t flags;
	if (!has_tables(layout))
		return TACHY_EVERSION;
	int code = type_flags(view, layout, addr, &type, &flags);
	if (code >= 0 && !(flags & FLAG_DICT_SUBCLASS))
		code = TACHY_ECORRUPT;
	if (code >= 0)
		code = object_pointer(view, addr + layout->dict.keys, &keys);
	if (code >= 0)
		code = object_pointer(view, addr + layout->dict.values, &values);
	if (code < 0)
		return code;
	return values ? open_split(view, layout, keys, values, ret_dict)
		      : open_keys(view, layout, keys, ret_dict);
}

/* Where the attributes are; one of them, or neither, is 0. */
struct attributes {
	raddr dict;
	raddr values; /* a struct _dictvalues; its keys are those of the type */
};

static int find_3_11(struct mem_view *view, raddr addr, struct attributes *ret)
{
	int code = object_pointer(view, addr - VALUES_BEFORE_3_11, &ret->values);
	return code < 0 || ret->values ? code
				       : object_pointer(view, addr - DICT_BEFORE, &ret->dict);
}

static int find_3_12(struct mem_view *view, raddr addr, struct attributes *ret)
{
	raddr word = 0;
	int code = object_pointer(view, addr - DICT_BEFORE, &word);
	if (word & 1)
		ret->values = word + 1;
	else
		ret->dict = word;
	return code;
}

/* Values inside of the instance count as long as no dict has been made of them. */
static int find_3_13(struct mem_view *view, const struct layout *layout, raddr addr, raddr type,
		     uint64_t flags, struct attributes *ret)
{
	uint64_t basic_size;
	struct span header;
	raddr before = layout->free_threaded ? DICT_BEFORE_FREE_THREADED : DICT_BEFORE;
	int code = object_pointer(view, addr - before, &ret->dict);
	if (code < 0 || ret->dict || !(flags & FLAG_INLINE_VALUES))
		return code;
	if (layout->object.tp_basicsize == LAYOUT_NONE)
		return TACHY_EVERSION;
	code = object_pointer(view, type + layout->object.tp_basicsize, &basic_size);
	if (code < 0)
		return code;
	code = mem_view_cold(view, addr + basic_size, VALUES_HEADER, &header);
	if (code >= 0 && load_u8(header, VALUES_VALID))
		ret->values = addr + basic_size;
	return code;
}

static int find_by_offset(struct mem_view *view, const struct layout *layout, raddr addr,
			  raddr type, struct attributes *ret)
{
	uint64_t offset = 0;
	if (layout->object.tp_dictoffset == LAYOUT_NONE)
		return TACHY_EVERSION;
	int code = object_pointer(view, type + layout->object.tp_dictoffset, &offset);
	if (code < 0 || (int64_t)offset <= 0) /* negative: from the end of a var-sized object */
		return code;
	return object_pointer(view, addr + offset, &ret->dict);
}

static int find_attributes(struct mem_view *view, const struct layout *layout, raddr addr,
			   raddr type, uint64_t flags, struct attributes *ret)
{
	if (layout->minor < 11 || !(flags & FLAG_MANAGED_DICT))
		return find_by_offset(view, layout, addr, type, ret);
	if (layout->minor == 11)
		return find_3_11(view, addr, ret);
	if (layout->minor == 12)
		return find_3_12(view, addr, ret);
	return find_3_13(view, layout, addr, type, flags, ret);
}

int dict_open_instance(struct mem_view *view, const struct layout *layout, raddr addr,
		       struct dict *ret_dict)
{
	raddr type, keys;
	uint64_t flags;
	struct attributes found = {0, 0};
	if (!has_tables(layout))
		return TACHY_EVERSION;
	int code = type_flags(view, layout, addr, &type, &flags);
	if (code >= 0)
		code = find_attributes(view, layout, addr, type, flags, &found);
	if (code < 0)
		return code;
	if (found.dict)
		return dict_open(view, layout, found.dict, ret_dict);
	if (!found.values)
		return TACHY_ENOENT;
	code = object_pointer(view, type + cached_keys_offset(layout), &keys);
	return code < 0 ? code : open_split(view, layout, keys, found.values, ret_dict);
}

/* ---- entries -------------------------------------------------------------------------------- */

int dict_entry(struct mem_view *view, const struct dict *dict, uint32_t i, raddr *ret_key,
	       raddr *ret_value)
{
	struct span entry;
	size_t at = dict->entry_size - ENTRY_UNICODE; /* behind the hash */
	if (i >= dict->n)
		return TACHY_EINVAL;
	int code = mem_view_cold(view, dict->entries + (raddr)i * dict->entry_size,
				 dict->entry_size, &entry);
	if (code < 0)
		return code;
	raddr key = load_u64(entry, at), value = load_u64(entry, at + 8);
	if (dict->values) {
		value = 0;
		if (i < dict->n_values)
			code = object_pointer(view, dict->values + (raddr)i * 8, &value);
	}
	if (code < 0)
		return code;
	*ret_key = value ? key : 0;
	*ret_value = key ? value : 0;
	return 0;
}

/* Whether the str at `addr` is this ASCII text. What cannot be read is not. */
static bool is_text(struct mem_view *view, const struct layout *layout, raddr addr,
		    const char *text, uint32_t len)
{
	struct span bytes;
	uint32_t start = layout->unicode.ascii_size;
	if (mem_view_cold(view, addr, start, &bytes) < 0 ||
	    load_u64(bytes, layout->unicode.length) != len)
		return false;
	uint32_t state = load_u32(bytes, layout->unicode.state);
	bool ascii = (state >> layout->unicode.compact_shift & 1) &&
		     (state >> layout->unicode.ascii_shift & 1);
	return ascii && mem_view_cold(view, addr + start, len, &bytes) >= 0 &&
	       memcmp(bytes.data, text, len) == 0;
}

int dict_find(struct mem_view *view, const struct layout *layout, const struct dict *dict,
	      const char *key, raddr *ret_value)
{
	size_t len = strlen(key);
	if (len == 0 || len > KEY_LEN_MAX)
		return TACHY_EINVAL;
	for (uint32_t i = 0; i < dict->n; i++) {
		raddr name, value;
		int code = dict_entry(view, dict, i, &name, &value);
		if (code < 0)
			return code;
		if (!value || !name || !is_text(view, layout, name, key, (uint32_t)len))
			continue;
		*ret_value = value;
		return 0;
	}
	return TACHY_ENOENT;
}
