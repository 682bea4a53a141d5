/* SPDX-License-Identifier: MIT
 * recorder.c, recording.c and what they are made of: what goes in comes out; what is cut, damaged, full or
 * slow is told, and costs nothing that was written before.
 */
#include "fake_recording.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/io.h"
#include "fake_alloc.h"

static int new_file(void)
{
	FILE *file = tmpfile();
	assert_non_null(file);
	int fd = dup(fileno(file));
	(void)fclose(file);
	assert_true(fd >= 0);
	return fd;
}

static struct recorder *start_recorder(int fd, struct made *made, size_t memory_max)
{
	const struct recorder_options options = {.fd = fd, .memory_max = memory_max};
	struct recorder *recorder;
	made_begin(made);
	assert_int_equal(recorder_create(&options, &recorder), 0);
	struct sink *sink = recorder_sink(recorder);
	assert_int_equal(sink->ops->begin(sink, made->profile), 0);
	return recorder;
}

static void record_some(struct recorder *recorder, struct made *made, size_t n)
{
	struct sink *sink = recorder_sink(recorder);
	for (size_t i = 0; i < n; i++) {
		struct sample sample = made_next(made);
		assert_int_equal(sink->ops->sample(sink, &sample), 0);
	}
}

static int finish(struct recorder *recorder, struct made *made, struct recorder_totals *ret_totals)
{
	struct sink *sink = recorder_sink(recorder);
	struct tachy_stats stats = {.samples_captured = 77,
				    .duration_s = 1.5,
				    .batched_read_segments_completed = 5};
	assert_int_equal(sink->ops->end(sink), 0);
	made->profile->duration_ns = 1234567890;
	int rc = recorder_finish(recorder, &stats);
	recorder_totals(recorder, ret_totals);
	recorder_destroy(recorder);
	return rc;
}

static size_t file_size(int fd)
{
	struct stat st;
	assert_int_equal(fstat(fd, &st), 0);
	return (size_t)st.st_size;
}

static void rewind_to(int fd, off_t where)
{
	assert_int_equal(lseek(fd, where, SEEK_SET), where);
}

/* ---- there and back ---------------------------------------------------------------------------------- */

static void test_there_and_back(void **state)
{
	struct made made;
	struct recorder_totals totals;
	struct recording_state end;
	struct checker checker;
	struct profile *profile;
	int fd = new_file();
	(void)state;
	struct recorder *recorder = start_recorder(fd, &made, 0);
	record_some(recorder, &made, 9000);
	assert_int_equal(profile_set_thread_name(made.profile, 1, "w\xc3\xb6rker"), 0);
	stack_id deep = STACK_EMPTY;
	for (unsigned i = 0; i < 300000; i++) /* told in several blocks */
		deep = made_push(&made, deep, i);
	record_some(recorder, &made, 9000);
	struct sample sample = made_next(&made);
	made.samples.at[made.samples.n - 1].stack = sample.stack = deep;
	assert_int_equal(recorder_sink(recorder)->ops->sample(recorder_sink(recorder), &sample), 0);
	assert_int_equal(finish(recorder, &made, &totals), 0);
	assert_int_equal(totals.n_dropped, 0);
	assert_int_equal(totals.n_bytes, file_size(fd));

	rewind_to(fd, 0);
	assert_int_equal(check_reading(fd, &made, &profile, &checker, &end), 0);
	assert_int_equal(checker.n, made.samples.n);
	assert_int_equal(end.end, RECORDING_WHOLE);
	assert_int_equal(end.n_bytes, totals.n_bytes);
	assert_int_equal(end.n_samples, totals.n_samples);
	assert_int_equal(end.n_left_out, 0);
	assert_int_equal(profile->duration_ns, 1234567890);
	assert_int_equal(profile->start_unix_ns, made.profile->start_unix_ns);
	assert_int_equal(profile->start_ns, made.profile->start_ns);
	assert_true(profile->rate_hz > 999.9 && profile->rate_hz < 1000.1);
	assert_true(profile->opcodes);
	assert_false(profile->async_aware);
	assert_string_equal(strtab_get(profile->stacks.strings, profile->threads.at[1].name),
			    "w\xc3\xb6rker");
	assert_int_equal(profile->processes.at[0].pid, 4242);
	assert_string_equal(strtab_get(profile->stacks.strings, profile->processes.at[0].version),
			    "3.13.1");
	profile_destroy(profile);
	made_end(&made);
	(void)close(fd);
}

/* Of times that are finer than it keeps: rounded down, and no weight is lost for good. */
struct rounded {
	struct sink sink; /* first */
	const struct made *made;
	size_t n;
	uint64_t want_ns[FAKE_THREADS], got_ns[FAKE_THREADS];
};

