/* SPDX-License-Identifier: MIT
 * dump_json.c, dump_text.c and source_lines.c, on a dump made by hand.
 */
#include "cases.h"

#include "base/utf8.h"
#include "captured.h"
#include "export/dump.h"
#include "fake_alloc.h"

#define N_FRAMES_DEEP 5000

#define PYTHON(name, path, at, end, from, to) \
	{ \
		.function = (name), .file = (path), .first_line = 1, .line = (at), \
		.end_line = (end), .column = (from), .end_column = (to), \
		.kind = TACHY_FRAME_PYTHON \
	}

static const struct tachy_frame frames[] = {
	{.function = "<GC>", .file = "", .column = -1, .end_column = -1, .kind = TACHY_FRAME_GC},
	PYTHON("f.<locals>.g", "/x/a.py", 3, 3, 11, 14),
	PYTHON("f", "/x/a.py", 2, 2, 4, 16),
	PYTHON("<module>", "<string>", 1, 0, -1, -1),
};

static const struct tachy_thread threads[] = {
	{.tid = 42,
	 .name = "Main\"Thread\x1b",
	 .states = TACHY_STATE_MAIN | TACHY_STATE_GIL | TACHY_STATE_GIL_KNOWN | TACHY_STATE_ON_CPU |
		   TACHY_STATE_CPU_KNOWN | TACHY_STATE_EXCEPTION | TACHY_STATE_GC,
	 .n_frames = N_OF(frames),
	 .frames = frames},
	{.tid = 43, .name = "", .states = TACHY_STATE_CPU_KNOWN, .status = TACHY_ETORN},
	{.tid = 0,
	 .name = "odd",
	 .states = TACHY_STATE_CPU_KNOWN | TACHY_STATE_GIL_WAITING,
	 .cut = true,
	 .n_frames = 1,
	 .frames = &frames[3]},
	{.tid = 44, .name = "no stack"},
};

static const struct tachy_interpreter interpreter = {.id = 0,
						     .n_threads = N_OF(threads),
						     .threads = threads};
static const struct tachy_dump sample_dump = {.pid = 42,
					      .version = "3.13.0",
					      .n_interpreters = 1,
					      .interpreters = &interpreter};

/* ---- json ------------------------------------------------------------------------------------------ */

static void json_has_this_form(void **state)
{
	static const char wanted[] =
		"{\"schema\":\"tachyscope-dump/1\",\"pid\":42,"
		"\"python\":{\"version\":\"3.13.0\",\"free_threaded\":false},"
		"\"interpreters\":[{\"id\":0,\"threads\":["
		"{\"tid\":42,\"name\":\"Main\\\"Thread\\u001b\",\"main\":true,"
		"\"status\":[\"gil\",\"on_cpu\",\"exception\",\"gc\"],\"frames\":["
		"{\"function\":\"<GC>\",\"file\":\"\",\"line\":0,\"end_line\":0,\"column\":-1,"
		"\"end_column\":-1,"
		"\"kind\":\"gc\"},"
		"{\"function\":\"f.<locals>.g\",\"file\":\"/x/"
		"a.py\",\"line\":3,\"end_line\":3,\"column\":11,"
		"\"end_column\":14,\"kind\":\"python\"},"
		"{\"function\":\"f\",\"file\":\"/x/"
		"a.py\",\"line\":2,\"end_line\":2,\"column\":4,\"end_column\":16,"
		"\"kind\":\"python\"},"
		"{\"function\":\"<module>\",\"file\":\"<string>\",\"line\":1,\"end_line\":0,"
		"\"column\":-1,"
		"\"end_column\":-1,\"kind\":\"python\"}]},"
		"{\"tid\":43,\"name\":\"\",\"main\":false,\"status\":[\"idle\"],\"frames\":[],"
		"\"error\":\"the target moved while it was read\"},"
		"{\"tid\":0,\"name\":\"odd\",\"main\":false,\"status\":[\"gil_waiting\"],"
		"\"frames\":["
		"{\"function\":\"<module>\",\"file\":\"<string>\",\"line\":1,\"end_line\":0,"
		"\"column\":-1,"
		"\"end_column\":-1,\"kind\":\"python\"}],\"cut\":true},"
		"{\"tid\":44,\"name\":\"no "
		"stack\",\"main\":false,\"status\":[],\"frames\":[]}]}]}\n";
	struct out out;
	(void)state;
	captured_begin(&out);
	assert_int_equal(dump_json_write(&sample_dump, &out), 0);
	char *text = captured_end(&out);
	assert_string_equal(text, wanted);
	free(text);
}

