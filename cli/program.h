/* SPDX-License-Identifier: MIT
 * What `run` starts: the rule that makes an argument vector out of the words of the command line.
 */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include "opts.h"

/* *ret_argv ends with NULL; the vector is the caller's to free(), program_free knows how. TACHY_ENOENT
 * with a sentence when the script is not there; TACHY_ENOMEM. */
int program_argv(const struct opts *opts, char ***ret_argv, struct tachy_error *err);
void program_free(char **argv);

#endif