static int check_rounded(struct sink *sink, const struct sample *sample)
{
	struct rounded *rounded = (struct rounded *)sink;
	const struct sample *want = &rounded->made->samples.at[rounded->n++];
	assert_int_equal(sample->time_ns, want->time_ns / 1000 * 1000);
	rounded->want_ns[sample->thread] += want->weight_ns;
	rounded->got_ns[sample->thread] += sample->weight_ns;
	assert_int_equal(rounded->got_ns[sample->thread],
			 rounded->want_ns[sample->thread] / 1000 * 1000);
	return 0;
}

static void test_finer_times(void **state)
{
	static const struct sink_ops rounded_ops = {.name = "rounded", .sample = check_rounded};
	struct made made;
	struct recorder_totals totals;
	struct recording *recording;
	struct profile *profile;
	struct tachy_error err;
	int fd = new_file();
	(void)state;
	struct recorder *recorder = start_recorder(fd, &made, 0);
	for (int i = 0; i < 5000; i++) {
		(void)made_next(&made);
		struct sample *sample = &made.samples.at[made.samples.n - 1];
		sample->time_ns += dice(&made.seed) % 1000;
		sample->weight_ns += dice(&made.seed) % 2000;
		assert_int_equal(recorder_sink(recorder)->ops->sample(recorder_sink(recorder),
								      sample),
				 0);
	}
	assert_int_equal(finish(recorder, &made, &totals), 0);
	rewind_to(fd, 0);
	assert_int_equal(profile_create(&profile), 0);
	assert_int_equal(recording_open(fd, profile, &recording, &err), 0);
	struct rounded rounded = {{&rounded_ops}, &made, 0, {0}, {0}};
	while (recording_next(recording, &rounded.sink) > 0)
		;
	assert_int_equal(rounded.n, made.samples.n);
	recording_close(recording);
	profile_destroy(profile);
	made_end(&made);
	(void)close(fd);
}

static void test_statistics(void **state)
{
	struct made made;
	struct recorder_totals totals;
	struct recording *recording;
	struct checker checker;
	struct profile *profile;
	struct tachy_stats stats;
	struct tachy_error err;
	int fd = new_file();
	(void)state;
	struct recorder *recorder = start_recorder(fd, &made, 0);
	recorder_note(recorder, &(struct tachy_stats){.samples_captured = 100});
	record_some(recorder, &made, 10);
	assert_int_equal(finish(recorder, &made, &totals), 0);
	rewind_to(fd, 0);
	assert_int_equal(profile_create(&profile), 0);
	assert_int_equal(recording_open(fd, profile, &recording, &err), 0);
	checker = (struct checker){{&checker_ops}, &made, profile, 0, 0};
	while (recording_next(recording, &checker.sink) > 0)
		;
	assert_int_equal(recording_next(recording, &checker.sink), 0);
	recording_stats(recording, &stats);
	assert_int_equal(stats.samples_captured, 77);
	assert_int_equal(stats.batched_read_segments_completed, 5);
	assert_true(stats.duration_s > 1.4999 && stats.duration_s < 1.5001);
	assert_string_equal(recording_version(recording), "0.1.0");
	recording_close(recording);
	recording_close(NULL);
	profile_destroy(profile);
	made_end(&made);
	(void)close(fd);
}

/* ---- cut and damaged --------------------------------------------------------------------------------- */

/* A short recording of several blocks. */
static uint8_t *short_recording(struct made *made, size_t *ret_size)
{
	struct recorder_totals totals;
	int fd = new_file();
	struct recorder *recorder = start_recorder(fd, made, 0);
	for (int i = 0; i < 4; i++) {
		struct sink *sink = recorder_sink(recorder);
		record_some(recorder, made, 30);
		assert_int_equal(sink->ops->end(sink), 0); /* a block */
	}
	assert_int_equal(finish(recorder, made, &totals), 0);
	*ret_size = file_size(fd);
	uint8_t *data = malloc(*ret_size);
	assert_non_null(data);
	assert_int_equal(io_read_at(fd, data, *ret_size, 0), 0);
	(void)close(fd);
	return data;
}

static int file_of(const uint8_t *data, size_t size)
{
	int fd = new_file();
	assert_int_equal(io_write_all(fd, data, size), 0);
	rewind_to(fd, 0);
	return fd;
}

