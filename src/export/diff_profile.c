/* SPDX-License-Identifier: MIT
 * Copies `now` as it is, then `base` with the files and functions of `now` in the place of its own. Relies
 * on model/stack.c: a parent's id is smaller than its children's.
 */
#include "export/diff_profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "export/file_match.h"

#define NONE      UINT32_MAX
#define GROUP_MAX 10000 /* functions of one name in one file */

/* One of the two on its way into `both`: old id -> id there. */
struct copy {
	const struct profile *from;
	struct profile *both;
	str_id *string;
	function_id *function;
	frame_id *frame;
	stack_id *node;
};

/* A function under the names that it has in `both`, for sorting. */
struct named {
	str_id name, file;
	uint32_t kind;
	int32_t first_line;
	bool is_base;
	function_id id; /* in its own profile */
};

static int copy_alloc(struct copy *copy, const struct profile *from, struct profile *both)
{
	const struct stacks *stacks = &from->stacks;
	*copy = (struct copy){.from = from, .both = both};
	copy->string = calloc(strtab_count(stacks->strings) + 1, sizeof *copy->string);
	copy->function = malloc((stacks->functions.n + 1) * sizeof *copy->function);
	copy->frame = calloc(stacks->frames.n + 1, sizeof *copy->frame);
	copy->node = calloc(stacks->nodes.n + 1, sizeof *copy->node);
	if (!copy->string || !copy->function || !copy->frame || !copy->node)
		return TACHY_ENOMEM;
	memset(copy->function, 0xff, (stacks->functions.n + 1) * sizeof *copy->function);
	return 0;
}

static void copy_free(struct copy *copy)
{
	free(copy->string);
	free(copy->function);
	free(copy->frame);
	free(copy->node);
}

static int copy_strings(struct copy *copy)
{
	const struct strtab *strings = copy->from->stacks.strings;
	int rc = 0;
	for (str_id id = 0; id < strtab_count(strings) && rc >= 0; id++) {
		const char *text = strtab_get(strings, id);
		rc = strtab_add(copy->both->stacks.strings, text, strlen(text), &copy->string[id]);
	}
	return rc;
}

/* Functions that have no counterpart yet. */
static int copy_functions(struct copy *copy)
{
	const struct stacks *stacks = &copy->from->stacks;
	int rc = 0;
	for (function_id id = 0; id < stacks->functions.n && rc >= 0; id++) {
		struct function function = stacks->functions.at[id];
		if (copy->function[id] != NONE)
			continue;
		function.name = copy->string[function.name];
		function.file = copy->string[function.file];
		rc = stacks_function(&copy->both->stacks, &function, &copy->function[id]);
	}
	return rc;
}

/* A function that begins elsewhere now has its lines there, too. */
static int copy_frames(struct copy *copy)
{
	const struct stacks *stacks = &copy->from->stacks;
	struct stacks *both = &copy->both->stacks;
	int rc = 0;
	for (frame_id id = 0; id < stacks->frames.n && rc >= 0; id++) {
		struct frame frame = stacks->frames.at[id];
		int64_t shift =
			(int64_t)both->functions.at[copy->function[frame.function]].first_line -
			stacks->functions.at[frame.function].first_line;
		int64_t line = frame.at.line > 0 ? frame.at.line + shift : frame.at.line;
		frame.function = copy->function[frame.function];
		frame.at.line = (int32_t)(line > 0 && line <= INT32_MAX ? line : 0);
		frame.opcode = copy->string[frame.opcode];
		frame.base_opcode = copy->string[frame.base_opcode];
		rc = stacks_frame(both, &frame, &copy->frame[id]);
	}
	return rc;
}

static int copy_nodes(struct copy *copy)
{
	const struct stacks *stacks = &copy->from->stacks;
	int rc = 0;
	for (stack_id id = 1; id < stacks->nodes.n && rc >= 0; id++) {
		const struct stack_node *node = &stacks->nodes.at[id];
		rc = stacks_push(&copy->both->stacks, copy->node[node->parent],
				 copy->frame[node->frame], &copy->node[id]);
	}
	return rc;
}

static int copy_threads(struct copy *copy)
{
	const struct profile *from = copy->from;
	uint32_t first = (uint32_t)copy->both->processes.n, index;
	int rc = 0;
	for (size_t i = 0; i < from->processes.n && rc >= 0; i++) {
		const struct profile_process *process = &from->processes.at[i];
		rc = profile_add_process(copy->both, process->pid,
					 strtab_get(from->stacks.strings, process->command),
					 strtab_get(from->stacks.strings, process->version),
					 &index);
	}
	for (size_t i = 0; i < from->threads.n && rc >= 0; i++) {
		struct profile_thread thread = from->threads.at[i];
		thread.process += first;
		thread.name = copy->string[thread.name];
		rc = profile_add_thread(copy->both, &thread, &index);
	}
	return rc;
}

