/* SPDX-License-Identifier: MIT
 * maps.c and map_open.c
 */
#include "cases.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "os/proc.h"

static struct proc_maps parse(const char *text)
{
	struct proc_maps maps;
	assert_int_equal(proc_maps_parse(text, strlen(text), &maps), 0);
	return maps;
}

static void every_field(void **state)
{
	struct proc_maps maps = parse("7f0000001000-7f0000003000 r-xp 0001a000 08:f3 1234567       "
				      "             /usr/lib/a.so\n");
	(void)state;
	assert_int_equal(maps.n, 1);
	const struct proc_map *map = &maps.at[0];
	assert_int_equal(map->start, 0x7f0000001000);
	assert_int_equal(map->end, 0x7f0000003000);
	assert_int_equal(map->offset, 0x1a000);
	assert_int_equal(map->dev, (uint64_t)8 << 32 | 0xf3);
	assert_int_equal(map->inode, 1234567);
	assert_true(map->read && map->exec && !map->write && !map->shared && !map->deleted);
	assert_string_equal(map->path, "/usr/lib/a.so");
	proc_maps_done(&maps);
	assert_null(maps.at);
}

static void paths(void **state)
{
	static const struct {
		const char *tail, *path;
		bool deleted;
	} cases[] = {
		{"00:00 0 ", "", false},
		{"00:00 0", "", false},
		{"00:00 0                    [heap]", "[heap]", false},
		{"00:00 0   [anon: made up]", "[anon: made up]", false},
		{"08:01 5 /a b  c", "/a b  c", false},
		{"08:01 5 /a (deleted)", "/a", true},
		{"08:01 5 /a (deleted) (deleted)", "/a (deleted)", true},
		{"08:01 5 /line\\012break", "/line\nbreak", false},
		{"08:01 5 /back\\slash\\01", "/back\\slash\\01", false},
		{"08:01 5 /memfd:x (deleted)", "/memfd:x", true},
		{"00:00 0 [vdso]", "[vdso]", false},
		{"08:01 5 /\xc3\xa4\xff", "/\xc3\xa4\xff", false},
	};
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		char line[200];
		(void)snprintf(line, sizeof line, "1000-2000 rw-s 00000000 %s", cases[i].tail);
		struct proc_maps maps = parse(line); /* no newline at the end */
		assert_int_equal(maps.n, 1);
		assert_string_equal(maps.at[0].path, cases[i].path);
		assert_int_equal(maps.at[0].deleted, cases[i].deleted);
		assert_true(maps.at[0].shared);
		proc_maps_done(&maps);
	}
}

static void leaves_out_nonsense(void **state)
{
	static const char *const lines[] = {
		"",
		"\n\n",
		"hello\n",
		"2000-1000 rw-p 0 08:01 5 /backwards\n",
		"1000-1000 rw-p 0 08:01 5 /empty\n",
		"1000 -2000 rw-p 0 08:01 5\n",
		"1000-2000 rw\n",
		"11111111111111111-2 rw-p 0 08:01 5\n",
		"1000-2000 rw-p 0 0801 5\n",
		"1000-2000 rw-p 0 111111111:1 5\n",
		"1000-2000 rw-p 0 08:01 99999999999999999999\n",
	};
	(void)state;
	for (size_t i = 0; i < N_OF(lines); i++) {
		struct proc_maps maps = parse(lines[i]);
		assert_int_equal(maps.n, 0);
		proc_maps_done(&maps);
	}
	struct proc_maps maps =
		parse("junk\n1000-2000 r--p 0 00:00 0\n\nmore junk\n3000-4000 r--p 0 00:00 0\n");
	assert_int_equal(maps.n, 2);
	proc_maps_done(&maps);
}

static void finds_by_address(void **state)
{
	struct proc_maps maps = parse(
		"1000-2000 r--p 0 00:00 0\n2000-3000 r--p 0 00:00 0\n"
		"5000-6000 r--p 0 00:00 0\nffffffffff600000-ffffffffff601000 --xp 0 00:00 0\n");
	(void)state;
	assert_null(proc_maps_at(&maps, 0xfff));
	assert_ptr_equal(proc_maps_at(&maps, 0x1000), &maps.at[0]);
	assert_ptr_equal(proc_maps_at(&maps, 0x1fff), &maps.at[0]);
	assert_ptr_equal(proc_maps_at(&maps, 0x2000), &maps.at[1]);
	assert_null(proc_maps_at(&maps, 0x3000));
	assert_ptr_equal(proc_maps_at(&maps, 0x5fff), &maps.at[2]);
	assert_ptr_equal(proc_maps_at(&maps, 0xffffffffff600fff), &maps.at[3]);
	assert_null(proc_maps_at(&maps, UINT64_MAX));
	proc_maps_done(&maps);
}

