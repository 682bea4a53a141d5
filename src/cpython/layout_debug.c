/* SPDX-License-Identifier: MIT
 * _Py_DebugOffsets (internal/pycore_runtime.h in 3.13, pycore_debug_offsets.h later) -> layout.
 *
 * The struct's shape is fixed within a minor version and nothing in it says which it is: all
 * members are uint64_t, so with the wrong shape every value is some other field's. Hides: the
 * shapes, which table fills the gaps, and how far a field that was not given has moved.
 * Invariant: what is returned has passed layout_check() and has the object header of its table.
 */
#include "cpython/layout_debug.h"

#include <string.h>

#include "base/error.h"
#include "cpython/layout_debug_tables.h"
#include "cpython/layout_fields.h"
#include "cpython/version_hex.h"

#define AT_VERSION       8
#define AT_FREE_THREADED 16
#define HEADER_SIZE      24
#define OFFSET_MAX       (16u * 1024 * 1024) /* no offset or size is larger: layout_check's bound */

/* How far from a given field another is still taken to have moved with it, when what lies on its
 * other side moved differently: two pointers. */
#define ADJACENT_MAX 16u

struct header {
	uint8_t minor;
	bool free_threaded;
	bool guessed;
};

/* Reads what comes before the offsets. */
static int read_header(struct span bytes, struct header *ret, const char **ret_what)
{
	unsigned major, minor, micro, level, serial;
	uint64_t hex = load_u64(bytes, AT_VERSION), flag = load_u64(bytes, AT_FREE_THREADED);

	*ret_what = "cookie";
	if (!span_has(bytes, 0, HEADER_SIZE) ||
	    memcmp(bytes.data, LAYOUT_DEBUG_COOKIE, LAYOUT_DEBUG_COOKIE_SIZE) != 0)
		return TACHY_ENOPYTHON;
	*ret_what = "version";
	if (hex > UINT32_MAX ||
	    version_hex_decode((uint32_t)hex, &major, &minor, &micro, &level, &serial) < 0)
		return TACHY_ECORRUPT;
	if (major != 3 || minor < debug_shapes[0].minor)
		return TACHY_EVERSION;
	*ret_what = "free_threaded";
	if (flag > 1)
		return TACHY_ECORRUPT;
	ret->minor = (uint8_t)minor;
	ret->free_threaded = flag == 1;
	ret->guessed = minor > debug_shapes[n_debug_shapes - 1].minor || level == VERSION_ALPHA ||
		       level == VERSION_BETA;
	return 0;
}

/* The shape of this minor version, or the newest. */
static const struct debug_shape *find_shape(unsigned minor)
{
	for (size_t i = 0; i < n_debug_shapes; i++)
		if (debug_shapes[i].minor == minor)
			return &debug_shapes[i];
	return &debug_shapes[n_debug_shapes - 1];
}

static const struct layout_field *find_field(size_t at)
{
	for (size_t i = 0; i < n_layout_fields; i++)
		if (layout_fields[i].at == at)
			return &layout_fields[i];
	return NULL; /* not reached: the test holds that every target of a shape is a field */
}

/* One member of the debug offsets into `given`. */
static int take(struct span bytes, const struct debug_field *from, struct layout *given,
		const char **ret_what)
{
	const struct layout_field *field = find_field(from->to);
	uint64_t value = load_u64(bytes, from->from);

	if (field == NULL)
		return TACHY_EINVAL;
	*ret_what = field->name;
	if (from->meaning == DEBUG_FT && !given->free_threaded)
		return 0; /* written as 0, which means nothing here */
	if (value > OFFSET_MAX)
		return TACHY_ECORRUPT;
	/* interp.gil comes before these two in every shape. */
	if (from->meaning == DEBUG_GIL) {
		if (given->interp.gil == LAYOUT_NONE || value < given->interp.gil)
			return TACHY_ECORRUPT;
		value -= given->interp.gil;
	}
	layout_set(given, field, (uint32_t)value);
	return 0;
}

/* All that the target says, and LAYOUT_NONE for what it does not. */
static int take_all(struct span bytes, const struct debug_shape *shape, const struct header *header,
		    struct layout *given, const char **ret_what)
{
	if (!span_has(bytes, 0, shape->size)) {
		*ret_what = "size";
		return TACHY_ECORRUPT;
	}
	given->free_threaded = header->free_threaded;
	for (size_t i = 0; i < n_layout_fields; i++)
		layout_set(given, &layout_fields[i], LAYOUT_NONE);
	for (size_t i = 0; i < shape->n_fields; i++) {
		int r = take(bytes, &shape->fields[i], given, ret_what);
		if (r < 0)
			return r;
	}
	return 0;
}

