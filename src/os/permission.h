/* SPDX-License-Identifier: MIT
 * Why the kernel did not let us read a process, and what to do about it. The facts are gathered by
 * one function and judged by another that looks at nothing else, so that each verdict can be tested.
 */
#ifndef OS_PERMISSION_H
#define OS_PERMISSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#define PERMISSION_UID_HIDDEN ((uid_t)-1) /* some user's, but whose we cannot see */

struct permission_facts {
	pid_t pid;
	/* we */
	uid_t our_uid;
	gid_t our_gid;
	uint64_t our_caps, our_bounding; /* effective and possible capabilities, a bit each */
	bool our_seccomp;                /* a seccomp filter is on us */
	bool in_container;               /* by the usual signs */
	/* the target */
	bool gone;
	uid_t uid, euid, suid; /* 65534 when its user has no number in our user namespace */
	gid_t gid, egid, sgid;
	uint64_t caps;         /* permitted */
	bool undumpable;       /* its /proc files belong to root and it does not */
	bool other_user_ns;    /* its user ids are mapped otherwise than ours */
	bool descendant;       /* of ours */
	pid_t tracer;          /* 0 none */
	/* the machine */
	int yama;              /* kernel.yama.ptrace_scope; -1 none */
	bool security_module;  /* AppArmor, SELinux or the like confines one of us, and not both alike */
};

enum permission_cause {
	PERMISSION_GONE,
	PERMISSION_YAMA_OFF,    /* ptrace_scope 3: nobody may */
	PERMISSION_USER_NS,
	PERMISSION_CONTAINER,   /* root, in a container that took CAP_SYS_PTRACE away */
	PERMISSION_OTHER_USER,
	PERMISSION_UNDUMPABLE,
	PERMISSION_CAPABLE,     /* it has capabilities that we lack */
	PERMISSION_YAMA_ADMIN,  /* ptrace_scope 2 */
	PERMISSION_YAMA_PARENT, /* ptrace_scope 1 */
	PERMISSION_SECCOMP,
	PERMISSION_MODULE,
	PERMISSION_TRACED,
	PERMISSION_UNKNOWN
};

void permission_gather(pid_t pid, struct permission_facts *ret_facts);
enum permission_cause permission_judge(const struct permission_facts *facts);
/* Fills `err` with what failed, why, and the cure. Gives TACHY_EPERM (TACHY_EGONE when it is gone). */
int permission_describe(const struct permission_facts *facts, struct tachy_error *err);

/* All three in one, to be called after a TACHY_EPERM. */
int permission_explain(pid_t pid, struct tachy_error *err);

#endif
