/* SPDX-License-Identifier: MIT
 * Opening a page for the one who asked for it.
 */
#ifndef CLI_BROWSER_H
#define CLI_BROWSER_H

/* Starts a browser on the file at `path` and does not wait for it; says so when none can be started. */
void browser_open(const char *path);

#endif