/* One that is not known must not become one of the other side's. */
static uint32_t thread_of(const struct profile *from, uint32_t thread, uint32_t first_thread)
{
	return first_thread + (thread < from->threads.n ? thread : 0);
}

static struct sample sample_of(const struct copy *copy, const struct profile_count *count,
			       uint32_t first_thread)
{
	return (struct sample){.thread = thread_of(copy->from, count->thread, first_thread),
			       .stack = copy->node[count->stack],
			       .states = count->states,
			       .n_ticks = count->n_samples,
			       .weight_ns = count->weight_ns};
}

/* `both` has no samples of others yet. */
static int copy_strip(struct copy *copy, uint32_t first_thread)
{
	const struct profile *from = copy->from;
	uint32_t *numbers = malloc((from->counts.n + 1) * sizeof *numbers);
	if (!numbers)
		return TACHY_ENOMEM;
	for (size_t i = 0; i < from->counts.n; i++) {
		struct sample sample = sample_of(copy, &from->counts.at[i], first_thread);
		if (!profile_find_count(copy->both, &sample, &numbers[i]))
			numbers[i] = STRIP_NONE;
	}
	int rc = time_strip_copy(&from->strip, numbers, &copy->both->strip);
	free(numbers);
	return rc;
}

/* With their times where they are wanted. */
static int copy_samples(struct copy *copy, uint32_t first_thread, bool times)
{
	const struct profile *from = copy->from;
	int rc = 0;
	for (size_t i = 0; i < from->counts.n && rc >= 0; i++) {
		struct sample sample = sample_of(copy, &from->counts.at[i], first_thread);
		rc = profile_count_sample(copy->both, &sample);
	}
	return times && rc >= 0 ? copy_strip(copy, first_thread) : rc;
}

/* ---- which function is which --------------------------------------------------------------------- */

static int by_name(const void *left, const void *right)
{
	const struct named *a = left, *b = right;
	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->is_base != b->is_base)
		return a->is_base ? 1 : -1;
	return (a->first_line > b->first_line) - (a->first_line < b->first_line);
}

static bool same_name(const struct named *a, const struct named *b)
{
	return a->name == b->name && a->file == b->file && a->kind == b->kind;
}

/* Functions of one name in one file, first those of `now`: the same where they begin on the same line,
 * the others in their order. */
static void pair_group(const struct named *at, size_t n_now, size_t n, const struct copy *now,
		       struct copy *base)
{
	size_t next = 0;
	if (n > GROUP_MAX)
		return; /* nobody's program: all of them are new and gone */
	for (size_t i = n_now; i < n; i++)
		for (size_t j = 0; j < n_now; j++)
			if (at[i].first_line == at[j].first_line)
				base->function[at[i].id] = now->function[at[j].id];
	for (size_t i = n_now; i < n; i++) {
		bool free = false;
		if (base->function[at[i].id] != NONE)
			continue;
		for (; next < n_now && !free; next++) {
			free = true;
			for (size_t k = n_now; k < n; k++)
				free = free &&
				       base->function[at[k].id] != now->function[at[next].id];
			if (free)
				base->function[at[i].id] = now->function[at[next].id];
		}
	}
}

static void name_functions(const struct copy *copy, bool is_base, struct named *at)
{
	const struct stacks *stacks = &copy->from->stacks;
	for (function_id id = 0; id < stacks->functions.n; id++) {
		const struct function *function = &stacks->functions.at[id];
		at[id] = (struct named){copy->string[function->name],
					copy->string[function->file],
					function->kind,
					function->first_line,
					is_base,
					id};
	}
}

static int pair_functions(const struct copy *now, struct copy *base)
{
	size_t n_now = now->from->stacks.functions.n, n_base = base->from->stacks.functions.n;
	struct named *named = malloc((n_now + n_base + 1) * sizeof *named);
	if (!named)
		return TACHY_ENOMEM;
	name_functions(now, false, named);
	name_functions(base, true, named + n_now);
	qsort(named, n_now + n_base, sizeof *named, by_name);
	for (size_t i = 0, end; i < n_now + n_base; i = end) {
		size_t middle = i;
		for (end = i; end < n_now + n_base && same_name(&named[i], &named[end]); end++)
			middle += !named[end].is_base;
		pair_group(named + i, middle - i, end - i, now, base);
	}
	free(named);
	return 0;
}

