/* SPDX-License-Identifier: MIT
 * Invariant: by_addr leads to the newest entry of an address. An entry whose code object is gone keeps
 * its slot (indices of others stay good) but gives its line table back.
 *
 * Layout facts: Include/cpython/code.h of each version; identity from co_version: Objects/codeobject.c.
 */
#include "cpython/code.h"

#include <string.h>

#include "base/hash.h"

#define OBJECT_HEAD 32u /* bytes: reference count, type, size */
#define STR_USUAL \
	192u /* bytes of a str object that mostly hold all of it; others take a read more */
#define TABLE_USUAL  256u
#define PART_SEEN    512u  /* bytes of a name, a path or a line table that are compared */
#define OLD_VERIFIED 1000u /* verifications after which a code object counts as old */
#define OLD_EVERY    16u   /* of an old one's verifications look at the texts */

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* The span of a code object that covers its identity fields. */
static void plan_identity(struct code_cache *cache)
{
	const struct layout *l = cache->layout;
	const uint32_t fields[] = {l->code.filename,  l->code.name,        l->code.qualname,
				   l->code.linetable, l->code.firstlineno, l->code.version,
				   l->code.ob_size,   l->code.framesize,   l->code.bytecode,
				   l->code.stacksize, l->code.nlocalsplus};
	uint32_t start = UINT32_MAX, end = 0;
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		if (fields[i] == LAYOUT_NONE ||
		    (fields[i] == l->code.bytecode && l->lines == LINES_LOCATIONS))
			continue;
		start = min_u32(start, fields[i]);
		if (fields[i] + 8 > end)
			end = fields[i] + 8;
	}
	cache->identity_start = start;
	cache->identity_size = end - start;
}

void code_cache_init(struct code_cache *cache, const struct layout *layout, struct stacks *stacks)
{
	memset(cache, 0, sizeof *cache);
	cache->layout = layout;
	cache->stacks = stacks;
	map_init(&cache->by_addr);
	map_init(&cache->frame_by_place);
	map_init(&cache->frame_by_opcode);
	plan_identity(cache);
}

void code_cache_done(struct code_cache *cache)
{
	for (size_t i = 0; i < cache->entries.n; i++)
		linetable_done(&cache->entries.at[i].lines);
	vec_done(&cache->entries);
	vec_done(&cache->text.chars);
	map_done(&cache->by_addr);
	map_done(&cache->frame_by_place);
	map_done(&cache->frame_by_opcode);
}

static uint64_t field_u64(const struct code_cache *cache, struct span bytes, uint32_t field)
{
	return field == LAYOUT_NONE ? 0 : load_u64(bytes, field - cache->identity_start);
}

static uint32_t field_u32(const struct code_cache *cache, struct span bytes, uint32_t field)
{
	return field == LAYOUT_NONE ? 0 : load_u32(bytes, field - cache->identity_start);
}

static struct code_identity read_identity(const struct code_cache *cache, struct span bytes)
{
	const struct layout *l = cache->layout;
	struct code_identity identity;
	memset(&identity, 0, sizeof identity);
	identity.filename = field_u64(cache, bytes, l->code.filename);
	identity.name = field_u64(cache, bytes, l->code.name);
	identity.qualname = field_u64(cache, bytes, l->code.qualname);
	identity.linetable = field_u64(cache, bytes, l->code.linetable);
	identity.n_units = field_u64(cache, bytes, l->code.ob_size);
	identity.first_line = (int32_t)field_u32(cache, bytes, l->code.firstlineno);
	identity.version = field_u32(cache, bytes, l->code.version);
	return identity;
}

static int intern_str(struct code_cache *cache, struct mem_view *view, raddr addr, str_id *ret_id)
{
	cache->text.chars.n = 0;
	int rc = object_str(view, cache->layout, addr, &cache->text);
	if (rc < 0)
		return rc;
	return strtab_add(cache->stacks->strings, cache->text.chars.n ? cache->text.chars.at : "",
			  cache->text.chars.n, ret_id);
}

/* The str that it is shown by; 3.10 and before have no qualified name. */
static raddr shown_name(const struct code_identity *id)
{
	return id->qualname ? id->qualname : id->name;
}

