/* SPDX-License-Identifier: MIT
 * The search, from cheap and certain to dear: the dynamic symbol in memory, the section and the
 * symbol of the file, then a scan of what is writable. What is found is never believed for its name:
 * it must pass verdict_reach(). The program and files called *python* are looked at first, because
 * that is quick when it is right; the rest is looked at all the same.
 */
#include "cpython/find.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cpython/find_check.h"
#include "cpython/find_explain.h"
#include "cpython/find_module.h"
#include "cpython/find_scan.h"
#include "cpython/version_hex.h"

#define SYMBOL         "_PyRuntime"
#define SECTION        ".PyRuntime"
#define LOOKS          3     /* at a place that should be right: threads may be coming and going */
#define SEARCHES       3     /* when the process changes under our eyes */
#define STRANGE_LOOKS  40    /* before a layout is called unknown: 0.1 s in all */
#define STRANGE_NAP_NS 2500000
#define SCAN_TRIES_MAX 20000 /* places in writable memory that are looked into */

struct search {
	struct finder finder;
	struct verdict best;
	raddr addr;
	enum runtime_sign sign;
	size_t n_scan_tries;
};

static bool is_found(const struct search *search)
{
	return search->best.kind == VERDICT_HOLDS || search->best.kind == VERDICT_FINALIZING ||
	       search->finder.fatal;
}

/* A library that is being loaded is mapped whole and read-only first, its data after that: until then
 * other parts of its file lie where the runtime will. */
static bool is_mapped(struct search *search, raddr addr)
{
	const struct proc_map *map = proc_maps_at(&search->finder.maps, addr);
	return map && map->write;
}

/* Looks at a candidate; true ends the search. */
static bool consider(struct search *search, raddr addr, enum runtime_sign sign)
{
	bool named = sign != RUNTIME_SIGN_POINTERS && sign != RUNTIME_SIGN_COOKIE;
	struct verdict verdict = {.kind = VERDICT_EMPTY, .what = ""};
	for (int i = 0; i < LOOKS && is_mapped(search, addr); i++) {
		verdict_reach(&search->finder, addr, &verdict);
		if (!named || verdict.kind != VERDICT_FALSE)
			break;
	}
	/* a name alone is worth remembering; what a scan turned up must have something to it */
	if (verdict.kind > search->best.kind || (named && !search->addr)) {
		search->best = verdict;
		search->addr = addr;
		search->sign = sign;
	}
	return is_found(search);
}

static bool look_dynamic(struct search *search, struct module *module)
{
	raddr addr = module_symbol(&search->finder, module, SYMBOL);
	return addr && consider(search, addr, RUNTIME_SIGN_DYNAMIC);
}

static bool look_file(struct search *search, struct module *module)
{
	struct elf_file *elf;
	struct elf_range section;
	struct elf_symbol symbol;
	uint64_t bias;
	bool done = false;
	if (module_file(&search->finder, module, &elf, &bias) < 0)
		return false;
	if (elf_file_section(elf, SECTION, &section) == 0 && section.addr)
		done = consider(search, section.addr + bias, RUNTIME_SIGN_SECTION);
	else if (elf_file_symbol(elf, ELF_TABLE_DYNAMIC, SYMBOL, &symbol) == 0 ||
		 elf_file_symbol(elf, ELF_TABLE_STATIC, SYMBOL, &symbol) == 0)
		done = consider(search, symbol.addr + bias, RUNTIME_SIGN_SYMBOL);
	elf_file_close(elf);
	return done;
}

static bool scan_hit_found(void *context, raddr candidate)
{
	struct search *search = context;
	uint64_t word = finder_word(&search->finder, candidate);
	bool cookie = memcmp(&word, RUNTIME_COOKIE, sizeof word) == 0;
	if (search->n_scan_tries++ > SCAN_TRIES_MAX)
		return true;
	if (cookie)
		return consider(search, candidate, RUNTIME_SIGN_COOKIE);
	struct verdict verdict;
	verdict_reach(&search->finder, candidate, &verdict);
	if (verdict.kind != VERDICT_HOLDS && verdict.kind != VERDICT_FINALIZING)
		return search->finder.fatal != 0;
	return consider(search, candidate, RUNTIME_SIGN_POINTERS);
}

static bool each(struct search *search, enum module_rank low, enum module_rank high,
		 bool (*look)(struct search *search, struct module *module))
{
	for (size_t i = 0; i < search->finder.modules.n; i++) {
		struct module *module = &search->finder.modules.at[i];
		if (module->rank >= low && module->rank <= high && look(search, module))
			return true;
		if (search->finder.fatal)
			return true;
	}
	return false;
}

static bool look_scan(struct search *search, struct module *module)
{
	return scan_runtimes(&search->finder, module, scan_hit_found, search) && is_found(search);
}

static void look_everywhere(struct search *search)
{
	(void)(each(search, MODULE_PROGRAM, MODULE_NAMED, look_dynamic) ||
	       each(search, MODULE_PROGRAM, MODULE_NAMED, look_file) ||
	       each(search, MODULE_OTHER, MODULE_OTHER, look_dynamic) ||
	       each(search, MODULE_PROGRAM, MODULE_OTHER, look_scan));
}

/* Asks the module that holds the runtime, then those that may be its other half (a program with a copy
 * relocation holds the runtime of its libpython). */
