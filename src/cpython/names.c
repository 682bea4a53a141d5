/* SPDX-License-Identifier: MIT
 * sys.modules["threading"]._active[ident]._name, step by step. Lib/threading.py has kept these names
 * from 3.8 to 3.15; should they change there are no names, and nothing else is lost.
 *
 * The target runs meanwhile: an entry that makes no sense is one thread without a name.
 */
#include "cpython/names.h"

#include "cpython/dict.h"
#include "cpython/module.h"
#include "cpython/object.h"

#define FLAG_LONG_SUBCLASS (1u << 24) /* Include/object.h */

/* Include/cpython/longintrepr.h; the number of digits is lv_tag >> 3 from 3.12 on, and the sign its two
 * low bits; before it is ob_size, negative for negative numbers. */
#define DIGIT_BITS     30
#define DIGITS_MAX     3 /* of 64 bits */
#define TAG_SIZE_SHIFT 3
#define TAG_SIGN_MASK  3u

/* The value of a positive int below 2^64. */
static int read_ident(struct mem_view *view, const struct layout *layout, raddr addr,
		      uint64_t *ret_value)
{
	raddr type;
	uint64_t flags, n, value = 0;
	struct span bytes;
	int code = object_pointer(view, addr + layout->object.ob_type, &type);
	if (code >= 0)
		code = type ? object_pointer(view, type + layout->object.tp_flags, &flags)
			    : TACHY_ECORRUPT;
	if (code >= 0 && !(flags & FLAG_LONG_SUBCLASS))
		code = TACHY_ECORRUPT;
	if (code >= 0)
		code = object_pointer(view, addr + layout->integer.tag, &n);
	if (code < 0)
		return code;
	if (layout->minor >= 12)
		n = n & TAG_SIGN_MASK ? 0 : n >> TAG_SIZE_SHIFT;
	if (n == 0 || n > DIGITS_MAX)
		return TACHY_ECORRUPT;
	code = mem_view_cold(view, addr + layout->integer.digit, (uint32_t)n * 4, &bytes);
	for (uint32_t i = 0; code >= 0 && i < n; i++)
		value |= (uint64_t)load_u32(bytes, i * 4) << (DIGIT_BITS * i);
	if (code >= 0)
		*ret_value = value;
	return code;
}

static int read_name(struct mem_view *view, const struct layout *layout, raddr thread,
		     struct text *text)
{
	struct dict attributes;
	raddr name;
	int code = dict_open_instance(view, layout, thread, &attributes);
	if (code >= 0)
		code = dict_find(view, layout, &attributes, "_name", &name);
	text->chars.n = 0;
	if (code >= 0)
		code = object_str(view, layout, name, text);
	if (code >= 0 && !vec_push(&text->chars, '\0'))
		code = TACHY_ENOMEM;
	return code;
}

static int open_active(struct mem_view *view, const struct layout *layout, raddr interp,
		       struct dict *ret_dict)
{
	raddr active;
	struct dict names;
	if (layout->integer.tag == LAYOUT_NONE || layout->integer.digit == LAYOUT_NONE)
		return TACHY_EVERSION;
	int code = module_open(view, layout, interp, "threading", &names);
	if (code >= 0)
		code = dict_find(view, layout, &names, "_active", &active);
	return code < 0 ? code : dict_open(view, layout, active, ret_dict);
}

int names_read(struct mem_view *view, const struct layout *layout, raddr interp,
	       names_callback *callback, void *arg)
{
	raddr key, thread;
	struct dict active;
	struct text text = {{NULL, 0, 0}};
	int n = 0, first_error = 0;
	int code = open_active(view, layout, interp, &active);
	if (code < 0)
		return code == TACHY_ENOENT ? 0 : code;
	for (uint32_t i = 0; i < active.n && i < NAMES_MAX; i++) {
		uint64_t ident;
		code = dict_entry(view, &active, i, &key, &thread);
		if (code >= 0 && (!key || !thread))
			continue;
		if (code >= 0)
			code = read_ident(view, layout, key, &ident);
		if (code >= 0)
			code = read_name(view, layout, thread, &text);
		if (code >= 0) {
			callback(arg, ident, text.chars.at);
			n++;
		} else if (first_error == 0) {
			first_error = code;
		}
	}
	vec_done(&text.chars);
	return n ? n : first_error == TACHY_ENOENT ? 0 : first_error;
}
