/* SPDX-License-Identifier: MIT
 * tachyon_bin.c and what it stands on: every kind of record, made by hand; what export/tachyon_binary.c writes comes
 * back; damage is told. (Files of the real one are met end to end.)
 */
#include "fake_recording.h"

#include "base/bytes.h"
#include "captured.h"
#include "export/export.h"
#include "record/tachyon_bin.h"

/* ---- files by hand --------------------------------------------------------------------------------------- */

static void put(struct bytes *bytes, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		bytes_put_u8(bytes, (uint8_t)(value >> 8 * i));
}

static void put_names(struct bytes *file, uint64_t *ret_frames_at)
{
	static const char *const strings[] = {"a.py", "f", "g", "~", "<GC>"};
	for (size_t i = 0; i < N_OF(strings); i++)
		bytes_put_text(file, strings[i], strlen(strings[i]));
	*ret_frames_at = file->n;
	for (unsigned i = 0; i < 3; i++) { /* f, g, <GC> */
		bytes_put_varint(file, i < 2 ? 0 : 3);
		bytes_put_varint(file, i < 2 ? i + 1 : 4);
		bytes_put_zigzag(file, i < 2 ? 10 + (int)i : 0);
		bytes_put_zigzag(file, i < 2 ? 1 : 0);
		bytes_put_zigzag(file, i < 2 ? 4 : -1);
		bytes_put_zigzag(file, i < 2 ? 8 : 0);
		bytes_put_u8(file, i < 2 ? (uint8_t)(100 + i) : 255);
	}
}

static void set(struct bytes *file, size_t at, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		file->at[at + i] = (uint8_t)(value >> 8 * i);
}

static void put_record(struct bytes *file, uint64_t tid, uint8_t kind)
{
	put(file, tid, 8);
	put(file, 0, 4);
	bytes_put_u8(file, kind);
}

/* A sample's time and status, and numbers behind them. */
static void put_sample(struct bytes *file, uint64_t off_us, uint8_t status, size_t n,
		       const uint64_t *numbers)
{
	bytes_put_varint(file, off_us);
	bytes_put_u8(file, status);
	for (size_t i = 0; i < n; i++)
		bytes_put_varint(file, numbers[i]);
}

#define NUMBERS(...) \
	(sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)), (uint64_t[]) \
	{ \
		__VA_ARGS__ \
	}

static struct bytes by_hand(void)
{
	struct bytes file = {0};
	uint64_t frames_at;
	put(&file, 0x54414348, 4);
	put(&file, 1, 4);
	put(&file, 3 | 15 << 8 | 2 << 16, 4);
	put(&file, 1000000, 8); /* start */
	put(&file, 1000, 8);    /* interval */
	put(&file, 8, 8);
	put(&file, 2, 4);
	put(&file, 0, 8);
	put(&file, 0, 8);
	put(&file, 0, 4);
	put(&file, 1 | 8 | 1 << 4 | 8 << 4, 4); /* wall; features known: all threads, opcodes */
	put_record(&file, 7, 1);
	put_sample(&file, 500, 1 | 32, NUMBERS(2, 1, 0)); /* g on f, at 0.5 ms */
	put_record(&file, 7, 0);
	bytes_put_varint(&file, 2);
	put_sample(&file, 1000, 1 | 32, 0, NULL);
	put_sample(&file, 1000, 4 | 8 | 32, 0, NULL);
	put_record(&file, 8, 1);
	put_sample(&file, 700, 2 | 16, NUMBERS(0)); /* no frames */
	put_record(&file, 7, 2);
	put_sample(&file, 1000, 1 | 32, NUMBERS(2, 1, 2)); /* both kept, <GC> on top */
	put_record(&file, 7, 3);
	put_sample(&file, 1000, 1 | 32, NUMBERS(2, 0)); /* popped down to f */
	put_record(&file, 7, 3);
	put_sample(&file, 5000000, 1 | 32, NUMBERS(1, 2, 1, 1)); /* g on g, after a long pause */
	set(&file, 40, file.n, 8);
	put_names(&file, &frames_at);
	set(&file, 48, frames_at, 8);
	put(&file, 5, 4);
	put(&file, 3, 4);
	put(&file, file.n + 24, 8);
	put(&file, 0, 8);
	put(&file, 0, 8);
	assert_false(file.failed);
	return file;
}

/* ---- reading them ------------------------------------------------------------------------------------------ */

