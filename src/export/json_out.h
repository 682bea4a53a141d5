/* SPDX-License-Identifier: MIT
 * JSON as a stream: nothing is kept but whether a comma is due. The caller keeps the nesting right.
 */
#ifndef EXPORT_JSON_OUT_H
#define EXPORT_JSON_OUT_H

#include "export/out.h"

struct json_out {
	struct out *out; /* borrowed */
	bool comma;      /* a value was written at this level */
};

void json_init(struct json_out *json, struct out *out);
void json_open(struct json_out *json, char bracket);  /* '{' or '[' */
void json_close(struct json_out *json, char bracket); /* '}' or ']' */
/* The name of the value that follows. Ours: no escapes needed. */
void json_key(struct json_out *json, const char *name);

/* Any bytes: what is no UTF-8, lone surrogates too, becomes U+FFFD. */
void json_string(struct json_out *json, const char *text);
/* A string in pieces; no character may be cut in two. */
void json_text_begin(struct json_out *json);
void json_text_add(struct json_out *json, const char *text, size_t len);
void json_text_end(struct json_out *json);
void json_i64(struct json_out *json, int64_t value);
void json_u64(struct json_out *json, uint64_t value);
void json_bool(struct json_out *json, bool value);
void json_null(struct json_out *json);
/* A value that is JSON already. */
void json_raw(struct json_out *json, const char *text);
void json_fixed(struct json_out *json, double value, unsigned decimals);

/* key and value in one */
void json_key_open(struct json_out *json, const char *name, char bracket);
void json_key_string(struct json_out *json, const char *name, const char *text);
void json_key_i64(struct json_out *json, const char *name, int64_t value);
void json_key_u64(struct json_out *json, const char *name, uint64_t value);
void json_key_bool(struct json_out *json, const char *name, bool value);

#endif
