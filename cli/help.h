/* SPDX-License-Identifier: MIT
 * Help, made from the tables of opts.h.
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdio.h>

#include "opts.h"

/* Of one verb; VERB_NONE: of the program. */
void help_write(FILE *file, enum verb verb);

#endif
