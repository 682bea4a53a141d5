/* SPDX-License-Identifier: MIT
 * Invariant: what a definition refers to was told before it: strings, then functions, frames and stacks;
 * strings, then processes and threads.
 */
#include "record/definitions.h"

#include <string.h>

#include "base/error.h"

void definitions_init(struct definitions *definitions, const struct profile *profile)
{
	*definitions = (struct definitions){.profile = profile, .n_stacks = 1};
}

void definitions_done(struct definitions *definitions)
{
	vec_done(&definitions->threads);
}

/* ---- what was told --------------------------------------------------------------------------------- */

void told_done(struct told *told)
{
	for (size_t i = 0; i <= SECTION_CHANGES; i++)
		for (size_t k = 0; k < TOLD_COLUMNS; k++)
			bytes_done(&told->kinds[i].columns[k]);
}

void told_clear(struct told *told)
{
	told->function = 0;
	for (size_t i = 0; i <= SECTION_CHANGES; i++) {
		told->kinds[i].n = 0;
		for (size_t k = 0; k < TOLD_COLUMNS; k++)
			bytes_clear(&told->kinds[i].columns[k]);
	}
}

static size_t kind_size(const struct told_kind *kind)
{
	size_t size = 0;
	for (size_t k = 0; k < TOLD_COLUMNS; k++)
		size += kind->columns[k].n;
	return size;
}

size_t told_size(const struct told *told)
{
	size_t size = 0;
	for (size_t i = 0; i <= SECTION_CHANGES; i++)
		size += kind_size(&told->kinds[i]);
	return size;
}

static bool told_failed(const struct told *told)
{
	bool failed = false;
	for (size_t i = 0; i <= SECTION_CHANGES; i++)
		for (size_t k = 0; k < TOLD_COLUMNS; k++)
			failed = failed || told->kinds[i].columns[k].failed;
	return failed;
}

/* As it was `before`, but for memory that it has taken since. */
static void told_take_back(struct told *told, const struct told *before)
{
	told->function = before->function;
	for (size_t i = 0; i <= SECTION_CHANGES; i++) {
		told->kinds[i].n = before->kinds[i].n;
		for (size_t k = 0; k < TOLD_COLUMNS; k++) {
			told->kinds[i].columns[k].n = before->kinds[i].columns[k].n;
			told->kinds[i].columns[k].failed = false;
		}
	}
}

/* Strings first: their order is one in which nothing refers to what comes later. */
void told_write(const struct told *told, struct block_body *body, struct block_body *part)
{
	for (size_t i = 0; i <= SECTION_CHANGES; i++) {
		const struct told_kind *kind = &told->kinds[i];
		if (!kind->n)
			continue;
		bytes_put_varint(&part->bytes, kind->n);
		if (i == SECTION_STACKS)
			for (size_t k = 0; k < TOLD_COLUMNS; k++) {
				block_body_put_column(part, &kind->columns[k]);
				block_body_cut(part);
			}
		else
			bytes_put(&part->bytes, kind->columns[0].at, kind->columns[0].n);
		block_body_put_section(body, i, part);
	}
}

/* ---- telling --------------------------------------------------------------------------------------- */

struct telling {
	struct definitions *definitions;
	struct told *told;
	size_t limit; /* of told_size */
};

/* How large the kind may become. */
static size_t room_for(const struct telling *telling, enum section section)
{
	size_t used = told_size(telling->told);
	size_t left = used < telling->limit ? telling->limit - used : 0;
	return kind_size(&telling->told->kinds[section]) + left;
}

static void tell_strings(struct telling *telling)
{
	struct definitions *known = telling->definitions;
	const struct strtab *strings = known->profile->stacks.strings;
	struct told_kind *to = &telling->told->kinds[SECTION_STRINGS];
	size_t end = strtab_count(strings), room = room_for(telling, SECTION_STRINGS);
	for (; known->n_strings < end && kind_size(to) < room; known->n_strings++, to->n++) {
		const char *text = strtab_get(strings, (str_id)known->n_strings);
		bytes_put_text(&to->columns[0], text, strlen(text));
	}
}

static void tell_functions(struct telling *telling)
{
	struct definitions *known = telling->definitions;
	const struct stacks *stacks = &known->profile->stacks;
	struct told_kind *to = &telling->told->kinds[SECTION_FUNCTIONS];
	size_t end = stacks->functions.n, room = room_for(telling, SECTION_FUNCTIONS);
	for (; known->n_functions < end && kind_size(to) < room; known->n_functions++, to->n++) {
		const struct function *function = &stacks->functions.at[known->n_functions];
		bytes_put_varint(&to->columns[0], function->name);
		bytes_put_varint(&to->columns[0], function->file);
		bytes_put_zigzag(&to->columns[0], function->first_line);
		bytes_put_varint(&to->columns[0], function->kind);
	}
}

static void put_frame(struct bytes *bytes, const struct stacks *stacks, const struct frame *frame,
		      function_id before)
{
	const struct location *at = &frame->at;
	int64_t first_line = stacks->functions.at[frame->function].first_line;
	bytes_put_zigzag(bytes, (int64_t)frame->function - (int64_t)before);
	bytes_put_zigzag(bytes, at->line - first_line);
	bytes_put_zigzag(bytes, (int64_t)at->end_line - at->line);
	bytes_put_zigzag(bytes, at->column);
	bytes_put_zigzag(bytes, (int64_t)at->end_column - at->column);
	bytes_put_varint(bytes, frame->opcode);
	bytes_put_varint(bytes, frame->base_opcode);
}

