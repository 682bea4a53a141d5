/* SPDX-License-Identifier: MIT
 * Riding, and how it is known that it worked: the last words of the batch are the rider's rseq area (the
 * kernel writes there, before it lets the thread run, which CPU it is on) and the GIL's switch number. If
 * the rider's CPU is ours at the end of the read then it did not run while we did; and since it holds
 * the GIL nobody else under it could change Python frames; without a GIL, nobody else can change its own
 * ones. Threads that run beside it are looked at for the signs of life. Should somebody have taken our CPU in the middle, the
 * time that the read took tells.
 */
#include "sampler/snapshot.h"

#include "cpython/tls.h"
#include "os/cpu.h"
#include "os/pause.h"
#include "sampler/schedule.h"
#include "sampler/target_interps.h"

#define RIDE_TRIES 6u
#define RIDE_SALVAGE_TRIES \
	2u /* the last of them: what is live of a torn stack that runs beside the rider */
#define TURN_TICKS     4u /* rides on one of several threads that run at once */
#define PARALLEL_TRIES 24u
#define SALVAGE_TRIES  8u /* the last of them: what is live of a torn stack is better than nothing */
#define WITNESS_LOOKS  4u /* for frames that another reading is to witness */
#define LATE_READ_TRIES \
	3u /* looks that are taken again because something was read after the batch */
#define ASIDE_NS_MAX   4000u
#define COPIES         8u /* of a batch in one call, where no time is to pass between samples */
#define AHEAD_NS_MAX   100000u /* how old a copy may be when it is looked at */
#define BIG_BATCH      64u     /* segments from which on a ride is not tried over and over */
#define BIG_RIDE_TRIES 2u
#define HUGE_BATCH \
	128u /* segments whose copying would take too much of the target's time to do it over */
#define HUGE_THREADS      64u
#define HUGE_TRIES        2u
#define BETWEEN_STATES_NS 20000u
#define RESUME_TRIES      5000u
#define RESUME_WAIT_NS    1000000u
#define LATE_SCORE_MAX    64u
#define REST_TICKS        2000u

enum { TAIL_CPU, TAIL_SWITCH_NUMBER, N_TAILS };

static bool may_ride(struct snapshot *snapshot, bool no_pause)
{
	const struct target *target = snapshot->target;
	return snapshot->wanted != TACHY_SNAPSHOT_PARALLEL &&
	       snapshot->wanted != TACHY_SNAPSHOT_STOP && !no_pause &&
	       attachment_rseq(target->process, &snapshot->rseq_offset) >= 0;
}

int snapshot_init(struct snapshot *snapshot, struct target *target, enum tachy_snapshot wanted,
		  bool no_pause, struct seat *seat, struct tachy_error *err)
{
	*snapshot = (struct snapshot){.wanted = wanted,
				      .target = target,
				      .own_seat = {-1},
				      .rider_cpu = -1};
	snapshot->seat = seat ? seat : &snapshot->own_seat;
	if (wanted == TACHY_SNAPSHOT_STOP) {
		int rc = pause_open(target->process->pid, &snapshot->pause);
		return rc < 0 ? error_set(err, rc, "cannot stop process %d: %s",
					  (int)target->process->pid, error_text(rc))
			      : 0;
	}
	snapshot->can_ride = may_ride(snapshot, no_pause);
	mem_view_set_copies(&target->view, no_pause ? COPIES : 1);
	return 0;
}

/* Leaves the target's CPU. */
static void get_off(struct snapshot *snapshot)
{
	if (snapshot->seat->cpu >= 0 || snapshot->seat->away)
		cpu_unpin_self();
	snapshot->seat->cpu = -1;
	snapshot->seat->away = false;
}

void snapshot_repace(struct snapshot *snapshot, bool no_pause)
{
	snapshot->can_ride = may_ride(snapshot, no_pause);
	mem_view_set_copies(&snapshot->target->view, no_pause ? COPIES : 1);
	if (!snapshot->can_ride)
		get_off(snapshot);
}

void snapshot_done(struct snapshot *snapshot)
{
	get_off(snapshot);
	pause_close(snapshot->pause);
	snapshot->pause = NULL;
}

static void keep_still(struct snapshot *snapshot, raddr gil, raddr thread)
{
	snapshot->target->still_gil = gil;
	snapshot->target->still_thread = gil ? 0 : thread;
}

