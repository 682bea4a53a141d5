/* SPDX-License-Identifier: MIT
 * Names of types: Objects/genobject.c, Modules/_asynciomodule.c, Lib/asyncio/{tasks,futures}.py and so on; they
 * are the same from 3.8 to 3.15 where not said otherwise.
 */
#include "cpython/type_kind.h"

#include <string.h>

#define NAME_MAX_SIZE 40u /* longest name below, NUL included */
#define BASES_MAX     16u
#define TYPES_MAX     65536u /* remembered; then all are forgotten */

/* Include/cpython/object.h: PyTypeObject.tp_base lies so far behind tp_flags, in every version */
#define BASE_FROM_FLAGS 88u

static const struct {
	const char *name;
	enum type_kind kind;
} names[] = {
	{"coroutine", KIND_COROUTINE},
	{"generator", KIND_GENERATOR},
	{"async_generator", KIND_ASYNC_GENERATOR},
	{"coroutine_wrapper", KIND_WRAPPER},
	{"async_generator_asend", KIND_WRAPPER},
	{"async_generator_athrow", KIND_WRAPPER},
	{"anext_awaitable", KIND_WRAPPER},
	{"_asyncio.FutureIter", KIND_FUTURE_ITER},
	{"_asyncio.Future", KIND_FUTURE},
	{"_asyncio.Task", KIND_TASK},
	{"Future", KIND_PY_FUTURE},
	{"Task", KIND_PY_FUTURE},
	{"method", KIND_METHOD},
	{"function", KIND_FUNCTION},
	{"functools.partial", KIND_PARTIAL},
	{"weakref", KIND_WEAKREF},
	{"weakref.ReferenceType", KIND_WEAKREF}, /* 3.13+ */
	{"_RunningLoopHolder", KIND_LOOP_HOLDER},
	{"NoneType", KIND_NOTHING},
	{"<dummy key> type", KIND_NOTHING}, /* Objects/setobject.c: where a member was removed */
	{"list", KIND_LIST},
	{"str", KIND_STR},
	{"int", KIND_INT},
};

void type_kinds_init(struct type_kinds *kinds)
{
	memset(kinds, 0, sizeof *kinds);
	map_init(&kinds->by_type);
}

void type_kinds_done(struct type_kinds *kinds)
{
	vec_done(&kinds->entries);
	map_done(&kinds->by_type);
}

/* The fields of a type that are looked at: from tp_name to tp_base. */
static int read_type(struct mem_view *view, const struct layout *layout, raddr type,
		     struct span *ret_bytes)
{
	uint32_t start = layout->object.tp_name;
	uint32_t end = layout->object.tp_flags + BASE_FROM_FLAGS + 8;
	return mem_view_hot(view, type + start, end - start, ret_bytes);
}

/* As much of the text as lies in its page: a name may stand at the end of what is mapped. */
static enum type_kind kind_by_name(struct mem_view *view, raddr name)
{
	struct span text;
	uint32_t left = 4096u - (uint32_t)(name & 4095u);
	uint32_t size = left < NAME_MAX_SIZE ? left : NAME_MAX_SIZE;
	if (mem_view_cold(view, name, size, &text) < 0)
		return KIND_OTHER;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		size_t len = strlen(names[i].name) + 1;
		if (len <= size && memcmp(text.data, names[i].name, len) == 0)
			return names[i].kind;
	}
	return KIND_OTHER;
}

/* Goes from the type to its bases until one is known. */
static void classify(struct mem_view *view, const struct layout *layout, struct type_entry *entry)
{
	struct span bytes;
	raddr type = entry->type;
	const uint32_t start = layout->object.tp_name;
	for (uint32_t i = 0; type && i < BASES_MAX; i++) {
		if (read_type(view, layout, type, &bytes) < 0)
			return;
		enum type_kind kind = kind_by_name(view, load_u64(bytes, 0));
		if (kind != KIND_OTHER)
			entry->kind = kind;
		if (kind != KIND_OTHER && layout->object.tp_basicsize != LAYOUT_NONE)
			entry->base_size = load_u64(bytes, layout->object.tp_basicsize - start);
		/* somebody's own class Task may have asyncio's for its base */
		if (kind != KIND_OTHER && kind != KIND_PY_FUTURE)
			return;
		type = load_u64(bytes, layout->object.tp_flags + BASE_FROM_FLAGS - start);
	}
}

int type_kinds_of(struct type_kinds *kinds, struct mem_view *view, const struct layout *layout,
		  raddr addr, const struct type_entry **ret_entry)
{
	struct span bytes;
	uint64_t i;
	int rc = addr ? mem_view_hot(view, addr + layout->object.ob_type, 8, &bytes)
		      : TACHY_ECORRUPT;
	if (rc < 0)
		return rc;
	struct type_entry entry = {.type = load_u64(bytes, 0), .verified = view->reading};
	bool known = map_get(&kinds->by_type, entry.type, &i);
	if (known && kinds->entries.at[i].verified == view->reading) {
		*ret_entry = &kinds->entries.at[i];
		return 0;
	}
	rc = entry.type ? read_type(view, layout, entry.type, &bytes) : TACHY_ECORRUPT;
	if (rc < 0)
		return rc == TACHY_EFAULT ? TACHY_ECORRUPT : rc;
	entry.name = load_u64(bytes, 0);
	if (known && kinds->entries.at[i].name == entry.name) {
		kinds->entries.at[i].verified = view->reading;
		*ret_entry = &kinds->entries.at[i];
		return 0;
	}
	classify(view, layout, &entry);
	if (known) {
		kinds->entries.at[i] = entry;
		*ret_entry = &kinds->entries.at[i];
		return 0;
	}
	if (kinds->entries.n >= TYPES_MAX) {
		kinds->entries.n = 0;
		map_clear(&kinds->by_type);
	}
	if (!vec_push(&kinds->entries, entry) ||
	    !map_put(&kinds->by_type, entry.type, kinds->entries.n - 1))
		return TACHY_ENOMEM;
	*ret_entry = &kinds->entries.at[kinds->entries.n - 1];
	return 0;
}
