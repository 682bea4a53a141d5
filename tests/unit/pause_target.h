/* SPDX-License-Identifier: MIT
 * Processes to be held by os/pause, and what is checked of them. They tell about themselves through
 * shared memory. Shared by test_pause.c and test_pause_ends.c.
 */
#ifndef TEST_PAUSE_TARGET_H
#define TEST_PAUSE_TARGET_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/types.h>

#include "os/pause.h"

struct board { /* shared with the targets */
	_Atomic uint64_t work;      /* goes up as long as any thread runs */
	_Atomic uint64_t signals, signal_sum;
	_Atomic int n_ready, flag;
	_Atomic pid_t pid;
};

extern struct board *board;

/* Waits for `condition`, 20 s at most: the machine may be busy with other things. */
#define await(condition)                                      \
	do {                                                  \
		int tries = 0;                                \
		bool good;                                    \
		while (!(good = (condition)) && ++tries < 20000) \
			sleep_us(1000);                       \
		if (!good)                                    \
			fail_msg("in vain: %s", #condition);  \
	} while (0)

int make_board(void **state); /* a cmocka set-up function */
void sleep_us(long us);

/* ---- in the target */
void *count_up(void *arg);    /* bodies of threads, for ever */
void *sleep_often(void *arg);
void start_thread(void *(*body)(void *));
void body_threads(void);      /* of a process: ten threads */

/* ---- in the test */
pid_t start(void (*body)(void)); /* a child that runs `body`, and dies with us; clears the board */
void finish(pid_t pid);
bool is_in_state(pid_t pid, char state);
void assert_untraced(pid_t pid);
void assert_works(void);
struct pause *open_pause(pid_t pid);
void hold(struct pause *pause);
void let_go(struct pause *pause);

#endif
