/* SPDX-License-Identifier: MIT
 * file_match.c: the same files in another checkout, another interpreter, another machine; and no match
 * where it is not clear.
 */
#include "cases.h"

#include "export/file_match.h"
#include "fake_alloc.h"
#include "tachyscope/error.h"

#define FILES_MAX 8

static const struct {
	const char *about;
	const char *now[FILES_MAX], *base[FILES_MAX]; /* NULL at the end */
	const char *match[FILES_MAX];                 /* of each of base; NULL: none */
} cases[] = {
	{"nothing", {NULL}, {NULL}, {NULL}},
	{"equal", {"/a/x.py", "/a/y.py"}, {"/a/y.py", "/a/x.py"}, {"/a/y.py", "/a/x.py"}},
	{"another checkout",
	 {"/srv/b/app/main.py", "/srv/b/app/util/text.py"},
	 {"/home/a/app/util/text.py", "/home/a/app/main.py"},
	 {"/srv/b/app/util/text.py", "/srv/b/app/main.py"}},
	{"another interpreter",
	 {"/opt/lib/python3.13/json/decoder.py"},
	 {"/usr/lib/python3.11/json/decoder.py"},
	 {"/opt/lib/python3.13/json/decoder.py"}},
	{"only the name", {"/new/app.py"}, {"/old/app.py"}, {"/new/app.py"}},
	{"no folder at all", {"/new/app.py"}, {"app.py"}, {"/new/app.py"}},
	{"a name that says nothing", {"/new/x/__init__.py"}, {"/old/y/__init__.py"}, {NULL}},
	{"the longer end wins",
	 {"/n/a/util.py", "/n/b/util.py"},
	 {"/o/b/util.py", "/o/a/util.py"},
	 {"/n/b/util.py", "/n/a/util.py"}},
	{"two that are equally likely", {"/n/a/util.py", "/n/b/util.py"}, {"/o/c/util.py"}, {NULL}},
	{"what the clear ones have in common",
	 {"/n/p/one.py", "/n/p/two.py", "/n/p/__init__.py", "/q/p/__init__.py"},
	 {"/o/p/one.py", "/o/p/two.py", "/o/p/__init__.py"},
	 {"/n/p/one.py", "/n/p/two.py", "/n/p/__init__.py"}},
	{"equal before alike", {"/a/x.py"}, {"/b/a/x.py", "/a/x.py"}, {NULL, "/a/x.py"}},
	{"given away once", {"/n/s/x.py"}, {"/o/x.py", "/o/s/x.py"}, {NULL, "/n/s/x.py"}},
	{"no files",
	 {"<string>", "", "<frozen a>"},
	 {"<stdin>", "", "<frozen a>"},
	 {NULL, "", "<frozen a>"}},
	{"other separators", {"C:\\n\\app\\x.py"}, {"/o/app/x.py"}, {"C:\\n\\app\\x.py"}},
	{"odd paths", {"/", "//", "a/"}, {"///", "b/", "/"}, {NULL, NULL, "/"}},
};

static size_t count(const char *const *paths)
{
	size_t n = 0;
	while (n < FILES_MAX && paths[n])
		n++;
	return n;
}

static void matches(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		uint32_t match[FILES_MAX];
		size_t n_base = count(cases[i].base);
		assert_int_equal(file_match(cases[i].now, count(cases[i].now), cases[i].base,
					    n_base, match),
				 0);
		for (size_t k = 0; k < n_base; k++) {
			const char *is = match[k] == FILE_MATCH_NONE ? NULL
								     : cases[i].now[match[k]];
			const char *wanted = cases[i].match[k];
			if ((is == NULL) != (wanted == NULL) || (is && strcmp(is, wanted) != 0))
				fail_msg("%s: %s is %s, not %s", cases[i].about, cases[i].base[k],
					 is ? is : "none", wanted ? wanted : "none");
		}
	}
}

static void out_of_memory(void **state)
{
	uint32_t match[FILES_MAX];
	int rc = TACHY_ENOMEM;
	(void)state;
	if (!FAKE_ALLOC_FAILS)
		skip();
	for (int n = 0; rc < 0 && n < 100; n++) {
		fake_alloc_arm(n);
		rc = file_match(cases[2].now, 2, cases[2].base, 2, match);
		(void)fake_alloc_disarm();
		assert_true(rc == 0 || rc == TACHY_ENOMEM);
	}
	assert_int_equal(rc, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches),
		cmocka_unit_test(out_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