struct taker {
	struct sink sink; /* first */
	VEC(struct sample) samples;
};

static int take(struct sink *sink, const struct sample *sample)
{
	assert_true(vec_push(&((struct taker *)sink)->samples, *sample));
	return 0;
}

static const struct sink_ops taker_ops = {.name = "taker", .sample = take};

static const char *name_of(unsigned minor, uint8_t code, const char **ret_base)
{
	*ret_base = "BASE";
	return minor == 15 && code == 100 ? "SPECIAL" : NULL;
}

/* Copies the bytes, as the reader owns what it is given. Negative: not opened. */
static int read_bytes(const uint8_t *data, size_t size, struct taker *taker,
		      struct profile **ret_profile, struct recording_state *ret_state)
{
	struct tachyon_bin *bin;
	struct tachy_error err = {0};
	int rc;
	uint8_t *copy = malloc(size ? size : 1);
	assert_non_null(copy);
	memcpy(copy, data, size);
	*taker = (struct taker){{&taker_ops}, {0}};
	assert_int_equal(profile_create(ret_profile), 0);
	rc = tachyon_bin_open(copy, size, *ret_profile, name_of, &bin, &err);
	if (rc < 0) {
		assert_true(err.text[0] != 0);
		profile_destroy(*ret_profile);
		return rc;
	}
	while ((rc = tachyon_bin_next(bin, &taker->sink)) > 0)
		;
	assert_int_equal(rc, 0);
	tachyon_bin_state(bin, ret_state);
	tachyon_bin_close(bin);
	return 0;
}

static const struct sample *find(const struct taker *taker, uint64_t time_us)
{
	for (size_t i = 0; i < taker->samples.n; i++)
		if (taker->samples.at[i].time_ns == time_us * 1000)
			return &taker->samples.at[i];
	fail_msg("no sample at %llu us", (unsigned long long)time_us);
	return NULL;
}

static void check_words(const struct profile *profile, stack_id stack, const char *words)
{
	char text[256] = "", frame_text[64];
	for (; stacks_node(&profile->stacks, stack)->depth;
	     stack = stacks_node(&profile->stacks, stack)->parent) {
		struct tachy_frame frame;
		stacks_describe(&profile->stacks, stacks_node(&profile->stacks, stack)->frame,
				&frame);
		(void)snprintf(frame_text, sizeof frame_text, "%s:%d:%d ", frame.function,
			       frame.line, frame.end_column);
		strcat(text, frame_text);
	}
	assert_string_equal(text, words);
}

static void test_records(void **state)
{
	struct taker taker;
	struct profile *profile;
	struct recording_state end;
	struct bytes file = by_hand();
	(void)state;
	assert_int_equal(read_bytes(file.at, file.n, &taker, &profile, &end), 0);
	assert_int_equal(end.end, RECORDING_WHOLE);
	assert_int_equal(end.n_samples, 7);
	assert_int_equal(profile->mode, TACHY_MODE_WALL);
	assert_true(profile->opcodes && profile->rate_hz > 999 && profile->rate_hz < 1001);
	assert_int_equal(profile->processes.at[0].pid, 7);
	assert_string_equal(strtab_get(profile->stacks.strings, profile->processes.at[0].version),
			    "3.15.2");
	assert_true(profile->threads.at[0].main);
	assert_int_equal(profile->threads.at[1].tid, 8);
	const struct sample *sample = find(&taker, 1000500);
	assert_int_equal(sample->n_ticks, 2);
	assert_int_equal(sample->weight_ns, 2000000);
	assert_int_equal(sample->states, TACHY_STATE_GIL | TACHY_STATE_GIL_KNOWN |
						 TACHY_STATE_CPU_KNOWN | TACHY_STATE_MAIN);
	check_words(profile, sample->stack, "g:11:12 f:10:12 ");
	assert_int_equal(find(&taker, 1002500)->states,
			 TACHY_STATE_GIL_WAITING | TACHY_STATE_GIL_KNOWN | TACHY_STATE_MAIN);
	assert_int_equal(find(&taker, 1000700)->stack, STACK_EMPTY);
	assert_int_equal(find(&taker, 1000700)->states,
			 TACHY_STATE_GIL_KNOWN | TACHY_STATE_CPU_KNOWN | TACHY_STATE_ON_CPU |
				 TACHY_STATE_EXCEPTION);
	check_words(profile, find(&taker, 1003500)->stack, "<GC>:0:-1 g:11:12 f:10:12 ");
	check_words(profile, find(&taker, 1004500)->stack, "f:10:12 ");
	check_words(profile, find(&taker, 6004500)->stack, "g:11:12 g:11:12 ");
	assert_int_equal(find(&taker, 6004500)->weight_ns, 1000000);
	struct tachy_frame frame;
	stacks_describe(&profile->stacks,
			stacks_node(&profile->stacks, find(&taker, 1004500)->stack)->frame, &frame);
	assert_string_equal(frame.opcode, "SPECIAL");
	assert_string_equal(frame.base_opcode, "BASE");
	vec_done(&taker.samples);
	profile_destroy(profile);
	bytes_done(&file);
}

