/* SPDX-License-Identifier: MIT
 * Python's marshal format, version 3, as far as statistics need it: numbers, text, tuples, dicts, and
 * references to tuples written before. What every Python from 3.4 on loads.
 */
#ifndef EXPORT_MARSHAL_OUT_H
#define EXPORT_MARSHAL_OUT_H

#include "export/out.h"

struct marshal_out {
	struct out *out;
	uint32_t n_refs; /* tuples that can be referred to */
};

void marshal_init(struct marshal_out *marshal, struct out *out);
void marshal_i64(struct marshal_out *marshal, int64_t value); /* >= 0 */
void marshal_double(struct marshal_out *marshal, double value);
/* UTF-8: no reader would load anything else. */
void marshal_text(struct marshal_out *marshal, const char *text);
/* Its `n` members follow. */
void marshal_tuple(struct marshal_out *marshal, uint8_t n);
/* The same; the number to give to marshal_ref later. */
uint32_t marshal_shared_tuple(struct marshal_out *marshal, uint8_t n);
void marshal_ref(struct marshal_out *marshal, uint32_t ref);
/* Keys and values follow, in turn, and then the end. */
void marshal_dict(struct marshal_out *marshal);
void marshal_dict_end(struct marshal_out *marshal);

#endif