/* Has the next readings tell the CPU of `thread` last of all. */
static void watch(struct snapshot *snapshot, const struct target_thread *thread)
{
	struct target *target = snapshot->target;
	const struct gil_state *gil = &target->interps.at[thread->interp].now.gil;
	raddr tails[N_TAILS] = {
		[TAIL_CPU] = thread->thread_id + (uint64_t)snapshot->rseq_offset,
	};
	if (gil->known) {
		tails[TAIL_SWITCH_NUMBER] = gil_switch_number_addr(target->layout, gil);
		mem_view_set_first(&target->view, tails[TAIL_SWITCH_NUMBER]);
	}
	mem_view_set_tails(&target->view, tails, gil->known ? N_TAILS : N_TAILS - 1);
	snapshot->rider = thread->addr;
	snapshot->rider_gil = gil->known ? gil->addr : 0;
	keep_still(snapshot, snapshot->rider_gil, snapshot->rider);
}

/* Moves us to `cpu`. False when we may not run there. */
static bool board(struct snapshot *snapshot, int cpu)
{
	if (!cpu_allowed(cpu) || cpu_pin_self(cpu) < 0)
		return false;
	snapshot->seat->cpu = cpu;
	snapshot->seat->away = false;
	return true;
}

/* Whether something took our CPU in the middle of a batch. Its parts are then of two moments: in a target
 * that runs meanwhile they may fit together and yet never have been one stack. */
static bool was_interrupted(struct snapshot *snapshot, uint64_t read_ns)
{
	const struct mem_view *view = &snapshot->target->view;
	return snapshot->has_read &&
	       read_cost_judge(&snapshot->cost, view->n_planned + view->n_tails,
			       view->n_planned_bytes, 1 + (size_t)view->n_ahead, read_ns);
}

enum ride_verdict { RIDDEN, RIDE_AGAIN, RIDE_IMPOSSIBLE };

/* With a GIL: whether it was with the rider all the time. */
static bool kept_gil(const struct target *target, const struct gil_state *gil)
{
	uint64_t switch_number;
	return mem_view_tail(&target->view, TAIL_SWITCH_NUMBER, &switch_number) &&
	       switch_number == gil->switch_number;
}

/* Whether the reading just done was taken while the rider stood still under us; else arranges that the next
 * one will be. `stay`: with the same rider, if that can be. */
static enum ride_verdict judge_ride(struct snapshot *snapshot, bool stay, uint64_t read_ns)
{
	struct target *target = snapshot->target;
	struct target_thread *rider = target_rider(target, snapshot->rider, stay);
	uint64_t cpu_word;
	if (!rider)
		return RIDE_IMPOSSIBLE;
	const struct gil_state *gil = &target->interps.at[rider->interp].now.gil;
	if (gil->known && !gil->counts_switches)
		return RIDE_IMPOSSIBLE;
	if (rider->addr != snapshot->rider) {
		watch(snapshot, rider);
		return RIDE_AGAIN;
	}
	if (!mem_view_tail(&target->view, TAIL_CPU, &cpu_word))
		return RIDE_IMPOSSIBLE;
	int cpu = (int)(cpu_word >> (TLS_RSEQ_CPU_ID * 8));
	snapshot->rider_cpu = cpu;
	if (cpu != snapshot->seat->cpu)
		return board(snapshot, cpu) ? RIDE_AGAIN : RIDE_IMPOSSIBLE;
	if (gil->known && !kept_gil(target, gil))
		return RIDE_AGAIN;
	return was_interrupted(snapshot, read_ns) ? RIDE_AGAIN : RIDDEN;
}

/* Reads ahead for the `attempt`th time in this tick and looks. */
static int look(struct snapshot *snapshot, unsigned attempt, bool check, bool salvage,
		uint64_t *ret_read_ns)
{
	struct target *target = snapshot->target;
	uint64_t start = clock_now_ns();
	if (start - snapshot->read_at_ns > AHEAD_NS_MAX)
		mem_view_drop_ahead(&target->view);
	uint64_t n_batches = target->view.counts.batches;
	int rc = attempt ? mem_view_again(&target->view) : mem_view_begin(&target->view);
	snapshot->has_read = target->view.counts.batches != n_batches;
	if (snapshot->has_read)
		snapshot->read_at_ns = start;
	*ret_read_ns = snapshot->has_read ? clock_now_ns() - start : 0;
	return rc < 0 ? rc : target_read(target, check, salvage);
}

/* Readings that came after the batch, and so show another moment. They are part of the next one. */
static uint64_t count_late_reads(const struct target *target)
{
	return target->view.counts.batch_misses + target->codes.n_misses;
}

/* Lets a moment pass, of another length every time: a target with a period like ours would be met in the
 * same torn state again and again. */