/* ---- text ------------------------------------------------------------------------------------------ */

struct files {
	const char *path, *text;
	int n_reads;
};

static int read_file(void *ctx, const char *path, struct source_text *ret_text)
{
	struct files *files = ctx;
	files->n_reads++;
	if (strcmp(files->path, path) != 0)
		return TACHY_ENOENT;
	ret_text->size = strlen(files->text);
	ret_text->bytes = malloc(ret_text->size + 1);
	assert_non_null(ret_text->bytes);
	memcpy(ret_text->bytes, files->text, ret_text->size + 1);
	return 0;
}

static char *dump_text(const struct tachy_dump *dump, struct files *files, bool color)
{
	struct dump_text_options options = {.color = color};
	struct out out;
	if (files)
		options.reader = (struct source_reader){read_file, files};
	captured_begin(&out);
	assert_int_equal(dump_text_write(dump, &options, &out), 0);
	return captured_end(&out);
}

static void text_has_this_form(void **state)
{
	static const char wanted[] = "Process 42, Python 3.13.0, most recent call last\n"
				     "\n"
				     "Thread 42 \"Main\"Thread\\u001b\" (main, has GIL, on CPU, "
				     "has exception, collecting garbage):\n"
				     "  File \"<string>\", line 1, in <module>\n"
				     "  File \"/x/a.py\", line 2, in f\n"
				     "    return g(1)\n"
				     "  File \"/x/a.py\", line 3, in f.<locals>.g\n"
				     "    é = 1 + h() + 2\n"
				     "            ^^^\n"
				     "  <GC>\n"
				     "\n"
				     "Thread 43 (idle):\n"
				     "  [could not be read: the target moved while it was read]\n"
				     "\n"
				     "Thread ? \"odd\" (waiting for GIL):\n"
				     "  [older frames are missing]\n"
				     "  File \"<string>\", line 1, in <module>\n"
				     "\n"
				     "Thread 44 \"no stack\":\n"
				     "  [no Python frame]\n";
	/* the last line has a two-byte letter before the marked part, which counts in bytes */
	struct files files = {"/x/a.py", "def f():\n    return g(1) \n  é = 1 + h() + 2\n", 0};
	char *text = dump_text(&sample_dump, &files, false);
	(void)state;
	assert_string_equal(text, wanted);
	assert_int_equal(files.n_reads, 1); /* once, for two frames; and "<string>" is no file */
	free(text);
}

static void text_without_sources(void **state)
{
	char *text = dump_text(&sample_dump, NULL, false);
	(void)state;
	assert_non_null(
		strstr(text, "  File \"/x/a.py\", line 2, in f\n  File \"/x/a.py\", line 3"));
	free(text);
}

/* One frame of one thread, and the source line that goes with it. */
static void check_source(const char *source, struct tachy_frame frame, const char *wanted)
{
	struct tachy_thread thread = {.tid = 1, .name = "", .n_frames = 1, .frames = &frame};
	struct tachy_interpreter one = {.n_threads = 1, .threads = &thread};
	struct tachy_dump dump = {.version = "3.13.0", .n_interpreters = 1, .interpreters = &one};
	struct files files = {frame.file, source, 0};
	char *text = dump_text(&dump, &files, false), *at = strstr(text, ", in f\n");
	assert_non_null(at);
	assert_string_equal(at + 7, wanted);
	free(text);
}

