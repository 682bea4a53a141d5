/* SPDX-License-Identifier: MIT
 * The one place that names our version; meson.build repeats it for packagers.
 */
#ifndef BASE_RELEASE_H
#define BASE_RELEASE_H

#define TACHYSCOPE_VERSION "0.1.0"

#endif
