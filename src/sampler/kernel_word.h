/* SPDX-License-Identifier: MIT
 * Which threads run, and which wait for the GIL, as the kernel has it. A thread that has not run for long is
 * asked a cheaper question, and more rarely: whether it has run at all since.
 */
#ifndef SAMPLER_KERNEL_WORD_H
#define SAMPLER_KERNEL_WORD_H

#include "os/activity.h"

struct kernel_word { /* of one thread; zeroed: nothing asked yet */
	struct activity activity;
	bool open;
	bool quiet;         /* it is asked the cheaper question */
	uint64_t clock;     /* activity_clock when last asked */
	uint64_t active_ns; /* when it was last known to have run */
	uint64_t asked_ns;  /* when it was last asked anything */
	uint32_t states;    /* what is known: bits of enum tachy_state */
	uint64_t n_asked;   /* system calls made */
};

/* ON_CPU, GIL_WAITING, and CPU_KNOWN when the kernel answered, at `now_ns`. `gil`: where its interpreter's
 * GIL lies; 0: not known. */
uint32_t kernel_word_ask(struct kernel_word *word, pid_t pid, pid_t tid, raddr gil,
			 uint64_t now_ns);
void kernel_word_done(struct kernel_word *word);

#endif
