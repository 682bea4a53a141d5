/* SPDX-License-Identifier: MIT
 * The table of formats, made from the one list in export.h.
 */
#include <string.h>
#include <strings.h>

#include "export/export.h"

static const struct export_ops table[EXPORT_N] = {
#define EXPORT_ENTRY(identifier, name, suffix, aliases, timeline, about) \
	{name, suffix, aliases, about, TACHY_TIMELINE_##timeline, identifier##_write},
	EXPORT_FORMATS(EXPORT_ENTRY)
#undef EXPORT_ENTRY
};

const struct export_ops *export_table(void)
{
	return table;
}

int export_by_name(const char *name)
{
	for (int i = 0; i < EXPORT_N; i++)
		if (strcmp(table[i].name, name) == 0)
			return i;
	return -1;
}

static bool ends_with(const char *text, const char *end, size_t end_len)
{
	size_t len = strlen(text);
	return end_len > 0 && len > end_len && strncasecmp(text + len - end_len, end, end_len) == 0;
}

static bool has_suffix(const char *path, const struct export_ops *ops)
{
	if (ends_with(path, ops->suffix, strlen(ops->suffix)))
		return true;
	for (const char *at = ops->aliases; *at;) {
		size_t len = strcspn(at, " ");
		if (ends_with(path, at, len))
			return true;
		at += len + (at[len] == ' ');
	}
	return false;
}

int export_by_path(const char *path)
{
	for (int i = 0; i < EXPORT_N; i++)
		if (has_suffix(path, &table[i]))
			return i;
	return -1;
}
