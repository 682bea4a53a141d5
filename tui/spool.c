/* SPDX-License-Identifier: MIT
 * Lines are what a person would read: escape sequences are left out, a carriage return begins the line
 * anew, a backspace takes one character back. Other control characters stay, to be escaped where the
 * text is shown.
 */
#include "tui/spool.h"

#include <stdlib.h>
#include <string.h>

#include "tachyscope/error.h"

/* Where in an escape sequence the next byte is. */
enum { PLAIN, AFTER_ESC, IN_CSI, IN_STRING, IN_STRING_ESC, IN_CHARSET };

static int keep_bytes(struct spool *spool, const char *bytes, size_t n)
{
	if (!spool->bytes && !(spool->bytes = malloc(SPOOL_BYTES_MAX)))
		return TACHY_ENOMEM;
	if (n > SPOOL_BYTES_MAX) {
		spool->n += n - SPOOL_BYTES_MAX;
		bytes += n - SPOOL_BYTES_MAX;
		n = SPOOL_BYTES_MAX;
	}
	size_t at = (size_t)(spool->n % SPOOL_BYTES_MAX), head = SPOOL_BYTES_MAX - at;
	head = head < n ? head : n;
	memcpy(spool->bytes + at, bytes, head);
	memcpy(spool->bytes, bytes + head, n - head);
	spool->n += n;
	return 0;
}

static int end_line(struct spool *spool)
{
	struct spool_line line = {malloc(spool->n_partial + 1), spool->n_partial};
	if (!line.text)
		return TACHY_ENOMEM;
	memcpy(line.text, spool->partial, line.n);
	line.text[line.n] = '\0';
	spool->n_partial = 0;
	if (spool->lines.n >= SPOOL_LINES_MAX) {
		free(spool->lines.at[spool->first].text);
		spool->lines.at[spool->first] = line;
		spool->first = (spool->first + 1) % SPOOL_LINES_MAX;
		return 0;
	}
	if (vec_push(&spool->lines, line))
		return 0;
	free(line.text);
	return TACHY_ENOMEM;
}

/* False: the byte is no part of the text. */
static bool leave_out(struct spool *spool, unsigned char byte)
{
	switch (spool->escape) {
	case PLAIN:
		if (byte == 0x1b)
			spool->escape = AFTER_ESC;
		return byte == 0x1b;
	case AFTER_ESC:
		spool->escape = byte == '[' ? IN_CSI
				: byte == ']' || byte == 'P' || byte == '_' || byte == '^'
					? IN_STRING
				: byte == '(' || byte == ')' || byte == '#' ? IN_CHARSET
									    : PLAIN;
		return byte != '\n';
	case IN_CSI:
		if (byte >= 0x40 && byte < 0x7f)
			spool->escape = PLAIN;
		else if (byte < 0x20 || byte >= 0x7f) /* broken off */
			spool->escape = byte == 0x1b ? AFTER_ESC : PLAIN;
		return byte != '\n';
	case IN_STRING:
		if (byte == 0x07 || byte == '\n')
			spool->escape = PLAIN;
		else if (byte == 0x1b)
			spool->escape = IN_STRING_ESC;
		return byte != '\n';
	case IN_STRING_ESC:
		spool->escape = byte == '\\' || byte == '\n' ? PLAIN : IN_STRING;
		return byte != '\n';
	default:
		spool->escape = PLAIN;
		return byte != '\n';
	}
}

static void take_back(struct spool *spool)
{
	while (spool->n_partial > 0 && (spool->partial[--spool->n_partial] & 0xc0) == 0x80) {
	}
}

static int take_byte(struct spool *spool, char byte)
{
	bool cr = spool->cr;
	if (leave_out(spool, (unsigned char)byte))
		return 0;
	spool->cr = byte == '\r';
	if (byte == '\n')
		return end_line(spool);
	if (byte == '\r')
		return 0;
	if (cr)
		spool->n_partial = 0;
	if (byte == '\b') {
		take_back(spool);
		return 0;
	}
	do {
		if (spool->n_partial < SPOOL_LINE_MAX)
			spool->partial[spool->n_partial++] = byte == '\t' ? ' ' : byte;
	} while (byte == '\t' && spool->n_partial % 8 && spool->n_partial < SPOOL_LINE_MAX);
	spool->partial[spool->n_partial] = '\0';
	return 0;
}

int spool_take(struct spool *spool, const char *bytes, size_t n)
{
	int rc = keep_bytes(spool, bytes, n);
	for (size_t i = 0; i < n; i++) {
		int one = take_byte(spool, bytes[i]);
		rc = rc < 0 ? rc : one;
	}
	spool->partial[spool->n_partial] = '\0';
	return rc;
}

void spool_done(struct spool *spool)
{
	for (size_t i = 0; i < spool->lines.n; i++)
		free(spool->lines.at[i].text);
	vec_done(&spool->lines);
	free(spool->bytes);
	spool->bytes = NULL;
}

size_t spool_n_lines(const struct spool *spool)
{
	return spool->lines.n + (spool->n_partial > 0);
}

const char *spool_line(const struct spool *spool, size_t i)
{
	if (i >= spool->lines.n)
		return spool->n_partial > 0 ? spool->partial : "";
	return spool->lines.at[(spool->first + i) % spool->lines.n].text;
}

uint64_t spool_n_cut(const struct spool *spool)
{
	return spool->n > SPOOL_BYTES_MAX ? spool->n - SPOOL_BYTES_MAX : 0;
}

void spool_parts(const struct spool *spool, const char *parts[2], size_t sizes[2])
{
	size_t at = (size_t)(spool->n % SPOOL_BYTES_MAX);
	bool full = spool->n > SPOOL_BYTES_MAX;
	parts[0] = full ? spool->bytes + at : spool->bytes;
	sizes[0] = full ? SPOOL_BYTES_MAX - at : (size_t)spool->n;
	parts[1] = spool->bytes;
	sizes[1] = full ? at : 0;
}
