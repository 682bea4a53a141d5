/* SPDX-License-Identifier: MIT
 * A process with one interpreter is looked at for others every HEADS_NS only, or when its GIL is held by
 * a thread that nobody knows; one that ever had more is followed in every tick, since there the memory of
 * one that has ended must not be read for a living one's.
 * Invariant: an entry of `interps` that is `retired` has no threads; its place is taken by the next new one.
 */
#include "sampler/target_interps.h"

#include "base/error.h"

/* By its address; ids tell apart those that follow each other there. */
static struct target_interp *interp_slot(struct target *target, raddr addr)
{
	const struct target_interp fresh = {.now.addr = addr};
	struct target_interp *unused = NULL;
	for (size_t i = 0; i < target->interps.n; i++) {
		struct target_interp *interp = &target->interps.at[i];
		if (!interp->retired && interp->now.addr == addr)
			return interp;
		if (interp->retired)
			unused = interp;
	}
	if (!unused)
		return vec_push(&target->interps, fresh)
			       ? &target->interps.at[target->interps.n - 1]
			       : NULL;
	*unused = fresh;
	return unused;
}

static int read_at(struct target *target, raddr addr, raddr gil, struct interp_state *ret_state)
{
	return interp_read(&target->view, target->layout, target->process->runtime.addr, addr, gil,
			   ret_state);
}

static int read_interp(struct target *target, struct target_interp *interp)
{
	struct interp_state now;
	int rc = read_at(target, interp->now.addr, interp->now.gil.addr, &now);
	if (rc >= 0 && interp->known && now.id != interp->now.id) {
		/* another one, with another GIL perhaps */
		rc = read_at(target, interp->now.addr, 0, &now);
		interp->settled = false;
		target->walk_due = true;
	}
	interp->seen = rc >= 0;
	if (rc < 0)
		return rc;
	interp->now = now;
	interp->known = true;
	return 0;
}

/* One that was there and is not: its threads have to go. */
static void note_gone(struct target *target)
{
	for (size_t i = 0; i < target->interps.n; i++) {
		const struct target_interp *interp = &target->interps.at[i];
		if (interp->known && !interp->seen && !interp->retired)
			target->walk_due = true;
	}
}

/* Follows the list of interpreters, newest first. */
static int read_list(struct target *target)
{
	raddr addr, threads = 0;
	uint32_t n = 0;
	int rc = interp_first(&target->view, target->layout, target->process->runtime.addr, &addr);
	if (rc < 0)
		return rc;
	if (!addr)
		return TACHY_EFINALIZING;
	for (size_t i = 0; i < target->interps.n; i++)
		target->interps.at[i].seen = false;
	for (; addr && n < INTERPRETERS_MAX; n++) {
		struct target_interp *interp = interp_slot(target, addr);
		if (!interp)
			return TACHY_ENOMEM;
		if (interp->seen)
			return TACHY_ETORN; /* the list leads back to it */
		rc = read_interp(target, interp);
		if (rc < 0)
			return rc;
		addr = interp->now.next;
		threads = interp->now.threads_head;
	}
	/* Python/pystate.c, PyInterpreterState_New: a new one becomes the head before it gets its `next`; the
	 * last one of a whole list is the main interpreter, which has threads */
	if (!threads)
		return TACHY_ETORN;
	if (n > 1)
		target->many_interps = true;
	note_gone(target);
	return 0;
}

/* A GIL that is held by a thread of an interpreter that was not met yet. */
static bool strange_holder(const struct target *target, const struct interp_state *interp)
{
	uint64_t i;
	return interp->gil.known && interp->gil.locked &&
	       !map_get(&target->thread_by_addr, interp->gil.holder, &i);
}

static int read_known(struct target *target)
{
	for (size_t i = 0; i < target->interps.n; i++) {
		struct target_interp *interp = &target->interps.at[i];
		int rc = interp->seen ? read_interp(target, interp) : 0;
		if (rc < 0)
			return rc;
		if (interp->seen && strange_holder(target, &interp->now))
			return read_list(target);
	}
	return 0;
}

int target_interps_read(struct target *target)
{
	bool follow = target->heads_due || target->many_interps || !target->interps.n;
	int rc = follow ? read_list(target) : read_known(target);
	target->heads_due = rc < 0; /* one that is gone reads as nonsense */
	return rc;
}

