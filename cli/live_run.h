/* SPDX-License-Identifier: MIT
 * A session under the eyes of a person: --live.
 */
#ifndef CLI_LIVE_RUN_H
#define CLI_LIVE_RUN_H

#include "sample_run.h"

/* Whether there can be a screen: found out before anything is started. TACHY_EIO, TACHY_EINVAL. */
int live_check(const struct opts *opts, struct tachy_error *err);
/* Runs the session, which tells its samples to `live`, until the screen is left. */
int live_run(const struct opts *opts, struct tachy_session *session, struct tachy_live *live,
	     const struct subject *subject, struct tachy_error *err);

#endif
