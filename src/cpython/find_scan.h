/* SPDX-License-Identifier: MIT
 * Looks through the writable memory of modules: for a _PyRuntime that no symbol leads to, and for
 * Python's text of its own version.
 */
#ifndef CPYTHON_FIND_SCAN_H
#define CPYTHON_FIND_SCAN_H

#include "cpython/find_module.h"

#define SCAN_CHUNK      (256u << 10)
#define SCAN_MODULE_MAX (64u << 20) /* bytes looked at in one module */

/* A piece of the target's memory; true ends the scan. Nothing of up to 128 bytes is cut in two. */
typedef bool scan_visit(void *context, raddr addr, struct span bytes);

/* All writable data of a module, the last first. True when `visit` said so. */
bool scan_data(struct finder *finder, const struct module *module, scan_visit *visit,
	       void *context);

/* Called with places that could be a _PyRuntime; true ends the scan. */
typedef bool scan_hit(void *context, raddr candidate);

/* The cookie of 3.13+, and the words around interpreters_head of 3.8 to 3.12. True when `hit` said so. */
bool scan_runtimes(struct finder *finder, const struct module *module, scan_hit *hit,
		   void *context);

#define SCAN_VERSION_MAX 24

/* The text that Py_GetVersion() keeps ("3.9.18 (main, ..."), its first word. Any version when
 * `minor` is 0, else only 3.minor. False when there is none. */
bool scan_version(struct finder *finder, const struct module *module, unsigned minor,
		  char ret_version[SCAN_VERSION_MAX]);

/* "3.9.18", "3.13.0rc1", "2.7.18+" -> PY_VERSION_HEX; 0 when it is none. */
uint32_t version_text_hex(const char *text);

#endif