static uint32_t ask_modules(struct search *search,
			    uint32_t (*ask)(struct search *, struct module *))
{
	struct module *own = module_at(&search->finder, search->addr);
	uint32_t hex = own ? ask(search, own) : 0;
	for (size_t i = 0; i < search->finder.modules.n && !hex; i++) {
		struct module *module = &search->finder.modules.at[i];
		if (module != own && module->rank != MODULE_OTHER)
			hex = ask(search, module);
	}
	return hex;
}

/* 3.11+: `const unsigned long Py_Version`. */
static uint32_t version_by_symbol(struct search *search, struct module *module)
{
	raddr addr = module_symbol(&search->finder, module, "Py_Version");
	uint64_t hex = addr ? finder_word(&search->finder, addr) : 0;
	return hex >> 16 >= 0x030b && hex <= UINT32_MAX ? (uint32_t)hex : 0;
}

static uint32_t version_by_text(struct search *search, struct module *module)
{
	char text[SCAN_VERSION_MAX];
	unsigned minor = search->best.sure ? search->best.layout.minor : 0;
	return scan_version(&search->finder, module, minor, text) ? version_text_hex(text) : 0;
}

/* The version, down to the patch release where it can be known. Where the tables left a choice, what
 * the version says decides. */
static uint32_t find_version(struct search *search)
{
	uint32_t hex = search->best.version_hex;
	if (!hex && search->best.layout.minor >= 11)
		hex = ask_modules(search, version_by_symbol);
	if (!hex)
		hex = ask_modules(search, version_by_text);
	unsigned minor = hex >> 16 & 0xff;
	if (hex && !search->best.version_hex && minor != search->best.layout.minor &&
	    (search->best.sure ||
	     !verdict_try_minor(&search->finder, search->addr, minor, &search->best)))
		return 0; /* another Python's: memory does not lie about its layout */
	return hex;
}

static void fill(struct search *search, struct runtime *runtime)
{
	uint32_t hex = find_version(search);
	const struct layout *layout = &search->best.layout;
	struct module *module = module_at(&search->finder, search->addr);
	*runtime = (struct runtime){
		.addr = search->addr,
		.layout = search->best.layout,
		.version_hex = hex ? hex
				   : (uint32_t)layout->major << 24 | (uint32_t)layout->minor << 16,
		.micro_known = hex != 0,
		.sign = search->sign,
		.module_base = module ? module->start : 0,
	};
	if (!hex || version_hex_format(hex, runtime->version, sizeof runtime->version) < 0)
		(void)snprintf(runtime->version, sizeof runtime->version, "%u.%u", layout->major,
			       layout->minor);
	if (layout->guessed)
		(void)snprintf(runtime->remark, sizeof runtime->remark,
			       "Python %s is not a version that this tachyscope was checked "
			       "against; it trusts what "
			       "the process says about its own memory",
			       runtime->version);
}

/* Whether what a search found may be a moment between two states of the process. */
enum doubt {
	DOUBT_NONE,
	DOUBT_CHANGED, /* its maps changed meanwhile */
	DOUBT_STRANGE  /* a runtime that makes no sense, as one does that is just being set up or taken down */
};

static enum doubt doubt_of(const struct search *search, int code, bool micro_known, bool strange)
{
	/* a view that was old before it was complete can miss a Python, or its version */
	bool doubtful = code == TACHY_ENOPYTHON || code == TACHY_EVERSION ||
			(code == 0 && !micro_known);
	if (doubtful && !finder_is_stable(&search->finder))
		return DOUBT_CHANGED;
	return strange ? DOUBT_STRANGE : DOUBT_NONE;
}

/* One search. */
static int find_once(pid_t pid, struct mem *mem, struct runtime *ret_runtime, enum doubt *ret_doubt,
		     struct tachy_error *err)
{
	struct search search = {.best = {.kind = VERDICT_FALSE, .what = ""}};
	struct runtime runtime = {0};
	bool strange = false;
	int code = finder_init(&search.finder, pid, mem);
	*ret_doubt = DOUBT_NONE;
	if (code < 0)
		return runtime_explain(pid, code, err);
	if (search.finder.maps.n == 0)
		code = runtime_explain(pid, 0, err);
	else
		look_everywhere(&search);
	if (code == 0 && search.best.kind == VERDICT_HOLDS)
		fill(&search, &runtime);
	else if (code == 0)
		code = find_explain(&search.finder, &search.best, search.addr, &strange, err);
	*ret_doubt = doubt_of(&search, code, runtime.micro_known, strange);
	finder_done(&search.finder);
	if (code == 0)
		*ret_runtime = runtime;
	return code;
}

int runtime_find(pid_t pid, struct mem *mem, struct runtime *ret_runtime, struct tachy_error *err)
{
	struct runtime runtime;
	int n_changed = 0, n_strange = 0;
	while (n_changed < SEARCHES) {
		enum doubt doubt;
		int code = find_once(pid, mem, &runtime, &doubt, err);
		if (doubt == DOUBT_NONE && code == 0)
			*ret_runtime = runtime;
		if (doubt == DOUBT_NONE || (doubt == DOUBT_STRANGE && ++n_strange >= STRANGE_LOOKS))
			return code;
		if (doubt == DOUBT_STRANGE)
			(void)nanosleep(&(struct timespec){0, STRANGE_NAP_NS}, NULL);
		else
			n_changed++;
	}
	return runtime_explain(pid, TACHY_ENOTREADY, err);
}
