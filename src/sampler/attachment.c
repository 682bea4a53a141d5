/* SPDX-License-Identifier: MIT
 * Invariant: the identity was read before the runtime was looked for and is the same after, so that
 * what was found belongs to it.
 */
#include "sampler/attachment.h"

#include <string.h>

#include "cpython/thread.h"
#include "cpython/tls.h"
#include "os/permission.h"

static int open_memory(pid_t pid, struct attachment *attachment, struct tachy_error *err)
{
	int rc = mem_open_process(pid, 0, &attachment->mem);
	if (rc == TACHY_EPERM)
		return permission_explain(pid, err);
	return rc < 0 ? runtime_explain(pid, rc, err) : 0;
}

static int find(pid_t pid, struct attachment *attachment, struct tachy_error *err)
{
	struct proc_status status;
	int rc = proc_status_read(pid, &status);
	if (rc >= 0)
		rc = proc_identity_read(pid, &attachment->identity);
	if (rc < 0)
		return runtime_explain(pid, rc, err);
	attachment->ns_depth = status.n_ns;
	proc_command(pid, attachment->command, sizeof attachment->command);
	rc = open_memory(pid, attachment, err);
	if (rc >= 0)
		rc = runtime_find(pid, attachment->mem, &attachment->runtime, err);
	if (rc == TACHY_EPERM)
		rc = permission_explain(pid, err);
	if (rc >= 0 && attachment_check(attachment) < 0)
		return error_set(err, TACHY_EEXEC,
				 "process %d became another program meanwhile: try again",
				 (int)pid);
	return rc;
}

int attachment_open(pid_t pid, struct attachment *ret_attachment, struct tachy_error *err)
{
	struct attachment attachment = {.pid = pid};
	int rc = find(pid, &attachment, err);
	if (rc < 0) {
		attachment_done(&attachment);
		return rc;
	}
	*ret_attachment = attachment;
	return 0;
}

/* 0 and 1 are what the kernel shows to those who may not know. */
static bool is_same_image(const struct proc_identity *a, const struct proc_identity *b)
{
	return a->exe_inode && a->exe_inode == b->exe_inode && a->exe_dev == b->exe_dev &&
	       a->start_stack > 1 && a->start_stack == b->start_stack;
}

int attachment_open_fork(pid_t pid, const struct attachment *parent,
			 struct attachment *ret_attachment)
{
	struct attachment child = *parent;
	struct proc_status status;
	child.pid = pid;
	child.mem = NULL;
	int rc = proc_status_read(pid, &status);
	if (rc >= 0)
		rc = proc_identity_read(pid, &child.identity);
	if (rc >= 0 && !is_same_image(&child.identity, &parent->identity))
		rc = TACHY_EEXEC;
	if (rc >= 0)
		rc = mem_open_process(pid, parent->runtime.addr, &child.mem);
	if (rc < 0)
		return rc;
	child.ns_depth = status.n_ns;
	proc_command(pid, child.command, sizeof child.command);
	*ret_attachment = child;
	return 0;
}

void attachment_prepare(struct attachment *attachment)
{
	if (attachment->rseq_asked)
		return;
	attachment->rseq_code = attachment_rseq(attachment, &attachment->rseq_offset);
	attachment->rseq_asked = true;
}

int attachment_rseq(const struct attachment *attachment, int64_t *ret_offset)
{
	if (!attachment->rseq_asked)
		return tls_rseq_offset(attachment->pid, attachment->mem, ret_offset);
	if (attachment->rseq_code >= 0)
		*ret_offset = attachment->rseq_offset;
	return attachment->rseq_code;
}

void attachment_done(struct attachment *attachment)
{
	mem_close(attachment->mem);
	attachment->mem = NULL;
}

int attachment_check(const struct attachment *attachment)
{
	return proc_identity_check(attachment->pid, &attachment->identity);
}

static int count_list(struct mem_view *view, const struct layout *layout, raddr head,
		      uint32_t *n_threads)
{
	struct thread_state thread;
	for (uint32_t n = 0; head && n < THREADS_MAX; n++) {
		int rc = thread_read(view, layout, head, NULL, &thread);
		if (rc < 0)
			return rc;
		(*n_threads)++;
		head = thread.next;
	}
	return 0;
}

uint32_t attachment_count_threads(const struct attachment *attachment)
{
	const struct layout *layout = &attachment->runtime.layout;
	struct mem_view view;
	struct interp_state interp;
	uint32_t n_threads = 0;
	raddr addr = 0;
	mem_view_init(&view, attachment->mem);
	int rc = interp_first(&view, layout, attachment->runtime.addr, &addr);
	for (uint32_t n = 0; rc >= 0 && addr && n < INTERPRETERS_MAX; n++) {
		rc = interp_read(&view, layout, attachment->runtime.addr, addr, 0, &interp);
		if (rc >= 0)
			rc = count_list(&view, layout, interp.threads_head, &n_threads);
		addr = interp.next;
	}
	mem_view_done(&view);
	return rc < 0 ? 0 : n_threads;
}