static void test_cut_at_every_byte(void **state)
{
	struct made made;
	struct recording_state end;
	struct checker checker;
	struct profile *profile;
	size_t size, best = 0, n_steps = 0;
	uint8_t *data = short_recording(&made, &size);
	(void)state;
	for (size_t cut = 0; cut < size; cut++) {
		int fd = file_of(data, cut);
		int rc = check_reading(fd, &made, &profile, &checker, &end);
		(void)close(fd);
		if (rc < 0) {
			assert_int_equal(rc, TACHY_ECORRUPT);
			assert_int_equal(best, 0);
			continue;
		}
		assert_int_equal(end.end, RECORDING_UNFINISHED);
		assert_int_equal(end.n_bytes + end.n_left_out, cut);
		assert_true(checker.n >= best); /* never less than from a shorter one */
		n_steps += checker.n > best;
		best = checker.n;
		profile_destroy(profile);
	}
	assert_int_equal(best, made.samples.n); /* only the end was missing */
	assert_int_equal(n_steps, 4);
	free(data);
	made_end(&made);
}

static void test_every_byte_damaged(void **state)
{
	struct made made;
	struct recording_state end;
	struct checker checker;
	struct profile *profile;
	size_t size, n_opened = 0;
	uint8_t *data = short_recording(&made, &size);
	(void)state;
	for (size_t at = 0; at < size; at++) {
		data[at] ^= (uint8_t)(1u << at % 8);
		int fd = file_of(data, size);
		int rc = check_reading(fd, &made, &profile, &checker, &end);
		(void)close(fd);
		data[at] ^= (uint8_t)(1u << at % 8);
		if (rc < 0) {
			assert_true(rc == TACHY_ECORRUPT || rc == TACHY_EVERSION);
			continue;
		}
		n_opened++;
		if (at >= 10 && at < 16) { /* the minor version, and what is reserved */
			assert_int_equal(end.end, RECORDING_WHOLE);
		} else {
			assert_int_equal(end.end, RECORDING_DAMAGED);
			assert_int_equal(end.n_bytes + end.n_left_out, size);
		}
		profile_destroy(profile);
	}
	assert_true(n_opened > size / 2);
	free(data);
	made_end(&made);
}

static void test_not_recordings(void **state)
{
	static const struct {
		const char *data;
		size_t size;
		int rc;
		const char *word;
	} cases[] = {
		{"", 0, TACHY_ECORRUPT, "empty"},
		{"hello", 5, TACHY_ECORRUPT, "no recording"},
		{"\x89TACHY\r\n\x03\0\0\0\0\0\0\0", 16, TACHY_EVERSION, "format 3"},
		{"\x89TACHY\r\n\x02\0\0\0\0\0\0\0", 16, TACHY_ECORRUPT, "first block"},
	};
	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct profile *profile;
		struct recording *recording;
		struct tachy_error err;
		int fd = file_of((const uint8_t *)cases[i].data, cases[i].size);
		assert_int_equal(profile_create(&profile), 0);
		assert_int_equal(recording_open(fd, profile, &recording, &err), cases[i].rc);
		assert_non_null(strstr(err.text, cases[i].word));
		profile_destroy(profile);
		(void)close(fd);
	}
	struct tachy_error err;
	struct recording *recording;
	assert_int_equal(recording_open(-1, NULL, &recording, &err) < 0, 1);
}

/* ---- full and slow ------------------------------------------------------------------------------------- */

