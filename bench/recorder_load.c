/* SPDX-License-Identifier: MIT
 * Ten minutes of samples through the recorder as fast as it takes them: what a sample costs the thread that
 * samples, and the one that writes. Times are those of the sampler: a grid with jitter, runs cut ten times a
 * second.
 *
 * usage: recorder_load FILE THREADS SECONDS RATE BUSY
 * BUSY threads have another stack at every tick (by turns of 5 ticks, as with a GIL, when it is 1).
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record/recorder.h"

#define FUNCTIONS   400u
#define STACKS      2000u
#define DEPTH       25u
#define THREADS_MAX 1000u
#define NS          UINT64_C(1000000000)

struct thread {
	stack_id stack;
	uint64_t begin_ns, weight_ns, n_ticks;
	uint32_t states;
};

struct load {
	struct profile *profile;
	struct sink *sink;
	stack_id stacks[STACKS];
	struct thread threads[THREADS_MAX];
	uint32_t n_threads, n_busy;
	uint64_t seed, n_records, n_samples;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t dice(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static frame_id make_frame(struct stacks *stacks, uint32_t number, uint32_t line)
{
	struct function function = {.kind = TACHY_FRAME_PYTHON, .first_line = (int32_t)number * 40};
	struct frame frame;
	char text[64];
	frame_id id;
	memset(&frame, 0, sizeof frame);
	int n = snprintf(text, sizeof text, "Class%u.method_%u", number % 30, number);
	if (strtab_add(stacks->strings, text, (size_t)n, &function.name) < 0)
		die("memory");
	n = snprintf(text, sizeof text, "/srv/app/package/module_%u.py", number % 25);
	if (strtab_add(stacks->strings, text, (size_t)n, &function.file) < 0 ||
	    stacks_function(stacks, &function, &frame.function) < 0)
		die("memory");
	frame.at = (struct location){function.first_line + (int32_t)line,
				     function.first_line + (int32_t)line, 8, 30};
	if (stacks_frame(stacks, &frame, &id) < 0)
		die("memory");
	return id;
}

/* Each stack grows from a part of one before, as those of a program do. */
static void make_stacks(struct load *load)
{
	struct stacks *stacks = &load->profile->stacks;
	for (uint32_t i = 0; i < STACKS; i++) {
		stack_id stack = i ? load->stacks[dice(&load->seed) % i] : STACK_EMPTY;
		uint32_t back = (uint32_t)(dice(&load->seed) % 6);
		while (back-- && stacks_node(stacks, stack)->depth)
			stack = stacks_node(stacks, stack)->parent;
		while (stacks_node(stacks, stack)->depth < 5 + dice(&load->seed) % DEPTH) {
			uint32_t number = (uint32_t)(dice(&load->seed) % FUNCTIONS);
			frame_id frame = make_frame(stacks, number,
						    (uint32_t)(dice(&load->seed) % 20));
			if (stacks_push(stacks, stack, frame, &stack) < 0)
				die("memory");
		}
		load->stacks[i] = stack;
	}
}

static void make_threads(struct load *load)
{
	char name[32];
	uint32_t index;
	if (profile_add_process(load->profile, 1234, "python3 server.py", "3.13.1", &index) < 0)
		die("memory");
	for (uint32_t i = 0; i < load->n_threads; i++) {
		struct profile_thread thread = {.tid = 1234 + i, .main = i == 0};
		(void)snprintf(name, sizeof name, "worker-%u", i);
		if (profile_add_thread(load->profile, &thread, &index) < 0 ||
		    profile_set_thread_name(load->profile, index, name) < 0)
			die("memory");
		load->threads[i].stack = load->stacks[i];
	}
}

static void end_run(struct load *load, uint32_t i, uint64_t next_ns)
{
	struct thread *thread = &load->threads[i];
	struct sample sample = {.time_ns = thread->begin_ns,
				.weight_ns = thread->weight_ns,
				.n_ticks = thread->n_ticks,
				.thread = i,
				.stack = thread->stack,
				.states = thread->states};
	if (thread->n_ticks) {
		if (load->sink->ops->sample(load->sink, &sample) < 0)
			die("sample");
		load->n_records++;
		load->n_samples += thread->n_ticks;
	}
	thread->begin_ns = next_ns;
	thread->weight_ns = thread->n_ticks = 0;
}

/* A few stacks are met most of the time. */
static stack_id pick_stack(struct load *load)
{
	double x = (double)(dice(&load->seed) >> 11) / (double)(UINT64_C(1) << 53);
	return load->stacks[(size_t)(x * x * x * STACKS)];
}

