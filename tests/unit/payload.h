/* SPDX-License-Identifier: MIT
 * What a page holds, unpacked again.
 */
#ifndef PAYLOAD_H
#define PAYLOAD_H

#include <stddef.h>

/* The payload of a page, at most `max` bytes; a NUL follows it. free(). Fails the test where the page is
 * not whole. */
char *payload_of(const char *page, size_t max, size_t *ret_size);

#endif
