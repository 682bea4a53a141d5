/* SPDX-License-Identifier: MIT
 * Hides where a version keeps the kernel's id of a thread, and that the target may number its threads otherwise than
 * we do (a pid namespace).
 */
#include "sampler/thread_tid.h"

#include "cpython/tls.h"

/* 3.8 - 3.10 keep no kernel id: it is in the C library's own struct, which thread_id points to. */
static pid_t tid_from_pthread(struct target *target, uint64_t thread_id)
{
	const struct attachment *process = target->process;
	uint32_t ns_tid = 0;
	if (target->tid_offset == TID_OFFSET_UNKNOWN &&
	    tls_tid_offset(process->pid, process->mem, &thread_id, 1, &target->tid_offset) < 0)
		target->tid_offset = TID_OFFSET_NONE;
	if (target->tid_offset == TID_OFFSET_NONE ||
	    mem_read(process->mem, thread_id + target->tid_offset, &ns_tid, sizeof ns_tid) < 0)
		return 0;
	return (pid_t)ns_tid;
}

pid_t thread_tid_find(struct target *target, const struct thread_state *state)
{
	pid_t ns_tid = state->native_thread_id ? (pid_t)state->native_thread_id
					       : tid_from_pthread(target, state->thread_id);
	pid_t tid = 0;
	if (ns_tid <= 0 || target->process->ns_depth <= 1)
		return ns_tid > 0 ? ns_tid : 0;
	return proc_tid_from_ns(target->process->pid, ns_tid, &tid) < 0 ? 0 : tid;
}
