/* SPDX-License-Identifier: MIT
 * The verbs. Each gives the exit status of the program.
 */
#ifndef CLI_CMD_H
#define CLI_CMD_H

#include "opts.h"

int cmd_run(const struct opts *opts);
int cmd_attach(const struct opts *opts);
int cmd_dump(const struct opts *opts);
int cmd_replay(const struct opts *opts);
int cmd_ps(const struct opts *opts);

#endif