static size_t n_equal(const struct layout *given, const struct layout *table)
{
	size_t n = 0;

	for (size_t i = 0; i < n_layout_fields; i++) {
		uint32_t value = layout_get(given, &layout_fields[i]);
		n += value != LAYOUT_NONE && value == layout_get(table, &layout_fields[i]);
	}
	return n;
}

static uint32_t distance(uint32_t a, uint32_t b)
{
	return a > b ? a - b : b - a;
}

/* Debug builds differ from release builds in the sizes of the great structs, by 16 KiB and more
 * (PYMALLOC_DEBUG), and in little else. The table that agrees in more fields is the build's. Other
 * patch releases, and builds with a JIT (3.15: eight bytes), miss both in size: then the nearer
 * runtime size tells, and a tie is a release build. */
static const struct layout *choose_table(const struct layout *given, unsigned minor)
{
	const struct layout *release = layout_find(3, minor, false, given->free_threaded);
	const struct layout *debug = layout_find(3, minor, true, given->free_threaded);
	size_t n_release, n_debug;

	if (release == NULL || debug == NULL)
		return release;
	n_release = n_equal(given, release);
	n_debug = n_equal(given, debug);
	if (n_release != n_debug)
		return n_debug > n_release ? debug : release;
	return distance(given->runtime.size, debug->runtime.size) <
			       distance(given->runtime.size, release->runtime.size)
		       ? debug
		       : release;
}

/* A place in a struct known in both layouts: how far it is from the field in question, and how
 * far it has moved from the table's to the target's. */
struct anchor {
	uint32_t distance;
	int64_t moved;
};

struct anchors {
	bool has_above;
	struct anchor below, above; /* below: at worst the struct's own start */
};

static void consider(struct anchors *anchors, const struct layout *table, uint32_t at,
		     const struct layout_field *other, int64_t moved)
{
	uint32_t start = layout_get(table, other), end = start + layout_width(table, other);
	uint32_t below = at > end ? at - end : 0, above = start > at ? start - at : 0;

	if (start <= at && below < anchors->below.distance)
		anchors->below = (struct anchor){.distance = below, .moved = moved};
	if (start > at && (!anchors->has_above || above < anchors->above.distance)) {
		anchors->has_above = true;
		anchors->above = (struct anchor){.distance = above, .moved = moved};
	}
}

/* The part at a struct's start that cannot have moved. A code object begins with a PyVarObject,
 * and check_objects() holds that that is the table's. */
static uint32_t fixed_size(const struct layout *table, enum layout_struct in)
{
	return in == LAYOUT_IN_CODE ? table->object.ob_size + (uint32_t)sizeof(uint64_t) : 0;
}

/* The nearest given fields on both sides of `field` in its struct. The struct's start counts as
 * one that has not moved, its end (where the size was given) as one that moved as the size did. */
static struct anchors find_anchors(const struct layout *given, const struct layout *table,
				   const struct layout_field *field)
{
	const struct layout_field *end = layout_size_field((enum layout_struct)field->in);
	uint32_t at = layout_get(table, field),
		 fixed = fixed_size(table, (enum layout_struct)field->in);
	struct anchors anchors = {.below = {.distance = at > fixed ? at - fixed : 0, .moved = 0}};

	for (size_t i = 0; i < n_layout_fields; i++) {
		const struct layout_field *other = &layout_fields[i];
		uint32_t now = layout_get(given, other), was = layout_get(table, other);
		if (other->in != field->in || now == LAYOUT_NONE || was == LAYOUT_NONE)
			continue;
		if (other == end || layout_is_offset(other))
			consider(&anchors, table, at, other, (int64_t)now - (int64_t)was);
	}
	return anchors;
}

