/* SPDX-License-Identifier: MIT
 * Hides the door and the order. Invariant: a target is in exactly one of notes, taken and members, and
 * belongs to the roster in each of them.
 */
#include "sampler/roster.h"

#include <stdlib.h>
#include <string.h>

#include "sampler/anchor.h"
#include "sampler/schedule.h"

int roster_init(struct roster *roster)
{
	memset(roster, 0, sizeof *roster);
	roster->seat.cpu = -1;
	return pthread_mutex_init(&roster->door, NULL) ? TACHY_ENOMEM : 0;
}

void roster_done(struct roster *roster)
{
	for (size_t i = 0; i < roster->members.n; i++)
		member_destroy(roster->members.at[i]);
	for (size_t i = roster->n_done; i < roster->taken.n; i++)
		target_destroy(roster->taken.at[i].target);
	for (size_t i = 0; i < roster->notes.n; i++)
		target_destroy(roster->notes.at[i].target);
	vec_done(&roster->members);
	vec_done(&roster->taken);
	vec_done(&roster->notes);
	vec_done(&roster->leavers);
	pthread_mutex_destroy(&roster->door);
}

/* ---- any thread ---------------------------------------------------------------------------- */

static int leave_note(struct roster *roster, struct roster_note note)
{
	pthread_mutex_lock(&roster->door);
	bool good = vec_push(&roster->notes, note);
	pthread_mutex_unlock(&roster->door);
	return good ? 0 : TACHY_ENOMEM;
}

int roster_join(struct roster *roster, struct target *target)
{
	return leave_note(roster, (struct roster_note){.target = target});
}

int roster_leave(struct roster *roster, pid_t pid)
{
	return leave_note(roster, (struct roster_note){.pid = pid});
}

size_t roster_take_leavers(struct roster *roster, struct roster_leaver *ret_leavers, size_t max)
{
	pthread_mutex_lock(&roster->door);
	size_t n = roster->leavers.n < max ? roster->leavers.n : max;
	if (n) {
		memcpy(ret_leavers, roster->leavers.at, n * sizeof *ret_leavers);
		roster->leavers.n -= n;
		memmove(roster->leavers.at, roster->leavers.at + n,
			roster->leavers.n * sizeof *ret_leavers);
	}
	pthread_mutex_unlock(&roster->door);
	return n;
}

/* ---- the sampling thread ------------------------------------------------------------------- */

/* Swaps the two lists, so that the door is held for an instant. */
static void look_at_door(struct roster *roster)
{
	roster->taken.n = roster->n_done = 0;
	if (pthread_mutex_trylock(&roster->door) != 0)
		return;
	struct roster_note *at = roster->taken.at;
	size_t cap = roster->taken.cap;
	roster->taken.at = roster->notes.at;
	roster->taken.n = roster->notes.n;
	roster->taken.cap = roster->notes.cap;
	roster->notes.at = at;
	roster->notes.n = 0;
	roster->notes.cap = cap;
	pthread_mutex_unlock(&roster->door);
}

struct target *roster_next(struct roster *roster, pid_t *ret_leaver)
{
	*ret_leaver = 0;
	if (roster->n_done >= roster->taken.n)
		look_at_door(roster);
	if (roster->n_done >= roster->taken.n)
		return NULL;
	struct roster_note note = roster->taken.at[roster->n_done++];
	*ret_leaver = note.pid;
	return note.target;
}

int roster_admit(struct roster *roster, struct target *target, enum tachy_snapshot wanted,
		 bool no_pause, uint64_t last_tick_ns, struct tachy_error *err)
{
	struct member *member = calloc(1, sizeof *member);
	int rc = member ? 0 : TACHY_ENOMEM;
	if (rc >= 0)
		rc = snapshot_init(&member->snapshot, target, wanted, no_pause, &roster->seat, err);
	if (rc < 0) {
		free(member);
		target_destroy(target);
		return rc;
	}
	member->target = target;
	member->last_tick_ns = clock_sample_ns(last_tick_ns);
	if (!vec_push(&roster->members, member)) {
		member_destroy(member);
		return TACHY_ENOMEM;
	}
	return 0;
}

struct member *roster_remove(struct roster *roster, size_t i)
{
	struct member *member = roster->members.at[i];
	roster->members.n--;
	memmove(roster->members.at + i, roster->members.at + i + 1,
		(roster->members.n - i) * sizeof(struct member *));
	struct roster_leaver leaver = {member->target->process->pid, member->target->visit};
	if (roster->keeps_leavers) {
		pthread_mutex_lock(&roster->door);
		(void)vec_push(&roster->leavers, leaver);
		pthread_mutex_unlock(&roster->door);
	}
	return member;
}

void member_destroy(struct member *member)
{
	if (member->target->options.anchor && !member->gone)
		anchor_clear(member->target);
	snapshot_done(&member->snapshot);
	target_destroy(member->target);
	free(member);
}

/* They move seldom, so that the list is nearly sorted: by insertion. */
size_t roster_order(struct roster *roster)
{
	struct member **at = roster->members.at;
	size_t n = roster->members.n, first = n;
	for (size_t i = 1; i < n; i++) {
		struct member *member = at[i];
		size_t k = i;
		for (; k > 0 && at[k - 1]->snapshot.rider_cpu > member->snapshot.rider_cpu; k--)
			at[k] = at[k - 1];
		at[k] = member;
	}
	for (size_t i = n; i-- > 0;)
		if (at[i]->snapshot.rider_cpu >= roster->seat.cpu)
			first = i;
	return first < n ? first : 0;
}

bool roster_is_empty(struct roster *roster)
{
	bool empty = roster->members.n == 0 && roster->n_done >= roster->taken.n;
	pthread_mutex_lock(&roster->door);
	empty &= roster->notes.n == 0;
	pthread_mutex_unlock(&roster->door);
	return empty;
}