static void step_aside(struct snapshot *snapshot)
{
	snapshot->random = snapshot->random * 1664525u + 1013904223u;
	uint64_t until = clock_now_ns() + (snapshot->random >> 16) % ASIDE_NS_MAX;
	while (clock_now_ns() < until) {
	}
}

/* Whether the reading has to be taken again for the sake of frames that lie apart: generators with the words
 * that prove that they belong where they are, heap frames as they are. */
static bool doubts_frames(struct snapshot *snapshot)
{
	struct target *target = snapshot->target;
	if (!target->joint.doubted)
		return false;
	if (!target->joint.n_words)
		return true;
	joint_watch(&target->joint, target_switches_at(target), &target->view);
	snapshot->rider = 0; /* whose words the last ones were */
	return true;
}

/* Hundreds of threads that all may have changed: to copy them takes a good part of a millisecond. Whoever
 * holds the GIL must not be kept from its CPU for so long, with all others waiting behind it, and they pass
 * it on meanwhile in any case: what is torn is salvaged at the second look. */
static bool is_huge(const struct snapshot *snapshot)
{
	const struct target *target = snapshot->target;
	return target->touched.n > HUGE_THREADS && target->view.n_planned > HUGE_BATCH;
}

/* Whether a look that went well has to be taken again for the truth's sake. */
static bool has_to_repeat(struct snapshot *snapshot, bool interrupted, bool was_late,
			  unsigned *n_doubts)
{
	if (interrupted || was_late)
		return true;
	bool doubts = doubts_frames(snapshot);
	*n_doubts += doubts;
	return doubts;
}

/* Where the thread that holds the GIL now runs, or did last; -1 unknown. */
static int holder_cpu(const struct snapshot *snapshot)
{
	const struct target *target = snapshot->target;
	const struct gil_state *gil = &target->interps.at[0].now.gil;
	raddr holder;
	uint64_t i;
	int32_t cpu;
	if (!snapshot->rseq_offset || !gil->known ||
	    mem_read(target->view.mem, gil->addr + target->layout->gil.last_holder, &holder,
		     sizeof holder) < 0 ||
	    !map_get(&target->thread_by_addr, holder, &i))
		return -1;
	raddr rseq = target->threads.at[i].thread_id + (uint64_t)snapshot->rseq_offset;
	return mem_read(target->view.mem, rseq + TLS_RSEQ_CPU_ID, &cpu, sizeof cpu) < 0 ? -1 : cpu;
}

/* Leaves the CPU of whoever holds the GIL, in front of whom we mostly are woken: every thread that waits for it
 * would wait for us as well. */
static void make_way(struct snapshot *snapshot)
{
	int cpu = holder_cpu(snapshot);
	if (cpu >= 0 && cpu == cpu_current() && cpu_leave_self(cpu) >= 0)
		snapshot->seat->away = true;
}

static int take_parallel(struct snapshot *snapshot, unsigned attempt)
{
	int rc = TACHY_ETORN;
	uint64_t read_ns;
	struct target *target = snapshot->target;
	bool huge = is_huge(snapshot);
	unsigned tries = huge ? HUGE_TRIES : PARALLEL_TRIES,
		 late_tries = huge ? 0 : LATE_READ_TRIES, n_doubts = 0;
	keep_still(snapshot, 0, 0);
	target_watch_switches(target);
	for (unsigned i = 0; i < tries; i++, attempt++) {
		bool last = i + 1 >= tries, salvage = last || i + SALVAGE_TRIES >= PARALLEL_TRIES;
		uint64_t n_late = count_late_reads(target);
		bool witnesses = target->layout->frames == FRAMES_OBJECTS || target->passed_gil;
		target->joint.solid = last || (witnesses && n_doubts >= WITNESS_LOOKS);
		rc = look(snapshot, attempt, true, salvage, &read_ns);
		bool interrupted = was_interrupted(snapshot, read_ns);
		if (interrupted) /* the moments after it are as doubtful */
			mem_view_drop_ahead(&target->view);
		bool was_late = i < late_tries && count_late_reads(target) != n_late;
		bool went_well = rc >= 0;
		if (went_well && !last && has_to_repeat(snapshot, interrupted, was_late, &n_doubts))
			rc = TACHY_ETORN;
		if (error_class(rc) != TACHY_CLASS_TRANSIENT &&
		    error_class(rc) != TACHY_CLASS_CORRUPT)
			break;
		snapshot->counts.retried++;
		if (!target->view.n_ahead && !went_well)
			step_aside(snapshot);
	}
	snapshot->counts.parallel += rc >= 0;
	return rc;
}