static void reads_our_own(void **state)
{
	struct proc_maps maps;
	static int variable;
	(void)state;
	assert_int_equal(proc_maps_read(getpid(), &maps), 0);
	const struct proc_map *map = proc_maps_at(&maps, (raddr)(uintptr_t)&variable);
	assert_non_null(map);
	assert_true(map->read && map->write);
	map = proc_maps_at(&maps, (raddr)(uintptr_t)&reads_our_own);
	assert_true(map && map->exec && map->inode);
	for (size_t i = 1; i < maps.n; i++)
		assert_true(maps.at[i - 1].end <= maps.at[i].start);
	proc_maps_done(&maps);
	assert_int_equal(proc_maps_read(0x3fffffff, &maps), TACHY_EGONE);
}

/* A file that is mapped, then removed and replaced: never the new one. */
static void opens_what_is_mapped(void **state)
{
	char path[] = "/tmp/test_maps_XXXXXX", text[8] = "";
	struct proc_maps maps;
	(void)state;
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, "first", 5), 0);
	void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(page, MAP_FAILED);
	(void)close(fd);

	assert_int_equal(proc_maps_read(getpid(), &maps), 0);
	const struct proc_map *map = proc_maps_at(&maps, (raddr)(uintptr_t)page);
	assert_non_null(map);
	assert_string_equal(map->path, path);
	fd = proc_map_open(getpid(), map);
	assert_true(fd >= 0);
	assert_int_equal(io_read_at(fd, text, 5, 0), 0);
	assert_string_equal(text, "first");
	(void)close(fd);

	/* the same maps, now out of date: the path leads to another file */
	assert_int_equal(unlink(path), 0);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_int_equal(io_write_all(fd, "other", 5), 0);
	(void)close(fd);
	fd = proc_map_open(getpid(), map);
	if (fd >= 0) { /* with the right to map_files */
		assert_int_equal(io_read_at(fd, text, 5, 0), 0);
		assert_string_equal(text, "first");
		(void)close(fd);
	} else {
		assert_int_equal(fd, TACHY_ENOENT);
	}
	(void)munmap(page, 4096);
	fd = proc_map_open(getpid(), map); /* no longer mapped at all */
	assert_int_equal(fd, TACHY_ENOENT);
	proc_maps_done(&maps);
	(void)unlink(path);
}

static void opens_paths_of_the_target(void **state)
{
	char text[4] = "";
	(void)state;
	int fd = proc_open_path(getpid(), "/proc/version");
	assert_true(fd >= 0);
	assert_int_equal(io_read_at(fd, text, 3, 0), 0);
	assert_string_equal(text, "Lin");
	(void)close(fd);
	assert_int_equal(proc_open_path(getpid(), "/no/such/file"), TACHY_ENOENT);
	assert_int_equal(proc_open_path(getpid(), "/dev/null"), TACHY_ENOENT); /* no regular file */
	assert_int_equal(proc_open_path(getpid(), "/tmp"), TACHY_ENOENT);
	assert_int_equal(proc_open_path(0x3fffffff, "/etc/passwd"), TACHY_ENOENT);
}

static void a_place_outlives_its_process(void **state)
{
	struct proc_place place;
	(void)state;
	pid_t child = fork();
	if (child == 0) {
		if (chdir("/") < 0)
			_exit(1);
		(void)pause();
	}
	assert_true(child > 0);
	(void)usleep(50000);
	struct proc_root_id mine, its;
	assert_int_equal(proc_place_open(child, &place), 0);
	assert_int_equal(proc_root_id_read(getpid(), &mine), 0);
	assert_int_equal(proc_root_id_read(child, &its), 0);
	assert_memory_equal(&mine, &its, sizeof mine);
	(void)kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	int fd = proc_place_open_path(&place, "/proc/version");
	assert_true(fd >= 0);
	(void)close(fd);
	assert_int_equal(proc_place_open_path(&place, "/no/such/file"), TACHY_ENOENT);
	proc_place_close(&place);
	assert_int_equal(place.root, -1);
	fd = proc_place_open_path(&place, "/proc/version"); /* our own root by now */
	assert_true(fd >= 0);
	(void)close(fd);
	assert_true(proc_place_open(0x3fffffff, &place) < 0);
	assert_int_equal(proc_root_id_read(0x3fffffff, &its), TACHY_ENOENT);
	assert_int_equal(place.root, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_place_outlives_its_process),
		cmocka_unit_test(every_field),
		cmocka_unit_test(paths),
		cmocka_unit_test(leaves_out_nonsense),
		cmocka_unit_test(finds_by_address),
		cmocka_unit_test(reads_our_own),
		cmocka_unit_test(opens_what_is_mapped),
		cmocka_unit_test(opens_paths_of_the_target),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
