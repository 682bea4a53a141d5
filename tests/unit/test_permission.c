/* SPDX-License-Identifier: MIT
 * permission.c: facts in, verdict and sentence out.
 */
#include "cases.h"

#include <unistd.h>

#include "os/permission.h"

#define CAP (UINT64_C(1) << 19)

/* An ordinary user and a process of theirs, on a machine without restrictions. */
#define ORDINARY \
	.pid = 42, .our_uid = 1000, .our_gid = 1000, .uid = 1000, .euid = 1000, .suid = 1000, \
	.gid = 1000, .egid = 1000, .sgid = 1000, .our_bounding = UINT64_MAX, .yama = -1
/* Root and a process of root's. */
#define ROOT .pid = 42, .our_caps = UINT64_MAX, .our_bounding = UINT64_MAX, .yama = -1
/* Root in a container of the usual kind, without CAP_SYS_PTRACE. */
#define CONTAINED \
	.pid = 42, .our_caps = ~CAP, .our_bounding = ~CAP, .in_container = true, .yama = -1

/* Each case is one of these with a few facts changed. */
#pragma GCC diagnostic ignored "-Woverride-init"

static const struct {
	const char *what;
	struct permission_facts facts;
	enum permission_cause cause;
	const char *says[2];
} cases[] = {
	{"it ended", {ORDINARY, .gone = true}, PERMISSION_GONE, {"process 42 has ended", ""}},
	{"yama 3", {ORDINARY, .yama = 3}, PERMISSION_YAMA_OFF, {"ptrace_scope is 3", "reboot"}},
	{"yama 3 stops root too", {ROOT, .yama = 3}, PERMISSION_YAMA_OFF, {"everybody", "reboot"}},
	{"another user namespace",
	 {ORDINARY, .other_user_ns = true},
	 PERMISSION_USER_NS,
	 {"user namespace", "nsenter -t 42"}},
	{"namespace before user",
	 {ORDINARY, .other_user_ns = true, .euid = 65534},
	 PERMISSION_USER_NS,
	 {"", ""}},
	{"another user",
	 {ORDINARY, .uid = 0, .euid = 0, .suid = 0},
	 PERMISSION_OTHER_USER,
	 {"belongs to user id 0 and you are user id 1000", "sudo"}},
	{"hidden user",
	 {ORDINARY, .uid = PERMISSION_UID_HIDDEN, .euid = PERMISSION_UID_HIDDEN},
	 PERMISSION_OTHER_USER,
	 {"belongs to another user", "sudo"}},
	{"set-user-id program",
	 {ORDINARY, .suid = 0},
	 PERMISSION_OTHER_USER,
	 {"not all yours", "sudo"}},
	{"another group", {ORDINARY, .egid = 5}, PERMISSION_OTHER_USER, {"not all yours", "sudo"}},
	{"not dumpable",
	 {ORDINARY, .undumpable = true},
	 PERMISSION_UNDUMPABLE,
	 {"protected", "sudo"}},
	{"has capabilities",
	 {ORDINARY, .caps = 1024},
	 PERMISSION_CAPABLE,
	 {"capabilities that you lack", "sudo"}},
	{"yama 2", {ORDINARY, .yama = 2}, PERMISSION_YAMA_ADMIN, {"ptrace_scope is 2", "sudo"}},
	{"yama 2, a child",
	 {ORDINARY, .yama = 2, .descendant = true},
	 PERMISSION_YAMA_ADMIN,
	 {"", ""}},
	{"yama 1",
	 {ORDINARY, .yama = 1},
	 PERMISSION_YAMA_PARENT,
	 {"ptrace_scope is 1", "echo 0 | sudo tee /proc/sys/kernel/yama/ptrace_scope"}},
	{"yama 1 lets children be read",
	 {ORDINARY, .yama = 1, .descendant = true},
	 PERMISSION_UNKNOWN,
	 {"", ""}},
	{"yama 1 and another user",
	 {ORDINARY, .yama = 1, .euid = 7},
	 PERMISSION_OTHER_USER,
	 {"user id 7", ""}},
	{"container, another user",
	 {CONTAINED, .euid = 33, .uid = 33, .suid = 33},
	 PERMISSION_CONTAINER,
	 {"this container has no CAP_SYS_PTRACE", "docker run --cap-add SYS_PTRACE"}},
	{"container, yama 1",
	 {CONTAINED, .yama = 1},
	 PERMISSION_CONTAINER,
	 {"CAP_SYS_PTRACE", "securityContext"}},
	{"container, capable target",
	 {CONTAINED, .caps = UINT64_MAX},
	 PERMISSION_CONTAINER,
	 {"", ""}},
	{"container, own child under yama 1, seccomp",
	 {CONTAINED, .yama = 1, .descendant = true, .our_seccomp = true},
	 PERMISSION_SECCOMP,
	 {"", ""}},
	{"user in a container that took it away",
	 {ORDINARY, .our_bounding = ~CAP, .in_container = true, .euid = 7},
	 PERMISSION_CONTAINER,
	 {"", ""}},
	{"root without it, no container",
	 {ROOT, .our_caps = ~CAP, .uid = 9, .euid = 9, .suid = 9},
	 PERMISSION_CONTAINER,
	 {"this root user has no CAP_SYS_PTRACE", ""}},
	{"seccomp in a container",
	 {CONTAINED, .our_seccomp = true},
	 PERMISSION_SECCOMP,
	 {"seccomp filter on this container", "seccomp=unconfined"}},
	{"seccomp for all the rights",
	 {ROOT, .our_seccomp = true, .euid = 5},
	 PERMISSION_SECCOMP,
	 {"seccomp", ""}},
	{"a security module",
	 {ROOT, .security_module = true},
	 PERMISSION_MODULE,
	 {"AppArmor", "confinement"}},
	{"traced",
	 {ORDINARY, .tracer = 77},
	 PERMISSION_TRACED,
	 {"process 77 traces it", "--blocking"}},
	{"nothing to be seen",
	 {ORDINARY},
	 PERMISSION_UNKNOWN,
	 {"no reason that can be seen", "sudo"}},
	{"nothing to be seen by root",
	 {ROOT},
	 PERMISSION_UNKNOWN,
	 {"no reason that can be seen", "sandbox"}},
};

