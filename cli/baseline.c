/* SPDX-License-Identifier: MIT
 * A base is looked at as the profile is: with the same --include and --exclude, and in the same mode where
 * its recording has that. Where it does not, the outputs say that the modes differ.
 */
#include "baseline.h"

#include "base/error.h"
#include "say.h"

static int read_base(const struct opts *opts, struct tachy_recording *base, struct tachy_error *err)
{
	struct tachy_filter filter;
	enum tachy_mode recorded = tachy_recording_mode(base);
	struct tachy_replay_options options = {.size = sizeof options,
					       .all_modes = recorded != TACHY_MODE_WALL ||
							    !opts->mode_given,
					       .mode = opts->session.mode};
	if (opts_filter(opts, &filter)) {
		filter.from_s = filter.to_s = 0; /* of this run, not of that one */
		options.filter = &filter;
	}
	return tachy_recording_read(base, &options, err);
}

static int open_and_read(const struct opts *opts, struct tachy_recording **ret_base,
			 struct tachy_error *err)
{
	struct tachy_error why = {0};
	int rc = tachy_recording_open(opts->base, ret_base, &why);
	if (rc < 0)
		return error_set(err, rc, "no base to compare with: %s", why.text);
	rc = read_base(opts, *ret_base, &why);
	if (rc < 0) {
		tachy_recording_close(*ret_base);
		return error_set(err, rc, "cannot compare with %s: %s", opts->base, why.text);
	}
	return 0;
}

int baseline_open(const struct opts *opts, const struct tachy_format *format,
		  struct tachy_recording **ret_base, struct tachy_error *err)
{
	*ret_base = NULL;
	if (!tachy_format_compares(format))
		return 0;
	if (!opts->base)
		return error_set(err, TACHY_EINVAL,
				 "%s compares with a recording: say with which, --%s BASE",
				 format->name, format->name);
	int rc = open_and_read(opts, ret_base, err);
	if (rc >= 0 && tachy_recording_missing(*ret_base)[0])
		say("%s is not whole: %s", opts->base, tachy_recording_missing(*ret_base));
	return rc;
}
