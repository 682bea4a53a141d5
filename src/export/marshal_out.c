/* SPDX-License-Identifier: MIT
 * Hides type codes and byte order. Python/marshal.c: references are numbers of the objects written
 * with FLAG_REF, in the order in which they begin.
 */
#include "export/marshal_out.h"

#include <string.h>

#define TYPE_INT         'i'
#define TYPE_LONG        'l'
#define TYPE_FLOAT       'g'
#define TYPE_UNICODE     'u'
#define TYPE_SMALL_TUPLE ')'
#define TYPE_DICT        '{'
#define TYPE_NULL        '0'
#define TYPE_REF         'r'
#define FLAG_REF         0x80
#define DIGIT_BITS       15 /* of a long */

void marshal_init(struct marshal_out *marshal, struct out *out)
{
	*marshal = (struct marshal_out){out, 0};
}

static void put_little_endian(struct out *out, uint64_t value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out_char(out, (char)(value >> (8 * i) & 0xff));
}

void marshal_i64(struct marshal_out *marshal, int64_t value)
{
	uint32_t n_digits = 0;
	if (value <= INT32_MAX) {
		out_char(marshal->out, TYPE_INT);
		put_little_endian(marshal->out, (uint64_t)value, 4);
		return;
	}
	for (int64_t rest = value; rest > 0; rest >>= DIGIT_BITS)
		n_digits++;
	out_char(marshal->out, TYPE_LONG);
	put_little_endian(marshal->out, n_digits, 4);
	for (; value > 0; value >>= DIGIT_BITS)
		put_little_endian(marshal->out, (uint64_t)value & ((1u << DIGIT_BITS) - 1), 2);
}

void marshal_double(struct marshal_out *marshal, double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	out_char(marshal->out, TYPE_FLOAT);
	put_little_endian(marshal->out, bits, 8);
}

void marshal_text(struct marshal_out *marshal, const char *text)
{
	size_t len = strlen(text);
	out_char(marshal->out, TYPE_UNICODE);
	put_little_endian(marshal->out, len, 4);
	out_bytes(marshal->out, text, len);
}

void marshal_tuple(struct marshal_out *marshal, uint8_t n)
{
	out_char(marshal->out, TYPE_SMALL_TUPLE);
	put_little_endian(marshal->out, n, 1);
}

uint32_t marshal_shared_tuple(struct marshal_out *marshal, uint8_t n)
{
	out_char(marshal->out, (char)(TYPE_SMALL_TUPLE | FLAG_REF));
	put_little_endian(marshal->out, n, 1);
	return marshal->n_refs++;
}

void marshal_ref(struct marshal_out *marshal, uint32_t ref)
{
	out_char(marshal->out, TYPE_REF);
	put_little_endian(marshal->out, ref, 4);
}

void marshal_dict(struct marshal_out *marshal)
{
	out_char(marshal->out, TYPE_DICT);
}

void marshal_dict_end(struct marshal_out *marshal)
{
	out_char(marshal->out, TYPE_NULL);
}
