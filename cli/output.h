/* SPDX-License-Identifier: MIT
 * Where the profile goes, in which form, and whether it can go there: found out before anything is
 * started, so that no sample is taken in vain.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "opts.h"

#define OUTPUT_PATH_MAX 4096

struct output {
	const struct opts *opts;
	const struct tachy_format *format;
	struct tachy_recording *base; /* owned; what the profile is compared with, or NULL */
	struct tachy_stats base_stats;
	bool in_directory; /* -o is one: the name is made once the pid is known */
	char path[OUTPUT_PATH_MAX];
};

/* 0; TACHY_EINVAL: a usage error; others: cannot be written there. */
int output_choose(const struct opts *opts, struct output *ret_output, struct tachy_error *err);
void output_done(struct output *output);
/* Where the profile of `pid` goes, into output->path: it has a name of its own in a directory. */
int output_name(struct output *output, int64_t pid, struct tachy_error *err);
/* Writes the profile of `pid`; output->path then says where it is. */
int output_write(struct output *output, int64_t pid, const struct tachy_profile *profile,
		 const struct tachy_stats *stats, struct tachy_error *err);
/* The same for a session that goes on. */
int output_save(struct output *output, int64_t pid, struct tachy_session *session,
		struct tachy_error *err);

#endif
