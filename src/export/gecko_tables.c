/* SPDX-License-Identifier: MIT
 * Hides the numbering: in the processed format every thread has tables of its own, and a stack's prefix
 * comes before it. Each table is written column by column.
 */
#include <stdlib.h>

#include "base/error.h"
#include "export/gecko.h"

static uint32_t *filled(size_t n)
{
	uint32_t *index = malloc(n * sizeof *index);
	for (size_t i = 0; index && i < n; i++)
		index[i] = GECKO_NONE;
	return index;
}

int gecko_tables_init(const struct stacks *stacks, struct gecko_tables *ret_tables)
{
	struct gecko_tables tables = {.stacks = stacks};
	tables.node_index = filled(stacks->nodes.n);
	tables.frame_index = filled(stacks->frames.n + 1);
	tables.function_index = filled(stacks->functions.n + 1);
	if (!tables.node_index || !tables.frame_index || !tables.function_index) {
		gecko_tables_done(&tables);
		return TACHY_ENOMEM;
	}
	*ret_tables = tables;
	return 0;
}

void gecko_tables_done(struct gecko_tables *tables)
{
	vec_done(&tables->nodes);
	vec_done(&tables->frames);
	vec_done(&tables->functions);
	vec_done(&tables->way);
	free(tables->node_index);
	free(tables->frame_index);
	free(tables->function_index);
}

void gecko_tables_clear(struct gecko_tables *tables)
{
	for (size_t i = 0; i < tables->nodes.n; i++)
		tables->node_index[tables->nodes.at[i]] = GECKO_NONE;
	for (size_t i = 0; i < tables->frames.n; i++)
		tables->frame_index[tables->frames.at[i]] = GECKO_NONE;
	for (size_t i = 0; i < tables->functions.n; i++)
		tables->function_index[tables->functions.at[i]] = GECKO_NONE;
	tables->nodes.n = tables->frames.n = tables->functions.n = 0;
}

/* ---- what a number stands for ------------------------------------------------------------------- */

static frame_id frame_of(const struct stacks *stacks, stack_id node)
{
	return node == STACK_EMPTY ? (frame_id)stacks->frames.n : stacks->nodes.at[node].frame;
}

static function_id function_of(const struct stacks *stacks, frame_id frame)
{
	return frame < stacks->frames.n ? stacks->frames.at[frame].function
					: (function_id)stacks->functions.n;
}

static enum gecko_category category_of(const struct stacks *stacks, function_id function)
{
	static const enum gecko_category categories[] = {
		[TACHY_FRAME_PYTHON] = GECKO_PYTHON, [TACHY_FRAME_NATIVE] = GECKO_NATIVE,
		[TACHY_FRAME_GC] = GECKO_GC,         [TACHY_FRAME_CUT] = GECKO_OTHER,
		[TACHY_FRAME_TASK] = GECKO_TASK,
	};
	if (function >= stacks->functions.n)
		return GECKO_OTHER;
	uint32_t kind = stacks->functions.at[function].kind;
	return kind < sizeof categories / sizeof categories[0] ? categories[kind] : GECKO_OTHER;
}

/* ---- adding ------------------------------------------------------------------------------------- */

static int add_node(struct gecko_tables *tables, stack_id node)
{
	frame_id frame = frame_of(tables->stacks, node);
	function_id function = function_of(tables->stacks, frame);
	if (!vec_reserve(&tables->nodes, tables->nodes.n + 1) ||
	    !vec_reserve(&tables->frames, tables->frames.n + 1) ||
	    !vec_reserve(&tables->functions, tables->functions.n + 1))
		return TACHY_ENOMEM;
	if (tables->function_index[function] == GECKO_NONE) {
		tables->function_index[function] = (uint32_t)tables->functions.n;
		tables->functions.at[tables->functions.n++] = function;
	}
	if (tables->frame_index[frame] == GECKO_NONE) {
		tables->frame_index[frame] = (uint32_t)tables->frames.n;
		tables->frames.at[tables->frames.n++] = frame;
	}
	tables->node_index[node] = (uint32_t)tables->nodes.n;
	tables->nodes.at[tables->nodes.n++] = node;
	return 0;
}

int gecko_tables_add(struct gecko_tables *tables, stack_id stack, uint32_t *ret_index)
{
	stack_id node = stack < tables->stacks->nodes.n ? stack : STACK_EMPTY;
	int rc = 0;
	stack = node;
	tables->way.n = 0;
	while (rc >= 0 && tables->node_index[node] == GECKO_NONE) {
		if (!vec_push(&tables->way, node))
			rc = TACHY_ENOMEM;
		node = tables->stacks->nodes.at[node].parent;
		if (node == STACK_EMPTY)
			break;
	}
	while (rc >= 0 && tables->way.n > 0)
		rc = add_node(tables, tables->way.at[--tables->way.n]);
	if (rc >= 0)
		*ret_index = tables->node_index[stack];
	return rc;
}

/* ---- writing ------------------------------------------------------------------------------------ */

static void number_or_null(struct json_out *json, bool known, int64_t value)
{
	if (known)
		json_i64(json, value);
	else
		json_null(json);
}

