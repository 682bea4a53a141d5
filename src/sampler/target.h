/* SPDX-License-Identifier: MIT
 * One process under observation: its interpreters and threads as they were at the last tick, and what a
 * new tick changes about them. Knows nothing of time but the numbers it is given.
 *
 * Unchanged threads cost nothing: each keeps the run of ticks since its stack or state last changed,
 * and hands the run to the sink when it ends (target_flush for those still going on).
 */
#ifndef SAMPLER_TARGET_H
#define SAMPLER_TARGET_H

#include "cpython/frame.h"
#include "cpython/instruction.h"
#include "model/sink.h"
#include "sampler/attachment.h"
#include "sampler/frame_place.h"
#include "sampler/joint.h"
#include "sampler/kernel_word.h"
#include "sampler/tripwire.h"

struct target_options {
	bool main_thread_only, no_gc, native;
	bool no_tripwire; /* do not set watchpoints for deep stacks */
	bool anchor;     /* use (and move) the target's own marker, 3.15+ */
	bool other_root; /* goes into the profile: its files are not those of the first process */
	bool cpu_states; /* ask the kernel who runs, at every tick */
	bool opcodes;    /* frames tell their instruction; see target_tells_opcodes */
	enum tachy_mode mode;
	enum tachy_async async_mode;
};

struct target_interp {
	struct interp_state now;
	bool seen;           /* in the tick at hand */
	bool known;          /* `now` has been read before */
	bool retired;        /* it has ended, and so have its threads */
	bool settled;        /* `now` comes from a tick that went well */
	raddr read_head;     /* threads_head when the list was last walked */
	uint64_t read_switch; /* gil.switch_number then */
	raddr read_holder;
};

struct target_thread {
	raddr addr;
	uint32_t interp;          /* index into interps */
	int64_t interp_id;
	uint64_t unique_id, thread_id, native_id; /* as in struct thread_state */
	pid_t tid;                /* ours; 0 unknown */
	uint32_t profile_thread;
	uint32_t seen_walk;       /* number of the list walk that last met it */
	bool main;
	bool named;               /* by Python, not by the kernel only */
	VEC(struct raw_frame) frames; /* as last resolved, root first */
	VEC(stack_id) ids;        /* ids[k]: the stack of frames[0..k] */
	bool cut;
	struct thread_leaf leaf;  /* where it may be assumed to be */
	struct raw_stack fresh;   /* being read: leaf first, standing on frames[0..base) */
	struct frame_look look;   /* what was read last, where it may have to be witnessed */
	size_t base;              /* frames taken over by the anchor; 0 without */
	size_t common;            /* frames[0..common) are what was read as well; >= base */
	struct tripwire tripwire;
	raddr marker;             /* where the target's marker stood when read, and its count */
	uint64_t marker_seq;
	bool marked;              /* we have written one; to be taken away at the end */
	size_t anchor_depth;      /* 1 + index of the marked frame in `frames`; 0: not known */
	uint64_t anchor_seq;      /* the marker's count then */
	uint64_t generation;      /* code generation at which `frames` was resolved; 0 none */
	raddr gc_frame;           /* frame that the <GC> marker stands on; 0 none */
	bool gc_leaf;             /* it stands on the leaf */
	stack_id stack;
	uint32_t states;          /* as the target tells them */
	struct kernel_word kernel;
	uint32_t kernel_states;   /* as the kernel does */
	bool left_out;            /* it does not count in this mode, and was not looked at further */
	int status;               /* 0, or why it could not be read */
	/* the run of ticks with this stack and these states */
	bool running;
	uint32_t run_states;
	uint64_t committed_tick; /* 1 + total_ticks before the tick that it was last read in */
	uint64_t run_time_ns, run_ticks, run_weight_ns; /* the target's totals when it began */
};

struct target_counts {
	uint64_t frame_hits, frame_partial, frame_misses, frames_cached, frames_read;
	uint64_t thread_samples, salvaged, threads_seen, anchor_writes;
	uint64_t kernel_calls; /* system calls of kernel_word.h */
};

#define TID_OFFSET_UNKNOWN 0u /* never real: the struct begins with a pointer to itself */
#define TID_OFFSET_NONE UINT32_MAX