static void run(struct load *load, uint64_t seconds, uint64_t rate)
{
	uint64_t start = load->profile->start_ns, last = start, period = NS / rate, flushed = start;
	for (uint64_t tick = 0; tick < seconds * rate; tick++) {
		uint64_t now = start + tick * period + dice(&load->seed) % (period / 2);
		for (uint32_t k = 0; k < load->n_busy; k++) {
			uint32_t i = load->n_busy == 1 ? (uint32_t)(tick / 5 % load->n_threads) : k;
			end_run(load, i, now);
			load->threads[i].stack = pick_stack(load);
			load->threads[i].states = TACHY_STATE_GIL_KNOWN | TACHY_STATE_GIL;
		}
		for (uint32_t i = 0; i < load->n_threads; i++) {
			struct thread *thread = &load->threads[i];
			if (!thread->n_ticks)
				thread->begin_ns = now;
			thread->n_ticks++;
			thread->weight_ns += now - last;
		}
		last = now;
		for (uint32_t i = 0; now - flushed > NS / 10 && i < load->n_threads; i++)
			end_run(load, i, 0);
		flushed = now - flushed > NS / 10 ? now : flushed;
	}
	for (uint32_t i = 0; i < load->n_threads; i++)
		end_run(load, i, 0);
	load->profile->duration_ns = last - start;
}

static double cpu_s(clockid_t clock)
{
	struct timespec now;
	(void)clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Without the recorder: what the load itself costs. */
static int count_only(struct sink *sink, const struct sample *sample)
{
	(void)sink;
	return sample->n_ticks ? 0 : -1;
}

static double load_cost(const struct load *load, uint64_t seconds, uint64_t rate)
{
	static const struct sink_ops ops = {.name = "none", .sample = count_only};
	struct sink none = {&ops};
	struct load *copy = malloc(sizeof *copy);
	if (!copy)
		die("memory");
	*copy = *load;
	copy->sink = &none;
	double before = cpu_s(CLOCK_THREAD_CPUTIME_ID);
	run(copy, seconds, rate);
	free(copy);
	return cpu_s(CLOCK_THREAD_CPUTIME_ID) - before;
}

int main(int argc, char **argv)
{
	struct load *load = calloc(1, sizeof *load);
	struct recorder *recorder;
	struct recorder_totals totals;
	if (argc != 6 || !load)
		return 2;
	int fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0644);
	const struct recorder_options options = {.fd = fd, .patient = true};
	uint64_t seconds = strtoull(argv[3], NULL, 10), rate = strtoull(argv[4], NULL, 10);
	load->n_threads = (uint32_t)strtoul(argv[2], NULL, 10);
	load->n_busy = (uint32_t)strtoul(argv[5], NULL, 10);
	load->seed = 4711;
	if (fd < 0 || profile_create(&load->profile) < 0 ||
	    recorder_create(&options, &recorder) < 0)
		die(argv[1]);
	if (load->n_threads > THREADS_MAX || load->n_busy > load->n_threads || !rate)
		return 2;
	load->profile->rate_hz = (double)rate;
	load->profile->start_ns = 1000 * NS;
	load->profile->start_unix_ns = 1700000000 * NS;
	make_stacks(load);
	make_threads(load);
	load->sink = recorder_sink(recorder);
	double bare = load_cost(load, seconds, rate);
	if (load->sink->ops->begin(load->sink, load->profile) < 0)
		die("begin");
	double thread = cpu_s(CLOCK_THREAD_CPUTIME_ID), process = cpu_s(CLOCK_PROCESS_CPUTIME_ID);
	run(load, seconds, rate);
	thread = cpu_s(CLOCK_THREAD_CPUTIME_ID) - thread;
	(void)load->sink->ops->end(load->sink);
	if (recorder_finish(recorder, NULL) < 0)
		die("finish");
	process = cpu_s(CLOCK_PROCESS_CPUTIME_ID) - process;
	recorder_totals(recorder, &totals);
	printf("{\"records\":%llu,\"samples\":%llu,\"bytes\":%llu,\"dropped\":%llu,"
	       "\"sampling_ns\":%.1f,\"writing_ns\":%.1f}\n",
	       (unsigned long long)load->n_records, (unsigned long long)load->n_samples,
	       (unsigned long long)totals.n_bytes, (unsigned long long)totals.n_dropped,
	       (thread - bare) * 1e9 / (double)load->n_records,
	       (process - thread) * 1e9 / (double)load->n_records);
	recorder_destroy(recorder);
	bool whole = !totals.n_dropped && totals.n_samples == load->n_samples;
	profile_destroy(load->profile);
	free(load);
	return whole ? 0 : 1;
}