static void underlines_what_is_a_part(void **state)
{
	(void)state;
	check_source("  a + b\n", (struct tachy_frame)PYTHON("f", "s.py", 1, 1, 2, 3),
		     "    a + b\n    ^\n");
	check_source("  a + b\n", (struct tachy_frame)PYTHON("f", "s.py", 1, 1, 6, 7),
		     "    a + b\n        ^\n");
	check_source("  a + b\n", (struct tachy_frame)PYTHON("f", "s.py", 1, 1, 2, 7),
		     "    a + b\n");
	check_source("  a(\n  b)\n", (struct tachy_frame)PYTHON("f", "s.py", 1, 2, 3, 1),
		     "    a(\n     ^\n");
	check_source("  a(\n  b)\n", (struct tachy_frame)PYTHON("f", "s.py", 1, 2, 2, 1),
		     "    a(\n");
	/* no columns, or such as do not fit this file */
	check_source("  a + b\n", (struct tachy_frame)PYTHON("f", "s.py", 1, 0, -1, -1),
		     "    a + b\n");
	check_source("  a + b\n", (struct tachy_frame)PYTHON("f", "s.py", 1, 1, 6, 99),
		     "    a + b\n");
	check_source("  a + b\n", (struct tachy_frame)PYTHON("f", "s.py", 1, 1, 99, 3),
		     "    a + b\n");
	check_source("  a + b\n",
		     (struct tachy_frame)PYTHON("f", "s.py", 1, 1, INT32_MAX, INT32_MAX),
		     "    a + b\n");
	/* widths: a tab is one blank, CJK are two columns, combining marks none */
	check_source("\ta\t+ b\n", (struct tachy_frame)PYTHON("f", "s.py", 1, 1, 5, 6),
		     "    a + b\n        ^\n");
	check_source("日本 = b()\n", (struct tachy_frame)PYTHON("f", "s.py", 1, 1, 9, 12),
		     "    日本 = b()\n           ^^^\n");
	/* another encoding: shown as far as it goes, not underlined */
	check_source("x = '\xe9' + b\n", (struct tachy_frame)PYTHON("f", "s.py", 1, 1, 0, 1),
		     "    x = '\xef\xbf\xbd' + b\n");
	check_source("x = '\x1b[2J' + b\n", (struct tachy_frame)PYTHON("f", "s.py", 1, 1, 0, 1),
		     "    x = '\\u001b[2J' + b\n    ^\n");
}

static void finds_lines_as_python_counts(void **state)
{
	(void)state;
	check_source("a\r\nb\rc\nd", (struct tachy_frame)PYTHON("f", "s.py", 1, 0, -1, -1),
		     "    a\n");
	check_source("a\r\nb\rc\nd", (struct tachy_frame)PYTHON("f", "s.py", 2, 0, -1, -1),
		     "    b\n");
	check_source("a\r\nb\rc\nd", (struct tachy_frame)PYTHON("f", "s.py", 3, 0, -1, -1),
		     "    c\n");
	check_source("a\r\nb\rc\nd", (struct tachy_frame)PYTHON("f", "s.py", 4, 0, -1, -1),
		     "    d\n");
	check_source("a\r\nb\rc\nd", (struct tachy_frame)PYTHON("f", "s.py", 5, 0, -1, -1), "");
	check_source("a\r\nb\rc\nd", (struct tachy_frame)PYTHON("f", "s.py", INT32_MAX, 0, -1, -1),
		     "");
	check_source("\xef\xbb\xbf"
		     "a",
		     (struct tachy_frame)PYTHON("f", "s.py", 1, 0, -1, -1), "    a\n");
	check_source("", (struct tachy_frame)PYTHON("f", "s.py", 1, 0, -1, -1), "");
	check_source("   \n", (struct tachy_frame)PYTHON("f", "s.py", 1, 0, -1, -1), "");
}

static void long_lines_are_cut(void **state)
{
	char *source = malloc(100001);
	(void)state;
	assert_non_null(source);
	memset(source, 'x', 100000);
	source[100000] = '\0';
	struct tachy_frame frame = PYTHON("f", "s.py", 1, 1, 1, 99999);
	struct tachy_thread thread = {.name = "", .n_frames = 1, .frames = &frame};
	struct tachy_interpreter one = {.n_threads = 1, .threads = &thread};
	struct tachy_dump dump = {.version = "3.13.0", .n_interpreters = 1, .interpreters = &one};
	struct files files = {"s.py", source, 0};
	char *text = dump_text(&dump, &files, false);
	assert_in_range(strlen(text), 100, 600);
	assert_non_null(strstr(text, "x…\n"));
	free(text);
	free(source);
}

