/* SPDX-License-Identifier: MIT
 * The verdicts, in the order in which the kernel asks (kernel/ptrace.c, __ptrace_may_access; then
 * security/commoncap.c, security/yama/yama_lsm.c). Invariant: looks at the facts only.
 */
#include "os/permission.h"

#define CAP_SYS_PTRACE_BIT (UINT64_C(1) << 19) /* linux/capability.h */
#define ROOT               0u

static bool same_user(const struct permission_facts *f)
{
	return f->uid == f->our_uid && f->euid == f->our_uid && f->suid == f->our_uid &&
	       f->gid == f->our_gid && f->egid == f->our_gid && f->sgid == f->our_gid;
}

/* Root, or a container's root, that lacks what root has elsewhere. */
static bool stripped_root(const struct permission_facts *f)
{
	return f->our_uid == ROOT || (f->in_container && !(f->our_bounding & CAP_SYS_PTRACE_BIT));
}

static enum permission_cause judge_without_cap(const struct permission_facts *f)
{
	bool rights_missing = !same_user(f) || f->undumpable || (f->caps & ~f->our_caps) != 0 ||
			      f->yama > 0;
	if (rights_missing && stripped_root(f) && !(f->yama == 1 && f->descendant && same_user(f)))
		return PERMISSION_CONTAINER;
	if (!same_user(f))
		return PERMISSION_OTHER_USER;
	if (f->undumpable)
		return PERMISSION_UNDUMPABLE;
	if ((f->caps & ~f->our_caps) != 0)
		return PERMISSION_CAPABLE;
	if (f->yama == 2)
		return PERMISSION_YAMA_ADMIN;
	if (f->yama == 1 && !f->descendant)
		return PERMISSION_YAMA_PARENT;
	return PERMISSION_UNKNOWN;
}

enum permission_cause permission_judge(const struct permission_facts *f)
{
	if (f->gone)
		return PERMISSION_GONE;
	if (f->yama >= 3)
		return PERMISSION_YAMA_OFF;
	if (f->other_user_ns)
		return PERMISSION_USER_NS;
	if (!(f->our_caps & CAP_SYS_PTRACE_BIT)) {
		enum permission_cause cause = judge_without_cap(f);
		if (cause != PERMISSION_UNKNOWN)
			return cause;
	}
	if (f->our_seccomp)
		return PERMISSION_SECCOMP;
	if (f->security_module)
		return PERMISSION_MODULE;
	return f->tracer ? PERMISSION_TRACED : PERMISSION_UNKNOWN;
}

#define CAP_CURE \
	"start it with docker run --cap-add SYS_PTRACE (podman alike; Kubernetes: " \
	"securityContext: " \
	"{capabilities: {add: [SYS_PTRACE]}})"

static int describe_user(const struct permission_facts *f, struct tachy_error *err)
{
	int pid = (int)f->pid;
	if (f->euid == PERMISSION_UID_HIDDEN)
		return error_set(
			err, TACHY_EPERM,
			"no permission to read process %d: it belongs to another user; run "
			"tachyscope with sudo",
			pid);
	if (f->euid != f->our_uid)
		return error_set(
			err, TACHY_EPERM,
			"no permission to read process %d: it belongs to user id %ld and you are "
			"user id %ld; "
			"run tachyscope with sudo, or as that user",
			pid, (long)f->euid, (long)f->our_uid);
	return error_set(
		err, TACHY_EPERM,
		"no permission to read process %d: its user or group ids are not all yours "
		"(set-user-id program, "
		"newgrp); run tachyscope with sudo",
		pid);
}