static int decode_function(struct code_cache *cache, struct mem_view *view,
			   struct code_entry *entry)
{
	const struct code_identity *id = &entry->identity;
	struct function function = {0, 0, id->first_line, TACHY_FRAME_PYTHON};
	int rc = intern_str(cache, view, id->filename, &function.file);
	if (rc >= 0)
		rc = intern_str(cache, view, shown_name(id), &function.name);
	if (rc >= 0)
		rc = stacks_function(cache->stacks, &function, &entry->function);
	return rc;
}

/* Words that a frame of this code takes in the data stack. 3.11 has no field for it: Python/pystate.c
 * there adds up the same three parts for every call. */
static uint32_t frame_words(const struct code_cache *cache, struct span bytes)
{
	const struct layout *l = cache->layout;
	if (l->code.framesize != LAYOUT_NONE)
		return field_u32(cache, bytes, l->code.framesize);
	return field_u32(cache, bytes, l->code.nlocalsplus) +
	       field_u32(cache, bytes, l->code.stacksize) + l->frame.size / 8;
}

/* What lies behind a pointer of the identity: a str's or a bytes object's contents, of which the first PART_SEEN bytes
 * count, and the head that says where they are. */
struct part {
	raddr object, head, data;
	uint32_t head_size, seen;
	uint64_t size;
};

enum { PART_FILENAME, PART_NAME, PART_LINETABLE, N_PARTS };
#define HEAD_MAX 128u

/* Its head's place; TACHY_ECORRUPT. */
static int start_part(const struct layout *l, const struct code_identity *id, int which,
		      struct part *part)
{
	bool table = which == PART_LINETABLE;
	part->object = which == PART_FILENAME ? id->filename
		       : table                ? id->linetable
					      : shown_name(id);
	part->head = part->object + (table ? l->bytes.ob_size : 0);
	part->head_size = table ? 8 : l->unicode.data + 8;
	return part->object && part->head_size <= HEAD_MAX ? 0 : TACHY_ECORRUPT;
}

/* Its contents' place, from its head. */
static int locate_part(const struct layout *l, int which, const uint8_t *head, struct part *part)
{
	struct span bytes = {head, part->head_size};
	uint32_t size = 0;
	int rc = 0;
	if (which == PART_LINETABLE) {
		part->size = load_u64(bytes, 0);
		part->data = part->object + l->bytes.sval;
	} else {
		rc = object_str_extent(l, bytes, part->object, &part->data, &size);
		part->size = size;
	}
	part->seen = part->size < PART_SEEN ? (uint32_t)part->size : PART_SEEN;
	return rc;
}

static uint64_t hash_part(const struct part *part, const uint8_t *bytes, uint64_t hash)
{
	return hash_pair(hash_pair(hash, part->size), hash_bytes(bytes, part->seen));
}

/* How parts are read: as planned for the tick, or anew. */
typedef int read_part(struct mem_view *view, raddr addr, uint32_t size, struct span *ret_span);

static int hash_parts(const struct code_cache *cache, struct mem_view *view, read_part *read,
		      const struct code_identity *id, uint64_t *ret_hash)
{
	uint64_t hash = 0;
	int rc = 0;
	for (int i = 0; rc >= 0 && i < N_PARTS; i++) {
		struct part part;
		struct span bytes = {(const uint8_t *)"", 0};
		rc = start_part(cache->layout, id, i, &part);
		if (rc >= 0)
			rc = read(view, part.head, part.head_size, &bytes);
		if (rc >= 0)
			rc = locate_part(cache->layout, i, bytes.data, &part);
		if (rc >= 0 && part.seen)
			rc = read(view, part.data, part.seen, &bytes);
		if (rc >= 0)
			hash = hash_part(&part, bytes.data, hash);
	}
	*ret_hash = hash;
	return rc;
}

/* Whether the names' characters and the line table, too, are what they were. A loop over fresh code objects never gets to
 * be old. What has a version needs that only where versions are counted anew: in another interpreter. */
static bool same_parts(struct code_cache *cache, struct mem_view *view, struct code_entry *entry,
		       int64_t owner)
{
	uint64_t hash;
	bool tired = entry->n_verified > OLD_VERIFIED && entry->n_verified % OLD_EVERY;
	if (entry->owner == owner && (entry->identity.version || tired))
		return true;
	return hash_parts(cache, view, mem_view_hot, &entry->identity, &hash) >= 0 &&
	       hash == entry->parts_hash;
}

