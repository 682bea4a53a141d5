/* SPDX-License-Identifier: MIT
 * What makes the drawing of svg.c more than a picture: zoom, search, the line of details.
 */
#ifndef EXPORT_SVG_SCRIPT_H
#define EXPORT_SVG_SCRIPT_H

/* For a CDATA section: holds no "]]>". */
extern const char svg_script[];

#endif
