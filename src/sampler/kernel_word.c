/* SPDX-License-Identifier: MIT
 * Invariant: a thread is quiet only after its clock stood still for QUIET_NS; it is found out at most
 * CHECK_NS after it has run again. So at most CHECK_NS / QUIET_NS of the time of any thread is told wrong.
 */
#include "sampler/kernel_word.h"

#include "tachyscope/types.h"

#define QUIET_NS 400000000u
#define CHECK_NS 4000000u
/* Python/ceval_gil.h (3.12+: Include/internal/pycore_gil.h), struct _gil_runtime_state: four words, then two
 * conditions and two mutexes of the C library's (48 and 40 bytes each) */
#define GIL_SIZE 208u

/* Whether it has run since it was last asked. */
static bool has_run(struct kernel_word *word)
{
	uint64_t clock;
	word->n_asked++;
	if (activity_clock(&word->activity, &clock) < 0)
		return true;
	bool moved = clock != word->clock;
	word->clock = clock;
	return moved;
}

static void look(struct kernel_word *word, raddr gil)
{
	bool running;
	raddr futex;
	word->n_asked++;
	word->states = 0;
	if (activity_look(&word->activity, &running, &futex) < 0)
		return;
	word->states = TACHY_STATE_CPU_KNOWN | (running ? TACHY_STATE_ON_CPU : 0u);
	/* it sleeps in a condition or mutex that is part of the GIL */
	if (gil && futex >= gil && futex - gil < GIL_SIZE)
		word->states |= TACHY_STATE_GIL_WAITING;
}

uint32_t kernel_word_ask(struct kernel_word *word, pid_t pid, pid_t tid, raddr gil, uint64_t now_ns)
{
	if (!tid)
		return 0;
	if (!word->open || word->activity.tid != tid) {
		kernel_word_done(word);
		activity_open(&word->activity, pid, tid);
		word->open = true;
		word->active_ns = now_ns;
	}
	if (word->quiet && now_ns - word->asked_ns < CHECK_NS)
		return word->states;
	bool settles = now_ns - word->active_ns >= QUIET_NS && !(word->states & TACHY_STATE_ON_CPU);
	word->asked_ns = now_ns;
	if (word->quiet || settles) {
		bool ran = has_run(word);
		if (ran)
			word->active_ns = now_ns;
		/* the first time the clock is only noted */
		bool was_quiet = word->quiet;
		word->quiet = !ran;
		if (was_quiet && word->quiet)
			return word->states;
	}
	look(word, gil);
	if (word->states & TACHY_STATE_ON_CPU)
		word->active_ns = now_ns;
	return word->states;
}

void kernel_word_done(struct kernel_word *word)
{
	if (word->open)
		activity_close(&word->activity);
	*word = (struct kernel_word){.n_asked = word->n_asked};
}