/* Where the instructions are. 3.11+: inside the code object; before: a bytes object of their own. */
static int decode_bytecode(struct code_cache *cache, struct mem_view *view, struct span bytes,
			   struct code_entry *entry)
{
	const struct layout *l = cache->layout;
	if (l->lines == LINES_LOCATIONS) {
		if (entry->identity.n_units == 0 || entry->identity.n_units > INT32_MAX / 2)
			return TACHY_ECORRUPT;
		entry->bytecode = entry->addr + l->code.bytecode;
		entry->bytecode_size = (uint32_t)entry->identity.n_units * 2;
		entry->frame_words = frame_words(cache, bytes);
		return 0;
	}
	raddr code_bytes = field_u64(cache, bytes, l->code.bytecode), size = 0;
	int rc = object_pointer(view, code_bytes + l->bytes.ob_size, &size);
	entry->bytecode = code_bytes + l->bytes.sval;
	entry->bytecode_size = size <= INT32_MAX ? (uint32_t)size : 0;
	return rc;
}

/* Python/specialize.c, _Py_InitCleanup (3.12+): file and name are one and the same string, and no
 * instruction is one that a tracer may see. */
static bool is_shim(const struct code_cache *cache, struct mem_view *view,
		    const struct code_entry *entry)
{
	const struct layout *l = cache->layout;
	struct span bytes;
	if (entry->identity.filename != entry->identity.name ||
	    l->code.firsttraceable == LAYOUT_NONE)
		return false;
	return mem_view_cold(view, entry->addr + l->code.firsttraceable, 4, &bytes) >= 0 &&
	       load_u32(bytes, 0) >= entry->identity.n_units;
}

/* Reads what decode() is about to follow in one call. */
static void fetch(const struct code_cache *cache, struct mem_view *view, struct span bytes,
		  const struct code_entry *entry)
{
	const struct code_identity *id = &entry->identity;
	const struct layout *l = cache->layout;
	const raddr bytecode = l->lines == LINES_LOCATIONS
				       ? 0
				       : field_u64(cache, bytes, l->code.bytecode);
	const struct view_place places[] = {
		{entry->addr, OBJECT_HEAD},  {id->filename, STR_USUAL},
		{shown_name(id), STR_USUAL}, {id->linetable, TABLE_USUAL},
		{bytecode, OBJECT_HEAD},
	};
	mem_view_fetch(view, places, sizeof places / sizeof places[0]);
}

/* A type that is known to be that of code objects stays it. */
static bool is_code(struct code_cache *cache, struct mem_view *view, raddr addr)
{
	raddr type;
	if (object_pointer(view, addr + cache->layout->object.ob_type, &type) < 0)
		return false;
	if (cache->code_type && type == cache->code_type)
		return true;
	if (!object_is(view, cache->layout, addr, "code"))
		return false;
	cache->code_type = type;
	return true;
}

static int decode(struct code_cache *cache, struct mem_view *view, struct span bytes,
		  struct code_entry *entry)
{
	struct span table;
	int rc = 0;
	fetch(cache, view, bytes, entry);
	if (!is_code(cache, view, entry->addr))
		return TACHY_ECORRUPT;
	rc = hash_parts(cache, view, mem_view_cold, &entry->identity, &entry->parts_hash);
	if (rc >= 0)
		rc = decode_function(cache, view, entry);
	if (rc >= 0)
		rc = decode_bytecode(cache, view, bytes, entry);
	if (rc >= 0)
		rc = object_bytes(view, cache->layout, entry->identity.linetable, &table);
	if (rc >= 0)
		rc = linetable_init(&entry->lines, cache->layout->lines, entry->identity.first_line,
				    table);
	if (rc >= 0)
		entry->shim = is_shim(cache, view, entry);
	return rc;
}

/* Whether the two say the same of every instruction, so that what was derived from one holds. */
static bool same_content(const struct code_entry *a, const struct code_entry *b)
{
	return a->function == b->function && a->lines.bytes.size == b->lines.bytes.size &&
	       a->bytecode == b->bytecode && a->bytecode_size == b->bytecode_size &&
	       a->frame_words == b->frame_words &&
	       memcmp(a->lines.bytes.data, b->lines.bytes.data, a->lines.bytes.size) == 0;
}

