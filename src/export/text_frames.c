/* SPDX-License-Identifier: MIT
 * Names and sources are foreign: everything goes through out_escaped or the same escapes.
 */
#include "export/text_frames.h"

#include <string.h>

#include "base/utf8.h"
#include "export/dump.h"

#define REPEATS_SHOWN  3   /* as Lib/traceback.py, _RECURSIVE_CUTOFF */
#define SOURCE_COLUMNS 160 /* of a source line */

#define STYLE_PLACE  "\x1b[35m"
#define STYLE_MARK   "\x1b[1;31m"
#define STYLE_OFF    "\x1b[0m"

static void style(const struct text_frames *text, const char *sequence)
{
	if (text->color)
		out_text(text->out, sequence);
}

static void begin_line(const struct text_frames *text, const char *start)
{
	out_repeat(text->out, ' ', text->indent);
	out_text(text->out, start);
}

/* ---- source line and its underline ----------------------------------------------------------- */

/* What of a line is shown, and what of that is underlined: byte offsets. */
struct excerpt {
	const char *text;
	size_t from, to;       /* without blanks around */
	size_t mark, mark_end; /* equal: no underline */
};

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\f' || c == '\v';
}

static struct excerpt excerpt_of(const struct source_line *line, const struct tachy_frame *frame)
{
	struct excerpt e = {line->text, 0, line->len, 0, 0};
	while (e.from < e.to && blank(e.text[e.from]))
		e.from++;
	while (e.to > e.from && blank(e.text[e.to - 1]))
		e.to--;
	if (frame->column < 0 || frame->end_line < frame->line ||
	    !utf8_valid(line->text, line->len))
		return e;
	size_t mark = (size_t)frame->column, end = e.to;
	if (frame->end_line == frame->line)
		end = frame->end_column < 0 ? 0 : (size_t)frame->end_column;
	if (mark < e.from)
		mark = e.from;
	if (end > e.to || mark >= end || (mark == e.from && end == e.to))
		return e; /* another file than was executed, or all of the line */
	e.mark = mark;
	e.mark_end = end;
	return e;
}

static size_t shown_columns(uint32_t c)
{
	if (c == '\t')
		return 1;
	return utf8_unsafe(c) ? (c > 0xffff ? 10 : 6) : utf8_width(c);
}

static void put_source_character(const struct text_frames *text, uint32_t c)
{
	char unit[UTF8_UNIT_MAX];
	if (c == '\t')
		c = ' ';
	out_bytes(text->out, unit, utf8_escape_unit(c, unit));
}

static void write_source(const struct text_frames *text, const struct excerpt *e)
{
	size_t columns = 0;
	for (size_t pos = e->from; pos < e->to;) {
		uint32_t c = utf8_next(e->text, e->to, &pos);
		columns += shown_columns(c);
		if (columns > SOURCE_COLUMNS) {
			out_text(text->out, "…");
			break;
		}
		put_source_character(text, c);
	}
	out_char(text->out, '\n');
}

static void write_underline(const struct text_frames *text, const struct excerpt *e)
{
	size_t columns = 0;
	begin_line(text, "    ");
	style(text, STYLE_MARK);
	for (size_t pos = e->from; pos < e->mark_end && columns < SOURCE_COLUMNS;) {
		char sign = pos < e->mark ? ' ' : '^';
		size_t width = shown_columns(utf8_next(e->text, e->to, &pos));
		out_repeat(text->out, sign, width);
		columns += width;
	}
	style(text, STYLE_OFF);
	out_char(text->out, '\n');
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* The instruction, and in brackets what it is a form of. */
static void write_opcode(const struct text_frames *text, const struct tachy_frame *frame)
{
	if (!dump_opcode(frame)[0])
		return;
	out_text(text->out, ", at ");
	out_escaped(text->out, frame->opcode);
	if (strcmp(frame->opcode, frame->base_opcode) == 0)
		return;
	out_text(text->out, " (");
	out_escaped(text->out, frame->base_opcode);
	out_char(text->out, ')');
}

static void write_place(const struct text_frames *text, const struct tachy_frame *frame)
{
	begin_line(text, "  File \"");
	style(text, STYLE_PLACE);
	out_escaped(text->out, frame->file);
	style(text, STYLE_OFF);
	out_text(text->out, "\", line ");
	if (frame->line > 0)
		out_i64(text->out, frame->line);
	else
		out_char(text->out, '?');
	out_text(text->out, ", in ");
	style(text, STYLE_PLACE);
	out_escaped(text->out, frame->function);
	style(text, STYLE_OFF);
	write_opcode(text, frame);
	out_char(text->out, '\n');
}

static void write_frame(const struct text_frames *text, const struct tachy_frame *frame)
{
	if (frame->kind == TACHY_FRAME_CUT) {
		begin_line(text, "  [older frames are missing]\n");
		return;
	}
	if (frame->kind != TACHY_FRAME_PYTHON) {
		begin_line(text, "  ");
		out_escaped(text->out, frame->function);
		out_char(text->out, '\n');
		return;
	}
	write_place(text, frame);
	const struct source_line *line = source_lines_find(&text->sources, frame->file,
							   frame->line);
	if (!line)
		return;
	struct excerpt e = excerpt_of(line, frame);
	if (e.from == e.to)
		return;
	begin_line(text, "    ");
	write_source(text, &e);
	if (e.mark < e.mark_end)
		write_underline(text, &e);
}

static bool same_place(const struct tachy_frame *a, const struct tachy_frame *b)
{
	return a->kind == b->kind && a->line == b->line && strcmp(a->function, b->function) == 0 &&
	       strcmp(a->file, b->file) == 0 && strcmp(dump_opcode(a), dump_opcode(b)) == 0;
}

/* How often the frame at `i` comes again directly above it (towards the leaf). */
static size_t count_repeats(const struct tachy_frame *frames, size_t i)
{
	size_t n = 0;
	while (i > n && same_place(&frames[i], &frames[i - 1 - n]))
		n++;
	return n;
}

void text_frames_write(const struct text_frames *text, const struct tachy_frame *frames,
		       size_t n_frames, bool cut)
{
	bool marked = n_frames > 0 && frames[n_frames - 1].kind == TACHY_FRAME_CUT;
	if (cut && !marked)
		begin_line(text, "  [older frames are missing]\n");
	for (size_t left = n_frames; left > 0;) {
		size_t again = count_repeats(frames, left - 1);
		for (size_t i = 0; i <= again && i < REPEATS_SHOWN; i++)
			write_frame(text, &frames[left - 1 - i]);
		left -= again + 1;
		if (again < REPEATS_SHOWN)
			continue;
		size_t n = again + 1 - REPEATS_SHOWN;
		begin_line(text, "  [Previous line repeated ");
		out_u64(text->out, n);
		out_text(text->out, n > 1 ? " more times]\n" : " more time]\n");
	}
}
