/* SPDX-License-Identifier: MIT
 * Facts about a thread's own memory, read from outside. A thread state's `thread_id` is a pthread_t,
 * which on x86-64 Linux (glibc and musl) is the thread pointer: known to us without any system call.
 * (Where the descriptor lies before the thread pointer, as on aarch64, the distance would have to be
 * added for rseq; only x86-64 has been tried.)
 */
#ifndef CPYTHON_TLS_H
#define CPYTHON_TLS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "os/mem.h"

/* Where the kernel keeps a thread's restartable-sequences area (linux/rseq.h), from the thread
 * pointer: the value of __rseq_offset that the target's own C library exports (glibc 2.35+). The CPU
 * that the thread runs on, or ran on last, is the u32 at thread_id + offset + TLS_RSEQ_CPU_ID.
 * TACHY_ENOENT: the target has no such thing, or did not register it. */
int tls_rseq_offset(pid_t pid, struct mem *mem, int64_t *ret_offset);
#define TLS_RSEQ_CPU_ID 4

/* The CPU of one thread, checked: TACHY_ENOENT when the thread is not registered, TACHY_ECORRUPT when
 * no such CPU exists (then the offset is not what it seemed). */
int tls_rseq_cpu(struct mem *mem, uint64_t thread_id, int64_t offset, int *ret_cpu);

/* Where, from the thread pointer, the C library keeps the kernel's thread id (as the target sees it):
 * a u32. Found from one or more thread pointers of the target and its real thread list; for
 * Python 3.8 to 3.10, whose thread states hold no thread id. TACHY_ENOENT: nowhere to be seen. */
int tls_tid_offset(pid_t pid, struct mem *mem, const uint64_t *thread_ids, size_t n,
		   uint32_t *ret_offset);

#endif
