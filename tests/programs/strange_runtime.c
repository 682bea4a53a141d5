/* SPDX-License-Identifier: MIT
 * Has a _PyRuntime in which nothing holds together; with the word "flicker" only now and then, as one that is being
 * set up: half of the time it is empty.
 *
 *   strange_runtime [flicker]          build with -rdynamic
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BETWEEN_US 7000 /* longer than one search */

char _PyRuntime[4096];

int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0;; i++) {
		memset(_PyRuntime, i % 2 == 0 ? 0x35 : 0, sizeof _PyRuntime);
		if (i == 0) {
			puts("ready");
			fflush(stdout);
		}
		if (argc == 1)
			pause();
		usleep(BETWEEN_US);
	}
}
