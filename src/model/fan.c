/* SPDX-License-Identifier: MIT
 * Each member gets every sample, also after another one failed: the first error is what is returned.
 */
#include "model/fan.h"

#include "base/error.h"

static int begin(struct sink *sink, const struct profile *names)
{
	const struct fan *fan = (const struct fan *)sink;
	int rc = 0;
	for (size_t i = 0; i < fan->members.n; i++) {
		struct sink *member = fan->members.at[i];
		int one = member->ops->begin ? member->ops->begin(member, names) : 0;
		rc = rc < 0 ? rc : one;
	}
	return rc;
}

static int sample(struct sink *sink, const struct sample *sample)
{
	const struct fan *fan = (const struct fan *)sink;
	int rc = 0;
	for (size_t i = 0; i < fan->members.n; i++) {
		int one = fan->members.at[i]->ops->sample(fan->members.at[i], sample);
		rc = rc < 0 ? rc : one;
	}
	return rc;
}

static int end(struct sink *sink)
{
	const struct fan *fan = (const struct fan *)sink;
	int rc = 0;
	for (size_t i = 0; i < fan->members.n; i++) {
		struct sink *member = fan->members.at[i];
		int one = member->ops->end ? member->ops->end(member) : 0;
		rc = rc < 0 ? rc : one;
	}
	return rc;
}

static const struct sink_ops ops = {.name = "fan", .begin = begin, .sample = sample, .end = end};

void fan_init(struct fan *fan)
{
	*fan = (struct fan){.sink = {&ops}};
}

void fan_done(struct fan *fan)
{
	vec_done(&fan->members);
}

int fan_join(struct fan *fan, struct sink *member)
{
	return vec_push(&fan->members, member) ? 0 : TACHY_ENOMEM;
}
