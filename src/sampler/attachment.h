/* SPDX-License-Identifier: MIT
 * A Python that we are let to read: its memory, where its runtime lies, and which program it is, so that
 * a reused pid or an exec is noticed.
 */
#ifndef SAMPLER_ATTACHMENT_H
#define SAMPLER_ATTACHMENT_H

#include "cpython/find.h"
#include "os/proc.h"

struct attachment {
	pid_t pid;
	struct mem *mem; /* owned */
	struct runtime runtime;
	struct proc_identity identity;
	uint32_t ns_depth; /* pid namespaces from ours down to its own; 1: the same */
	bool rseq_asked;   /* the two that follow are known: see attachment_prepare */
	int rseq_code;
	int64_t rseq_offset;
	char command[512];
};

/* TACHY_ENOTREADY: a Python on its way up; ask again in a moment. `err` (may be NULL) says why not. */
int attachment_open(pid_t pid, struct attachment *ret_attachment, struct tachy_error *err);
/* The same for a child by fork that has not executed another program since: all lies where it lay in the
 * parent, of which `parent` is, or was, the attachment (its memory is not used). A small part of the
 * cost of attachment_open. TACHY_EEXEC: it is not the parent's program (any more). */
int attachment_open_fork(pid_t pid, const struct attachment *parent,
			 struct attachment *ret_attachment);
/* Finds out now what would be asked for when the sampling begins. */
void attachment_prepare(struct attachment *attachment);
/* As tls_rseq_offset. */
int attachment_rseq(const struct attachment *attachment, int64_t *ret_offset);
void attachment_done(struct attachment *attachment);
/* 0 while it is what it was when opened; TACHY_EGONE, TACHY_EEXEC. */
int attachment_check(const struct attachment *attachment);
/* Thread states of all interpreters; 0 when they cannot be followed just now. */
uint32_t attachment_count_threads(const struct attachment *attachment);

#endif
