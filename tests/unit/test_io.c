/* SPDX-License-Identifier: MIT
 * io.c
 */
#include "cases.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

static char folder[] = "/tmp/test_io_XXXXXX";

static const char *inside(const char *name)
{
	static char paths[4][512];
	static size_t next;
	char *path = paths[next++ % 4];
	(void)snprintf(path, sizeof paths[0], "%s/%s", folder, name);
	return path;
}

static void put(const char *name, const char *text)
{
	int fd = open(inside(name), O_WRONLY | O_CREAT | O_TRUNC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, text, strlen(text)), 0);
	(void)close(fd);
}

static void assert_content(const char *name, const char *text)
{
	char *data;
	size_t size;
	assert_int_equal(io_read_file(inside(name), 1 << 20, &data, &size), 0);
	assert_int_equal(size, strlen(text));
	assert_string_equal(data, text);
	free(data);
}

static size_t count_files(void)
{
	size_t n = 0;
	DIR *dir = opendir(folder);
	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir)) != NULL;)
		n += entry->d_name[0] != '.';
	(void)closedir(dir);
	return n;
}

static int empty_folder(void **state)
{
	char command[600];
	(void)state;
	(void)snprintf(command, sizeof command, "rm -rf %s && mkdir %s", folder, folder);
	return system(command);
}

static void reads_with_a_bound(void **state)
{
	char *data, small[4];
	size_t size;
	(void)state;
	put("five", "12345");
	assert_content("five", "12345");
	assert_int_equal(io_read_file(inside("five"), 5, &data, &size), 0);
	free(data);
	assert_int_equal(io_read_file(inside("five"), 4, &data, &size), TACHY_ELIMIT);
	assert_int_equal(io_read_file(inside("none"), 4, &data, &size), TACHY_ENOENT);
	assert_int_equal(io_read_small(inside("five"), small, sizeof small), 3);
	assert_string_equal(small, "123");
	assert_int_equal(io_read_small(inside("none"), small, sizeof small), TACHY_ENOENT);
	assert_int_equal(io_read_small(inside("five"), small, 0), TACHY_EINVAL);
	/* no size known before */
	assert_int_equal(io_read_file("/proc/self/stat", 1 << 16, &data, &size), 0);
	assert_true(size > 20);
	free(data);
}

static void reads_large_files(void **state)
{
	enum { BIG = 700001 };
	char *big = malloc(BIG + 1), *data;
	size_t size;
	(void)state;
	assert_non_null(big);
	memset(big, 'b', BIG);
	big[BIG] = '\0';
	put("big", big);
	assert_int_equal(io_read_file(inside("big"), BIG, &data, &size), 0);
	assert_int_equal(size, BIG);
	assert_memory_equal(data, big, BIG + 1);
	free(data);
	assert_int_equal(io_read_file(inside("big"), BIG - 1, &data, &size), TACHY_ELIMIT);
	free(big);
}

static void reads_at(void **state)
{
	char bytes[4] = "";
	(void)state;
	put("at", "0123456789");
	int fd = open(inside("at"), O_RDONLY);
	assert_int_equal(io_read_at(fd, bytes, 3, 4), 0);
	assert_string_equal(bytes, "456");
	assert_int_equal(io_read_at(fd, bytes, 3, 8), TACHY_EIO);
	(void)close(fd);
}

static void writes_whole_or_not_at_all(void **state)
{
	struct io_output output;
	struct tachy_error err = {0};
	(void)state;
	put("out", "old");
	assert_int_equal(chmod(inside("out"), 0600), 0);
	assert_int_equal(io_output_open(inside("out"), &output, &err), 0);
	assert_int_equal(io_write_all(output.fd, "new", 3), 0);
	assert_content("out", "old");
	assert_int_equal(io_output_commit(&output, &err), 0);
	assert_content("out", "new");
	struct stat st;
	assert_int_equal(stat(inside("out"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);

	assert_int_equal(io_output_open(inside("out"), &output, &err), 0);
	assert_int_equal(io_write_all(output.fd, "half", 4), 0);
	io_output_abort(&output);
	assert_content("out", "new");
	assert_int_equal(count_files(), 1);
}

static void keeps_symbolic_links(void **state)
{
	struct io_output output;
	struct stat st;
	(void)state;
	put("real", "old");
	assert_int_equal(symlink("real", inside("link")), 0);
	assert_int_equal(io_output_open(inside("link"), &output, NULL), 0);
	assert_int_equal(io_write_all(output.fd, "new", 3), 0);
	assert_int_equal(io_output_commit(&output, NULL), 0);
	assert_content("real", "new");
	assert_int_equal(lstat(inside("link"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
}

static void writes_devices_in_place(void **state)
{
	struct io_output output;
	(void)state;
	assert_int_equal(io_output_open("/dev/null", &output, NULL), 0);
	assert_null(output.temp);
	assert_int_equal(io_write_all(output.fd, "x", 1), 0);
	assert_int_equal(io_output_commit(&output, NULL), 0);
	assert_int_equal(io_output_open("-", &output, NULL), 0);
	assert_int_equal(output.fd, STDOUT_FILENO);
	assert_int_equal(io_output_commit(&output, NULL), 0);
	assert_true(fcntl(STDOUT_FILENO, F_GETFD) >= 0);
}

static void says_why_not(void **state)
{
	struct io_output output = {.fd = -7};
	struct tachy_error err = {0};
	(void)state;
	assert_int_equal(io_output_open(inside("no/such/folder"), &output, &err), TACHY_ENOENT);
	assert_int_equal(output.fd, -7);
	assert_non_null(strstr(err.text, "no/such/folder"));
	assert_non_null(strstr(err.text, "create the directory"));
	assert_true(io_output_open(folder, &output, &err) < 0);
	assert_non_null(strstr(err.text, "irectory"));
	/* a full disk shows when writing */
	assert_int_equal(io_output_open("/dev/full", &output, &err), 0);
	assert_int_equal(io_write_all(output.fd, "x", 1), TACHY_EIO);
	io_output_abort(&output);
}

static void a_vanished_temp_is_an_error(void **state)
{
	struct io_output output;
	struct tachy_error err = {0};
	(void)state;
	assert_int_equal(io_output_open(inside("gone"), &output, &err), 0);
	assert_int_equal(unlink(output.temp), 0);
	assert_int_equal(io_output_commit(&output, &err), TACHY_ENOENT);
	assert_non_null(strstr(err.text, "gone"));
	assert_int_equal(count_files(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(reads_with_a_bound, empty_folder),
		cmocka_unit_test_setup(reads_large_files, empty_folder),
		cmocka_unit_test_setup(reads_at, empty_folder),
		cmocka_unit_test_setup(writes_whole_or_not_at_all, empty_folder),
		cmocka_unit_test_setup(keeps_symbolic_links, empty_folder),
		cmocka_unit_test_setup(writes_devices_in_place, empty_folder),
		cmocka_unit_test_setup(says_why_not, empty_folder),
		cmocka_unit_test_setup(a_vanished_temp_is_an_error, empty_folder),
	};
	if (!mkdtemp(folder))
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	(void)empty_folder(NULL);
	(void)rmdir(folder);
	return failed;
}