static void verdicts(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct tachy_error err = {0};
		if (permission_judge(&cases[i].facts) != cases[i].cause)
			fail_msg("%s: verdict %d, wanted %d", cases[i].what,
				 (int)permission_judge(&cases[i].facts), (int)cases[i].cause);
		int rc = permission_describe(&cases[i].facts, &err);
		assert_int_equal(rc, cases[i].cause == PERMISSION_GONE ? TACHY_EGONE : TACHY_EPERM);
		assert_int_equal(err.code, rc);
		assert_non_null(strstr(err.text, "42"));
		assert_null(strchr(err.text, '\n'));
		for (size_t j = 0; j < 2; j++)
			if (!strstr(err.text, cases[i].says[j]))
				fail_msg("%s: '%s' is not in: %s", cases[i].what, cases[i].says[j],
					 err.text);
	}
}

/* Root with all rights gets no verdict that asks for more rights. */
static void root_is_not_sent_to_sudo(void **state)
{
	uint64_t seed = 9;
	(void)state;
	for (int i = 0; i < 2000; i++) {
		struct permission_facts facts = {ROOT};
		struct tachy_error err = {0};
		facts.euid = (uid_t)(dice(&seed) % 3);
		facts.caps = dice(&seed);
		facts.undumpable = dice(&seed) % 2;
		facts.yama = (int)(dice(&seed) % 4) - 1;
		facts.in_container = dice(&seed) % 2;
		(void)permission_describe(&facts, &err);
		assert_null(strstr(err.text, "sudo"));
		assert_null(strstr(err.text, "--cap-add"));
	}
}

static void facts_about_ourselves(void **state)
{
	struct permission_facts facts;
	(void)state;
	permission_gather(getpid(), &facts);
	assert_false(facts.gone);
	assert_int_equal(facts.uid, getuid());
	assert_int_equal(facts.euid, geteuid());
	assert_int_equal(facts.egid, getegid());
	assert_false(facts.other_user_ns);
	assert_true(facts.descendant);
	assert_false(facts.security_module);
	assert_in_range(facts.yama + 1, 0, 4);
}

static void facts_about_nobody(void **state)
{
	struct permission_facts facts;
	struct tachy_error err = {0};
	(void)state;
	permission_gather(4194304, &facts); /* above the highest pid there can be */
	assert_true(facts.gone);
	assert_int_equal(permission_explain(4194304, &err), TACHY_EGONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(verdicts),
		cmocka_unit_test(root_is_not_sent_to_sudo),
		cmocka_unit_test(facts_about_ourselves),
		cmocka_unit_test(facts_about_nobody),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
