/* SPDX-License-Identifier: MIT
 * $BROWSER, as other programs read it: commands parted by colons, the first that can be started wins, %s
 * in it is the page; else xdg-open. No shell is asked: neither the variable nor the path can run more
 * than one program with one page.
 */
#include "browser.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "say.h"

#define WORDS_MAX    16
#define COMMAND_ROOM 1024

/* "file:///..." of an existing file: what an URL has no room for as %XX. NULL: out of memory or no such
 * file. The caller's: free(). */
static char *url_of(const char *path)
{
	static const char digits[] = "0123456789ABCDEF";
	char *full = realpath(path, NULL);
	char *url = full ? malloc(3 * strlen(full) + 8) : NULL;
	if (url) {
		char *at = stpcpy(url, "file://");
		for (const char *c = full; *c; c++) {
			unsigned char byte = (unsigned char)*c;
			if ((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
			    (byte >= '0' && byte <= '9') || strchr("/-._~", byte)) {
				*at++ = *c;
				continue;
			}
			*at++ = '%';
			*at++ = digits[byte >> 4];
			*at++ = digits[byte & 15];
		}
		*at = '\0';
	}
	free(full);
	return url;
}

/* With nothing of our terminal, and out of reach of its Ctrl-C. */
static bool start(char *const argv[])
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	pid_t pid;
	sigemptyset(&none);
	if (posix_spawn_file_actions_init(&actions) != 0)
		return false;
	int rc = posix_spawnattr_init(&attributes);
	if (rc == 0) {
		rc = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
		if (rc == 0)
			rc = posix_spawn_file_actions_adddup2(&actions, 0, 1);
		if (rc == 0)
			rc = posix_spawn_file_actions_adddup2(&actions, 0, 2);
		(void)posix_spawnattr_setsigmask(&attributes, &none);
		(void)posix_spawnattr_setflags(&attributes,
					       POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
		if (rc == 0)
			rc = posix_spawnp(&pid, argv[0], &actions, &attributes, argv, environ);
		(void)posix_spawnattr_destroy(&attributes);
	}
	(void)posix_spawn_file_actions_destroy(&actions);
	return rc == 0;
}

/* One command of $BROWSER, `len` bytes of it. */
static bool start_command(const char *command, size_t len, char *url)
{
	char copy[COMMAND_ROOM], *argv[WORDS_MAX + 2], *rest = copy, *word;
	size_t n = 0;
	bool placed = false;
	if (len == 0 || len >= sizeof copy)
		return false;
	memcpy(copy, command, len);
	copy[len] = '\0';
	while (n < WORDS_MAX && (word = strsep(&rest, " \t"))) {
		if (!*word)
			continue;
		bool here = strcmp(word, "%s") == 0;
		argv[n++] = here ? url : word;
		placed = placed || here;
	}
	if (n == 0)
		return false;
	if (!placed)
		argv[n++] = url;
	argv[n] = NULL;
	return start(argv);
}

static bool start_any(char *url)
{
	const char *browsers = getenv("BROWSER");
	char *const fallback[] = {(char *)(uintptr_t) "xdg-open", url, NULL};
	while (browsers && *browsers) {
		size_t len = strcspn(browsers, ":");
		if (start_command(browsers, len, url))
			return true;
		browsers += len + (browsers[len] == ':');
	}
	return start(fallback);
}

void browser_open(const char *path)
{
	char *url = url_of(path);
	if (!url || !start_any(url))
		say("no browser could be started (neither $BROWSER nor xdg-open); the page is %s",
		    path);
	free(url);
}