static void recursion_is_folded(void **state)
{
	struct tachy_frame *deep = calloc(N_FRAMES_DEEP, sizeof *deep);
	(void)state;
	assert_non_null(deep);
	for (size_t i = 0; i < N_FRAMES_DEEP; i++)
		deep[i] = (struct tachy_frame)PYTHON("f", "s.py", 1, 0, -1, -1);
	deep[0].line = 2;
	deep[N_FRAMES_DEEP - 1].function = "<module>";
	struct tachy_thread thread = {.tid = 1,
				      .name = "",
				      .n_frames = N_FRAMES_DEEP,
				      .frames = deep};
	struct tachy_interpreter one = {.n_threads = 1, .threads = &thread};
	struct tachy_dump dump = {.version = "3.13.0", .n_interpreters = 1, .interpreters = &one};
	char *text = dump_text(&dump, NULL, false);
	assert_non_null(strstr(text, "in <module>\n"
				     "  File \"s.py\", line 1, in f\n"
				     "  File \"s.py\", line 1, in f\n"
				     "  File \"s.py\", line 1, in f\n"
				     "  [Previous line repeated 4995 more times]\n"
				     "  File \"s.py\", line 2, in f\n"));
	free(text);
	thread.n_frames = 5; /* line 2, and four times line 1 */
	text = dump_text(&dump, NULL, false);
	assert_non_null(strstr(text, "  [Previous line repeated 1 more time]\n"));
	free(text);
	thread.n_frames = 4;
	text = dump_text(&dump, NULL, false);
	assert_null(strstr(text, "repeated"));
	free(text);
	free(deep);
}

static void several_interpreters_and_colour(void **state)
{
	struct tachy_interpreter two[] = {interpreter, interpreter};
	struct tachy_dump dump = {.pid = 1,
				  .version = "3.14.0",
				  .free_threaded = true,
				  .n_interpreters = 2,
				  .interpreters = two};
	char *text = dump_text(&dump, NULL, true);
	(void)state;
	two[1].id = 7;
	free(text);
	text = dump_text(&dump, NULL, true);
	assert_non_null(strstr(text, "Python 3.14.0 (free-threaded), "));
	assert_non_null(strstr(text, "(interpreter 0, main, attached, on CPU"));
	assert_non_null(strstr(text, "(interpreter 7, main, attached, on CPU"));
	assert_non_null(strstr(text, "\x1b[1mThread 42"));
	free(text);
}

static void out_of_memory(void **state)
{
	struct files files = {"/x/a.py", "a\nb\nc\n", 0};
	struct dump_text_options options = {.reader = {read_file, &files}};
	struct out out;
	int rc = TACHY_ENOMEM;
	(void)state;
	if (!FAKE_ALLOC_FAILS)
		skip();
	/* the first is the list of lines, the second the file (read_file's own), the third what is kept */
	for (int n = 0; rc < 0 && n < 100; n += 2) {
		captured_begin(&out);
		fake_alloc_arm(n);
		rc = dump_text_write(&sample_dump, &options, &out);
		(void)fake_alloc_disarm();
		assert_true(rc == 0 || rc == TACHY_ENOMEM);
		free(captured_end(&out));
	}
	assert_int_equal(rc, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_has_this_form),
		cmocka_unit_test(text_has_this_form),
		cmocka_unit_test(text_without_sources),
		cmocka_unit_test(underlines_what_is_a_part),
		cmocka_unit_test(finds_lines_as_python_counts),
		cmocka_unit_test(long_lines_are_cut),
		cmocka_unit_test(recursion_is_folded),
		cmocka_unit_test(several_interpreters_and_colour),
		cmocka_unit_test(out_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