void target_interps_settle(struct target *target)
{
	for (size_t i = 0; i < target->interps.n; i++) {
		struct target_interp *interp = &target->interps.at[i];
		if (!interp->seen)
			interp->settled = false;
		if (!target->walked)
			continue;
		interp->retired = !interp->seen;
		interp->settled = interp->seen;
		interp->read_head = interp->now.threads_head;
		interp->read_switch = interp->now.gil.switch_number;
		interp->read_holder = interp->now.gil.holder;
	}
}

bool target_interp_only_holder(const struct target_interp *interp)
{
	const struct interp_state *now = &interp->now;
	return interp->settled && now->gil.counts_switches &&
	       now->gil.switch_number == interp->read_switch &&
	       now->gil.holder == interp->read_holder && now->threads_head == interp->read_head;
}

bool target_keeps_still(const struct target *target, const struct interp_state *interp,
			raddr thread)
{
	if (interp->gil.known)
		return interp->gil.addr == target->still_gil;
	return target->still_thread && thread == target->still_thread;
}

/* ---- whom to ride on ------------------------------------------------------------------------- */

/* Whether an interpreter before this one has the same GIL. */
static bool shares_gil(const struct target *target, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (target->interps.at[i].seen &&
		    target->interps.at[i].now.gil.addr == target->interps.at[index].now.gil.addr)
			return true;
	return false;
}

static struct target_thread *thread_at(const struct target *target, raddr addr)
{
	uint64_t i;
	return map_get(&target->thread_by_addr, addr, &i) ? &target->threads.at[i] : NULL;
}

/* Takes candidates in turn: the one after the present rider, or the first. */
struct choice {
	raddr present;
	bool stay; /* the present one is as good as any, where it still is one */
	bool passed;
	struct target_thread *first, *chosen;
};

static void offer(struct choice *choice, struct target_thread *thread)
{
	bool present = thread->addr == choice->present;
	if (!choice->first)
		choice->first = thread;
	if ((present && choice->stay) || (choice->passed && !choice->chosen))
		choice->chosen = thread;
	choice->passed |= present && !choice->stay;
}

/* Of builds with a GIL: those that hold one. */
static void offer_holders(const struct target *target, struct choice *choice)
{
	for (size_t i = 0; i < target->interps.n; i++) {
		const struct target_interp *interp = &target->interps.at[i];
		const struct gil_state *gil = &interp->now.gil;
		if (!interp->seen || !gil->known || !gil->locked || shares_gil(target, i))
			continue;
		struct target_thread *holder = thread_at(target, gil->holder);
		if (holder)
			offer(choice, holder);
	}
}

/* Of builds without: those that are attached. */
static void offer_attached(const struct target *target, struct choice *choice)
{
	for (size_t i = 0; i < target->threads.n; i++) {
		struct target_thread *thread = &target->threads.at[i];
		if (thread->addr && (thread->states & TACHY_STATE_GIL))
			offer(choice, thread);
	}
}

/* Nobody runs: who ran last in the main interpreter, or whoever is there. */
static struct target_thread *last_holder(const struct target *target)
{
	for (size_t i = 0; i < target->interps.n; i++) {
		const struct target_interp *interp = &target->interps.at[i];
		if (interp->seen && interp->now.id == 0 && interp->now.gil.known)
			return thread_at(target, interp->now.gil.holder);
	}
	if (target->layout->gil_design != GIL_ABSENT || !target->threads.n)
		return NULL;
	return &target->threads.at[0];
}

struct target_thread *target_rider(struct target *target, raddr present, bool stay)
{
	struct choice choice = {.present = present, .stay = stay};
	if (target->layout->gil_design == GIL_ABSENT)
		offer_attached(target, &choice);
	else
		offer_holders(target, &choice);
	if (choice.chosen)
		return choice.chosen;
	return choice.first ? choice.first : last_holder(target);
}

bool target_runs_beside(const struct target *target)
{
	for (size_t i = 0; i < target->interps.n; i++) {
		const struct target_interp *interp = &target->interps.at[i];
		if (interp->seen && interp->now.gil.known && interp->now.gil.locked &&
		    interp->now.gil.addr != target->still_gil)
			return true;
	}
	for (size_t i = 0; target->layout->gil_design == GIL_ABSENT && i < target->threads.n; i++)
		if ((target->threads.at[i].states & TACHY_STATE_GIL) &&
		    target->threads.at[i].addr != target->still_thread)
			return true;
	return false;
}