static void column_of(struct json_out *json, const char *name, size_t n, const char *value)
{
	json_key_open(json, name, '[');
	for (size_t i = 0; i < n; i++)
		json_raw(json, value);
	json_close(json, ']');
}

static void write_stacks(const struct gecko_tables *tables, struct json_out *json)
{
	json_key_open(json, "stackTable", '{');
	json_key_u64(json, "length", tables->nodes.n);
	json_key_open(json, "frame", '[');
	for (size_t i = 0; i < tables->nodes.n; i++)
		json_u64(json, tables->frame_index[frame_of(tables->stacks, tables->nodes.at[i])]);
	json_close(json, ']');
	json_key_open(json, "prefix", '[');
	for (size_t i = 0; i < tables->nodes.n; i++) {
		stack_id parent = tables->stacks->nodes.at[tables->nodes.at[i]].parent;
		number_or_null(json, parent != STACK_EMPTY, tables->node_index[parent]);
	}
	json_close(json, ']');
	json_close(json, '}');
}

static void write_positions(const struct gecko_tables *tables, struct json_out *json)
{
	const struct stacks *stacks = tables->stacks;
	json_key_open(json, "line", '[');
	for (size_t i = 0; i < tables->frames.n; i++) {
		frame_id id = tables->frames.at[i];
		int32_t line = id < stacks->frames.n ? stacks->frames.at[id].at.line : 0;
		number_or_null(json, line > 0, line);
	}
	json_close(json, ']');
	json_key_open(json, "column", '[');
	for (size_t i = 0; i < tables->frames.n; i++) {
		frame_id id = tables->frames.at[i];
		int32_t column = id < stacks->frames.n ? stacks->frames.at[id].at.column : -1;
		number_or_null(json, column >= 0, (int64_t)column + 1); /* theirs begin at 1 */
	}
	json_close(json, ']');
}

static void write_frames(const struct gecko_tables *tables, struct json_out *json)
{
	size_t n = tables->frames.n;
	json_key_open(json, "frameTable", '{');
	json_key_u64(json, "length", n);
	column_of(json, "address", n, "-1");
	column_of(json, "inlineDepth", n, "0");
	json_key_open(json, "category", '[');
	for (size_t i = 0; i < n; i++)
		json_u64(json, category_of(tables->stacks,
					   function_of(tables->stacks, tables->frames.at[i])));
	json_close(json, ']');
	column_of(json, "subcategory", n, "0");
	json_key_open(json, "func", '[');
	for (size_t i = 0; i < n; i++)
		json_u64(json,
			 tables->function_index[function_of(tables->stacks, tables->frames.at[i])]);
	json_close(json, ']');
	column_of(json, "nativeSymbol", n, "null");
	column_of(json, "innerWindowID", n, "0");
	write_positions(tables, json);
	json_close(json, '}');
}

static void write_function_places(const struct gecko_tables *tables, struct json_out *json)
{
	const struct stacks *stacks = tables->stacks;
	json_key_open(json, "fileName", '[');
	for (size_t i = 0; i < tables->functions.n; i++) {
		function_id id = tables->functions.at[i];
		str_id file = id < stacks->functions.n ? stacks->functions.at[id].file : 0;
		number_or_null(json, file != 0, file);
	}
	json_close(json, ']');
	json_key_open(json, "lineNumber", '[');
	for (size_t i = 0; i < tables->functions.n; i++) {
		function_id id = tables->functions.at[i];
		int32_t line = id < stacks->functions.n ? stacks->functions.at[id].first_line : 0;
		number_or_null(json, line > 0, line);
	}
	json_close(json, ']');
	column_of(json, "columnNumber", tables->functions.n, "null");
}

static void write_functions(const struct gecko_tables *tables, struct json_out *json)
{
	const struct stacks *stacks = tables->stacks;
	size_t n = tables->functions.n;
	json_key_open(json, "funcTable", '{');
	json_key_u64(json, "length", n);
	json_key_open(json, "name", '[');
	for (size_t i = 0; i < n; i++) {
		function_id id = tables->functions.at[i];
		json_u64(json, id < stacks->functions.n
				       ? stacks->functions.at[id].name
				       : strtab_count(stacks->strings) + GECKO_STRING_NO_FRAME);
	}
	json_close(json, ']');
	column_of(json, "isJS", n, "false");
	column_of(json, "relevantForJS", n, "false");
	column_of(json, "resource", n, "-1");
	write_function_places(tables, json);
	json_close(json, '}');
}

static void write_empty(struct json_out *json, const char *name, const char *const columns[],
			size_t n)
{
	json_key_open(json, name, '{');
	json_key_u64(json, "length", 0);
	for (size_t i = 0; i < n; i++)
		column_of(json, columns[i], 0, "");
	json_close(json, '}');
}

void gecko_tables_write(const struct gecko_tables *tables, struct json_out *json)
{
	static const char *const resources[] = {"lib", "name", "host", "type"};
	static const char *const symbols[] = {"libIndex", "address", "name", "functionSize"};
	write_stacks(tables, json);
	write_frames(tables, json);
	write_functions(tables, json);
	write_empty(json, "resourceTable", resources, 4);
	write_empty(json, "nativeSymbols", symbols, 4);
}
