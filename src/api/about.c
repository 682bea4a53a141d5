/* SPDX-License-Identifier: MIT
 * Version and error texts for users of the library.
 */
#include "base/error.h"
#include "base/release.h"
#include "tachyscope/tachyscope.h"

const char *tachy_version(void)
{
	return TACHYSCOPE_VERSION;
}

const char *tachy_error_name(int code)
{
	return error_name(code);
}

const char *tachy_error_text(int code)
{
	return error_text(code);
}

enum tachy_error_class tachy_error_class_of(int code)
{
	return error_class(code);
}
