/* SPDX-License-Identifier: MIT
 * Hides the signs by which other Pythons, and programs that are still being loaded, are known. The
 * time this takes does not matter much: it is spent once, when nothing was found.
 */
#include "cpython/find_explain.h"

#include <stdio.h>
#include <string.h>

#include "cpython/find.h"
#include "cpython/find_scan.h"
#include "cpython/version_hex.h"

#define RANGE "3.8 to 3.15"

static int pid_of(const struct finder *finder)
{
	return (int)finder->pid;
}

static int code_sentence(pid_t pid, int code, struct tachy_error *err)
{
	switch (code) {
	case TACHY_EGONE:
		return error_set(err, code,
				 "there is no process %d (any more); check the number with "
				 "'tachyscope ps'",
				 (int)pid);
	case TACHY_EPERM:
		return error_set(err, code,
				 "process %d may not be read by this user; run tachyscope as its "
				 "owner or as root",
				 (int)pid);
	default:
		return error_set(err, code, "process %d could not be read: %s", (int)pid,
				 error_text(code));
	}
}

int runtime_explain(pid_t pid, int code, struct tachy_error *err)
{
	struct proc_stat stat;
	int failed = proc_stat_read(pid, &stat);
	if (failed < 0)
		return code_sentence(pid, failed == TACHY_EGONE ? failed : code, err);
	if (stat.kernel_thread)
		return error_set(err, TACHY_ENOPYTHON,
				 "process %d (%s) is a thread of the kernel, which runs "
				 "no Python; check the number with 'tachyscope ps'",
				 (int)pid, stat.comm);
	if (proc_stat_is_over(&stat))
		return error_set(err, TACHY_EGONE,
				 "process %d (%s) has ended and only waits for its parent to "
				 "collect its status; nothing is left to read",
				 (int)pid, stat.comm);
	if (code < 0 && code != TACHY_ENOTREADY)
		return code_sentence(pid, code, err);
	return error_set(err, TACHY_ENOTREADY,
			 "process %d (%s) is still being loaded; try again in a moment", (int)pid,
			 stat.comm);
}

/* The first module that defines `name`, or NULL. */
static struct module *definer(struct finder *finder, const char *name, raddr *ret_addr)
{
	for (size_t i = 0; i < finder->modules.n && !finder->fatal; i++) {
		raddr addr = module_symbol(finder, &finder->modules.at[i], name);
		if (addr) {
			*ret_addr = addr;
			return &finder->modules.at[i];
		}
	}
	return NULL;
}

static int say_old(struct finder *finder, const char *version, struct tachy_error *err)
{
	bool two = version[0] == '2';
	return error_set(err, TACHY_EVERSION,
			 "process %d runs Python %s, which is too old: tachyscope reads %s; run "
			 "the program with "
			 "one of these%s",
			 pid_of(finder), version, RANGE,
			 two ? ", or use a profiler that still knows Python 2" : "");
}

/* A module whose text of its version, or own name, tells an old Python. */
static bool is_old_version(const char *version)
{
	uint32_t hex = version_text_hex(version);
	return hex != 0 && hex < 0x03080000;
}

/* An old Python in `module`: 3.7 has _PyRuntime but not yet PyConfig (PEP 587); 3.6 and older have
 * neither; PyString_FromString is Python 2's. */
static bool explain_old(struct finder *finder, struct module *module, struct tachy_error *err,
			int *ret)
{
	char version[SCAN_VERSION_MAX];
	if (!module_symbol(finder, module, "Py_GetVersion") ||
	    module_symbol(finder, module, "PyConfig_Clear"))
		return false;
	if (scan_version(finder, module, 0, version)) {
		if (!is_old_version(version))
			return false;
		*ret = say_old(finder, version, err);
		return true;
	}
	bool two = module_symbol(finder, module, "PyString_FromString") != 0;
	bool seven = module_symbol(finder, module, "_PyRuntime") != 0;
	*ret = say_old(finder, two ? "2" : seven ? "3.7" : "3.6 or older", err);
	return true;
}

static bool explain_pypy(struct finder *finder, struct tachy_error *err, int *ret)
{
	raddr addr;
	if (!definer(finder, "rpython_startup_code", &addr) &&
	    !definer(finder, "pypy_main_startup", &addr))
		return false;
	*ret = error_set(err, TACHY_EVERSION,
			 "process %d runs PyPy, whose stacks only PyPy itself can read: tachyscope "
			 "reads CPython "
			 "%s; run the program with CPython, or use PyPy's own vmprof",
			 pid_of(finder), RANGE);
	return true;
}