/* ---- which file is which ------------------------------------------------------------------------- */

struct files {
	VEC(const char *) paths;
	VEC(str_id) ids;
};

static int list_files(const struct stacks *stacks, struct files *files)
{
	bool *seen = calloc(strtab_count(stacks->strings) + 1, sizeof *seen);
	int rc = seen ? 0 : TACHY_ENOMEM;
	for (size_t i = 0; i < stacks->functions.n && rc >= 0; i++) {
		str_id file = stacks->functions.at[i].file;
		if (seen[file])
			continue;
		seen[file] = true;
		if (!vec_push(&files->paths, strtab_get(stacks->strings, file)) ||
		    !vec_push(&files->ids, file))
			rc = TACHY_ENOMEM;
	}
	free(seen);
	return rc;
}

/* The strings of moved files become those of `now`. */
static int match_files(const struct copy *now, struct copy *base, size_t *ret_n_moved)
{
	struct files theirs = {.paths = {NULL, 0, 0}}, ours = {.paths = {NULL, 0, 0}};
	uint32_t *match = NULL;
	int rc = list_files(&now->from->stacks, &ours);
	if (rc >= 0)
		rc = list_files(&base->from->stacks, &theirs);
	if (rc >= 0)
		match = malloc((theirs.paths.n + 1) * sizeof *match);
	if (rc >= 0)
		rc = match ? file_match(ours.paths.at, ours.paths.n, theirs.paths.at,
					theirs.paths.n, match)
			   : TACHY_ENOMEM;
	for (size_t i = 0; i < theirs.ids.n && rc >= 0; i++) {
		if (match[i] >= ours.ids.n) /* none */
			continue;
		str_id to = now->string[ours.ids.at[match[i]]];
		*ret_n_moved += base->string[theirs.ids.at[i]] != to;
		base->string[theirs.ids.at[i]] = to;
	}
	free(match);
	vec_done(&ours.paths);
	vec_done(&ours.ids);
	vec_done(&theirs.paths);
	vec_done(&theirs.ids);
	return rc;
}

/* ---- both -------------------------------------------------------------------------------------------- */

static int copy_rest(struct copy *copy, bool times)
{
	uint32_t first_thread = (uint32_t)copy->both->threads.n;
	int rc = copy_functions(copy);
	if (rc >= 0)
		rc = copy_frames(copy);
	if (rc >= 0)
		rc = copy_nodes(copy);
	if (rc >= 0)
		rc = copy_threads(copy);
	return rc < 0 ? rc : copy_samples(copy, first_thread, times);
}

static void take_facts(const struct profile *from, struct profile *both)
{
	both->rate_hz = from->rate_hz;
	both->mode = from->mode;
	both->opcodes = from->opcodes;
	both->async_aware = from->async_aware;
	both->start_unix_ns = from->start_unix_ns;
	both->start_ns = from->start_ns;
	both->duration_ns = from->duration_ns;
}

static int copy_both(struct diff_profile *diff, struct copy *now, struct copy *base)
{
	int rc = copy_strings(now);
	if (rc >= 0)
		rc = copy_rest(now, true);
	diff->n_processes = diff->both->processes.n;
	diff->n_threads = diff->both->threads.n;
	diff->n_counts = diff->both->counts.n;
	if (rc < 0 || !base->from)
		return rc;
	rc = copy_strings(base);
	if (rc >= 0)
		rc = match_files(now, base, &diff->n_files_moved);
	if (rc >= 0)
		rc = pair_functions(now, base);
	return rc < 0 ? rc : copy_rest(base, false);
}

int diff_profile_init(const struct profile *now, const struct profile *base,
		      struct diff_profile *ret_diff)
{
	struct copy to_now = {.from = NULL}, to_base = {.from = NULL};
	memset(ret_diff, 0, sizeof *ret_diff);
	int rc = profile_create(&ret_diff->both);
	if (rc < 0)
		return rc;
	take_facts(now, ret_diff->both);
	rc = copy_alloc(&to_now, now, ret_diff->both);
	if (rc >= 0 && base)
		rc = copy_alloc(&to_base, base, ret_diff->both);
	if (rc >= 0)
		rc = copy_both(ret_diff, &to_now, &to_base);
	copy_free(&to_now);
	copy_free(&to_base);
	if (rc < 0)
		diff_profile_done(ret_diff);
	return rc;
}

void diff_profile_done(struct diff_profile *diff)
{
	profile_destroy(diff->both);
	diff->both = NULL;
}
