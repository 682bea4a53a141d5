/* SPDX-License-Identifier: MIT
 * Globs by fnmatch, against the few texts that a frame goes by.
 */
#include "model/pattern.h"

#include <fnmatch.h>
#include <string.h>

static bool glob(const char *pattern, const char *text)
{
	return fnmatch(pattern, text, 0) == 0;
}

/* Folders that modules are looked for in: what follows the last of them is the module's place. */
static const char *below_root(const char *file)
{
	static const char *const roots[] = {"/site-packages/", "/dist-packages/"};
	for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
		const char *at = strstr(file, roots[i]);
		if (at)
			return at + strlen(roots[i]);
	}
	const char *lib = strstr(file, "/lib/python");
	const char *below = lib ? strchr(lib + strlen("/lib/python"), '/') : NULL;
	return below ? below + 1 : NULL;
}

static const char *last_part(const char *text, char mark)
{
	const char *at = strrchr(text, mark);
	return at ? at + 1 : text;
}

static bool ends_with(const char *text, size_t len, const char *end)
{
	size_t n = strlen(end);
	return len >= n && memcmp(text + len - n, end, n) == 0;
}

void pattern_module(const char *file, char module[PATTERN_MODULE_MAX])
{
	const char *below = below_root(file);
	if (!below)
		below = last_part(file, '/');
	if (strncmp(below, "<frozen ", 8) == 0)
		below += 8;
	size_t len = strlen(below);
	if (ends_with(below, len, ".py"))
		len -= 3;
	else if (ends_with(below, len, ">"))
		len -= 1;
	if (ends_with(below, len, "/__init__"))
		len -= strlen("/__init__");
	if (len >= PATTERN_MODULE_MAX)
		len = PATTERN_MODULE_MAX - 1;
	for (size_t i = 0; i < len; i++)
		module[i] = below[i] == '/' ? '.' : below[i];
	module[len] = '\0';
}

static bool is_function(const char *pattern, const char *function)
{
	return glob(pattern, function) || glob(pattern, last_part(function, '.'));
}

static bool is_file(const char *pattern, const char *file)
{
	if (glob(pattern, file))
		return *file;
	for (const char *at = strchr(file, '/'); at; at = strchr(at + 1, '/'))
		if (glob(pattern, at + 1))
			return true;
	return false;
}

/* The module, or a package that it is in. */
static bool is_module(const char *pattern, const char *module)
{
	char part[PATTERN_MODULE_MAX];
	size_t len = strlen(module);
	if (len == 0 || len >= sizeof part)
		return false;
	memcpy(part, module, len + 1);
	for (;;) {
		if (glob(pattern, part))
			return true;
		char *dot = strrchr(part, '.');
		if (!dot)
			return false;
		*dot = '\0';
	}
}

static const char *after(const char *pattern, const char *word)
{
	size_t n = strlen(word);
	return strncmp(pattern, word, n) == 0 ? pattern + n : NULL;
}

bool pattern_matches(const char *pattern, const char *function, const char *file,
		     const char *module)
{
	const char *only = after(pattern, "function:");
	if (only)
		return is_function(only, function);
	only = after(pattern, "file:");
	if (only)
		return is_file(only, file);
	only = after(pattern, "module:");
	if (only)
		return is_module(only, module);
	return is_function(pattern, function) || is_file(pattern, file) ||
	       is_module(pattern, module);
}