/* 32-bit programs have pointers of another size. */
static bool explain_width(struct finder *finder, struct tachy_error *err, int *ret)
{
	static const uint8_t narrow[5] = {0x7f, 'E', 'L', 'F', 1};
	uint8_t ident[5];
	if (finder->modules.n == 0 ||
	    finder_read(finder, finder->modules.at[0].start, ident, sizeof ident) < 0 ||
	    memcmp(ident, narrow, sizeof narrow) != 0)
		return false;
	*ret = error_set(err, TACHY_EPLATFORM,
			 "process %d is a 32-bit program, and this tachyscope reads 64-bit "
			 "ones; run a 64-bit Python",
			 pid_of(finder));
	return true;
}

/* The kernel has not mapped all of the program yet: its loader, which comes last, is missing. What lies
 * where the program's headers say is then not to be believed. */
static bool is_being_mapped(struct finder *finder)
{
	if (finder->modules.n == 0)
		return true;
	if (finder->modules.n > 1)
		return false;
	const struct elf_image *image = module_image(finder, &finder->modules.at[0]);
	return !image || image->has_interp;
}

/* What the program needs may still come: the kernel or the dynamic loader is at work. */
static bool is_loading(struct finder *finder)
{
	if (is_being_mapped(finder))
		return true;
	for (size_t i = 0; i < finder->modules.n; i++) {
		struct module *module = &finder->modules.at[i];
		const struct elf_image *image = module_image(finder, module);
		if (!image || !image->has_interp)
			continue;
		if (elf_image_loading(image))
			return true;
		if (module->rank == MODULE_PROGRAM && image->n_needed && finder->modules.n <= 2)
			return true; /* nothing but the program and its loader */
	}
	return false;
}

static int explain_strange(struct finder *finder, const struct verdict *best,
			   struct tachy_error *err)
{
	char version[VERSION_TEXT_MAX] = "of an unknown version";
	if (best->version_hex)
		(void)version_hex_format(best->version_hex, version, sizeof version);
	bool newer = best->version_hex >> 16 > 0x030f;
	return error_set(err, TACHY_EVERSION,
			 "process %d runs Python %s, whose memory is laid out in no way that "
			 "tachyscope knows%s%s; %s",
			 pid_of(finder), version, best->what[0] ? ": " : "", best->what,
			 newer ? "it is newer than this tachyscope: get a newer one"
			       : "is it a modified build? please report it");
}

static int explain_unready(struct finder *finder, struct tachy_error *err)
{
	return error_set(err, TACHY_ENOTREADY,
			 "process %d has a Python that is not initialised (any more); try again in "
			 "a moment, or "
			 "check with 'tachyscope ps' that this is the process you mean",
			 pid_of(finder));
}

/* A Python of another kind than those that can be read. */
static bool explain_other(struct finder *finder, const struct verdict *best,
			  struct tachy_error *err, int *ret)
{
	raddr symbol;
	if (explain_pypy(finder, err, ret) || explain_width(finder, err, ret))
		return true;
	if (best->version_hex)
		return false;
	struct module *old = definer(finder, "Py_GetVersion", &symbol);
	return old && explain_old(finder, old, err, ret);
}

int find_explain(struct finder *finder, const struct verdict *best, raddr addr, bool *ret_strange,
		 struct tachy_error *err)
{
	int code;
	*ret_strange = false;
	if (best->kind == VERDICT_FINALIZING)
		return error_set(err, TACHY_EFINALIZING,
				 "the Python in process %d is shutting down; there is nothing "
				 "left to sample",
				 pid_of(finder));
	if (!finder->fatal && explain_other(finder, best, err, &code))
		return code;
	bool loading = !finder->fatal && is_loading(finder);
	if (finder->fatal)
		return runtime_explain(finder->pid, finder->fatal, err);
	if (loading)
		return runtime_explain(finder->pid, TACHY_ENOTREADY, err);
	if (addr && (best->kind == VERDICT_EMPTY || best->kind == VERDICT_EARLY))
		return explain_unready(finder, err);
	if (addr) {
		*ret_strange = best->version_hex == 0;
		return explain_strange(finder, best, err);
	}
	char comm[PROC_COMM_MAX] = "";
	(void)proc_comm(finder->pid, finder->pid, comm, sizeof comm);
	return error_set(err, TACHY_ENOPYTHON,
			 "process %d (%s) runs no CPython: none was found in its memory; "
			 "'tachyscope ps' lists the "
			 "processes that do",
			 pid_of(finder), comm);
}
