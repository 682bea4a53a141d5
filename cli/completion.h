/* SPDX-License-Identifier: MIT
 * Scripts that let a shell complete our command lines, made from the tables of opts.h.
 */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include <stdio.h>

/* `shell`: "bash", "zsh" or "fish". */
void completion_write(FILE *file, const char *shell);

#endif
