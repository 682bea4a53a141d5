/* SPDX-License-Identifier: MIT
 * Hides the texts and classes of the codes, all generated from the one list in
 * include/tachyscope/error.h. Text is always ended, cut when too long, never across a UTF-8 letter.
 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct entry {
	int code;
	enum tachy_error_class class;
	const char *name, *text;
};

static const struct entry entries[] = {
#define ENTRY(name, value, class, text) {name, class, #name, text},
	TACHY_ERRORS(ENTRY)
#undef ENTRY
};

static const struct entry *find(int code)
{
	for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
		if (entries[i].code == code)
			return &entries[i];
	return NULL;
}

const char *error_name(int code)
{
	const struct entry *entry = find(code);
	return entry ? entry->name : code >= 0 ? "TACHY_OK" : "TACHY_E?";
}

const char *error_text(int code)
{
	const struct entry *entry = find(code);
	return entry ? entry->text : code >= 0 ? "no error" : "unknown error";
}

enum tachy_error_class error_class(int code)
{
	const struct entry *entry = find(code);
	return entry ? entry->class : code >= 0 ? TACHY_CLASS_NONE : TACHY_CLASS_BUG;
}

/* vsnprintf cuts between bytes; take a letter that was cut in two away as a whole. */
static void trim_utf8(char *text, size_t size)
{
	size_t end = strlen(text);
	if (end + 1 < size)
		return;
	size_t lead = end;
	while (lead > 0 && end - lead < 4 && ((unsigned char)text[lead - 1] & 0xc0) == 0x80)
		lead--;
	if (lead == 0)
		return;
	unsigned char first = (unsigned char)text[lead - 1];
	size_t want = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
	if (end - (lead - 1) < want)
		text[lead - 1] = '\0';
}

int error_set(struct tachy_error *err, int code, const char *format, ...)
{
	if (!err)
		return code;
	/* built aside: the arguments may point into err->text */
	char text[TACHY_ERROR_TEXT_MAX];
	va_list args;
	va_start(args, format);
	int n = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (n < 0)
		text[0] = '\0';
	trim_utf8(text, sizeof text);
	memcpy(err->text, text, sizeof text);
	err->code = code;
	return code;
}

static void append(char *text, size_t size, const char *more)
{
	size_t used = strlen(text), len = strlen(more);
	if (len > size - 1 - used)
		len = size - 1 - used;
	memcpy(text + used, more, len);
	text[used + len] = '\0';
}

int error_wrap(struct tachy_error *err, const char *format, ...)
{
	if (!err)
		return TACHY_OK;
	char text[TACHY_ERROR_TEXT_MAX];
	va_list args;
	va_start(args, format);
	int n = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (n < 0)
		return err->code;
	if (err->text[0]) {
		append(text, sizeof text, ": ");
		append(text, sizeof text, err->text);
	}
	trim_utf8(text, sizeof text);
	memcpy(err->text, text, sizeof text);
	return err->code;
}

int error_from_errno(int errno_value)
{
	switch (errno_value) {
	case 0:
		return TACHY_OK;
	case EAGAIN:
	case EINTR:
		return TACHY_EAGAIN;
	case ESRCH:
		return TACHY_EGONE;
	case EPERM:
	case EACCES:
		return TACHY_EPERM;
	case EFAULT:
		return TACHY_EFAULT;
	case ENOMEM:
		return TACHY_ENOMEM;
	case EINVAL:
		return TACHY_EINVAL;
	case ENOENT:
	case ENOTDIR:
		return TACHY_ENOENT;
	case ENOSYS:
		return TACHY_EPLATFORM;
	default:
		return TACHY_EIO;
	}
}