/* Puts a freshly read code object into the cache: over the old one of its address where nothing that a
 * person could see differs, else as a new entry. */
static int store(struct code_cache *cache, struct code_entry *fresh, const uint64_t *old_index,
		 uint32_t *ret_index)
{
	struct code_entry *old = old_index ? &cache->entries.at[*old_index] : NULL;
	if (old && same_content(old, fresh)) {
		linetable_done(&fresh->lines);
		fresh->lines = old->lines;
		*old = *fresh;
		*ret_index = (uint32_t)*old_index;
		return 0;
	}
	if (!vec_push(&cache->entries, *fresh))
		return TACHY_ENOMEM;
	*ret_index = (uint32_t)(cache->entries.n - 1);
	if (!map_put(&cache->by_addr, fresh->addr, *ret_index)) {
		cache->entries.n--;
		return TACHY_ENOMEM;
	}
	if (old_index)
		linetable_done(&cache->entries.at[*old_index].lines);
	return 0;
}

/* The identity, and before 3.12 (which has versions) what lies behind it, as they are now: in one call, since code that
 * is run once is there for some ten microseconds. */
struct second_look {
	uint8_t identity[512], heads[N_PARTS][HEAD_MAX], data[N_PARTS][PART_SEEN];
	struct part parts[N_PARTS];
	struct mem_segment segments[1 + 2 * N_PARTS];
	size_t n_segments;
};

static void add_segment(struct second_look *look, raddr addr, uint32_t size, uint8_t *dest)
{
	if (size)
		look->segments[look->n_segments++] = (struct mem_segment){addr, size, false, dest};
}

static int list_segments(const struct code_cache *cache, struct mem_view *view,
			 const struct code_entry *entry, struct second_look *look)
{
	int rc = cache->identity_size <= sizeof look->identity ? 0 : TACHY_ECORRUPT;
	look->n_segments = 0;
	add_segment(look, entry->addr + cache->identity_start, cache->identity_size,
		    look->identity);
	for (int i = 0; rc >= 0 && !entry->identity.version && i < N_PARTS; i++) {
		struct part *part = &look->parts[i];
		struct span head;
		rc = start_part(cache->layout, &entry->identity, i, part);
		if (rc >= 0)
			rc = mem_view_cold(view, part->head, part->head_size, &head);
		if (rc >= 0)
			rc = locate_part(cache->layout, i, head.data, part);
		if (rc < 0)
			break;
		add_segment(look, part->head, part->head_size, look->heads[i]);
		add_segment(look, part->data, part->seen, look->data[i]);
	}
	return rc;
}

static bool same_again(const struct code_cache *cache, const struct code_entry *entry,
		       const struct second_look *look)
{
	struct code_identity now =
		read_identity(cache, (struct span){look->identity, cache->identity_size});
	uint64_t hash = 0;
	if (memcmp(&now, &entry->identity, sizeof now) != 0)
		return false;
	for (int i = 0; !now.version && i < N_PARTS; i++) {
		struct part part = look->parts[i];
		if (locate_part(cache->layout, i, look->heads[i], &part) < 0 ||
		    part.data != look->parts[i].data || part.seen != look->parts[i].seen)
			return false;
		hash = hash_part(&part, look->data[i], hash);
	}
	return now.version || hash == entry->parts_hash;
}

/* Decoding takes several reads, in a target that may run on: the parts belong together only when the code
 * object, and before 3.12 its names, are at the end what they were at the beginning. */
static bool is_still_there(const struct code_cache *cache, struct mem_view *view,
			   const struct code_entry *entry)
{
	struct second_look look;
	return list_segments(cache, view, entry, &look) >= 0 &&
	       mem_read_many(view->mem, look.segments, look.n_segments) >= 0 &&
	       same_again(cache, entry, &look);
}

static int read_entry(struct code_cache *cache, struct mem_view *view, struct span bytes,
		      const uint64_t *old_index, struct code_entry *fresh, uint32_t *ret_index)
{
	int rc = decode(cache, view, bytes, fresh);
	if (rc >= 0 && !is_still_there(cache, view, fresh))
		rc = TACHY_ETORN;
	if (rc >= 0)
		rc = store(cache, fresh, old_index, ret_index);
	if (rc < 0)
		linetable_done(&fresh->lines);
	return rc;
}