static void limit_file_size(rlim_t size)
{
	struct rlimit limit;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = size;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* As on a full disk: what was whole stays, and goes on when there is room again, or not. */
static void check_full(bool room_again)
{
	struct made made;
	struct recorder_totals totals;
	struct recording_state end;
	struct checker checker;
	struct profile *profile;
	int fd = new_file();
	(void)signal(SIGXFSZ, SIG_IGN);
	limit_file_size(3000);
	struct recorder *recorder = start_recorder(fd, &made, 0);
	for (int i = 0; i < 10; i++) {
		struct sink *sink = recorder_sink(recorder);
		record_some(recorder, &made, 100);
		assert_int_equal(sink->ops->end(sink), 0);
	}
	do {
		(void)usleep(1000);
		recorder_totals(recorder, &totals);
	} while (!totals.error);
	assert_false(totals.broken);
	if (room_again)
		limit_file_size(RLIM_INFINITY);
	int rc = finish(recorder, &made, &totals);
	limit_file_size(RLIM_INFINITY);
	assert_int_equal(totals.n_bytes, file_size(fd));
	rewind_to(fd, 0);
	assert_int_equal(check_reading(fd, &made, &profile, &checker, &end), 0);
	assert_int_equal(end.n_left_out, 0);
	assert_int_equal(end.end, room_again ? RECORDING_WHOLE : RECORDING_UNFINISHED);
	assert_int_equal(rc < 0, !room_again);
	assert_int_equal(end.n_samples, totals.n_samples);
	if (room_again) {
		assert_int_equal(checker.n, made.samples.n);
	} else {
		assert_true(checker.n > 0 && checker.n < made.samples.n);
		assert_true(totals.n_dropped > 0);
	}
	profile_destroy(profile);
	made_end(&made);
	(void)close(fd);
}

static void test_full_disk(void **state)
{
	(void)state;
	check_full(true);
	check_full(false);
}

static void test_a_device_that_is_full(void **state)
{
	struct made made;
	struct recorder_totals totals;
	int fd = open("/dev/full", O_WRONLY);
	(void)state;
	assert_true(fd >= 0);
	struct recorder *recorder = start_recorder(fd, &made, 0);
	record_some(recorder, &made, 10);
	int rc = finish(recorder, &made, &totals);
	assert_true(rc < 0 && totals.broken);
	assert_int_equal(rc, totals.error);
	assert_int_equal(totals.n_samples, 0);
	assert_true(totals.n_dropped >= 10);
	made_end(&made);
	(void)close(fd);
}

struct slow_reader {
	int fd, copy;
};

static void *read_slowly(void *arg)
{
	const struct slow_reader *slow = arg;
	char data[4096];
	for (ssize_t n; (n = read(slow->fd, data, sizeof data)) > 0;)
		assert_int_equal(io_write_all(slow->copy, data, (size_t)n), 0);
	return NULL;
}

/* Nobody reads the pipe for long: what does not fit is dropped and counted, and nobody waits. */
static void test_a_slow_pipe(void **state)
{
	struct made made;
	struct recorder_totals totals;
	struct recording *recording;
	struct recording_state end;
	struct profile *profile, *live;
	struct tachy_error err;
	pthread_t thread;
	int ends[2];
	(void)state;
	assert_int_equal(pipe(ends), 0);
	struct recorder *recorder = start_recorder(ends[1], &made, 300000);
	record_some(recorder, &made, 60000);
	struct slow_reader slow = {ends[0], new_file()};
	assert_int_equal(pthread_create(&thread, NULL, read_slowly, &slow), 0);
	uint64_t all = 0;
	for (size_t i = 0; i < made.samples.n; i++)
		all += made.samples.at[i].n_ticks;
	assert_int_equal(finish(recorder, &made, &totals), 0);
	(void)close(ends[1]);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(totals.n_dropped > 0 && totals.n_samples > 0);
	assert_int_equal(totals.n_dropped + totals.n_samples, all);
	rewind_to(slow.copy, 0);
	assert_int_equal(profile_create(&profile), 0);
	assert_int_equal(recording_open(slow.copy, profile, &recording, &err), 0);
	live = made.profile;
	struct checker any = {{&checker_ops}, &made, profile, 0, 0};
	int rc = recording_next(recording, &any.sink); /* those before the first gap, in order */
	assert_int_equal(rc, 1);
	assert_true(any.n > 0);
	recording_state(recording, &end);
	assert_int_equal(end.end, RECORDING_OPEN);
	assert_ptr_equal(live, made.profile);
	recording_close(recording);
	profile_destroy(profile);
	made_end(&made);
	(void)close(slow.copy);
	(void)close(ends[0]);
}

static void test_out_of_memory(void **state)
{
	struct made made;
	struct recorder *recorder;
	struct profile *profile;
	struct recording *recording;
	struct tachy_error err;
	size_t size;
	int n_failed = 0;
	(void)state;
	if (!FAKE_ALLOC_FAILS)
		skip();
	uint8_t *data = short_recording(&made, &size);
	int fd = file_of(data, size);
	for (int n_good = 0, rc = -1; rc < 0; n_good++, n_failed++) {
		struct checker checker;
		rewind_to(fd, 0);
		assert_int_equal(profile_create(&profile), 0);
		checker = (struct checker){{&checker_ops}, &made, profile, 0, 0};
		fake_alloc_arm(n_good);
		rc = recording_open(fd, profile, &recording, &err);
		if (rc >= 0) {
			while ((rc = recording_next(recording, &checker.sink)) > 0)
				;
			recording_close(recording);
		}
		fake_alloc_disarm();
		assert_true(rc == 0 || rc == TACHY_ENOMEM);
		profile_destroy(profile);
	}
	assert_true(n_failed > 10);
	const struct recorder_options options = {.fd = fd};
	fake_alloc_arm(0);
	assert_int_equal(recorder_create(&options, &recorder), TACHY_ENOMEM);
	fake_alloc_disarm();
	free(data);
	made_end(&made);
	(void)close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_finer_times),
		cmocka_unit_test(test_statistics),
		cmocka_unit_test(test_cut_at_every_byte),
		cmocka_unit_test(test_every_byte_damaged),
		cmocka_unit_test(test_not_recordings),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_a_device_that_is_full),
		cmocka_unit_test(test_a_slow_pipe),
		cmocka_unit_test(test_out_of_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