/* Where a field lies that the target does not tell. LAYOUT_NONE: no way to know. */
static uint32_t place(const struct layout *given, const struct layout *table,
		      const struct layout_field *field)
{
	uint32_t at = layout_get(table, field), width = layout_width(table, field);
	struct anchors anchors = find_anchors(given, table, field);
	bool above_nearer = anchors.has_above && anchors.above.distance >= width &&
			    anchors.above.distance - width < anchors.below.distance;
	struct anchor nearest = above_nearer ? anchors.above : anchors.below;
	uint32_t gap = above_nearer ? nearest.distance - width : nearest.distance;
	bool agree = !anchors.has_above || anchors.above.moved == anchors.below.moved;
	int64_t moved = (int64_t)at + nearest.moved;

	if (moved < 0 || moved > OFFSET_MAX)
		return LAYOUT_NONE;
	if (!agree && gap > ADJACENT_MAX)
		return LAYOUT_NONE;
	return (uint32_t)moved;
}

/* _PyThreadStateImpl begins with a PyThreadState: what follows moves as that grows. */
static uint32_t place_in_impl(const struct layout *given, const struct layout *table,
			      const struct layout_field *field)
{
	int64_t moved = (int64_t)layout_get(table, field) + given->tstate.size - table->tstate.size;

	return moved < 0 || moved > OFFSET_MAX ? LAYOUT_NONE : (uint32_t)moved;
}

static void fill_gap(const struct layout *given, const struct layout *table,
		     const struct layout_field *field, struct layout *layout)
{
	if (layout_get(given, field) != LAYOUT_NONE)
		layout_set(layout, field, layout_get(given, field));
	else if (layout_get(table, field) == LAYOUT_NONE || !layout_is_offset(field))
		return;
	else if (field->in == LAYOUT_IN_IMPL)
		layout_set(layout, field, place_in_impl(given, table, field));
	else
		layout_set(layout, field, place(given, table, field));
}

/* The table, with what the target says in place of it. */
static void merge(const struct layout *given, const struct layout *table,
		  const struct header *header, struct layout *layout)
{
	*layout = *table;
	layout->minor = header->minor;
	layout->from_target = true;
	layout->guessed = header->guessed;
	for (size_t i = 0; i < n_layout_fields; i++)
		fill_gap(given, table, &layout_fields[i], layout);
}

/* The stable ABI has kept these where they are since long before 3.8, and a build without a GIL
 * keeps its own within a minor version. They stand near the end of the debug offsets, so they
 * also tell that a guessed shape does not fit: then they hold something else. */
static int check_objects(const struct layout *layout, const struct layout *table,
			 const char **ret_what)
{
	static const size_t fixed[] = {
		offsetof(struct layout, object.size),    offsetof(struct layout, object.ob_type),
		offsetof(struct layout, object.tp_name), offsetof(struct layout, tuple.ob_size),
		offsetof(struct layout, list.ob_size),   offsetof(struct layout, list.item),
		offsetof(struct layout, bytes.ob_size),  offsetof(struct layout, bytes.sval),
		offsetof(struct layout, unicode.length),
	};

	for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
		const struct layout_field *field = find_field(fixed[i]);
		if (field == NULL || layout_get(layout, field) != layout_get(table, field)) {
			*ret_what = field == NULL ? "" : field->name;
			return TACHY_ECORRUPT;
		}
	}
	return 0;
}

static int read_layout(struct span bytes, const struct header *header, struct layout *layout,
		       const char **ret_what)
{
	const struct debug_shape *shape = find_shape(header->minor);
	const struct layout *table;
	struct layout given = {0};
	int r = take_all(bytes, shape, header, &given, ret_what);

	if (r < 0)
		return r;
	table = choose_table(&given, shape->minor);
	if (table == NULL) {
		*ret_what = "version";
		return TACHY_EVERSION;
	}
	merge(&given, table, header, layout);
	r = check_objects(layout, table, ret_what);
	return r < 0 ? r : layout_check(layout, ret_what);
}

int layout_from_debug_offsets(struct span bytes, struct layout *ret_layout, const char **ret_what)
{
	struct header header;
	struct layout layout;
	const char *what = "";
	int r = read_header(bytes, &header, &what);

	if (r == 0) {
		r = read_layout(bytes, &header, &layout, &what);
		/* Not the target's fault: we do not know its shape. */
		if (r == TACHY_ECORRUPT && header.guessed &&
		    span_has(bytes, 0, find_shape(header.minor)->size))
			r = TACHY_EVERSION;
	}
	if (r < 0)
		*ret_what = what;
	else
		*ret_layout = layout;
	return r;
}
