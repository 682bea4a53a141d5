/* SPDX-License-Identifier: MIT
 * What every cmocka program here begins with.
 */
#ifndef CASES_H
#define CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include <cmocka.h>

#define N_OF(array) (sizeof(array) / sizeof(array)[0])

/* xorshift64: the same numbers in every run, so that a failure can be seen again. */
static inline uint64_t dice(uint64_t *state)
{
	uint64_t x = *state;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return *state = x;
}

/* Ends this process if it runs for ever: after 3 s of CPU, as a busy machine takes longer by the clock. */
static inline void must_end_soon(void)
{
	const struct itimerval limit = {.it_value = {.tv_sec = 3}};
	(void)setitimer(ITIMER_PROF, &limit, NULL);
}

#endif