static int describe_rights(const struct permission_facts *f, enum permission_cause cause,
			   struct tachy_error *err)
{
	int pid = (int)f->pid;
	switch (cause) {
	case PERMISSION_CONTAINER:
		return error_set(
			err, TACHY_EPERM,
			"no permission to read process %d: this %s has no CAP_SYS_PTRACE; %s", pid,
			f->in_container ? "container" : "root user", CAP_CURE);
	case PERMISSION_OTHER_USER:
		return describe_user(f, err);
	case PERMISSION_UNDUMPABLE:
		return error_set(
			err, TACHY_EPERM,
			"no permission to read process %d: it is protected (set-user-id program, "
			"changed user, or "
			"prctl PR_SET_DUMPABLE); run tachyscope with sudo",
			pid);
	case PERMISSION_CAPABLE:
		return error_set(
			err, TACHY_EPERM,
			"no permission to read process %d: it has capabilities that you lack "
			"(setcap on its "
			"program, or a service with extra rights); run tachyscope with sudo",
			pid);
	default:
		return error_set(
			err, TACHY_EPERM,
			"no permission to read process %d: the kernel refuses, for no reason that "
			"can be seen "
			"from here; %s",
			pid,
			f->our_uid == ROOT ? "a sandbox or a security module may forbid it"
					   : "run tachyscope with sudo");
	}
}

static int describe_policy(const struct permission_facts *f, enum permission_cause cause,
			   struct tachy_error *err)
{
	int pid = (int)f->pid;
	switch (cause) {
	case PERMISSION_YAMA_OFF:
		return error_set(
			err, TACHY_EPERM,
			"no permission to read process %d: kernel.yama.ptrace_scope is 3, which "
			"forbids it to everybody "
			"until the next boot; set it to 1 in /etc/sysctl.d and reboot",
			pid);
	case PERMISSION_YAMA_ADMIN:
		return error_set(
			err, TACHY_EPERM,
			"no permission to read process %d: kernel.yama.ptrace_scope is 2, which "
			"lets only root read other "
			"processes; run tachyscope with sudo",
			pid);
	case PERMISSION_YAMA_PARENT:
		return error_set(
			err, TACHY_EPERM,
			"no permission to read process %d: kernel.yama.ptrace_scope is 1, which "
			"lets you read only what you "
			"started; use sudo, or tachyscope run, or (until the next boot) "
			"echo 0 | sudo tee "
			"/proc/sys/kernel/yama/ptrace_scope",
			pid);
	case PERMISSION_SECCOMP:
		return error_set(
			err, TACHY_EPERM,
			"no permission to read process %d: a seccomp filter on this %s forbids it; "
			"%s, or with "
			"--security-opt seccomp=unconfined",
			pid, f->in_container ? "container" : "session", CAP_CURE);
	default:
		return error_set(
			err, TACHY_EPERM,
			"no permission to read process %d: a security module (AppArmor, SELinux) "
			"forbids it; see dmesg for "
			"the rule, or run in the same confinement as the process",
			pid);
	}
}

int permission_describe(const struct permission_facts *f, struct tachy_error *err)
{
	int pid = (int)f->pid;
	enum permission_cause cause = permission_judge(f);
	switch (cause) {
	case PERMISSION_GONE:
		return error_set(err, TACHY_EGONE, "process %d has ended", pid);
	case PERMISSION_USER_NS:
		return error_set(
			err, TACHY_EPERM,
			"no permission to read process %d: it lives in another user namespace, "
			"where your rights do not "
			"count; run tachyscope as root of the host, or inside: sudo "
			"nsenter -t %d -U "
			"--preserve-credentials tachyscope ...",
			pid, pid);
	case PERMISSION_TRACED:
		return error_set(
			err, TACHY_EPERM,
			"no permission to stop process %d: process %d traces it already (a "
			"debugger, strace), and there can "
			"be only one; end that one, or leave --blocking out",
			pid, (int)f->tracer);
	case PERMISSION_YAMA_OFF:
	case PERMISSION_YAMA_ADMIN:
	case PERMISSION_YAMA_PARENT:
	case PERMISSION_SECCOMP:
	case PERMISSION_MODULE:
		return describe_policy(f, cause, err);
	default:
		return describe_rights(f, cause, err);
	}
}

int permission_explain(pid_t pid, struct tachy_error *err)
{
	struct permission_facts facts;
	permission_gather(pid, &facts);
	return permission_describe(&facts, err);
}
