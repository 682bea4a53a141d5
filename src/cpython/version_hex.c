/* SPDX-License-Identifier: MIT
 * PY_VERSION_HEX as Include/patchlevel.h composes it: major, minor, micro (a byte each), level
 * and serial (four bits each). The scheme is older than any version we read.
 */
#include "cpython/version_hex.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

static const char *suffix(unsigned level)
{
	switch (level) {
	case VERSION_ALPHA:
		return "a";
	case VERSION_BETA:
		return "b";
	case VERSION_RC:
		return "rc";
	case VERSION_FINAL:
		return "";
	default:
		return NULL;
	}
}

int version_hex_decode(uint32_t hex, unsigned *ret_major, unsigned *ret_minor, unsigned *ret_micro,
		       unsigned *ret_level, unsigned *ret_serial)
{
	unsigned level = hex >> 4 & 0xf, serial = hex & 0xf;

	if (suffix(level) == NULL || (level == VERSION_FINAL && serial != 0))
		return TACHY_ECORRUPT;
	*ret_major = hex >> 24 & 0xff;
	*ret_minor = hex >> 16 & 0xff;
	*ret_micro = hex >> 8 & 0xff;
	*ret_level = level;
	*ret_serial = serial;
	return 0;
}

int version_hex_format(uint32_t hex, char *ret_text, size_t size)
{
	unsigned major, minor, micro, level, serial;
	char text[VERSION_TEXT_MAX];
	int n, r = version_hex_decode(hex, &major, &minor, &micro, &level, &serial);

	if (r < 0)
		return r;
	if (level == VERSION_FINAL)
		n = snprintf(text, sizeof text, "%u.%u.%u", major, minor, micro);
	else
		n = snprintf(text, sizeof text, "%u.%u.%u%s%u", major, minor, micro, suffix(level),
			     serial);
	if (n < 0 || (size_t)n >= size)
		return TACHY_EINVAL;
	memcpy(ret_text, text, (size_t)n + 1);
	return 0;
}
