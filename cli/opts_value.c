/* SPDX-License-Identifier: MIT
 * Strict readers: no sign, no exponent, no blanks, nothing left over. Knows no locale.
 */
#include "opts_value.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"

#define RATE_MIN_HZ    0.01
#define DURATION_MIN_S 0.001
#define DURATION_MAX_S 31536000.0 /* a year */
#define PID_LIMIT      4194304    /* PID_MAX_LIMIT of 64-bit Linux */
#define WORD_MAX       32         /* letters that value_distance looks at */

/* Digits with at most one point among them. Gives what follows, NULL when it is no number. */
static const char *read_number(const char *text, double *ret)
{
	double value = 0, scale = 1;
	size_t n_digits = 0;
	bool fraction = false;
	for (;; text++) {
		if (*text == '.' && !fraction) {
			fraction = true;
		} else if (*text >= '0' && *text <= '9') {
			value = value * 10 + (*text - '0');
			scale = fraction ? scale * 10 : scale;
			n_digits++;
		} else {
			break;
		}
	}
	*ret = value / scale;
	return n_digits > 0 && n_digits < 40 ? text : NULL;
}

int value_rate(const char *text, double *ret_hz, struct tachy_error *err)
{
	double value = 0;
	if (strcasecmp(text, "max") == 0) {
		*ret_hz = 0;
		return 0;
	}
	const char *unit = read_number(text, &value);
	if (unit && (strcasecmp(unit, "k") == 0 || strcasecmp(unit, "khz") == 0))
		value *= 1000;
	else if (!unit || (*unit && strcasecmp(unit, "hz") != 0))
		value = -1;
	if (value < RATE_MIN_HZ || value > TACHY_RATE_MAX_HZ)
		return error_set(err, TACHY_EINVAL,
				 "the sampling rate must be from %.2f to %.0f a second (100, 10k, "
				 "2.5khz) or max, "
				 "not '%s'",
				 RATE_MIN_HZ, TACHY_RATE_MAX_HZ, text);
	*ret_hz = value;
	return 0;
}

int value_duration(const char *text, double *ret_s, struct tachy_error *err)
{
	double value = 0;
	const char *unit = read_number(text, &value);
	if (unit && strcmp(unit, "s") == 0)
		unit++;
	if (!unit || *unit || value < DURATION_MIN_S || value > DURATION_MAX_S)
		return error_set(err, TACHY_EINVAL,
				 "the duration must be from %.3f to %.0f seconds, not '%s'",
				 DURATION_MIN_S, DURATION_MAX_S, text);
	*ret_s = value;
	return 0;
}

/* One number with its unit of a moment: hours, minutes, seconds, milliseconds, in this order. */
static const char *read_part(const char *text, unsigned *rank, double *sum)
{
	static const struct {
		const char *word;
		double seconds;
	} units[] = {{"h", 3600}, {"m", 60}, {"s", 1}, {"ms", 0.001}};
	double value;
	const char *unit = read_number(text, &value);
	if (!unit)
		return NULL;
	size_t len = strspn(unit, "hms");
	for (unsigned i = *rank; i < sizeof units / sizeof units[0]; i++) {
		if (len != strlen(units[i].word) || memcmp(unit, units[i].word, len) != 0)
			continue;
		*rank = i + 1;
		*sum += value * units[i].seconds;
		return unit + len;
	}
	if (len > 0 || *unit)
		return NULL;
	*rank = UINT32_MAX; /* bare: seconds, and the last */
	*sum += value;
	return unit;
}

int value_moment(const char *what, const char *text, double *ret_s, struct tachy_error *err)
{
	double sum = 0;
	unsigned rank = 0;
	const char *at = text;
	do
		at = read_part(at, &rank, &sum);
	while (at && *at);
	if (!at || sum > DURATION_MAX_S)
		return error_set(err, TACHY_EINVAL,
				 "%s takes a time from the start: 90, 2.5, 1m30s, 1h or 250ms, not "
				 "'%s'",
				 what, text);
	*ret_s = sum;
	return 0;
}

/* A whole number up to `max`; -1: it is not one. */
static int64_t read_whole(const char *text, int64_t max)
{
	int64_t value = 0;
	if (!*text)
		return -1;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return -1;
		value = value * 10 + (*text - '0');
		if (value > max)
			return -1;
	}
	return value;
}

int value_count(const char *what, const char *text, uint32_t *ret, struct tachy_error *err)
{
	int64_t value = read_whole(text, UINT32_MAX);
	if (value < 0)
		return error_set(err, TACHY_EINVAL,
				 "%s must be a whole number from 0 to %lld, not '%s'", what,
				 (long long)UINT32_MAX, text);
	*ret = (uint32_t)value;
	return 0;
}

int value_pid(const char *text, int64_t *ret_pid, struct tachy_error *err)
{
	int64_t value = read_whole(text, PID_LIMIT);
	if (value < 1)
		return error_set(err, TACHY_EINVAL,
				 "the process id must be a whole number from 1 to %d, not '%s'",
				 PID_LIMIT, text);
	*ret_pid = value;
	return 0;
}

int value_choose(const char *what, const char *text, const struct value_choice *choices, int *ret,
		 struct tachy_error *err)
{
	char list[256] = "";
	size_t used = 0;
	for (; choices->name; choices++) {
		if (strcmp(choices->name, text) == 0) {
			*ret = choices->value;
			return 0;
		}
		int n = snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "",
				 choices->name);
		used += n > 0 && (size_t)n < sizeof list - used ? (size_t)n : 0;
	}
	return error_set(err, TACHY_EINVAL, "%s must be one of %s, not '%s'", what, list, text);
}

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;
	return m < c ? m : c;
}

unsigned value_distance(const char *a, const char *b, unsigned max)
{
	/* Three rows of the usual table: two before, one before, this one. */
	unsigned rows[3][WORD_MAX + 1];
	size_t n = strlen(a), m = strlen(b);
	if (n > WORD_MAX || m > WORD_MAX)
		return max + 1;
	for (size_t j = 0; j <= m; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned *now = rows[i % 3], *before = rows[(i - 1) % 3],
			 *twice = rows[(i + 1) % 3];
		now[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			now[j] = least(before[j] + 1, now[j - 1] + 1,
				       before[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    twice[j - 2] + 1 < now[j])
				now[j] = twice[j - 2] + 1;
		}
	}
	unsigned distance = rows[n % 3][m];
	return distance > max ? max + 1 : distance;
}
