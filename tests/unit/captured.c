/* SPDX-License-Identifier: MIT
 * Temporary files without a name, so that a failing test leaves nothing behind.
 */
#include "captured.h"

#include <unistd.h>

#include "cases.h"

void captured_begin(struct out *out)
{
	FILE *file = tmpfile();
	assert_non_null(file);
	int fd = dup(fileno(file));
	assert_true(fd >= 0);
	(void)fclose(file);
	out_init(out, fd);
}

char *captured_end_sized(struct out *out, size_t *ret_n)
{
	assert_int_equal(out_flush(out), 0);
	off_t size = lseek(out->fd, 0, SEEK_END);
	assert_true(size >= 0);
	char *text = malloc((size_t)size + 1);
	assert_non_null(text);
	assert_int_equal(pread(out->fd, text, (size_t)size, 0), size);
	text[size] = '\0';
	(void)close(out->fd);
	*ret_n = (size_t)size;
	return text;
}

char *captured_end(struct out *out)
{
	size_t n;
	return captured_end_sized(out, &n);
}

struct profile *sample_profile(void)
{
	struct profile *profile;
	uint32_t process;
	assert_int_equal(profile_create(&profile), 0);
	assert_int_equal(profile_add_process(profile, 100, "prog a", "3.13.0", &process), 0);
	profile->rate_hz = 1000;
	return profile;
}

uint32_t sample_thread(struct profile *profile, uint32_t process, uint64_t tid, const char *name)
{
	struct profile_thread thread = {.process = process, .tid = tid, .main = tid == 100};
	uint32_t index;
	assert_int_equal(profile_add_thread(profile, &thread, &index), 0);
	assert_int_equal(profile_set_thread_name(profile, index, name), 0);
	return index;
}

static frame_id marker(const struct stacks *stacks, const char *word)
{
	if (strcmp(word, "<GC>") == 0)
		return stacks->gc;
	return strcmp(word, "<cut>") == 0 ? stacks->cut : stacks->native;
}

static frame_id make_frame(struct stacks *stacks, const char *word)
{
	struct function function = {.first_line = 1, .kind = TACHY_FRAME_PYTHON};
	struct frame frame = {.at = {.end_line = 0, .column = -1, .end_column = -1}};
	char name[256], file[300];
	frame_id id;
	(void)snprintf(name, sizeof name, "%s", word);
	char *colon = strrchr(name, ':');
	if (colon) {
		frame.at.line = atoi(colon + 1);
		*colon = '\0';
	}
	(void)snprintf(file, sizeof file, "%s.py", name);
	assert_true(strtab_add(stacks->strings, name, strlen(name), &function.name) >= 0);
	assert_true(strtab_add(stacks->strings, file, strlen(file), &function.file) >= 0);
	assert_int_equal(stacks_function(stacks, &function, &frame.function), 0);
	assert_int_equal(stacks_frame(stacks, &frame, &id), 0);
	return id;
}

void sample_add(struct profile *profile, uint32_t thread, const char *stack, uint64_t n)
{
	struct sample sample = {.weight_ns = n * 1000000, .n_ticks = n, .thread = thread};
	char copy[4096];
	char *rest = copy, *word;
	(void)snprintf(copy, sizeof copy, "%s", stack);
	while ((word = strsep(&rest, "|")) && *word) {
		frame_id frame = word[0] == '<' && !strchr(word, ':')
					 ? marker(&profile->stacks, word)
					 : make_frame(&profile->stacks, word);
		assert_int_equal(stacks_push(&profile->stacks, sample.stack, frame, &sample.stack),
				 0);
	}
	assert_int_equal(profile_count_sample(profile, &sample), 0);
	profile->duration_ns += n * 1000000;
}
