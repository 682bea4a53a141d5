/* SPDX-License-Identifier: MIT
 * Walks the interpreters' tables of names; each name finds its thread by the thread's ident.
 */
#include "sampler/target_names.h"

#include "cpython/names.h"

#define NEW_NAMES_NS 100000000u /* new threads are often many: look once for all */
#define OLD_NAMES_NS 1000000000u

struct naming {
	struct target *target;
	size_t interp;
};

static void take_name(void *arg, uint64_t thread_ident, const char *name)
{
	struct naming *naming = arg;
	struct target *target = naming->target;
	for (size_t i = 0; i < target->threads.n; i++) {
		struct target_thread *thread = &target->threads.at[i];
		if (thread->thread_id != thread_ident || thread->interp != naming->interp)
			continue;
		profile_set_thread_name(target->profile, thread->profile_thread, name);
		thread->named = true;
	}
}

void target_refresh_names(struct target *target)
{
	for (size_t i = 0; i < target->interps.n; i++) {
		struct naming naming = {target, i};
		if (target->interps.at[i].seen)
			(void)names_read(&target->view, target->layout,
					 target->interps.at[i].now.addr, take_name, &naming);
	}
}

static bool is_one_unnamed(const struct target *target)
{
	for (size_t i = 0; i < target->threads.n; i++)
		if (!target->threads.at[i].named)
			return true;
	return false;
}

/* A thread is known before it enters its name (Lib/threading.py, _bootstrap_inner), and one that C code
 * started may never have one: the looks for names that were not there become rarer. */
void target_keep_names(struct target *target, uint64_t now_ns)
{
	uint64_t age_ns = now_ns - target->named_ns;
	uint64_t wait_ns = target->names_due ? NEW_NAMES_NS : target->names_wait_ns;
	if (age_ns < wait_ns)
		return;
	uint64_t longer_ns = target->names_due ? NEW_NAMES_NS : 2 * wait_ns;
	target->names_due = false;
	target->named_ns = now_ns;
	target_refresh_names(target);
	bool soon = longer_ns < OLD_NAMES_NS && is_one_unnamed(target);
	target->names_wait_ns = soon ? longer_ns : OLD_NAMES_NS;
}