static void test_damage(void **state)
{
	struct taker taker;
	struct profile *profile;
	struct recording_state end;
	struct bytes file = by_hand();
	size_t n_opened = 0, n_damaged = 0;
	(void)state;
	for (size_t cut = 4; cut < file.n; cut++) /* its tables are at its end */
		assert_int_equal(read_bytes(file.at, cut, &taker, &profile, &end), TACHY_ECORRUPT);
	for (size_t i = 0; i < file.n * 8; i++) {
		file.at[i / 8] ^= (uint8_t)(1u << i % 8);
		int rc = read_bytes(file.at, file.n, &taker, &profile, &end);
		file.at[i / 8] ^= (uint8_t)(1u << i % 8);
		if (rc < 0)
			continue;
		n_opened++;
		n_damaged += end.end == RECORDING_DAMAGED;
		assert_true(end.end == RECORDING_DAMAGED || end.end == RECORDING_WHOLE);
		vec_done(&taker.samples);
		profile_destroy(profile);
	}
	assert_true(n_opened > 100 && n_damaged > 10);
	set(&file, 4, 2, 4);
	assert_int_equal(read_bytes(file.at, file.n, &taker, &profile, &end), TACHY_EVERSION);
	set(&file, 4, 1, 4);
	set(&file, 56, 9, 4);
	assert_int_equal(read_bytes(file.at, file.n, &taker, &profile, &end), TACHY_EVERSION);
	bytes_done(&file);
}

/* What we write in their form is what we read from it: samples, their stacks and states. */
static void test_there_and_back(void **state)
{
	struct made made;
	struct taker taker;
	struct profile *profile;
	struct recording_state end;
	struct out out;
	(void)state;
	made_begin(&made);
	made.profile->keeps_timeline = true;
	for (int i = 0; i < 3000; i++) {
		struct sample sample = made_next(&made);
		assert_int_equal(profile_count_sample(made.profile, &sample), 0);
	}
	captured_begin(&out);
	assert_int_equal(tachyon_binary_write(made.profile, NULL, NULL, &out), 0);
	assert_int_equal(out_flush(&out), 0);
	off_t size = lseek(out.fd, 0, SEEK_END);
	uint8_t *data = (uint8_t *)captured_end(&out);
	assert_int_equal(read_bytes(data, (size_t)size, &taker, &profile, &end), 0);
	assert_int_equal(end.end, RECORDING_WHOLE);
	assert_int_equal(end.n_samples, made.profile->n_samples);
	for (size_t i = 0; i < taker.samples.n; i++)
		assert_int_equal(profile_count_sample(profile, &taker.samples.at[i]), 0);
	assert_int_equal(profile->n_samples, made.profile->n_samples);
	uint64_t n_main[2] = {0}, n_gil[2] = {0}, n_deep[2] = {0};
	const struct profile *both[2] = {made.profile, profile};
	for (int k = 0; k < 2; k++) {
		for (size_t i = 0; i < both[k]->counts.n; i++) {
			const struct profile_count *count = &both[k]->counts.at[i];
			n_main[k] += both[k]->threads.at[count->thread].tid == 4242
					     ? count->n_samples
					     : 0;
			n_gil[k] += count->states & TACHY_STATE_GIL ? count->n_samples : 0;
			n_deep[k] += count->n_samples *
				     stacks_node(&both[k]->stacks, count->stack)->depth;
		}
	}
	assert_int_equal(n_main[0], n_main[1]);
	assert_int_equal(n_gil[0], n_gil[1]);
	assert_int_equal(n_deep[0], n_deep[1]);
	vec_done(&taker.samples);
	profile_destroy(profile);
	made_end(&made);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_there_and_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
