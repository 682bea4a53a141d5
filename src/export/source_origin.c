/* SPDX-License-Identifier: MIT
 * Knows how CPython lays out an installation (Lib/sysconfig: lib/pythonX.Y, site-packages below it;
 * Debian says dist-packages) and how it names code without a file (<...>).
 */
#include "export/source_origin.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static bool is_version(const char *text)
{
	return isdigit((unsigned char)text[0]) != 0;
}

/* ".../lib/python3.12/...", ".../lib64/python3.12t/...", ".../python312.zip/..." */
static bool in_stdlib(const char *path)
{
	static const char *const folders[] = {"/lib/python", "/lib64/python", "/lib/pypy"};
	for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
		const char *at = strstr(path, folders[i]);
		if (at && is_version(at + strlen(folders[i])))
			return true;
	}
	const char *zip = strstr(path, "/python");
	for (; zip; zip = strstr(zip + 1, "/python")) {
		size_t n = strspn(zip + 7, "0123456789");
		if (n > 0 && strncmp(zip + 7 + n, ".zip/", 5) == 0)
			return true;
	}
	return false;
}

enum source_origin source_origin_of(const char *path)
{
	size_t len = strlen(path);
	if (strncmp(path, "<frozen ", 8) == 0)
		return SOURCE_FROZEN;
	if (len == 0 || (path[0] == '<' && path[len - 1] == '>'))
		return SOURCE_GENERATED;
	if (strstr(path, "/site-packages/") || strstr(path, "/dist-packages/"))
		return SOURCE_SITE;
	return in_stdlib(path) ? SOURCE_STDLIB : SOURCE_PROJECT;
}

const char *source_origin_name(enum source_origin origin)
{
	static const char *const names[SOURCE_N_ORIGINS] = {
		[SOURCE_PROJECT] = "project", [SOURCE_STDLIB] = "stdlib",
		[SOURCE_SITE] = "site",	      [SOURCE_FROZEN] = "frozen",
		[SOURCE_GENERATED] = "generated",
	};
	return names[origin];
}