struct target_tasks;

struct target {
	const struct attachment *process; /* borrowed */
	const struct layout *layout;      /* borrowed from it */
	struct mem_view view;
	struct code_cache codes;
	struct instruction_reader instructions;
	struct profile *profile;   /* borrowed */
	struct sink *sink;         /* borrowed */
	struct attachment *owned;  /* `process`, where it goes with the target; NULL: it does not */
	uint32_t visit;            /* free for whoever made it; told when it goes, see roster.h */
	bool enrolled;             /* `process_index` is set */
	uint32_t process_index;    /* in the profile */
	struct target_options options;
	VEC(struct target_interp) interps;
	VEC(struct target_thread) threads;
	struct map thread_by_addr; /* -> index */
	VEC(uint32_t) touched;     /* threads read in this tick */
	uint32_t walk;             /* number of the last walk over the thread lists */
	bool walked;               /* the last reading was one */
	bool unborn;               /* the last walk met a thread that does not run yet */
	bool walk_due;             /* the next reading must be: a walk broke off, or a thread was replaced */
	struct joint joint;        /* of the last reading */
	raddr passed_gil;          /* it went from one thread to another while all this was read; 0: none did */
	struct frame_places places;
	raddr still_gil;           /* threads under this GIL stand still while they are read; 0: none does */
	raddr still_thread;        /* without a GIL: only this one does; 0: none */
	bool many_interps;         /* there was more than one interpreter at once */
	uint64_t heads_ns;         /* when the list of interpreters was last followed */
	bool heads_due;            /* it must be in the next reading */
	raddr none;                /* None, once met */
	bool names_due;            /* a thread was met whose name was not looked up */
	uint64_t named_ns;         /* when the names were */
	uint64_t names_wait_ns;    /* from then to the next look */
	uint32_t tid_offset;       /* 3.8 - 3.10: of the kernel's id from the thread pointer */
	uint64_t total_ticks, total_weight_ns;
	/* total_ticks at the last flush, and the time of the tick after it */
	uint64_t flushed_ticks, resumed_ns;
	struct target_tasks *tasks; /* owned; NULL unless stacks are those of tasks */
	struct target_counts counts;
};

/* Whether frames of this process can tell their instruction. */
bool target_tells_opcodes(const struct attachment *process);
/* Prepares to sample `process`, which must outlive the target. The profile is not touched before the first
 * thread is seen, or target_enrol. TACHY_ENOMEM. */
int target_create(const struct attachment *process, struct profile *profile, struct sink *sink,
		  const struct target_options *options, struct target **ret_target);
void target_destroy(struct target *target); /* NULL is fine; flush first */
/* Enters the process into the profile, unless it is there already. */
int target_enrol(struct target *target);

/* To be told the time before each tick: what changes rarely is looked at every so often. */
void target_note_time(struct target *target, uint64_t now_ns);
/* Where the switch number lies that tells whether the GIL of the main interpreter was passed on; 0: there is one thread
 * only, or it cannot be told. */
raddr target_switches_at(const struct target *target);
/* Has readings begin and end with it. */
void target_watch_switches(struct target *target);
/* One reading of what may have changed, into `fresh` stacks; nothing is committed yet. `salvage`: drop
 * frames that were not live rather than fail. `check`: look for the signs of live frames in all threads
 * but `still_thread` and those under `still_gil` (the target ran meanwhile). TACHY_ETORN: read again. The view must have begun its tick. */
int target_read(struct target *target, bool check, bool salvage);
/* To be called before a reading, too: the kernel's word on every thread that is known by then. */
void target_ask_kernel(struct target *target, uint64_t now_ns);
/* Makes what was read the state of the tick at `time_ns`, which stands for `weight_ns`. */
int target_commit(struct target *target, uint64_t time_ns, uint64_t weight_ns);
/* Ends every run: the sink has all samples so far. */
int target_flush(struct target *target);

/* A thread that runs Python, so that all under its GIL stand still when it does; without GIL: an attached
 * one. Where there are several, `present` if it is still one and `stay`, else the next in turn. When
 * nobody runs: who did last. NULL: unknown. */
struct target_thread *target_rider(struct target *target, raddr present, bool stay);

#endif