int code_cache_get(struct code_cache *cache, struct mem_view *view, raddr addr, int64_t owner,
		   uint64_t generation, uint32_t *ret_index)
{
	uint64_t index;
	bool known = map_get(&cache->by_addr, addr, &index);
	struct code_entry *entry = known ? &cache->entries.at[index] : NULL;
	if (known && entry->owner == owner &&
	    (entry->verified == view->reading || (generation && entry->generation == generation))) {
		cache->n_hits++;
		*ret_index = (uint32_t)index;
		return 0;
	}
	struct span bytes;
	int rc = mem_view_hot(view, addr + cache->identity_start, cache->identity_size, &bytes);
	if (rc < 0)
		return rc;
	struct code_entry fresh = {.addr = addr,
				   .identity = read_identity(cache, bytes),
				   .owner = owner,
				   .verified = view->reading,
				   .generation = generation};
	if (known && memcmp(&entry->identity, &fresh.identity, sizeof fresh.identity) == 0 &&
	    same_parts(cache, view, entry, owner)) {
		cache->n_hits++;
		entry->owner = owner;
		entry->n_verified++;
		entry->verified = view->reading;
		entry->generation = generation;
		*ret_index = (uint32_t)index;
		return 0;
	}
	cache->n_misses++;
	cache->n_stale += known;
	return read_entry(cache, view, bytes, known ? &index : NULL, &fresh, ret_index);
}

static int frame_at(struct code_cache *cache, uint32_t index, int64_t at, frame_id *ret_frame)
{
	struct code_entry *entry = &cache->entries.at[index];
	uint32_t offset = at < 0 ? 0 : at > INT32_MAX ? INT32_MAX : (uint32_t)at + 1;
	uint64_t id, key = (uint64_t)index << 32 | offset;
	if (map_get(&cache->frame_by_place, key, &id)) {
		*ret_frame = (frame_id)id;
		return 0;
	}
	struct line_place place;
	int rc = linetable_find(&entry->lines, at, &place);
	if (rc < 0)
		return rc;
	struct frame frame = {
		.function = entry->function,
		.at = {place.line, place.end_line, place.column, place.end_column},
	};
	rc = stacks_frame(cache->stacks, &frame, ret_frame);
	if (rc >= 0 && !map_put(&cache->frame_by_place, key, *ret_frame))
		rc = TACHY_ENOMEM;
	return rc;
}

static int opcode_name(struct code_cache *cache, uint8_t code, str_id *ret_name)
{
	const struct opcode_info *info = opcode_info(cache->layout->minor, code);
	int rc = 0;
	if (!cache->opcode_names[code] && info)
		rc = strtab_add(cache->stacks->strings, info->name, strlen(info->name),
				&cache->opcode_names[code]);
	*ret_name = cache->opcode_names[code];
	return rc;
}

/* The frame `*id` with its instruction. */
static int frame_with_opcode(struct code_cache *cache, struct opcode opcode, frame_id *id)
{
	uint64_t known, key = (uint64_t)*id << 16 | (uint64_t)opcode.code << 8 | opcode.base;
	if (map_get(&cache->frame_by_opcode, key, &known)) {
		*id = (frame_id)known;
		return 0;
	}
	struct frame frame = cache->stacks->frames.at[*id];
	int rc = opcode_name(cache, opcode.code, &frame.opcode);
	if (rc >= 0)
		rc = opcode_name(cache, opcode.base, &frame.base_opcode);
	if (rc >= 0)
		rc = stacks_frame(cache->stacks, &frame, id);
	if (rc >= 0 && !map_put(&cache->frame_by_opcode, key, *id))
		rc = TACHY_ENOMEM;
	return rc;
}

int code_cache_frame(struct code_cache *cache, uint32_t index, int64_t at, struct opcode opcode,
		     frame_id *ret_frame)
{
	int rc = frame_at(cache, index, at, ret_frame);
	return rc < 0 || !opcode.code ? rc : frame_with_opcode(cache, opcode, ret_frame);
}