static enum ride_verdict ride_once(struct snapshot *snapshot, unsigned attempt, int *ret_rc)
{
	struct target *target = snapshot->target;
	uint64_t read_ns, n_late = count_late_reads(target);
	bool salvage = attempt + RIDE_SALVAGE_TRIES >= RIDE_TRIES || !target_runs_beside(target);
	int rc = *ret_rc = look(snapshot, attempt, true, salvage, &read_ns);
	bool was_late = count_late_reads(target) != n_late;
	if (rc == TACHY_EGONE || rc == TACHY_ENOMEM)
		return RIDE_IMPOSSIBLE;
	if (rc == TACHY_ETORN) /* still, but between two states: let it go on a little */
		clock_sleep_until(clock_now_ns() + BETWEEN_STATES_NS);
	snapshot->counts.retried += rc < 0;
	if (rc < 0)
		return RIDE_AGAIN;
	bool stay = attempt > 0 || snapshot->n_rides % TURN_TICKS != 0;
	enum ride_verdict verdict = judge_ride(snapshot, stay, read_ns);
	if (verdict == RIDDEN && was_late && attempt < LATE_READ_TRIES)
		verdict = RIDE_AGAIN; /* what was read after the last word is not vouched for */
	if (verdict == RIDDEN && target->joint.doubted) /* what last words prove, a ride cannot */
		verdict = target->joint.n_words ? RIDE_IMPOSSIBLE : RIDE_AGAIN;
	return verdict;
}

static int take_ride(struct snapshot *snapshot)
{
	unsigned attempt = 0;
	int rc;
	/* no signs are looked for under the rider's GIL: in a thread that stands still a frame between
	 * two states is a frame all the same. Interpreters with a GIL of their own run on. */
	keep_still(snapshot, snapshot->rider_gil, snapshot->rider);
	snapshot->n_rides++;
	for (; attempt < RIDE_TRIES; attempt++) {
		enum ride_verdict verdict = ride_once(snapshot, attempt, &rc);
		if (rc == TACHY_EGONE || rc == TACHY_ENOMEM)
			return rc;
		if (verdict == RIDDEN) {
			snapshot->counts.ride++;
			return 0;
		}
		/* many threads that pass the GIL on while they are being copied: see take_parallel */
		bool hopeless = attempt + 1 >= BIG_RIDE_TRIES &&
				snapshot->target->view.n_planned > BIG_BATCH;
		if (verdict == RIDE_IMPOSSIBLE || hopeless)
			break;
	}
	return take_parallel(snapshot, attempt + 1);
}

/* A thread that is deep in the kernel (vfork) cannot be let go at once; it must not be kept until the next
 * tick, which may be a second away. */
static void let_go(struct snapshot *snapshot)
{
	for (unsigned i = 0; i < RESUME_TRIES && pause_resume(snapshot->pause) == TACHY_EAGAIN; i++)
		clock_sleep_until(clock_now_ns() + RESUME_WAIT_NS);
}

static int take_stopped(struct snapshot *snapshot)
{
	uint64_t read_ns;
	int rc = pause_stop(snapshot->pause);
	if (rc < 0)
		return rc;
	rc = look(snapshot, 0, false, true, &read_ns);
	let_go(snapshot);
	snapshot->counts.stop += rc >= 0;
	return rc;
}

int snapshot_take(struct snapshot *snapshot)
{
	if (snapshot->pause)
		return take_stopped(snapshot);
	if (snapshot->rest_ticks) {
		snapshot->rest_ticks--;
		return take_parallel(snapshot, 0);
	}
	bool huge = is_huge(snapshot);
	if (snapshot->can_ride && !huge)
		return take_ride(snapshot);
	if (snapshot->seat->cpu >= 0 || !huge)
		get_off(snapshot);
	if (snapshot->can_ride)
		make_way(snapshot);
	return take_parallel(snapshot, 0);
}

void snapshot_note_lateness(struct snapshot *snapshot, uint64_t late_ns, uint64_t period_ns)
{
	if (snapshot->seat->cpu < 0)
		return;
	bool late = late_ns > 4000000 && late_ns > period_ns;
	if (!late) {
		snapshot->late_score -= snapshot->late_score > 0;
		return;
	}
	snapshot->late_score += 4;
	if (snapshot->late_score < LATE_SCORE_MAX || snapshot->wanted == TACHY_SNAPSHOT_RIDE)
		return;
	get_off(snapshot);
	snapshot->late_score = 0;
	snapshot->rest_ticks = REST_TICKS;
}
