/* SPDX-License-Identifier: MIT
 * States and instructions as interval markers, gathered first because the table is written column by
 * column. A marker's type names its schema.
 */
#include "base/error.h"
#include "export/gecko.h"
#include "export/phases.h"

#define PHASE_INTERVAL "1" /* their MarkerPhase */

struct marker {
	uint64_t begin_ns, end_ns;
	const struct phase_kind *kind; /* NULL: an instruction */
	str_id opcode, base_opcode;
};

struct markers {
	VEC(struct marker) markers;
	bool full; /* out of memory */
};

/* By the order of phase_kinds(). */
static const enum gecko_category categories[PHASE_KINDS_MAX] = {
	GECKO_GIL, GECKO_GIL, GECKO_CPU, GECKO_CPU, GECKO_GC, GECKO_EXCEPTION,
};

static void add(struct markers *markers, struct marker marker)
{
	if (!vec_push(&markers->markers, marker))
		markers->full = true;
}

static void on_phase(void *ctx, const struct phase_kind *kind, uint64_t begin_ns, uint64_t end_ns)
{
	add(ctx, (struct marker){.begin_ns = begin_ns, .end_ns = end_ns, .kind = kind});
}

static const struct frame *leaf(const struct stacks *stacks, const struct span *span)
{
	const struct stack_node *node = stacks_node(stacks, span->stack);
	return node->depth > 0 ? &stacks->frames.at[node->frame] : NULL;
}

static void add_opcodes(struct markers *markers, const struct stacks *stacks,
			const struct span *spans, size_t n)
{
	for (size_t i = 0; i < n;) {
		const struct frame *frame = leaf(stacks, &spans[i]), *other;
		size_t next = i + 1;
		while (next < n && spans[next].begin_ns == spans[next - 1].end_ns && frame &&
		       (other = leaf(stacks, &spans[next])) && other->opcode == frame->opcode)
			next++;
		if (frame && frame->opcode)
			add(markers, (struct marker){spans[i].begin_ns, spans[next - 1].end_ns,
						     NULL, frame->opcode, frame->base_opcode});
		i = next;
	}
}

/* ---- columns ------------------------------------------------------------------------------------ */

static void write_data(const struct markers *markers, struct json_out *json)
{
	json_key_open(json, "data", '[');
	for (size_t i = 0; i < markers->markers.n; i++) {
		const struct marker *marker = &markers->markers.at[i];
		json_open(json, '{');
		json_key_string(json, "type", marker->kind ? marker->kind->name : "opcode");
		if (!marker->kind) {
			json_key_u64(json, "opcode", marker->opcode);
			json_key_u64(json, "base", marker->base_opcode);
		}
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void write_names(const struct markers *markers, uint64_t first_string, struct json_out *json)
{
	json_key_open(json, "name", '[');
	for (size_t i = 0; i < markers->markers.n; i++) {
		const struct phase_kind *kind = markers->markers.at[i].kind;
		json_u64(json, first_string + (kind ? GECKO_STRING_STATES +
							       (uint64_t)(kind - phase_kinds())
						    : GECKO_STRING_OPCODE));
	}
	json_close(json, ']');
}

static void write_times(const struct markers *markers, struct json_out *json)
{
	json_key_open(json, "startTime", '[');
	for (size_t i = 0; i < markers->markers.n; i++)
		gecko_time(json, markers->markers.at[i].begin_ns);
	json_close(json, ']');
	json_key_open(json, "endTime", '[');
	for (size_t i = 0; i < markers->markers.n; i++)
		gecko_time(json, markers->markers.at[i].end_ns);
	json_close(json, ']');
}

static void write_kinds(const struct markers *markers, struct json_out *json)
{
	json_key_open(json, "phase", '[');
	for (size_t i = 0; i < markers->markers.n; i++)
		json_raw(json, PHASE_INTERVAL);
	json_close(json, ']');
	json_key_open(json, "category", '[');
	for (size_t i = 0; i < markers->markers.n; i++) {
		const struct phase_kind *kind = markers->markers.at[i].kind;
		json_u64(json, kind ? categories[kind - phase_kinds()] : GECKO_OPCODE);
	}
	json_close(json, ']');
}

int gecko_markers_write(const struct stacks *stacks, bool opcodes, const struct span *spans,
			size_t n, struct json_out *json)
{
	struct markers markers = {.full = false};
	phases_walk(spans, n, on_phase, &markers);
	if (opcodes)
		add_opcodes(&markers, stacks, spans, n);
	json_key_open(json, "markers", '{');
	json_key_u64(json, "length", markers.markers.n);
	write_data(&markers, json);
	write_names(&markers, strtab_count(stacks->strings), json);
	write_times(&markers, json);
	write_kinds(&markers, json);
	json_close(json, '}');
	vec_done(&markers.markers);
	return markers.full ? TACHY_ENOMEM : 0;
}

/* ---- schemas ------------------------------------------------------------------------------------ */

static void begin_schema(struct json_out *json, const char *name, const char *about)
{
	json_open(json, '{');
	json_key_string(json, "name", name);
	json_key_string(json, "description", about);
	json_key_open(json, "display", '[');
	json_string(json, "marker-chart");
	json_string(json, "marker-table");
	json_string(json, "timeline-overview");
	json_close(json, ']');
}

static void write_field(struct json_out *json, const char *key, const char *label)
{
	json_open(json, '{');
	json_key_string(json, "key", key);
	json_key_string(json, "label", label);
	json_key_string(json, "format", "unique-string");
	json_close(json, '}');
}

void gecko_marker_schemas_write(bool opcodes, struct json_out *json)
{
	json_key_open(json, "markerSchema", '[');
	for (const struct phase_kind *kind = phase_kinds(); kind->name; kind++) {
		begin_schema(json, kind->name, kind->about);
		json_key_open(json, "fields", '[');
		json_close(json, ']');
		json_close(json, '}');
	}
	if (opcodes) {
		begin_schema(json, "opcode", "the instruction that the topmost frame executed");
		json_key_string(json, "chartLabel", "{marker.data.opcode}");
		json_key_string(json, "tableLabel", "{marker.data.opcode}");
		json_key_open(json, "fields", '[');
		write_field(json, "opcode", "instruction");
		write_field(json, "base", "specialised from");
		json_close(json, ']');
		json_close(json, '}');
	}
	json_close(json, ']');
}
