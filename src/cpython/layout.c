/* SPDX-License-Identifier: MIT
 * Finds the table of a version, and checks that a layout can be true.
 *
 * Hides: the list of fields and what each must satisfy (layout_fields.h). Invariant: after
 * layout_check() every offset that is not LAYOUT_NONE lies, with the bytes read there, inside its
 * struct where the size of that is known and below a bound where it is not; is aligned as its
 * type needs; and no two fields of one struct share a byte. So a load at such an offset from a
 * span of the struct's size needs no further thought, and a struct never needs a huge read.
 */
#include "cpython/layout.h"

#include <stddef.h>

#include "base/error.h"
#include "cpython/layout_fields.h"
#include "cpython/layout_tables.h"

#define STRUCT_SIZE_MAX      (64u * 1024)        /* any struct but the next two */
#define STATE_SIZE_MAX       (16u * 1024 * 1024) /* _PyRuntimeState, PyInterpreterState */
#define OWNER_MAX            127u                /* `owner` is a char */
#define SHIFT_MAX            31u
#define MINOR_MIN            8
#define CODE_UNIT_CACHES_MAX 16u /* inline cache entries of one CALL: 4 and 3 are known */

const struct layout_field layout_fields[] = {
#define FIELD(group, member, struct_in, bytes, first, last, how) \
	{.name = #group "." #member, \
	 .at = offsetof(struct layout, group.member), \
	 .in = LAYOUT_IN_##struct_in, \
	 .width = (bytes), \
	 .from = (first), \
	 .to = (last), \
	 .need = LAYOUT_##how},
	LAYOUT_FIELDS(FIELD)
#undef FIELD
};

#define N_FIELDS (sizeof layout_fields / sizeof layout_fields[0])
const size_t n_layout_fields = N_FIELDS;

/* Every uint32_t from `runtime` on is a field, and the list has each once (the test sees to the
 * "once"), so that a new field cannot go unchecked. */
_Static_assert(N_FIELDS * sizeof(uint32_t) ==
		       sizeof(struct layout) - offsetof(struct layout, runtime),
	       "layout_fields.h does not list every field of struct layout");

const struct layout_field *layout_size_field(enum layout_struct in)
{
	for (size_t i = 0; i < N_FIELDS; i++)
		if (layout_fields[i].in == in && layout_fields[i].width == LAYOUT_W_SIZE)
			return in == LAYOUT_IN_NOTHING ? NULL : &layout_fields[i];
	return NULL;
}

/* An embedded struct's size is bounded by the time a sum is made of this: check_fields() looks
 * at all values first. */
uint32_t layout_width(const struct layout *layout, const struct layout_field *field)
{
	if (!layout_is_offset(field))
		return 0;
	switch (field->width) {
	case LAYOUT_W_GIL:
		return layout->gil.size == LAYOUT_NONE ? 0 : layout->gil.size;
	case LAYOUT_W_GC:
		return layout->gc.size == LAYOUT_NONE ? 0 : layout->gc.size;
	default:
		return field->width;
	}
}

static uint32_t alignment(const struct layout_field *field)
{
	switch (field->width) {
	case 0:
		return 1;
	case 1:
	case 2:
	case 4:
		return field->width;
	default: /* pointers, and structs that begin with one or hold one */
		return 8;
	}
}

static bool in_version(const struct layout *layout, const struct layout_field *field)
{
	if (field->need >= LAYOUT_FT && !layout->free_threaded)
		return false;
	return layout->minor >= field->from && layout->minor <= field->to;
}

static uint32_t size_max(const struct layout_field *field)
{
	return field->in == LAYOUT_IN_RUNTIME || field->in == LAYOUT_IN_INTERP ? STATE_SIZE_MAX
									       : STRUCT_SIZE_MAX;
}

/* The field's value is possible, taken by itself. */
static bool value_ok(const struct layout *layout, const struct layout_field *field)
{
	uint32_t v = layout_get(layout, field);

	if (!in_version(layout, field))
		return v == LAYOUT_NONE;
	if (v == LAYOUT_NONE)
		return field->need == LAYOUT_EXPECTED || field->need == LAYOUT_FT_EXPECTED;
	switch (field->width) {
	case LAYOUT_W_SIZE:
		return v >= sizeof(uint64_t) && v <= size_max(field);
	case LAYOUT_W_OWNER:
		return v <= OWNER_MAX;
	case LAYOUT_W_SHIFT:
		return v <= SHIFT_MAX;
	default:
		return v <= size_max(field) && v % alignment(field) == 0;
	}
}

/* The field lies inside its struct. Sizes have been seen to be in bounds: no overflow. */
static bool inside(const struct layout *layout, const struct layout_field *field)
{
	const struct layout_field *size = layout_size_field((enum layout_struct)field->in);
	uint32_t v = layout_get(layout, field), limit = size_max(field);

	if (!layout_is_offset(field) || v == LAYOUT_NONE)
		return true;
	if (size != NULL && layout_get(layout, size) != LAYOUT_NONE)
		limit = layout_get(layout, size);
	return v + layout_width(layout, field) <= limit;
}

static bool apart(const struct layout *layout, const struct layout_field *a,
		  const struct layout_field *b)
{
	uint32_t va = layout_get(layout, a), vb = layout_get(layout, b);
	uint32_t wa = layout_width(layout, a), wb = layout_width(layout, b);

	if (va == LAYOUT_NONE || vb == LAYOUT_NONE || wa == 0 || wb == 0)
		return true;
	return va + wa <= vb || vb + wb <= va;
}

/* No field before this one shares a byte with it. (What is no offset has no width.) */
static bool alone(const struct layout *layout, const struct layout_field *field)
{
	for (const struct layout_field *other = layout_fields; other < field; other++)
		if (other->in == field->in && !apart(layout, field, other))
			return false;
	return true;
}

static enum frame_design frames_of(unsigned minor)
{
	return minor <= 10 ? FRAMES_OBJECTS : minor <= 12 ? FRAMES_CFRAME : FRAMES_DIRECT;
}

static enum linetable_design lines_of(unsigned minor)
{
	return minor <= 9 ? LINES_LNOTAB : minor == 10 ? LINES_PEP626 : LINES_LOCATIONS;
}

static enum gil_design gil_of(unsigned minor, bool free_threaded)
{
	return free_threaded ? GIL_ABSENT : minor <= 11 ? GIL_RUNTIME : GIL_INTERPRETER;
}

/* What is not a uint32_t field. NULL, or what is wrong. */
static const char *check_header(const struct layout *layout)
{
	if (layout->major != 3 || layout->minor < MINOR_MIN)
		return "version";
	if (layout->free_threaded && layout->minor < 13)
		return "free_threaded";
	if (layout->frames != frames_of(layout->minor))
		return "frames";
	if (layout->lines != lines_of(layout->minor))
		return "lines";
	if (layout->gil_design != gil_of(layout->minor, layout->free_threaded))
		return "gil_design";
	if (layout->minor >= 11 ? layout->code_unit_caches_call > CODE_UNIT_CACHES_MAX
				: layout->code_unit_caches_call != LAYOUT_NONE)
		return "code_unit_caches_call";
	return NULL;
}

/* Owners tell frames apart, so they must differ: a bit for each that was seen. */
static const char *check_owners(const struct layout *layout)
{
	uint64_t seen[2] = {0, 0};

	for (size_t i = 0; i < N_FIELDS; i++) {
		uint32_t v = layout_get(layout, &layout_fields[i]);
		if (layout_fields[i].width != LAYOUT_W_OWNER || v == LAYOUT_NONE)
			continue;
		if (seen[v / 64] >> (v % 64) & 1)
			return layout_fields[i].name;
		seen[v / 64] |= (uint64_t)1 << (v % 64);
	}
	return NULL;
}

static const char *check_fields(const struct layout *layout)
{
	for (size_t i = 0; i < N_FIELDS; i++)
		if (!value_ok(layout, &layout_fields[i]))
			return layout_fields[i].name;
	for (size_t i = 0; i < N_FIELDS; i++)
		if (!inside(layout, &layout_fields[i]) || !alone(layout, &layout_fields[i]))
			return layout_fields[i].name;
	return check_owners(layout);
}

int layout_check(const struct layout *layout, const char **ret_what)
{
	const char *what = check_header(layout);

	if (what == NULL)
		what = check_fields(layout);
	if (what == NULL)
		return 0;
	*ret_what = what;
	return TACHY_ECORRUPT;
}

const struct layout *layout_find(unsigned major, unsigned minor, bool debug, bool free_threaded)
{
	for (size_t i = 0; i < n_layout_tables; i++) {
		const struct layout *table = &layout_tables[i];
		if (table->major == major && table->minor == minor && table->debug == debug &&
		    table->free_threaded == free_threaded)
			return table;
	}
	return NULL;
}