static void tell_frames(struct telling *telling)
{
	struct definitions *known = telling->definitions;
	const struct stacks *stacks = &known->profile->stacks;
	struct told_kind *to = &telling->told->kinds[SECTION_FRAMES];
	size_t end = stacks->frames.n, room = room_for(telling, SECTION_FRAMES);
	for (; known->n_frames < end && kind_size(to) < room; known->n_frames++, to->n++) {
		const struct frame *frame = &stacks->frames.at[known->n_frames];
		put_frame(&to->columns[0], stacks, frame, telling->told->function);
		telling->told->function = frame->function;
	}
}

/* A column of how far, a column of low bytes, which are noise, and one of frames. */
static void tell_stacks(struct telling *telling)
{
	struct definitions *known = telling->definitions;
	const struct stacks *stacks = &known->profile->stacks;
	struct told_kind *to = &telling->told->kinds[SECTION_STACKS];
	size_t end = stacks->nodes.n, room = room_for(telling, SECTION_STACKS);
	for (; known->n_stacks < end && kind_size(to) < room; known->n_stacks++, to->n++) {
		const struct stack_node *node = &stacks->nodes.at[known->n_stacks];
		bool follows = node->parent + 1 == known->n_stacks;
		bytes_put_varint(&to->columns[0], follows ? 0 : 1 + (node->parent >> 8));
		if (!follows)
			bytes_put_u8(&to->columns[1], (uint8_t)node->parent);
		bytes_put_varint(&to->columns[2], node->frame);
	}
}

static void tell_processes(struct telling *telling)
{
	struct definitions *known = telling->definitions;
	const struct profile *profile = known->profile;
	struct told_kind *to = &telling->told->kinds[SECTION_PROCESSES];
	for (; known->n_processes < profile->processes.n; known->n_processes++, to->n++) {
		const struct profile_process *process = &profile->processes.at[known->n_processes];
		bytes_put_zigzag(&to->columns[0], process->pid);
		bytes_put_varint(&to->columns[0], process->command);
		bytes_put_varint(&to->columns[0], process->version);
	}
}

static void put_identity(struct bytes *bytes, const struct profile_thread *thread)
{
	bytes_put_varint(bytes, thread->tid);
	bytes_put_varint(bytes, thread->name);
	bytes_put_varint(bytes, thread->main ? THREAD_MAIN : 0);
}

static void tell_changes(struct telling *telling)
{
	struct definitions *known = telling->definitions;
	struct told_kind *to = &telling->told->kinds[SECTION_CHANGES];
	for (size_t i = 0; i < known->threads.n; i++) {
		const struct profile_thread *now = &known->profile->threads.at[i];
		if (!definitions_due(known, (uint32_t)i))
			continue;
		bytes_put_varint(&to->columns[0], i);
		put_identity(&to->columns[0], now);
		known->threads.at[i] = *now;
		to->n++;
	}
}

static void tell_threads(struct telling *telling)
{
	struct definitions *known = telling->definitions;
	const struct profile *profile = known->profile;
	struct told_kind *to = &telling->told->kinds[SECTION_THREADS];
	for (size_t i = known->threads.n; i < profile->threads.n; i++) {
		const struct profile_thread *thread = &profile->threads.at[i];
		if (!vec_push(&known->threads, *thread)) {
			to->columns[0].failed = true;
			return;
		}
		bytes_put_varint(&to->columns[0], thread->process);
		bytes_put_zigzag(&to->columns[0], thread->interpreter);
		put_identity(&to->columns[0], thread);
		to->n++;
	}
}

/* Each kind only when all that it may refer to is told. True: all of it is. */
static bool tell(struct telling *telling)
{
	struct definitions *known = telling->definitions;
	const struct stacks *stacks = &known->profile->stacks;
	tell_strings(telling);
	if (known->n_strings < strtab_count(stacks->strings))
		return false;
	tell_processes(telling);
	tell_functions(telling);
	if (known->n_functions < stacks->functions.n)
		return false;
	tell_frames(telling);
	if (known->n_frames < stacks->frames.n)
		return false;
	tell_stacks(telling);
	if (known->n_stacks < stacks->nodes.n)
		return false;
	tell_threads(telling); /* before the changes, so that only old ones can have changed */
	tell_changes(telling);
	return true;
}

int definitions_put(struct definitions *definitions, size_t limit, struct told *told)
{
	struct definitions before = *definitions;
	struct told told_before = *told;
	struct telling telling = {definitions, told, told_size(told) + limit};
	bool all = tell(&telling);
	if (!told_failed(told))
		return all;
	told_take_back(told, &told_before); /* as if nothing had been tried */
	definitions->n_strings = before.n_strings;
	definitions->n_functions = before.n_functions;
	definitions->n_frames = before.n_frames;
	definitions->n_stacks = before.n_stacks;
	definitions->n_processes = before.n_processes;
	definitions->threads.n = before.threads.n;
	for (size_t i = 0; i < before.threads.n; i++) /* a change may not have been told */
		definitions->threads.at[i].tid = ~definitions->profile->threads.at[i].tid;
	return TACHY_ENOMEM;
}
